/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations as messages, the side that asks.
 *
 * An operation is sent in pieces that stand alone: each names the stretches of target memory that it is for, so the
 * target needs to know nothing of datatypes and of other pieces. Of pieces that are answered only a few are under way
 * at a time; so whoever answers never has more than those few to keep. All operations to a rank go in the order in
 * which they were started. */
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/error.h"
#include "boot/process.h"
#include "datatype/basic.h"
#include "engine/engine.h"
#include "rma/rma.h"

enum { UNDER_WAY = 8, VECTORS = 64 };

struct operation {
    struct mur_object object; /* so that an answer is believed that names a live one only */
    struct operation *next;
    struct mur_rma_queue *queue;
    enum mur_rma_kind kind;
    bool is_answered; /* will be */
    struct mur_rma_leaf leaf;
    struct mur_rma_stream origin, target, result;
    size_t bytes, answered;
    char *dense; /* the origin's memory where the data go apart (bulk.c), which needs no streams; else NULL */
    uint64_t place;
    size_t moved;                /* of that; else the target stream's position counts */
    bool is_announced;           /* the next piece of that */
    int unsent;                  /* pieces of it that the transport still reads */
    struct mur_request *request; /* or NULL */
    int error;
    unsigned char swap[2][MUR_RMA_ELEMENT_MAX]; /* the values of a compare-and-swap */
};

struct mur_rma_queue {
    struct mur_backlog_entry entry;
    bool is_in_backlog;
    struct mur_win *win;
    int rank;
    struct operation *first, **last; /* to be sent, in order */
    int under_way;                   /* pieces that will be answered */
    long awaited; /* operations that have not been answered to the end, or whose data are still read */
};

static struct mur_pool operations = MUR_POOL(MUR_KIND_ACCESS, struct operation, "one-sided operations by message");

static struct operation *new_operation(void)
{
    struct operation *operation = mur_pool_get(&operations);

    if (operation)
        memset(&operation->object + 1, 0, sizeof *operation - sizeof operation->object);
    return operation;
}

/* Where pieces are put together; the engine's lock is held all the while. */
static unsigned char *scratch;
static size_t scratch_bytes;

static struct mur_peer *peer_of(const struct mur_rma_queue *queue)
{
    return &mur_engine.peers[queue->win->comm->processes[queue->rank]];
}

static void finish(struct operation *operation)
{
    if (operation->request) {
        operation->request->result.error = operation->error;
        mur_request_complete(operation->request);
    }
    mur_rma_stream_end(&operation->origin);
    mur_rma_stream_end(&operation->target);
    mur_rma_stream_end(&operation->result);
    mur_pool_put(&operations, operation);
}

/* ---- one piece ---- */

struct piece {
    struct mur_rma_run *runs;
    int count;
    size_t room;   /* left in the frame */
    size_t answer; /* bytes that the answer may still have */
    size_t bytes;
    bool brings; /* data, so that bytes count as runs do */
    size_t element;
};

static bool continues(const struct mur_rma_run *run, uint64_t place, size_t bytes)
{
    return run->bytes == bytes && run->count < UINT32_MAX &&
           (run->count == 1 || place == run->place + run->count * (uint64_t)run->stride);
}

static void count_bytes(struct piece *piece, size_t bytes)
{
    piece->bytes += bytes;
    piece->answer -= bytes;
    piece->room -= piece->brings ? bytes : 0;
}

/* How much of a stretch fits, beside `extra` bytes of description: whole elements. */
static size_t fitting(const struct piece *piece, size_t bytes, size_t extra)
{
    size_t most = piece->answer;

    if (piece->room < extra)
        return 0;
    if (piece->brings && piece->room - extra < most)
        most = piece->room - extra;
    return bytes <= most ? bytes : most / piece->element * piece->element;
}

/* False: the piece is full. */
static bool add_stretch(struct piece *piece, uint64_t place, size_t bytes)
{
    struct mur_rma_run *run = piece->count ? &piece->runs[piece->count - 1] : NULL;
    size_t fit;

    if (run && continues(run, place, bytes) && fitting(piece, bytes, 0) == bytes) {
        if (run->count == 1)
            run->stride = (int64_t)(place - run->place);
        run->count++;
        count_bytes(piece, bytes);
        return true;
    }
    fit = piece->count < UINT16_MAX ? fitting(piece, bytes, sizeof *run) : 0;
    if (!fit)
        return false;
    piece->runs[piece->count++] = (struct mur_rma_run){.place = place, .bytes = (uint32_t)fit, .count = 1};
    piece->room -= sizeof *run;
    count_bytes(piece, fit);
    return fit == bytes;
}

/* Describes what comes next of the target, as much as fits, and moves there. */
static void add_stretches(struct piece *piece, struct operation *operation)
{
    struct mur_rma_stream *target = &operation->target;
    size_t start = target->position, most = operation->bytes - start;
    struct iovec vectors[VECTORS];
    bool has_room = true;

    while (has_room && piece->bytes < most) {
        size_t left = most - piece->bytes;
        int count = mur_rma_stream_vectors(target, vectors, VECTORS, left < piece->answer ? left : piece->answer);

        has_room = count > 0;
        for (int i = 0; i < count && has_room; i++)
            has_room = add_stretch(piece, (uintptr_t)vectors[i].iov_base, vectors[i].iov_len);
    }
    mur_rma_stream_seek(target, start + piece->bytes);
}

static bool brings_data(const struct operation *operation)
{
    return operation->kind != MUR_RMA_GET && operation->leaf.reduction != MUR_REDUCE_NO_OP;
}

static void set_header(const struct operation *operation, const struct piece *piece)
{
    const struct mur_type *type = operation->leaf.type;
    struct mur_rma_access header = {.id = operation->is_answered ? (uintptr_t)operation : 0,
                                    .bytes = (uint32_t)piece->bytes,
                                    .runs = (uint16_t)piece->count,
                                    .kind = (uint8_t)operation->kind,
                                    .reduction = (uint8_t)operation->leaf.reduction};

    if (type && type->recipe.combiner == MPI_COMBINER_VALUE_INDEX) {
        header.value = (uint16_t)type->recipe.types[0]->basic;
        header.index = (uint16_t)type->recipe.types[1]->basic;
    } else if (type) {
        header.value = (uint16_t)type->basic;
    }
    memcpy(scratch, &header, sizeof header);
}

/* Writes the data behind the runs; returns how much. */
static size_t add_data(struct operation *operation, const struct piece *piece)
{
    unsigned char *data = (unsigned char *)&piece->runs[piece->count];

    if (operation->kind == MUR_RMA_SWAP) {
        memcpy(data, operation->swap[0], piece->bytes);
        memcpy(data + piece->bytes, operation->swap[1], piece->bytes);
        return 2 * piece->bytes;
    }
    return piece->brings ? mur_rma_stream_pack(&operation->origin, data, piece->bytes) : 0;
}

/* False: no room now, nothing has happened. */
static bool send_piece(struct operation *operation, bool is_resumed)
{
    struct mur_rma_queue *queue = operation->queue;
    struct mur_peer *peer = peer_of(queue);
    size_t most = peer->transport->frame_max, start = operation->target.position;
    struct piece piece = {.runs = (struct mur_rma_run *)(scratch + sizeof(struct mur_rma_access)),
                          .room = most - sizeof(struct mur_rma_access),
                          .answer = most - sizeof(struct mur_rma_answer),
                          .brings = brings_data(operation),
                          .element = operation->leaf.bytes ? operation->leaf.bytes : 1};
    struct mur_frame frame = {
        .kind = MUR_FRAME_ACCESS, .context = queue->win->comm->context, .source = queue->win->rank};
    size_t data;

    if (!is_resumed && peer->backlog)
        return false;
    add_stretches(&piece, operation);
    set_header(operation, &piece);
    data = add_data(operation, &piece);
    frame.bytes = (uint32_t)(sizeof(struct mur_rma_access) + (size_t)piece.count * sizeof *piece.runs + data);
    if (peer->transport->send(peer, &frame, scratch))
        return true;
    mur_rma_stream_seek(&operation->target, start);
    if (operation->origin.type)
        mur_rma_stream_seek(&operation->origin, start);
    return false;
}

/* ---- a piece whose data go apart ---- */

static void straight_sent(void *argument)
{
    struct operation *operation = argument;

    if (--operation->unsent || operation->moved < operation->bytes)
        return;
    operation->queue->awaited--;
    finish(operation);
}

static bool announce(struct operation *operation, uint32_t bytes)
{
    struct mur_rma_queue *queue = operation->queue;
    struct mur_peer *peer = peer_of(queue);
    struct {
        struct mur_rma_access header;
        struct mur_rma_run run;
    } access = {{.id = operation->is_answered ? (uintptr_t)operation : 0,
                 .bytes = bytes,
                 .runs = 1,
                 .kind = (uint8_t)operation->kind,
                 .is_apart = 1},
                {.place = operation->place + operation->moved, .bytes = bytes, .count = 1}};
    struct mur_frame frame = {.kind = MUR_FRAME_ACCESS,
                              .context = queue->win->comm->context,
                              .source = queue->win->rank,
                              .bytes = sizeof access};

    operation->is_announced = peer->transport->send(peer, &frame, &access);
    return operation->is_announced;
}

/* False: no room now; it may have been announced. */
static bool send_apart(struct operation *operation, bool is_resumed)
{
    struct mur_peer *peer = peer_of(operation->queue);
    size_t left = operation->bytes - operation->moved;
    uint32_t bytes = left < peer->transport->straight_max ? (uint32_t)left : peer->transport->straight_max;

    if ((!is_resumed && peer->backlog) || (!operation->is_announced && !announce(operation, bytes)))
        return false;
    if (!operation->is_answered) {
        if (!mur_rma_bulk_send(operation->queue->win, peer, operation->dense + operation->moved, bytes, straight_sent,
                               operation))
            return false;
        operation->unsent++;
    }
    operation->is_announced = false;
    operation->moved += bytes;
    return true;
}

/* ---- the queue ---- */

/* Sends what can be sent. False: there is no room. */
static bool pump(struct mur_rma_queue *queue, bool is_resumed)
{
    struct operation *operation;

    while ((operation = queue->first)) {
        if (operation->is_answered && queue->under_way == UNDER_WAY)
            return true; /* goes on with an answer */
        if (!(operation->dense ? send_apart : send_piece)(operation, is_resumed))
            return false;
        queue->under_way += operation->is_answered;
        if ((operation->dense ? operation->moved : operation->target.position) < operation->bytes)
            continue;
        queue->first = operation->next;
        if (!queue->first)
            queue->last = &queue->first;
        if (!operation->is_answered && !operation->dense)
            finish(operation);
    }
    return true;
}

static bool resume(struct mur_backlog_entry *entry)
{
    struct mur_rma_queue *queue = (struct mur_rma_queue *)entry;

    if (!pump(queue, true))
        return false;
    queue->is_in_backlog = false;
    return true;
}

static void go_on(struct mur_rma_queue *queue)
{
    if (queue->is_in_backlog || pump(queue, false))
        return;
    queue->is_in_backlog = true;
    mur_engine_backlog_add(peer_of(queue), &queue->entry);
}

bool mur_rma_is_on_its_way(const struct mur_win *win, int rank)
{
    const struct mur_rma_queue *queue = win->targets[rank].queue;

    return !queue || !queue->first;
}

bool mur_rma_has_left(const struct mur_win *win, int rank)
{
    const struct mur_rma_queue *queue = win->targets[rank].queue;

    return !queue || (!queue->first && !queue->awaited);
}

static struct mur_rma_queue *queue_of(struct mur_win *win, int rank)
{
    struct mur_win_target *target = &win->targets[rank];
    struct mur_rma_queue *queue = target->queue;
    size_t bytes;

    if (!queue) {
        queue = calloc(1, sizeof *queue);
        if (!queue)
            return NULL;
        queue->entry.resume = resume;
        queue->win = win;
        queue->rank = rank;
        queue->last = &queue->first;
        target->queue = queue;
    }
    bytes = peer_of(queue)->transport->frame_max;
    if (bytes > scratch_bytes) {
        unsigned char *larger = realloc(scratch, bytes);

        if (!larger)
            return NULL;
        scratch = larger;
        scratch_bytes = bytes;
    }
    return queue;
}

void mur_rma_queue_free(struct mur_rma_queue *queue)
{
    free(queue);
}

/* ---- starting ---- */

static const struct mur_request_kind request_kind = {.name = "a one-sided operation"};

/* Sets up an operation whose data go apart. False: they do not. */
static bool start_apart(struct operation *operation, const struct mur_rma_arguments *a)
{
    MPI_Count bytes;

    if ((operation->kind != MUR_RMA_PUT && operation->kind != MUR_RMA_GET) || !a->origin_type->is_dense ||
        !a->target_type->is_dense)
        return false;
    bytes = operation->kind == MUR_RMA_PUT ? a->origin_count * a->origin_type->size
                                           : a->target_count * a->target_type->size;
    if (!mur_rma_is_bulk(peer_of(operation->queue), (size_t)bytes))
        return false;
    operation->bytes = (size_t)bytes;
    operation->dense = (char *)(uintptr_t)a->origin;
    operation->place = a->place;
    return true;
}

static int start_streams(struct operation *operation, const struct mur_rma_arguments *a)
{
    const struct mur_rma_leaf *leaf = operation->leaf.type ? &operation->leaf : NULL;
    int rc =
        mur_rma_stream_start(&operation->target, (void *)(uintptr_t)a->place, a->target_count, a->target_type, leaf);

    if (operation->kind == MUR_RMA_SWAP) {
        memcpy(operation->swap[0], a->compare, operation->leaf.bytes);
        memcpy(operation->swap[1], a->origin, operation->leaf.bytes);
    } else if (!rc && brings_data(operation)) {
        rc = mur_rma_stream_start(&operation->origin, a->origin, a->origin_count, a->origin_type, leaf);
    }
    if (!rc && operation->kind == MUR_RMA_GET)
        rc = mur_rma_stream_start(&operation->result, a->origin, a->origin_count, a->origin_type, leaf);
    else if (!rc && operation->is_answered)
        rc = mur_rma_stream_start(&operation->result, a->result, a->result_count, a->result_type, leaf);
    operation->bytes = operation->origin.type ? operation->origin.bytes : operation->target.bytes;
    return rc;
}

static int prepare(struct operation *operation, const struct mur_rma_arguments *a, struct mur_request **request_p)
{
    int rc = mur_rma_touch(a->win, a->rank);

    if (!rc && !start_apart(operation, a))
        rc = start_streams(operation, a);
    if (rc || !request_p)
        return rc;
    operation->request = mur_request_create_composite(&request_kind, a->win->comm, NULL, 0, false);
    if (!operation->request)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a request");
    operation->request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    *request_p = operation->request;
    return MPI_SUCCESS;
}

int mur_rma_send(enum mur_rma_kind kind, struct mur_rma_arguments *a, const struct mur_rma_leaf *leaf,
                 struct mur_request **request_p)
{
    struct mur_rma_queue *queue = queue_of(a->win, a->rank);
    struct operation *operation = queue ? new_operation() : NULL;
    int rc;

    if (!operation)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a one-sided operation");
    mur_counters.rma_messages++;
    operation->queue = queue;
    operation->kind = kind;
    operation->is_answered = kind != MUR_RMA_PUT && kind != MUR_RMA_ACCUMULATE;
    operation->leaf = leaf ? *leaf : (struct mur_rma_leaf){0};
    rc = prepare(operation, a, request_p);
    if (rc) {
        operation->request = NULL;
        finish(operation);
        return rc;
    }
    if (!operation->bytes) { /* what would be answered, if nothing is asked for? */
        finish(operation);
        return MPI_SUCCESS;
    }
    queue->awaited += operation->is_answered || operation->dense;
    a->win->targets[a->rank].is_dirty |= !operation->is_answered;
    *queue->last = operation;
    queue->last = &operation->next;
    go_on(queue);
    return MPI_SUCCESS;
}

/* ---- answers ---- */

/* NULL: no operation of this process that the peer may answer so. */
static struct operation *find_answered(const struct mur_peer *peer, uint64_t id, uint32_t bytes)
{
    struct operation *operation = mur_object_find((void *)(uintptr_t)id, MUR_KIND_ACCESS);
    bool is_its = operation && peer_of(operation->queue) == peer;

    return is_its && bytes <= operation->bytes - operation->answered ? operation : NULL;
}

static void count_answer(struct operation *operation, uint32_t bytes)
{
    struct mur_rma_queue *queue = operation->queue;

    operation->answered += bytes;
    queue->under_way--;
    if (operation->answered == operation->bytes) {
        queue->awaited--;
        finish(operation);
    }
    go_on(queue);
}

void mur_rma_answered(struct mur_peer *peer, uint64_t id, uint32_t bytes)
{
    struct operation *operation = find_answered(peer, id, bytes);

    if (operation)
        count_answer(operation, bytes);
}

/* Takes what the answer brings. False: the data come apart. */
static bool take_answer(struct operation *operation, const struct mur_rma_answer *answer, const void *data)
{
    struct mur_rma_queue *queue = operation->queue;

    if (answer->error) {
        queue->win->targets[queue->rank].reported = (uint8_t)answer->error;
        operation->error =
            mur_error((int)answer->error, "rank %d has no such memory in its part of the window", queue->rank);
        if (!operation->dense)
            mur_rma_stream_seek(&operation->result, operation->result.position + answer->bytes);
    } else if (!answer->is_apart) {
        mur_rma_stream_unpack(&operation->result, data, answer->bytes);
    }
    return answer->error || !answer->is_apart;
}

static void answer_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_rma_answer answer;
    struct operation *operation;
    struct mur_rma_queue *queue;

    if (frame->bytes < sizeof answer)
        mur_frame_refuse(peer, frame);
    memcpy(&answer, data, sizeof answer);
    operation = find_answered(peer, answer.id, answer.bytes);
    if (!operation || (!answer.error && (bool)answer.is_apart != (bool)operation->dense) ||
        (!answer.error && !answer.is_apart && frame->bytes < sizeof answer + answer.bytes))
        mur_frame_refuse(peer, frame);
    queue = operation->queue;
    if (take_answer(operation, &answer, (const char *)data + sizeof answer))
        count_answer(operation, answer.bytes);
    else if (!mur_rma_bulk_expect(queue->win, queue->rank, MUR_BULK_ANSWER, operation->dense + operation->answered,
                                  answer.bytes, answer.id))
        mur_frame_refuse(peer, frame);
}

int mur_rma_setup(void)
{
    mur_engine.handlers[MUR_FRAME_ANSWER] = answer_arrived;
    mur_rma_serve_setup();
    mur_rma_bulk_setup();
    mur_rest_holds = mur_rma_describe_holds;
    return MPI_SUCCESS;
}
