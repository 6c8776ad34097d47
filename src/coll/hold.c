/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/hold.h"

#include <string.h>

#include "coll/buffers.h"

/* Arrays of int and of larger elements follow each other. */
static size_t aligned(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static inline size_t side_bytes(const struct mur_blocks *blocks, int count)
{
    size_t elements = (size_t)count;

    return aligned(elements * (size_t)blocks->counts.width) + aligned(elements * (size_t)blocks->displacements.width) +
           (blocks->types ? elements * sizeof *blocks->types : 0);
}

size_t mur_hold_measure(const struct mur_collective *c, const struct mur_comm *comm, struct mur_held *held)
{
    *held = (struct mur_held){0, 0};
    if (!c->from.is_irregular && !c->to.is_irregular)
        return 0;
    held->from = mur_collective_array_length(c, comm, true);
    held->to = mur_collective_array_length(c, comm, false);
    return side_bytes(&c->from, held->from) + side_bytes(&c->to, held->to);
}

static struct mur_counts copy_counts(struct mur_counts counts, int count, char **memory)
{
    struct mur_counts copy = {*memory, counts.width};
    size_t bytes = (size_t)count * (size_t)counts.width;

    memcpy(*memory, counts.array, bytes);
    *memory += aligned(bytes);
    return copy;
}

static char *copy_side(struct mur_blocks *blocks, int count, char *memory)
{
    size_t bytes = (size_t)count * sizeof *blocks->types;

    if (!count)
        return memory;
    blocks->counts = copy_counts(blocks->counts, count, &memory);
    blocks->displacements = copy_counts(blocks->displacements, count, &memory);
    if (!blocks->types)
        return memory;
    memcpy(memory, blocks->types, bytes);
    blocks->types = (const MPI_Datatype *)(void *)memory;
    return memory + bytes;
}

void mur_hold_arrays(struct mur_collective *c, const struct mur_held *held, void *memory)
{
    copy_side(&c->to, held->to, copy_side(&c->from, held->from, memory));
}

typedef void type_function(void *context, struct mur_type *type);

/* Calls it for the type of each block of one side; regular blocks share one. */
static inline void each_type(const struct mur_blocks *blocks, int count, type_function *call, void *context)
{
    if (blocks->type)
        call(context, blocks->type);
    for (int i = 0; blocks->types && i < count; i++)
        call(context, mur_block_type(blocks, i));
}

static inline void each_type_of_both(const struct mur_collective *c, const struct mur_held *held, type_function *call,
                                     void *context)
{
    each_type(&c->from, held->from, call, context);
    each_type(&c->to, held->to, call, context);
}

static void retain(void *context, struct mur_type *type)
{
    (void)context;
    mur_type_retain(type);
}

static void release(void *context, struct mur_type *type)
{
    (void)context;
    mur_type_release(type);
}

static void hold_in_step(void *context, struct mur_type *type)
{
    mur_schedule_hold(context, type);
}

void mur_hold_retain(const struct mur_collective *c, const struct mur_held *held)
{
    if (c->op)
        mur_op_retain(c->op);
    each_type_of_both(c, held, retain, NULL);
}

void mur_hold_release(const struct mur_collective *c, const struct mur_held *held)
{
    if (c->op)
        mur_op_release(c->op);
    each_type_of_both(c, held, release, NULL);
}

void mur_hold_in_schedule(struct mur_schedule *schedule, struct mur_collective *c)
{
    struct mur_held held;
    size_t bytes = mur_hold_measure(c, schedule->owner, &held);
    void *memory = bytes ? mur_schedule_memory(schedule, bytes) : NULL;

    if (bytes && !memory)
        return;
    mur_hold_arrays(c, &held, memory);
    each_type_of_both(c, &held, hold_in_step, schedule);
}
