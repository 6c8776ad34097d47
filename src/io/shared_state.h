/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file state of an open file: memory that the ranks share which opened it, where all of them are on one
 * node.
 *
 *   pointer   the shared file pointer
 *   entries   for each rank: what it wants of the collective access under way, and the bytes that it is about to write
 *   collective buffers   a ring of buffers through which collective access passes (io/two_phase_shared.c); made at its
 * first use
 *
 * Collective accesses are numbered. Each rank posts every one of them in its entry, alternating between two places:
 * who posts number n has read all that was posted for n - 1, so the place of n - 2 is free.
 *
 * The gate. Data sieving writes back bytes that it has read, which must not undo what another rank writes meanwhile. So
 * every write announces its bytes in its rank's entry, and then looks for a sieve there; a sieve announces itself and
 * then looks for writes. Both orders are sequentially consistent: at least one of two sees the other, and waits.
 *
 * A write that the kernel performs while its rank computes may take long to be known as over. Nobody waits for it: who
 * sees one where it wants to sieve does not sieve. Nor does it begin where somebody sieves. */
#ifndef MUR_IO_SHARED_STATE_H
#define MUR_IO_SHARED_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

struct mur_comm;
struct mur_file;

enum {
    MUR_CBS = 8,
    MUR_CB_MAX = 1 << 20, /* bytes */
    MUR_CB_MIN = 4096,
    MUR_MARKED = 4096, /* bytes that one mark stands for */
};

/* What one rank wants of a collective access. */
struct mur_span {
    MPI_Offset first, end; /* bytes of the file */
    MPI_Offset bytes;      /* of data */
    int32_t error;         /* the class of the error that keeps it from taking part */
    int32_t is_one_run;
    int32_t alone; /* 1: it accesses the file by itself, and none of the bytes above; of all: how many do */
};

struct mur_entry {
    _Atomic uint64_t
        posted; /* number of the latest access; released, pairs with the acquire in mur_shared_state_has_posted */
    struct mur_span spans[2];
    /* granules of the file, first << 32 | end; 0: none */
    _Atomic uint64_t writes __attribute__((aligned(64)));
    _Atomic uint64_t sieves;
    _Atomic uint64_t background; /* around all writes of this kind */
} __attribute__((aligned(64)));

/* One buffer, and the state of the collective buffer of the file that it is for. */
struct mur_cb {
    _Atomic uint64_t turn; /* which collective buffer, and a state in the two lowest bits */
    _Atomic uint32_t marked, arrived;
    int32_t number; /* errno of reading */
    int32_t rank;   /* that got it */
    MPI_Offset end; /* of the bytes that are there, after reading */
    _Atomic uint64_t marks[MUR_CB_MAX / MUR_MARKED / 64];
} __attribute__((aligned(64)));

struct mur_cbs {
    uint32_t bytes; /* of a collective buffer */
    struct mur_cb state[MUR_CBS];
    /* then the coverage of each, a bit a byte; then the buffers */
};

struct mur_shared_state_memory {
    _Atomic int64_t pointer;
    _Atomic uint64_t cbs;        /* token of struct mur_cbs; 0: not made yet; NO_CBS: no memory for it */
    _Atomic uint64_t done;       /* collective buffers written, and direct accesses done, in all collective accesses */
    _Atomic uint64_t verdict[2]; /* of an access: errno << 32 | rank + 1 of the first that failed */
    _Atomic uint32_t sieving;    /* ranks that sieve, or want to */
    _Atomic uint32_t is_writing; /* a rank writes collective buffers */
    struct mur_entry entries[];
};

/* A rank's view of it, in private memory. */
struct mur_shared_state {
    struct mur_shared_state_memory *memory;
    struct mur_cbs *cbs;
    const int *processes;
    int rank, size;
    bool is_owner;       /* allocated it */
    bool is_private;     /* of a file that one process has opened for itself */
    uint64_t started;    /* collective accesses begun, */
    uint64_t current;    /* and those that are complete: they run one after the other */
    uint64_t cbs_in;     /* collective buffers used by accesses so far */
    uint64_t done;       /* what memory->done will be once all accesses so far are over */
    bool is_gate_held;   /* by a thread of this process */
    int background;      /* writes under way */
    uint64_t reads;      /* of collective buffers, by this rank; and */
    uint64_t read_ns[2]; /* nanoseconds for 4 KiB, if lines are left in the caches before, and if not */
    int costly;          /* rings of collective buffers for which writing to their lines is taken to be costly */
};

/* Collective over the communicator. NULL where its ranks share no memory. */
int mur_shared_state_open(struct mur_comm *comm, struct mur_shared_state **area_p);
void mur_shared_state_close(struct mur_shared_state *shared);

/* Makes the collective buffers, so large; true once they are there or it is known that there will be none. */
bool mur_shared_state_has_cbs(struct mur_shared_state *shared, size_t bytes);

unsigned char *mur_cb_bitmap(const struct mur_shared_state *shared, uint64_t cb);
char *mur_cb_buffer(const struct mur_shared_state *shared, uint64_t cb);

void mur_shared_state_post(struct mur_shared_state *shared, uint64_t number, const struct mur_span *span);
bool mur_shared_state_has_posted(const struct mur_shared_state *shared, int rank, uint64_t number);
bool mur_shared_state_all_posted(const struct mur_shared_state *shared, uint64_t number, int *next);
void mur_shared_state_rouse(const struct mur_shared_state *shared);

/* Around writing [first, end) of the file, with or without writing back what was read. No shared file state: nothing to
 * do. False: a sieve may not be; then nothing is to be left. */
bool mur_shared_state_gate_enter(struct mur_shared_state *shared, MPI_Offset first, MPI_Offset end, bool is_sieve);
void mur_shared_state_gate_leave(struct mur_shared_state *shared);

/* The same around a write in the background. False: it may not begin. */
bool mur_shared_state_gate_begin(struct mur_shared_state *shared, MPI_Offset first, MPI_Offset end);
void mur_shared_state_gate_end(struct mur_shared_state *shared);

#endif
