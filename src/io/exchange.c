/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "object/comm.h"
#include "object/type_create.h"

int mur_exchange_no_memory(const struct mur_file *file)
{
    return mur_error(MPI_ERR_NO_MEM, "no memory for collective access to file '%s'", file->name);
}

void mur_exchange_note(struct mur_exchange *x, int number)
{
    if (number && !x->verdict)
        x->verdict = (int64_t)number << 32 | (int64_t)(x->access->file->comm->rank + 1);
}

/* False: no memory. What was there stays. */
static bool make_room(void *memory_p, size_t *room, size_t bytes)
{
    void **memory = memory_p, *more;

    if (bytes <= *room)
        return true;
    bytes += bytes / 4;
    more = realloc(*memory, bytes);
    if (!more)
        return false;
    *memory = more;
    *room = bytes;
    return true;
}

bool mur_exchange_portion_has_list(struct mur_portion *portion, int64_t stretches)
{
    return make_room(&portion->segments, &portion->segments_room, (size_t)stretches * sizeof *portion->segments);
}

bool mur_exchange_portion_has_data(struct mur_portion *portion, int64_t bytes)
{
    return make_room(&portion->data, &portion->data_room, (size_t)bytes + MUR_ANSWER_HEAD);
}

void mur_exchange_end_background(struct mur_exchange *x)
{
    if (!x->background.bytes)
        return;
    mur_async_wait(&x->background);
    if (mur_async_end(&x->background, x->access->file) < 0)
        mur_exchange_note(x, errno);
}

static void free_portions(struct mur_portion *portions, int count)
{
    for (int i = 0; i < count && portions; i++) {
        free(portions[i].segments);
        free(portions[i].data);
    }
    free(portions);
}

static void free_memory(struct mur_exchange *x)
{
    mur_exchange_end_background(x);
    free(x->other);
    x->other = NULL;
    free_portions(x->out, x->aggregators);
    free_portions(x->in, x->ranks);
    free(x->buffer);
    free((void *)x->words);
    free(x->places);
    x->places = NULL;
    x->out = x->in = NULL;
    x->buffer = NULL;
    x->words = NULL;
}

static bool allocate(struct mur_exchange *x)
{
    x->out = calloc((size_t)x->aggregators, sizeof *x->out);
    if (x->mine < 0)
        return x->out;
    x->in = calloc((size_t)x->ranks, sizeof *x->in);
    x->buffer = malloc((size_t)x->bytes);
    x->words = calloc((size_t)x->bytes / 64 + 1, sizeof *x->words);
    return x->out && x->in && x->buffer && x->words;
}

static bool is_as_before(const struct mur_exchange *x, MPI_Offset bytes)
{
    const struct mur_file *file = x->access->file;

    return x->out && x->bytes == bytes && x->aggregators == file->aggregator_count &&
           memcmp(x->places, file->aggregators, (size_t)x->aggregators * sizeof *x->places) == 0;
}

bool mur_exchange_adapt(struct mur_exchange *x, MPI_Offset bytes)
{
    const struct mur_file *file = x->access->file;
    size_t list = (size_t)file->aggregator_count * sizeof *x->places;

    if (is_as_before(x, bytes))
        return true;
    free_memory(x);
    x->places = malloc(list);
    if (!x->places)
        return false;
    memcpy(x->places, file->aggregators, list);
    x->aggregators = file->aggregator_count;
    x->bytes = bytes;
    x->mine = -1;
    for (int a = 0; a < x->aggregators; a++)
        if (mur_exchange_rank(x, a) == file->comm->rank)
            x->mine = a;
    if (allocate(x))
        return true;
    free_memory(x);
    return false;
}

/* NULL: no memory. */
static struct mur_exchange *create_exchange(int ranks)
{
    struct mur_exchange *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->ranks = ranks;
    x->spans = calloc((size_t)ranks, sizeof *x->spans);
    if (x->spans && !mur_type_create_resized(mur_exchange_byte(), 0, 0, false, &x->nothing) &&
        !mur_type_commit(x->nothing))
        return x;
    mur_exchange_free(x);
    return NULL;
}

int mur_exchange_provide(struct mur_file *file)
{
    file->exchange = create_exchange(file->comm->size);
    return file->exchange ? MPI_SUCCESS : mur_exchange_no_memory(file);
}

struct mur_exchange *mur_exchange_take(struct mur_access *access)
{
    struct mur_file *file = access->file;
    struct mur_exchange *x = file->exchange ? file->exchange : create_exchange(file->comm->size);

    file->exchange = NULL;
    if (!x)
        return NULL;
    x->access = access;
    x->round = 0;
    x->verdict = 0;
    return x;
}

void mur_exchange_free(struct mur_exchange *x)
{
    if (!x)
        return;
    free_memory(x);
    if (x->nothing)
        mur_type_release(x->nothing);
    free(x->spans);
    free(x);
}

void mur_exchange_leave(struct mur_access *access, int rc)
{
    struct mur_file *file = access->file;

    if (rc && !access->error)
        access->error = rc;
    if (rc || file->exchange) /* one that failed half-way has not cleared what it marked */
        mur_exchange_free(access->exchange);
    else
        file->exchange = access->exchange;
    access->exchange = NULL;
}
