/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-phase collective access by messages, for ranks that share no memory.
 *
 * The part of the file that the ranks want is cut into panes, which some ranks (the aggregators, see
 * aggregators.c) serve in turns, one pane each a round:
 *
 *   every rank tells each aggregator how much it has for its pane, in how many stretches;
 *   then sends the list of the stretches, and writing, the data;
 *   the aggregator writes what came, or reads what is wanted and answers with the data. A full pane is written in the
 *   background, while the next one is filled in another buffer; and before it answers, the file system is told which
 *   pane it will read next.
 *
 * All of it is one schedule (coll/schedule/schedule.h) whose steps add those of the next round, so that the blocking
 * and the nonblocking form are the same. At the end all ranks learn whether an access to the file has failed.
 *
 * Memory. What does not depend on the data is allocated before a rank says what it wants, so that a rank which has none
 * can say so instead. Later each goes on whatever happens, since others wait for its messages: who has no room for
 * what it would send announces nothing; who has none for what comes receives it into a single byte. What is left are
 * the steps themselves, and a second access while the file's memory for one is in use: without memory for those the job
 * ends, as with collective operations, instead of leaving the others to wait. */
#include "io/access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "io/cover.h"
#include "io/driver.h"
#include "object/comm.h"
#include "object/request.h"
#include "object/type_create.h"

/* What a rank has for an aggregator's pane. */
struct amount {
    int64_t bytes, stretches;
};

/* A list of stretches, and room for the data that belong to them. An answer's data begin with where the file ended. */
struct parcel {
    struct amount amount;
    struct mur_view_segment *segments;
    char *data;
    size_t segments_room, data_room; /* bytes allocated */
    bool is_dropped;                 /* there was no memory for it */
};

/* Kept by the file for its next access, with all its memory. */
struct mur_exchange {
    struct mur_access *access;
    struct mur_span *spans;       /* [ranks] */
    int ranks, aggregators, mine; /* which aggregator this rank is, or -1 */
    int *places;                  /* [aggregators] their ranks */
    MPI_Offset bytes, unit;       /* of a pane; what it is aligned to */
    uint64_t round, rounds;
    char *buffer; /* of the pane that this rank serves */
    struct {
        struct mur_uring_op op;
        char *buffer; /* of the pane before; NULL: none was needed yet. Owned */
        MPI_Offset offset;
        const char *data;
        size_t bytes; /* 0: nothing is under way */
    } background;
    mur_cover_word *words;
    struct parcel *out;       /* [aggregators] of this rank */
    struct parcel *in;        /* [ranks] at an aggregator */
    int64_t verdict;          /* errno << 32 | rank + 1 */
    struct mur_type *nothing; /* one byte, all elements of which lie at one place: for what there is no room for, */
    char byte;                /* which is there */
};

enum {
    PANE_MAX = 2 << 20,
    BACKGROUND_MIN = 256 << 10, /* bytes from which on it pays to let the kernel write meanwhile */
    SPARSE = 2,                 /* nothing is fetched ahead where less than one half of the range is wanted */
    ANSWER_HEAD = sizeof(MPI_Offset)
};

static struct mur_type *byte_type(void)
{
    return mur_type_find(MPI_BYTE);
}

static int rank_of(const struct mur_exchange *x, int aggregator)
{
    return x->places[aggregator];
}

static MPI_Offset pane_start(const struct mur_exchange *x, int aggregator)
{
    uint64_t pane = x->round * (uint64_t)x->aggregators + (uint64_t)aggregator;

    return x->access->origin + (MPI_Offset)pane * x->bytes;
}

static MPI_Offset pane_end(const struct mur_exchange *x, int aggregator)
{
    MPI_Offset end = pane_start(x, aggregator) + x->bytes;

    return end < x->access->all.end ? end : x->access->all.end;
}

static void note_failure(struct mur_exchange *x, int number)
{
    if (number && !x->verdict)
        x->verdict = (int64_t)number << 32 | (int64_t)(x->access->file->comm->rank + 1);
}

/* What this rank has written is there for others to see. */
static void settle_writes(struct mur_exchange *x)
{
    if (x->access->file->is_dirty && mur_file_settle(x->access->file))
        note_failure(x, errno);
}

/* What others have settled is there for this rank to see. */
static void settle_reads(struct mur_exchange *x)
{
    x->access->file->is_stale = true;
    if (mur_file_settle(x->access->file))
        note_failure(x, errno);
}

static int no_memory(const struct mur_file *file)
{
    return mur_error(MPI_ERR_NO_MEM, "no memory for collective access to file '%s'", file->name);
}

/* ---- the end ---- */

static int conclude(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;
    struct mur_access *access = x->access;

    (void)s;
    access->file->is_stale |= access->is_write;
    if (x->verdict && !access->error)
        access->error = mur_file_error_at((int)(x->verdict >> 32), access->is_write ? "write" : "read",
                                          access->file->name, (int)(x->verdict & UINT32_MAX) - 1);
    return MPI_SUCCESS;
}

/* One of the failures, the same at all ranks. */
static void add_conclusion(struct mur_schedule *s, struct mur_exchange *x)
{
    mur_schedule_fence(s);
    mur_coll_allreduce(s, MPI_IN_PLACE, &x->verdict, 1, mur_type_find(MPI_INT64_T), mur_op_find(MPI_MAX));
    mur_schedule_fence(s);
    mur_schedule_call(s, conclude, x);
}

/* ---- a round ---- */

/* Each of these steps adds the one that follows. */
static int begin_round(struct mur_schedule *s, void *argument);
static int send_parcels(struct mur_schedule *s, void *argument);
static int serve(struct mur_schedule *s, void *argument);
static int take_answers(struct mur_schedule *s, void *argument);

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

/* What this rank has for a pane: from `done` bytes of its data on. Returns errno. */
static int make_parcel(struct mur_exchange *x, int aggregator, size_t done)
{
    enum { SEGMENTS = 64 };
    const struct mur_access *access = x->access;
    struct parcel *parcel = &x->out[aggregator];
    MPI_Offset position = mur_view_position(access->file, pane_end(x, aggregator)) - access->start;
    size_t end = position > 0 ? (size_t)position : 0, left;
    struct mur_cursor walk;

    end = end < access->memory.bytes ? end : access->memory.bytes;
    if (end <= done)
        return MPI_SUCCESS;
    mur_view_start(access->file, access->start + (MPI_Offset)done, &walk);
    for (left = end - done; left > 0;) {
        size_t room = (size_t)parcel->amount.stretches + SEGMENTS;
        struct mur_view_segment *next;
        int count;

        if (!make_room(&parcel->segments, &parcel->segments_room, room * sizeof *next))
            return ENOMEM;
        next = parcel->segments + parcel->amount.stretches;
        count = mur_view_segments(&walk, next, SEGMENTS, left);
        for (int i = 0; i < count; i++)
            left -= next[i].bytes;
        parcel->amount.stretches += count;
    }
    if (!make_room(&parcel->data, &parcel->data_room, end - done + ANSWER_HEAD))
        return ENOMEM;
    parcel->amount.bytes = (int64_t)(end - done);
    return 0;
}

/* Panes of a round follow each other in the file, and so does this rank's data. Without memory that ends here. */
static void make_parcels(struct mur_exchange *x)
{
    size_t done = x->access->moved;

    if (x->access->is_at_end)
        done = x->access->memory.bytes;
    for (int a = 0; a < x->aggregators; a++) {
        int number;

        x->out[a].amount = (struct amount){0};
        number = make_parcel(x, a, done);
        if (number) {
            note_failure(x, number);
            x->out[a].amount = (struct amount){0};
            x->access->is_at_end = true;
            done = x->access->memory.bytes;
        }
        done += (size_t)x->out[a].amount.bytes;
    }
}

static int begin_round(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;

    make_parcels(x);
    for (int r = 0; r < x->ranks && x->mine >= 0; r++)
        mur_schedule_receive(s, &x->in[r].amount, sizeof(struct amount), byte_type(), r);
    for (int a = 0; a < x->aggregators; a++)
        mur_schedule_send(s, &x->out[a].amount, sizeof(struct amount), byte_type(), rank_of(x, a));
    mur_schedule_fence(s);
    mur_schedule_call(s, send_parcels, x);
    return MPI_SUCCESS;
}

static size_t list_bytes(const struct parcel *parcel)
{
    return (size_t)parcel->amount.stretches * sizeof(struct mur_view_segment);
}

static void receive_parcel(struct mur_schedule *s, struct mur_exchange *x, int rank)
{
    struct parcel *parcel = &x->in[rank];
    struct mur_type *type = byte_type();
    void *segments, *data;

    parcel->is_dropped = !make_room(&parcel->segments, &parcel->segments_room, list_bytes(parcel)) ||
                         !make_room(&parcel->data, &parcel->data_room, (size_t)parcel->amount.bytes + ANSWER_HEAD);
    segments = parcel->segments;
    data = parcel->data;
    if (parcel->is_dropped) {
        note_failure(x, ENOMEM);
        type = x->nothing;
        segments = data = &x->byte;
    }
    mur_schedule_receive(s, segments, (MPI_Count)list_bytes(parcel), type, rank);
    if (x->access->is_write)
        mur_schedule_receive(s, data, parcel->amount.bytes, type, rank);
}

static int send_parcels(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;
    struct mur_access *access = x->access;

    for (int r = 0; r < x->ranks && x->mine >= 0; r++)
        if (x->in[r].amount.bytes)
            receive_parcel(s, x, r);
    for (int a = 0; a < x->aggregators; a++) {
        struct parcel *parcel = &x->out[a];

        if (!parcel->amount.bytes)
            continue;
        mur_schedule_send(s, parcel->segments, (MPI_Count)list_bytes(parcel), byte_type(), rank_of(x, a));
        if (!access->is_write)
            continue;
        mur_cursor_pack(&access->memory, parcel->data, (size_t)parcel->amount.bytes);
        access->moved += (size_t)parcel->amount.bytes;
        mur_schedule_send(s, parcel->data, parcel->amount.bytes, byte_type(), rank_of(x, a));
    }
    mur_schedule_fence(s);
    mur_schedule_call(s, serve, x);
    return MPI_SUCCESS;
}

static bool has_arrived(const struct parcel *parcel)
{
    return parcel->amount.bytes && !parcel->is_dropped;
}

/* Copies between a parcel's data and the pane. */
static void move_parcel(const struct mur_exchange *x, struct parcel *parcel, char *data, bool into_pane)
{
    MPI_Offset start = pane_start(x, x->mine);

    for (int64_t i = 0; i < parcel->amount.stretches; i++) {
        const struct mur_view_segment *segment = &parcel->segments[i];
        char *place = x->buffer + (segment->offset - start);

        memcpy(into_pane ? place : data, into_pane ? data : place, segment->bytes);
        data += segment->bytes;
    }
}

/* Stretches come from another rank: none may lie outside of the pane. */
static bool is_inside(const struct mur_exchange *x, const struct parcel *parcel)
{
    MPI_Offset start = pane_start(x, x->mine), end = pane_end(x, x->mine);
    int64_t sum = 0;

    for (int64_t i = 0; i < parcel->amount.stretches; i++) {
        const struct mur_view_segment *segment = &parcel->segments[i];

        if (segment->offset < start || segment->offset > end || segment->bytes == 0 ||
            segment->bytes > (size_t)(end - segment->offset))
            return false;
        sum += (int64_t)segment->bytes;
    }
    return sum == parcel->amount.bytes;
}

static void cover_parcel(struct mur_exchange *x, const struct parcel *parcel, size_t grain)
{
    for (int64_t i = 0; i < parcel->amount.stretches; i++) {
        size_t from = (size_t)(parcel->segments[i].offset - pane_start(x, x->mine));

        mur_cover_set(x->words, from / grain, (from + parcel->segments[i].bytes - 1) / grain + 1);
    }
}

/* Waits for the pane before. What the kernel has left of it is written here: it knows when there is a reason to stop.
 */
static void end_background(struct mur_exchange *x)
{
    size_t bytes = x->background.bytes, done;
    struct mur_view_segment rest;

    if (!bytes)
        return;
    mur_uring_wait(&x->background.op);
    x->background.bytes = 0;
    done = x->background.op.result > 0 ? (size_t)x->background.op.result : 0;
    rest = (struct mur_view_segment){x->background.offset + (MPI_Offset)done, bytes - done};
    if (done < bytes && mur_file_transfer(x->access->file, (char *)x->background.data + done, rest, true) < 0)
        note_failure(x, errno);
}

/* A pane that is one stretch; the buffers change places. False: it is to be written here. */
static bool write_in_background(struct mur_exchange *x, MPI_Offset start, size_t bytes)
{
    const struct mur_file *file = x->access->file;
    size_t from, to = 0, next, next_to;
    char *filled = x->buffer;

    if (mur_file_must_lock(file) || !mur_uring_is_there() || !mur_cover_next(x->words, bytes, &from, &to))
        return false;
    next_to = to;
    if (to - from < BACKGROUND_MIN || mur_cover_next(x->words, bytes, &next, &next_to))
        return false;
    if (!x->background.buffer && !(x->background.buffer = malloc((size_t)x->bytes)))
        return false;
    if (!mur_uring_start(&x->background.op, file->fd, true, filled + from, to - from, start + (MPI_Offset)from))
        return false;
    x->background.offset = start + (MPI_Offset)from;
    x->background.data = filled + from;
    x->background.bytes = to - from;
    x->buffer = x->background.buffer;
    x->background.buffer = filled;
    memset((void *)x->words, 0, (bytes + 63) / 64 * 8);
    return true;
}

static int serve_write(struct mur_exchange *x)
{
    struct mur_file *file = x->access->file;
    MPI_Offset start = pane_start(x, x->mine), end = pane_end(x, x->mine);
    bool has_any = false;

    for (int r = 0; r < x->ranks; r++) {
        if (!has_arrived(&x->in[r]))
            continue;
        cover_parcel(x, &x->in[r], 1);
        move_parcel(x, &x->in[r], x->in[r].data, true);
        has_any = true;
    }
    end_background(x);
    file->is_dirty |= has_any;
    if (has_any && write_in_background(x, start, (size_t)(end - start)))
        return 0;
    return has_any ? mur_cover_write(file, x->buffer, start, (size_t)(end - start), x->words) : 0;
}

/* The pane of the next round comes from the disk while this one's data are on their way. It is not read yet: the copy
 * would only take a core from the ranks where the file is in memory anyway. */
static void fetch_ahead(const struct mur_exchange *x)
{
    const struct mur_span *all = &x->access->all;
    MPI_Offset start = pane_start(x, x->mine) + x->bytes * x->aggregators;
    MPI_Offset bytes = all->end - start < x->bytes ? all->end - start : x->bytes;

    if (bytes > 0 && all->bytes * SPARSE >= all->end - all->first)
        x->access->file->driver->fetch(x->access->file->fd, (size_t)bytes, (off_t)start);
}

static int serve_read(struct mur_schedule *s, struct mur_exchange *x)
{
    MPI_Offset start = pane_start(x, x->mine), end = pane_end(x, x->mine), valid = end;
    int number;

    if (x->round == 0) /* those who have written what this rank reads for them have settled before they asked */
        settle_reads(x);
    for (int r = 0; r < x->ranks; r++)
        if (has_arrived(&x->in[r]))
            cover_parcel(x, &x->in[r], MUR_MARKED);
    number = end > start ? mur_cover_read(x->access->file, x->buffer, start, end, x->words, &valid) : 0;
    if (!number && valid == end)
        fetch_ahead(x);
    memset((void *)x->words, 0, (size_t)(x->bytes / MUR_MARKED + 64) / 64 * 8);
    for (int r = 0; r < x->ranks; r++) {
        struct parcel *parcel = &x->in[r];

        if (!parcel->amount.bytes)
            continue;
        if (parcel->is_dropped) { /* zeros say that the file ended at its beginning */
            x->byte = 0;
            mur_schedule_send(s, &x->byte, parcel->amount.bytes + ANSWER_HEAD, x->nothing, r);
            continue;
        }
        memcpy(parcel->data, &valid, ANSWER_HEAD);
        move_parcel(x, parcel, parcel->data + ANSWER_HEAD, false);
        mur_schedule_send(s, parcel->data, parcel->amount.bytes + ANSWER_HEAD, byte_type(), r);
    }
    return number;
}

static int serve(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;

    for (int r = 0; r < x->ranks && x->mine >= 0; r++)
        if (has_arrived(&x->in[r]) && !is_inside(x, &x->in[r]))
            return mur_error(MPI_ERR_INTERN, "rank %d asks for what is not in its pane of file '%s'", r,
                             x->access->file->name);
    for (int a = 0; a < x->aggregators && !x->access->is_write; a++)
        if (x->out[a].amount.bytes)
            mur_schedule_receive(s, x->out[a].data, x->out[a].amount.bytes + ANSWER_HEAD, byte_type(), rank_of(x, a));
    if (x->mine >= 0)
        note_failure(x, x->access->is_write ? serve_write(x) : serve_read(s, x));
    mur_schedule_fence(s);
    mur_schedule_call(s, take_answers, x);
    return MPI_SUCCESS;
}

/* Of an answer, what lies before the end of the file. */
static void take_answer(struct mur_exchange *x, int aggregator)
{
    struct mur_access *access = x->access;
    const struct parcel *parcel = &x->out[aggregator];
    size_t bytes = (size_t)parcel->amount.bytes;
    MPI_Offset valid, position;

    memcpy(&valid, parcel->data, ANSWER_HEAD);
    if (access->is_at_end)
        return;
    if (valid < pane_end(x, aggregator)) {
        position = mur_view_position(access->file, valid) - access->start - (MPI_Offset)access->moved;
        position = position > 0 ? position : 0;
        bytes = (size_t)position < bytes ? (size_t)position : bytes;
        access->is_at_end = true;
    }
    mur_cursor_unpack(&access->memory, parcel->data + ANSWER_HEAD, bytes);
    access->moved += bytes;
}

static int take_answers(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;

    for (int a = 0; a < x->aggregators && !x->access->is_write; a++)
        if (x->out[a].amount.bytes)
            take_answer(x, a);
    if (++x->round == x->rounds) {
        end_background(x);
        settle_writes(x);
        add_conclusion(s, x);
        return MPI_SUCCESS;
    }
    mur_schedule_fence(s);
    mur_schedule_call(s, begin_round, x);
    return MPI_SUCCESS;
}

/* ---- the beginning ---- */

static void free_parcels(struct parcel *parcels, int count)
{
    for (int i = 0; i < count && parcels; i++) {
        free(parcels[i].segments);
        free(parcels[i].data);
    }
    free(parcels);
}

static void free_memory(struct mur_exchange *x)
{
    end_background(x);
    free(x->background.buffer);
    x->background.buffer = NULL;
    free_parcels(x->out, x->aggregators);
    free_parcels(x->in, x->ranks);
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

/* Sets who the aggregators are and how large panes are; the memory of the access before is kept if it fits. */
static bool adapt(struct mur_exchange *x, MPI_Offset bytes)
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
        if (rank_of(x, a) == file->comm->rank)
            x->mine = a;
    if (allocate(x))
        return true;
    free_memory(x);
    return false;
}

/* From the hints, which may be others when the plan is made. */
static bool prepare(struct mur_exchange *x)
{
    const struct mur_hints *hints = &x->access->file->hints;
    long most = hints->cb_buffer_size < PANE_MAX ? hints->cb_buffer_size : PANE_MAX;
    MPI_Offset bytes = mur_stripes_pane(&hints->stripes, most);

    x->unit = mur_stripes_alignment(&hints->stripes, bytes);
    return adapt(x, bytes);
}

/* From the same spans, the same plan at all ranks. */
static void lay_out(struct mur_exchange *x)
{
    struct mur_access *access = x->access;
    MPI_Offset panes;

    access->origin = access->all.first - access->all.first % x->unit;
    panes = (access->all.end - access->origin + x->bytes - 1) / x->bytes;
    x->rounds = (uint64_t)((panes + x->aggregators - 1) / x->aggregators);
}

static int plan(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;
    struct mur_access *access = x->access;
    enum mur_plan chosen = mur_access_plan(access, x->spans, x->ranks);

    if (access->is_alone || chosen == MUR_PLAN_DIRECT) {
        while (!mur_access_step(access))
            ;
        note_failure(x, access->failed);
    }
    if (chosen == MUR_PLAN_NOTHING && !access->all.alone)
        return MPI_SUCCESS;
    if (chosen != MUR_PLAN_PANES) {
        add_conclusion(s, x);
        return MPI_SUCCESS;
    }
    lay_out(x);
    settle_writes(x);
    mur_schedule_fence(s);
    mur_schedule_call(s, begin_round, x);
    return MPI_SUCCESS;
}

/* NULL: no memory. */
static struct mur_exchange *create_exchange(int ranks)
{
    struct mur_exchange *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->ranks = ranks;
    x->spans = calloc((size_t)ranks, sizeof *x->spans);
    if (x->spans && !mur_type_create_resized(byte_type(), 0, 0, false, &x->nothing) && !mur_type_commit(x->nothing))
        return x;
    mur_exchange_free(x);
    return NULL;
}

int mur_exchange_provide(struct mur_file *file)
{
    file->exchange = create_exchange(file->comm->size);
    return file->exchange ? MPI_SUCCESS : no_memory(file);
}

/* The file's, unless an earlier access is under way with it. NULL: no memory. */
static struct mur_exchange *take_exchange(struct mur_access *access)
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

static struct mur_schedule *build(struct mur_access *access)
{
    struct mur_comm *comm = access->file->comm;
    struct mur_schedule *s = mur_file_schedule(comm);
    struct mur_exchange *x = take_exchange(access);
    struct mur_blocks blocks;

    access->exchange = x;
    if (s && !x)
        mur_schedule_fail(s, mur_collective_result(no_memory(access->file), comm->size));
    if (!s || !x)
        return s;
    if (!prepare(x) && !access->error)
        access->error = no_memory(access->file);
    x->spans[comm->rank] = mur_access_span(access);
    blocks = mur_blocks_regular(x->spans, sizeof *x->spans, byte_type());
    mur_coll_allgather(s, MPI_IN_PLACE, 0, NULL, &blocks);
    mur_schedule_fence(s);
    mur_schedule_call(s, plan, x);
    return s;
}

static void end(struct mur_access *access, int rc)
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

void mur_messages_run(struct mur_access *access)
{
    struct mur_schedule *s = build(access);

    end(access, mur_schedule_run(s));
}

static void is_over(struct mur_request *part)
{
    struct mur_access *access = part->owner->extra;

    end(access, part->result.error);
    mur_access_complete(access);
}

void mur_messages_start(struct mur_access *access)
{
    MPI_Request handle = MPI_REQUEST_NULL;
    int rc = mur_schedule_start(build(access), &handle);

    if (!rc) {
        mur_request_join(mur_request_find(handle), access->request, is_over);
        return;
    }
    end(access, rc);
    mur_access_complete(access);
}
