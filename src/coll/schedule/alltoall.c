/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all, plain, with counts and with types: pairwise. In step k each rank sends to the one k after it and receives
 * from the one k before it; a few steps make a round, so that neither one pair nor all pairs at once are waited for. In
 * place, partners exchange block by block through a copy. */
#include <string.h>

#include "coll/coll.h"
#include "coll/schedule/inter.h"
#include "datatype/layout.h"

enum { STEPS_A_ROUND = 8 };

static void receive(struct mur_schedule *s, const struct mur_blocks *to, int rank)
{
    mur_schedule_receive(s, mur_block(to, rank), mur_block_count(to, rank), mur_block_type(to, rank), rank);
}

static void exchange(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    int rank = s->comm->rank, size = s->comm->size;

    mur_schedule_copy(s, mur_block(from, rank), mur_block_count(from, rank), mur_block_type(from, rank),
                      mur_block(to, rank), mur_block_count(to, rank), mur_block_type(to, rank));
    for (int k = 1; k < size; k++) {
        int before = (rank - k + size) % size, after = (rank + k) % size;

        if (k % STEPS_A_ROUND == 0)
            mur_schedule_fence(s);
        receive(s, to, before);
        mur_schedule_send(s, mur_block(from, after), mur_block_count(from, after), mur_block_type(from, after), after);
    }
}

/* In step k the ranks i and (k - i) mod size are partners, so that all pairs meet at the same step. */
static void exchange_in_place(struct mur_schedule *s, const struct mur_blocks *to)
{
    int rank = s->comm->rank, size = s->comm->size;
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    MPI_Count most = 0;
    void *copy; /* the data of a block as a run of bytes */

    for (int i = 0; i < size; i++) {
        MPI_Count bytes = mur_block_count(to, i) * mur_block_type(to, i)->size;

        if (bytes > most)
            most = bytes;
    }
    copy = mur_schedule_memory(s, (size_t)most);
    for (int k = 0; copy && k < size; k++) {
        int partner = (k - rank + size) % size;
        MPI_Count count = mur_block_count(to, partner);
        struct mur_type *type = mur_block_type(to, partner);

        if (partner == rank)
            continue;
        mur_schedule_fence(s);
        mur_schedule_copy(s, mur_block(to, partner), count, type, copy, count * type->size, byte);
        mur_schedule_fence(s);
        receive(s, to, partner);
        mur_schedule_send(s, copy, count * type->size, byte, partner);
    }
}

void mur_coll_alltoall(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    if (s->comm->remote)
        mur_inter_alltoall(s, from, to);
    else if (from->buffer == MPI_IN_PLACE)
        exchange_in_place(s, to);
    else
        exchange(s, from, to);
}

/* ---- Bruck ---- */

/* What the steps of one exchange work on. Its copies are functions, not steps of their own: those would be n log n. */
struct bruck {
    char *all;      /* block i is for the rank i behind its holder */
    char *out, *in; /* the blocks that a round sends and receives, one behind the other */
    size_t bytes;   /* of a block */
    int rank, size; /* of the communicator */
    struct mur_blocks to;
};

/* One round: the blocks whose number has the bit. They come in runs of as many. */
struct bruck_round {
    struct bruck *exchange;
    int bit;
};

static int run_length(const struct bruck_round *round, int first)
{
    return first + round->bit < round->exchange->size ? round->bit : round->exchange->size - first;
}

static int pack_round(struct mur_schedule *s, void *argument)
{
    const struct bruck_round *round = argument;
    const struct bruck *b = round->exchange;
    char *out = b->out;

    (void)s;
    for (int i = round->bit; i < b->size; i += 2 * round->bit) {
        size_t bytes = b->bytes * (size_t)run_length(round, i);

        memcpy(out, b->all + (size_t)i * b->bytes, bytes);
        out += bytes;
    }
    return MPI_SUCCESS;
}

static int unpack_round(struct mur_schedule *s, void *argument)
{
    const struct bruck_round *round = argument;
    const struct bruck *b = round->exchange;
    const char *in = b->in;

    (void)s;
    for (int i = round->bit; i < b->size; i += 2 * round->bit) {
        size_t bytes = b->bytes * (size_t)run_length(round, i);

        memcpy(b->all + (size_t)i * b->bytes, in, bytes);
        in += bytes;
    }
    return MPI_SUCCESS;
}

/* In the end block i is the one from the rank i before. */
static int deliver(struct mur_schedule *s, void *argument)
{
    const struct bruck *b = argument;
    struct mur_type *byte = mur_type_find(MPI_BYTE);

    (void)s;
    for (int i = 0; i < b->size; i++)
        mur_layout_copy_typed(b->all + (size_t)i * b->bytes, (MPI_Count)b->bytes, byte,
                              mur_block(&b->to, (b->rank - i + b->size) % b->size), b->to.count, b->to.type);
    return MPI_SUCCESS;
}

static struct bruck *describe_bruck(struct mur_schedule *s, const struct mur_blocks *to)
{
    struct bruck *b = mur_schedule_memory(s, sizeof *b);
    MPI_Count bytes = to->count * to->type->size;

    if (!b)
        return NULL;
    *b = (struct bruck){.bytes = (size_t)bytes, .rank = s->comm->rank, .size = s->comm->size, .to = *to};
    b->all = mur_schedule_memory(s, b->bytes * (size_t)b->size);
    b->out = mur_schedule_memory(s, b->bytes * (size_t)b->size);
    b->in = mur_schedule_memory(s, b->bytes * (size_t)b->size);
    return b->all && b->out && b->in ? b : NULL;
}

static void add_round(struct mur_schedule *s, struct bruck *b, int bit)
{
    struct bruck_round *round = mur_schedule_memory(s, sizeof *round);
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    MPI_Count bytes = 0;

    if (!round)
        return;
    *round = (struct bruck_round){b, bit};
    for (int i = bit; i < b->size; i += 2 * bit)
        bytes += (MPI_Count)b->bytes * run_length(round, i);
    mur_schedule_fence(s);
    mur_schedule_call(s, pack_round, round);
    mur_schedule_fence(s);
    mur_schedule_receive(s, b->in, bytes, byte, (b->rank - bit + b->size) % b->size);
    mur_schedule_send(s, b->out, bytes, byte, (b->rank + bit) % b->size);
    mur_schedule_fence(s);
    mur_schedule_call(s, unpack_round, round);
}

/* Small blocks: log2(size) rounds (Bruck and others 1997). Block i travels the distances that are the bits of i. */
void mur_coll_alltoall_bruck(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    const struct mur_blocks *source = from->buffer == MPI_IN_PLACE ? to : from;
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int rank = s->comm->rank, size = s->comm->size;
    struct bruck *b = describe_bruck(s, to);
    MPI_Count bytes;

    if (!b)
        return;
    bytes = (MPI_Count)b->bytes;
    mur_schedule_copy(s, mur_block(source, rank), source->count * (size - rank), source->type, b->all,
                      bytes * (size - rank), byte);
    if (rank)
        mur_schedule_copy(s, mur_block(source, 0), source->count * rank, source->type, b->all + bytes * (size - rank),
                          bytes * rank, byte);
    for (int bit = 1; bit < size; bit *= 2)
        add_round(s, b, bit);
    mur_schedule_fence(s);
    mur_schedule_hold(s, to->type);
    mur_schedule_call(s, deliver, b);
}
