/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file and its view (MPI-5.0 §14).
 *
 * A view shows some bytes of the file as one stream of data: those that tiles of the filetype, laid end to end from
 * the displacement, cover. Offsets of users count etypes in this stream; inside, positions are bytes of the stream.
 * mur_view_segments turns a stretch of the stream into stretches of the file. */
#ifndef MUR_IO_FILE_H
#define MUR_IO_FILE_H

#include <sys/uio.h>

#include "base/pool.h"
#include "datatype/layout.h"
#include "io/hints.h"
#include "mpi.h"

struct mur_shared_state;
struct mur_comm;
struct mur_datarep;
struct mur_driver;
struct mur_errhandler;
struct mur_exchange;
struct mur_info;
struct mur_request;
struct mur_schedule;

struct mur_file {
    struct mur_object object;
    int fd;
    int amode;
    const struct mur_driver *driver;
    struct mur_comm *comm;           /* a duplicate of the user's */
    struct mur_shared_state *shared; /* that its ranks share, or NULL. Owned */
    struct mur_errhandler *errhandler;
    struct mur_info *info; /* the hints that are known, with their values */
    struct mur_hints hints;
    int *aggregators; /* ranks that access the file for the others by messages, or NULL. Owned */
    int aggregator_count;
    char *name;
    bool is_atomic;
    bool is_locked; /* by a thread of this process */
    bool is_dirty;  /* maybe written, and not yet seen by other hosts; and the other way round: */
    bool is_stale;  /* others have written for this rank, or changed the size (mur_file_settle) */
    char *staging;  /* a buffer for the next access that needs one, or NULL. Owned */
    size_t staging_bytes;
    /* the view */
    MPI_Offset displacement; /* bytes */
    struct mur_type *etype, *filetype;
    struct mur_type *shape; /* the filetype as it lies in the file: the same, but for other data representations */
    MPI_Offset unit;        /* bytes of an etype in the file */
    const struct mur_datarep *rep;
    char datarep[MPI_MAX_DATAREP_STRING];
    bool is_ordered;      /* no byte of the view lies before one that comes earlier in its stream, */
    bool is_tile_ordered; /* or at least in that of one tile */
    bool is_tiled;        /* the views of all ranks together cover each byte once, from where the last of them begins */
    MPI_Offset pointer;   /* the individual file pointer, in etypes */
    MPI_Offset shared_pointer;  /* at rank 0 of a file without a shared file state: the shared one */
    struct mur_file *next_open; /* in the list of files of this process */
    /* the split collective under way: its request, or NULL, and what it was started with */
    struct mur_request *split;
    int split_kind;
    const void *split_buffer;
    struct mur_exchange *exchange; /* memory for the next access by messages (io/exchange.h), or NULL. Owned */
};

/* A stretch of bytes of the file. */
struct mur_view_segment {
    MPI_Offset offset;
    size_t bytes;
};

/* file.c: both collective over the communicator. `refused` is an error that keeps this rank from opening it. */
int mur_file_open(struct mur_comm *comm, const char *name, int amode, const struct mur_info *info,
                  struct mur_errhandler *errhandler, int refused, struct mur_file **file_p);
int mur_file_close(struct mur_file *file);

/* Rank 0 has changed something with the outcome `rc`: all ranks return it. `what` is what was tried: "open". */
int mur_file_agree(const struct mur_file *file, int rc, const char *what);

/* A schedule that all ranks of a file perform. Others would wait for one that lacks memory for it or on the way: then
 * the job ends. NULL: no memory, and there are no others. */
struct mur_schedule *mur_file_schedule(struct mur_comm *comm);

/* Once all know that this one of them has failed: it tells why; `rc` is a rank's own error, which it returns. */
int mur_file_hear(struct mur_comm *comm, int failed, int rc, const char *what, const char *name);

/* Whether all ranks have the same value; *is_same is. */
int mur_file_compare(const struct mur_file *file, MPI_Offset value, bool *is_same);

/* Runs `change` at rank 0 and gives all ranks its outcome. */
int mur_file_change_size(struct mur_file *file, MPI_Offset size, int (*change)(int fd, off_t size), const char *what);

/* The error for a system call that failed with `number` on this file. */
int mur_file_error(int number, const char *what, const char *name);
int mur_file_error_at(int number, const char *what, const char *name, int rank);
int mur_file_size(struct mur_file *file, MPI_Offset *size);

/* Where each host caches the file for itself: this rank's data may lie in the cache of the host whose rank wrote them
 * for it. They must be the same to it wherever they are, as if it had written and read them itself (§14.6.1): so before
 * and after others access the file for it, what it has written leaves its cache, and what it has read is read anew.
 * Nothing to do where files are coherent. Fails like a system call. */
int mur_file_settle(struct mur_file *file);

/* The open file whose communicator has this context; NULL: none. */
struct mur_file *mur_file_of_context(uint32_t context);

/* aggregators.c, collective: chooses at most `wanted` aggregators from the hosts that the hint cb_config_list names;
 * "": from all. */
int mur_aggregators_choose(struct mur_file *file, int wanted, const char *list);
void mur_aggregators_drop(struct mur_file *file);

/* view.c. Collective: the ranks tell each other about their views. */
int mur_view_set(struct mur_file *file, MPI_Offset displacement, struct mur_type *etype, struct mur_type *filetype,
                 const char *datarep);
void mur_view_drop_types(const struct mur_file *file); /* that it has */

/* Whether `etypes` etypes from an offset on end within the largest file offset. */
bool mur_view_has_place(const struct mur_file *file, MPI_Offset offset, MPI_Count etypes);

/* A walk over the view from a position on; filled with at most `max` segments for at most `bytes` bytes a call. */
void mur_view_start(const struct mur_file *file, MPI_Offset position, struct mur_cursor *walk);
int mur_view_segments(struct mur_cursor *walk, struct mur_view_segment *segments, int max, size_t bytes);

/* Copies `bytes` of the stream from `position` on out of the user's memory into a buffer that stands for the file from
 * byte `offset` on, past the caches if asked to; or the other way. The memory cursor moves on. */
void mur_view_put(const struct mur_file *file, MPI_Offset position, size_t bytes, struct mur_cursor *memory,
                  char *buffer, MPI_Offset offset, bool is_past);
void mur_view_get(const struct mur_file *file, MPI_Offset position, size_t bytes, struct mur_cursor *memory,
                  const char *buffer, MPI_Offset offset);

/* Whether no byte lies before one that comes earlier in the stream, up to this end of it. */
bool mur_view_is_ordered(const struct mur_file *file, MPI_Offset end);

/* Bytes of the stream that lie before a byte of the file, if it is ordered as far as anyone asks, and the byte of the
 * file where a position lies. */
MPI_Offset mur_view_position(const struct mur_file *file, MPI_Offset byte);
MPI_Offset mur_view_byte(const struct mur_file *file, MPI_Offset position);

#endif
