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
#include "mpi.h"

struct mur_comm;
struct mur_errhandler;
struct mur_info;

struct mur_file {
    struct mur_object object;
    int fd;
    int amode;
    struct mur_comm *comm; /* a duplicate of the user's */
    struct mur_errhandler *errhandler;
    struct mur_info *info; /* the hints that are acted upon */
    char *name;
    MPI_Offset displacement; /* bytes */
    struct mur_type *etype, *filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Offset pointer; /* the individual file pointer, in etypes */
};

/* A stretch of bytes of the file. */
struct mur_segment {
    MPI_Offset offset;
    size_t bytes;
};

/* file.c: both collective over the communicator */
int mur_file_open(struct mur_comm *comm, const char *name, int amode, const struct mur_info *info,
                  struct mur_errhandler *errhandler, struct mur_file **file_p);
int mur_file_close(struct mur_file *file);

/* Runs `change` at rank 0 and gives all ranks its outcome. */
int mur_file_change_size(struct mur_file *file, MPI_Offset size, int (*change)(int fd, off_t size), const char *what);

/* The error for a system call that failed with `number` on this file; `what` is what was tried: "open". */
int mur_file_error(int number, const char *what, const char *name);
int mur_file_size(const struct mur_file *file, MPI_Offset *size);

/* view.c */
int mur_view_set(struct mur_file *file, MPI_Offset displacement, struct mur_type *etype, struct mur_type *filetype,
                 const char *datarep);

/* A walk over the view from a position on; filled with at most `max` segments for at most `bytes` bytes a call. */
void mur_view_start(const struct mur_file *file, MPI_Offset position, struct mur_cursor *walk);
int mur_view_segments(struct mur_cursor *walk, struct mur_segment *segments, int max, size_t bytes);

/* Bytes of the stream that lie before a byte of the file. */
MPI_Offset mur_view_position(const struct mur_file *file, MPI_Offset byte);

/* access.c: reads or writes at `offset` etypes of the view; *moved counts the bytes. Reading past the end of the
 * file is a short read. */
int mur_file_read(struct mur_file *file, MPI_Offset offset, void *buffer, MPI_Count count, struct mur_type *type,
                  size_t *moved);
int mur_file_write(struct mur_file *file, MPI_Offset offset, const void *buffer, MPI_Count count, struct mur_type *type,
                   size_t *moved);

#endif
