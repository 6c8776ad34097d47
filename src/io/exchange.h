/* SPDX-License-Identifier: BSD-3-Clause */
/* What collective access by messages works with (io/two_phase_messages.c): the file keeps it, with all its memory, for
 * its next access. */
#ifndef MUR_IO_EXCHANGE_H
#define MUR_IO_EXCHANGE_H

#include "io/access.h"
#include "io/async.h"
#include "io/bitmap.h"

/* How much one rank has in one collective buffer. */
struct mur_amount {
    int64_t bytes, stretches;
};

/* What one rank has in one collective buffer: a list of stretches, and room for the data that belong to them. An
 * answer's data begin with where the file ended. */
struct mur_portion {
    struct mur_amount amount;
    struct mur_view_segment *segments;
    char *data;
    size_t segments_room, data_room; /* bytes allocated */
    bool is_dropped;                 /* there was no memory for it */
};

enum { MUR_ANSWER_HEAD = sizeof(MPI_Offset) };

struct mur_exchange {
    struct mur_access *access;
    struct mur_span *spans;       /* [ranks] */
    int ranks, aggregators, mine; /* which aggregator this rank is, or -1 */
    int *places;                  /* [aggregators] their ranks */
    MPI_Offset bytes, unit;       /* of a collective buffer; what it is aligned to */
    uint64_t round, rounds;
    char *buffer;                /* of the collective buffer that this rank serves */
    char *other;                 /* of the collective buffer before; NULL: none was needed yet. Owned */
    struct mur_async background; /* writes out of `other` */
    mur_bitmap_word *words;
    struct mur_portion *out;  /* [aggregators] of this rank */
    struct mur_portion *in;   /* [ranks] at an aggregator */
    int64_t verdict;          /* errno << 32 | rank + 1 */
    struct mur_type *nothing; /* one byte, all elements of which lie at one place: for what there is no room for, */
    char byte;                /* which is there */
};

/* The file's, unless an earlier access is under way with it. NULL: no memory. */
struct mur_exchange *mur_exchange_take(struct mur_access *access);

/* Gives the access's back to the file; `rc` is the error of its schedule. */
void mur_exchange_leave(struct mur_access *access, int rc);

/* Sets who the aggregators are and how large collective buffers are; the memory of the access before is kept if it
 * fits. False: no memory. */
bool mur_exchange_adapt(struct mur_exchange *x, MPI_Offset bytes);

/* Makes room for more bytes in the list of stretches and in the data. False: no memory. What was there stays. */
bool mur_exchange_portion_has_list(struct mur_portion *portion, int64_t stretches);
bool mur_exchange_portion_has_data(struct mur_portion *portion, int64_t bytes);

/* Waits for what the kernel writes of the collective buffer before. */
void mur_exchange_end_background(struct mur_exchange *x);

/* The first failure of this rank is what the others hear of. `number` is errno, or 0. */
void mur_exchange_note(struct mur_exchange *x, int number);

static inline struct mur_type *mur_exchange_byte(void)
{
    return mur_type_find(MPI_BYTE);
}

static inline int mur_exchange_rank(const struct mur_exchange *x, int aggregator)
{
    return x->places[aggregator];
}

int mur_exchange_no_memory(const struct mur_file *file);

#endif
