/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-phase collective access by messages, for ranks that share no memory.
 *
 * The part of the file that the ranks want is cut into collective buffers, which some ranks (the aggregators, see
 * aggregators.c) serve in turns, one collective buffer each a round:
 *
 *   every rank tells each aggregator how much it has for its collective buffer, in how many stretches;
 *   then sends the list of the stretches, and writing, the data;
 *   the aggregator writes what came, or reads what is wanted and answers with the data. A full collective buffer is
 * written in the background, while the next one is filled in another buffer; and before it answers, the file system is
 * told which collective buffer it will read next.
 *
 * All of it is one schedule (coll/schedule/schedule.h) whose steps add those of the next round, so that the blocking
 * and the nonblocking form are the same. At the end all ranks learn whether an access to the file has failed.
 *
 * Memory. What does not depend on the data is allocated before a rank says what it wants, so that a rank which has none
 * can say so instead. Later each goes on whatever happens, since others wait for its messages: who has no room for
 * what it would send announces nothing; who has none for what comes receives it into a single byte. What is left are
 * the steps themselves, and a second access while the file's memory for one is in use: without memory for those the job
 * ends, as with collective operations, instead of leaving the others to wait. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "io/driver.h"
#include "io/exchange.h"
#include "object/comm.h"
#include "object/request.h"

enum {
    CB_MAX = 2 << 20,
    BACKGROUND_MIN = 256 << 10, /* bytes from which on it pays to let the kernel write meanwhile */
    SPARSE = 2                  /* nothing is fetched ahead where less than one half of the range is wanted */
};

static MPI_Offset cb_start(const struct mur_exchange *x, int aggregator)
{
    uint64_t cb = x->round * (uint64_t)x->aggregators + (uint64_t)aggregator;

    return x->access->plan.origin + (MPI_Offset)cb * x->bytes;
}

static MPI_Offset cb_end(const struct mur_exchange *x, int aggregator)
{
    MPI_Offset end = cb_start(x, aggregator) + x->bytes;

    return end < x->access->plan.all.end ? end : x->access->plan.all.end;
}

/* What this rank has written is there for others to see. */
static void settle_writes(struct mur_exchange *x)
{
    if (x->access->file->is_dirty && mur_file_settle(x->access->file))
        mur_exchange_note(x, errno);
}

/* What others have settled is there for this rank to see. */
static void settle_reads(struct mur_exchange *x)
{
    x->access->file->is_stale = true;
    if (mur_file_settle(x->access->file))
        mur_exchange_note(x, errno);
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
static int send_portions(struct mur_schedule *s, void *argument);
static int serve(struct mur_schedule *s, void *argument);
static int take_answers(struct mur_schedule *s, void *argument);

/* What this rank has for a collective buffer: from `done` bytes of its data on. Returns errno. */
static int make_portion(struct mur_exchange *x, int aggregator, size_t done)
{
    enum { SEGMENTS = 64 };
    const struct mur_access *access = x->access;
    struct mur_portion *portion = &x->out[aggregator];
    MPI_Offset position = mur_view_position(access->file, cb_end(x, aggregator)) - access->start;
    size_t end = position > 0 ? (size_t)position : 0, left;
    struct mur_cursor walk;

    end = end < access->memory.bytes ? end : access->memory.bytes;
    if (end <= done)
        return MPI_SUCCESS;
    mur_view_start(access->file, access->start + (MPI_Offset)done, &walk);
    for (left = end - done; left > 0;) {
        int64_t room = portion->amount.stretches + SEGMENTS;
        struct mur_view_segment *next;
        int count;

        if (!mur_exchange_portion_has_list(portion, room))
            return ENOMEM;
        next = portion->segments + portion->amount.stretches;
        count = mur_view_segments(&walk, next, SEGMENTS, left);
        for (int i = 0; i < count; i++)
            left -= next[i].bytes;
        portion->amount.stretches += count;
    }
    if (!mur_exchange_portion_has_data(portion, (int64_t)(end - done)))
        return ENOMEM;
    portion->amount.bytes = (int64_t)(end - done);
    return 0;
}

/* Collective buffers of a round follow each other in the file, and so does this rank's data. Without memory that ends
 * here. */
static void make_portions(struct mur_exchange *x)
{
    size_t done = x->access->moved;

    if (x->access->plan.is_at_end)
        done = x->access->memory.bytes;
    for (int a = 0; a < x->aggregators; a++) {
        int number;

        x->out[a].amount = (struct mur_amount){0};
        number = make_portion(x, a, done);
        if (number) {
            mur_exchange_note(x, number);
            x->out[a].amount = (struct mur_amount){0};
            x->access->plan.is_at_end = true;
            done = x->access->memory.bytes;
        }
        done += (size_t)x->out[a].amount.bytes;
    }
}

static int begin_round(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;

    make_portions(x);
    for (int r = 0; r < x->ranks && x->mine >= 0; r++)
        mur_schedule_receive(s, &x->in[r].amount, sizeof(struct mur_amount), mur_exchange_byte(), r);
    for (int a = 0; a < x->aggregators; a++)
        mur_schedule_send(s, &x->out[a].amount, sizeof(struct mur_amount), mur_exchange_byte(),
                          mur_exchange_rank(x, a));
    mur_schedule_fence(s);
    mur_schedule_call(s, send_portions, x);
    return MPI_SUCCESS;
}

static size_t list_bytes(const struct mur_portion *portion)
{
    return (size_t)portion->amount.stretches * sizeof(struct mur_view_segment);
}

static void receive_portion(struct mur_schedule *s, struct mur_exchange *x, int rank)
{
    struct mur_portion *portion = &x->in[rank];
    struct mur_type *type = mur_exchange_byte();
    void *segments, *data;

    portion->is_dropped = !mur_exchange_portion_has_list(portion, portion->amount.stretches) ||
                          !mur_exchange_portion_has_data(portion, portion->amount.bytes);
    segments = portion->segments;
    data = portion->data;
    if (portion->is_dropped) {
        mur_exchange_note(x, ENOMEM);
        type = x->nothing;
        segments = data = &x->byte;
    }
    mur_schedule_receive(s, segments, (MPI_Count)list_bytes(portion), type, rank);
    if (x->access->is_write)
        mur_schedule_receive(s, data, portion->amount.bytes, type, rank);
}

static int send_portions(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;
    struct mur_access *access = x->access;

    for (int r = 0; r < x->ranks && x->mine >= 0; r++)
        if (x->in[r].amount.bytes)
            receive_portion(s, x, r);
    for (int a = 0; a < x->aggregators; a++) {
        struct mur_portion *portion = &x->out[a];

        if (!portion->amount.bytes)
            continue;
        mur_schedule_send(s, portion->segments, (MPI_Count)list_bytes(portion), mur_exchange_byte(),
                          mur_exchange_rank(x, a));
        if (!access->is_write)
            continue;
        mur_cursor_pack(&access->memory, portion->data, (size_t)portion->amount.bytes);
        access->moved += (size_t)portion->amount.bytes;
        mur_schedule_send(s, portion->data, portion->amount.bytes, mur_exchange_byte(), mur_exchange_rank(x, a));
    }
    mur_schedule_fence(s);
    mur_schedule_call(s, serve, x);
    return MPI_SUCCESS;
}

static bool has_arrived(const struct mur_portion *portion)
{
    return portion->amount.bytes && !portion->is_dropped;
}

/* Copies between a portion's data and the collective buffer. */
static void move_portion(const struct mur_exchange *x, struct mur_portion *portion, char *data, bool into_cb)
{
    MPI_Offset start = cb_start(x, x->mine);

    for (int64_t i = 0; i < portion->amount.stretches; i++) {
        const struct mur_view_segment *segment = &portion->segments[i];
        char *place = x->buffer + (segment->offset - start);

        memcpy(into_cb ? place : data, into_cb ? data : place, segment->bytes);
        data += segment->bytes;
    }
}

/* Stretches come from another rank: none may lie outside of the collective buffer. */
static bool is_inside(const struct mur_exchange *x, const struct mur_portion *portion)
{
    MPI_Offset start = cb_start(x, x->mine), end = cb_end(x, x->mine);
    int64_t sum = 0;

    for (int64_t i = 0; i < portion->amount.stretches; i++) {
        const struct mur_view_segment *segment = &portion->segments[i];

        if (segment->offset < start || segment->offset > end || segment->bytes == 0 ||
            segment->bytes > (size_t)(end - segment->offset))
            return false;
        sum += (int64_t)segment->bytes;
    }
    return sum == portion->amount.bytes;
}

static void cover_portion(struct mur_exchange *x, const struct mur_portion *portion, size_t grain)
{
    for (int64_t i = 0; i < portion->amount.stretches; i++) {
        size_t from = (size_t)(portion->segments[i].offset - cb_start(x, x->mine));

        mur_bitmap_set(x->words, from / grain, (from + portion->segments[i].bytes - 1) / grain + 1);
    }
}

/* A collective buffer that is one stretch; the buffers change places. False: it is to be written here. */
static bool write_in_background(struct mur_exchange *x, MPI_Offset start, size_t bytes)
{
    struct mur_file *file = x->access->file;
    size_t from, to = 0, next, next_to;
    char *filled = x->buffer;

    if (!mur_async_is_there(file, true) || !mur_bitmap_next(x->words, bytes, &from, &to))
        return false;
    next_to = to;
    if (to - from < BACKGROUND_MIN || mur_bitmap_next(x->words, bytes, &next, &next_to))
        return false;
    if (!x->other && !(x->other = malloc((size_t)x->bytes)))
        return false;
    if (!mur_async_start(&x->background, file, true, filled + from, to - from, start + (MPI_Offset)from))
        return false;
    x->buffer = x->other;
    x->other = filled;
    memset((void *)x->words, 0, (bytes + 63) / 64 * 8);
    return true;
}

static int serve_write(struct mur_exchange *x)
{
    struct mur_file *file = x->access->file;
    MPI_Offset start = cb_start(x, x->mine), end = cb_end(x, x->mine);
    bool has_any = false;

    for (int r = 0; r < x->ranks; r++) {
        if (!has_arrived(&x->in[r]))
            continue;
        cover_portion(x, &x->in[r], 1);
        move_portion(x, &x->in[r], x->in[r].data, true);
        has_any = true;
    }
    mur_exchange_end_background(x);
    file->is_dirty |= has_any;
    if (has_any && write_in_background(x, start, (size_t)(end - start)))
        return 0;
    return has_any ? mur_bitmap_write(file, x->buffer, start, (size_t)(end - start), x->words) : 0;
}

/* The collective buffer of the next round comes from the disk while this one's data are on their way. It is not read
 * yet: the copy would only take a core from the ranks where the file is in memory anyway. */
static void fetch_ahead(const struct mur_exchange *x)
{
    const struct mur_span *all = &x->access->plan.all;
    MPI_Offset start = cb_start(x, x->mine) + x->bytes * x->aggregators;
    MPI_Offset bytes = all->end - start < x->bytes ? all->end - start : x->bytes;

    if (bytes > 0 && all->bytes * SPARSE >= all->end - all->first)
        x->access->file->driver->fetch(x->access->file->fd, (size_t)bytes, (off_t)start);
}

static int serve_read(struct mur_schedule *s, struct mur_exchange *x)
{
    MPI_Offset start = cb_start(x, x->mine), end = cb_end(x, x->mine), valid = end;
    int number;

    if (x->round == 0) /* those who have written what this rank reads for them have settled before they asked */
        settle_reads(x);
    for (int r = 0; r < x->ranks; r++)
        if (has_arrived(&x->in[r]))
            cover_portion(x, &x->in[r], MUR_MARKED);
    number = end > start ? mur_bitmap_read(x->access->file, x->buffer, start, end, x->words, &valid) : 0;
    if (!number && valid == end)
        fetch_ahead(x);
    memset((void *)x->words, 0, (size_t)(x->bytes / MUR_MARKED + 64) / 64 * 8);
    for (int r = 0; r < x->ranks; r++) {
        struct mur_portion *portion = &x->in[r];

        if (!portion->amount.bytes)
            continue;
        if (portion->is_dropped) { /* zeros say that the file ended at its beginning */
            x->byte = 0;
            mur_schedule_send(s, &x->byte, portion->amount.bytes + MUR_ANSWER_HEAD, x->nothing, r);
            continue;
        }
        memcpy(portion->data, &valid, MUR_ANSWER_HEAD);
        move_portion(x, portion, portion->data + MUR_ANSWER_HEAD, false);
        mur_schedule_send(s, portion->data, portion->amount.bytes + MUR_ANSWER_HEAD, mur_exchange_byte(), r);
    }
    return number;
}

static int serve(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;

    for (int r = 0; r < x->ranks && x->mine >= 0; r++)
        if (has_arrived(&x->in[r]) && !is_inside(x, &x->in[r]))
            return mur_error(MPI_ERR_INTERN, "rank %d asks for what is not in its collective buffer of file '%s'", r,
                             x->access->file->name);
    for (int a = 0; a < x->aggregators && !x->access->is_write; a++)
        if (x->out[a].amount.bytes)
            mur_schedule_receive(s, x->out[a].data, x->out[a].amount.bytes + MUR_ANSWER_HEAD, mur_exchange_byte(),
                                 mur_exchange_rank(x, a));
    if (x->mine >= 0)
        mur_exchange_note(x, x->access->is_write ? serve_write(x) : serve_read(s, x));
    mur_schedule_fence(s);
    mur_schedule_call(s, take_answers, x);
    return MPI_SUCCESS;
}

/* Of an answer, what lies before the end of the file. */
static void take_answer(struct mur_exchange *x, int aggregator)
{
    struct mur_access *access = x->access;
    const struct mur_portion *portion = &x->out[aggregator];
    size_t bytes = (size_t)portion->amount.bytes;
    MPI_Offset valid, position;

    memcpy(&valid, portion->data, MUR_ANSWER_HEAD);
    if (access->plan.is_at_end)
        return;
    if (valid < cb_end(x, aggregator)) {
        position = mur_view_position(access->file, valid) - access->start - (MPI_Offset)access->moved;
        position = position > 0 ? position : 0;
        bytes = (size_t)position < bytes ? (size_t)position : bytes;
        access->plan.is_at_end = true;
    }
    mur_cursor_unpack(&access->memory, portion->data + MUR_ANSWER_HEAD, bytes);
    access->moved += bytes;
}

static int take_answers(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;

    for (int a = 0; a < x->aggregators && !x->access->is_write; a++)
        if (x->out[a].amount.bytes)
            take_answer(x, a);
    if (++x->round == x->rounds) {
        mur_exchange_end_background(x);
        settle_writes(x);
        add_conclusion(s, x);
        return MPI_SUCCESS;
    }
    mur_schedule_fence(s);
    mur_schedule_call(s, begin_round, x);
    return MPI_SUCCESS;
}

/* ---- the beginning ---- */

/* From the hints, which may be others when the plan is made. */
static bool prepare(struct mur_exchange *x)
{
    const struct mur_hints *hints = &x->access->file->hints;
    long most = hints->cb_buffer_size < CB_MAX ? hints->cb_buffer_size : CB_MAX;
    MPI_Offset bytes = mur_stripes_cb(&hints->stripes, most);

    x->unit = mur_stripes_alignment(&hints->stripes, bytes);
    return mur_exchange_adapt(x, bytes);
}

/* From the same spans, the same plan at all ranks. */
static void lay_out(struct mur_exchange *x)
{
    struct mur_access *access = x->access;
    MPI_Offset cbs;

    access->plan.origin = access->plan.all.first - access->plan.all.first % x->unit;
    cbs = (access->plan.all.end - access->plan.origin + x->bytes - 1) / x->bytes;
    x->rounds = (uint64_t)((cbs + x->aggregators - 1) / x->aggregators);
}

static int plan(struct mur_schedule *s, void *argument)
{
    struct mur_exchange *x = argument;
    struct mur_access *access = x->access;
    enum mur_plan chosen = mur_access_plan(access, x->spans, x->ranks);

    if (access->plan.is_alone || chosen == MUR_PLAN_DIRECT) {
        while (!mur_independent_step(access))
            ;
        mur_exchange_note(x, access->failed);
    }
    if (chosen == MUR_PLAN_NOTHING && !access->plan.all.alone)
        return MPI_SUCCESS;
    if (chosen != MUR_PLAN_CBS) {
        add_conclusion(s, x);
        return MPI_SUCCESS;
    }
    lay_out(x);
    settle_writes(x);
    mur_schedule_fence(s);
    mur_schedule_call(s, begin_round, x);
    return MPI_SUCCESS;
}

static struct mur_schedule *build(struct mur_access *access)
{
    struct mur_comm *comm = access->file->comm;
    struct mur_schedule *s = mur_file_schedule(comm);
    struct mur_exchange *x = mur_exchange_take(access);
    struct mur_blocks blocks;

    access->exchange = x;
    if (s && !x)
        mur_schedule_fail(s, mur_collective_result(mur_exchange_no_memory(access->file), comm->size));
    if (!s || !x)
        return s;
    if (!prepare(x) && !access->error)
        access->error = mur_exchange_no_memory(access->file);
    x->spans[comm->rank] = mur_access_span(access);
    blocks = mur_blocks_regular(x->spans, sizeof *x->spans, mur_exchange_byte());
    mur_coll_allgather(s, MPI_IN_PLACE, 0, NULL, &blocks);
    mur_schedule_fence(s);
    mur_schedule_call(s, plan, x);
    return s;
}

void mur_two_phase_messages_run(struct mur_access *access)
{
    struct mur_schedule *s = build(access);

    mur_exchange_leave(access, mur_schedule_run(s));
}

static void is_over(struct mur_request *part)
{
    struct mur_access *access = part->owner->extra;

    mur_exchange_leave(access, part->result.error);
    mur_access_complete(access);
}

void mur_two_phase_messages_start(struct mur_access *access)
{
    MPI_Request handle = MPI_REQUEST_NULL;
    int rc = mur_schedule_start(build(access), &handle);

    if (!rc) {
        mur_request_join(mur_request_find(handle), access->request, is_over);
        return;
    }
    mur_exchange_leave(access, rc);
    mur_access_complete(access);
}
