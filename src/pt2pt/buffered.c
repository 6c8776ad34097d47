/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends. A buffer holds segments in the order of their addresses, each a header and packed data; a new message
 * goes into the first gap that is large enough. A segment is freed when its message has left. Segments carry numbers,
 * so that a flush knows which were there before it.
 *
 * Detaching takes the buffer out of its place at once, so that no other thread finds it any more, and frees it when its
 * messages have left and the threads that found it before are through. */
#include "pt2pt/buffered.h"

#include <stdalign.h>
#include <stdlib.h>

#include "base/error.h"
#include "datatype/layout.h"
#include "engine/lock.h"
#include "object/buffer.h"
#include "object/comm.h"
#include "object/look.h"
#include "object/session.h"
#include "pt2pt/pt2pt.h"

struct segment {
    struct segment *next;
    size_t bytes; /* header included, rounded up */
    uint64_t number;
    struct mur_send_buffer *buffer;
    alignas(16) char data[];
};
_Static_assert(sizeof(struct segment) + 64 <= MPI_BSEND_OVERHEAD, "users count on the overhead of the ABI");

struct mur_send_buffer {
    void *user; /* as attached: MPI_BUFFER_AUTOMATIC, or the memory */
    MPI_Count user_bytes;
    char *start; /* of the aligned part; NULL where automatic */
    size_t bytes;
    struct segment *segments; /* by address; any order where automatic */
    uint64_t next_number;
    struct mur_request *flushes; /* linked by `owner`, each waits for the numbers below its own */
    int users;                   /* threads that look at it between passes of progress */
};

static struct mur_send_buffer *process_buffer;

struct mur_send_buffer **mur_send_buffer_of(struct mur_comm *comm)
{
    return comm ? &comm->send_buffer : &process_buffer;
}

/* The communicator's own, else its session's, else the process's (MPI-5.0 §3.6). */
static struct mur_send_buffer *buffer_for(const struct mur_comm *comm)
{
    if (comm->send_buffer)
        return comm->send_buffer;
    return comm->session && comm->session->send_buffer ? comm->session->send_buffer : process_buffer;
}

int mur_send_buffer_attach(struct mur_send_buffer **place, void *address, MPI_Count bytes)
{
    bool is_automatic = address == MPI_BUFFER_AUTOMATIC;
    struct mur_send_buffer *buffer;
    size_t skip = -(uintptr_t)address % alignof(struct segment);
    int rc;

    if (*place)
        return mur_error(MPI_ERR_BUFFER, "a buffer is attached already; detach it first");
    rc = is_automatic ? MPI_SUCCESS : mur_buffer_check("buffer", address, bytes, NULL);
    if (rc)
        return rc;
    buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return mur_error(MPI_ERR_NO_MEM, "no memory to attach a buffer");
    buffer->user = address;
    buffer->user_bytes = bytes;
    if (!is_automatic) {
        buffer->start = (char *)address + skip;
        buffer->bytes = (size_t)bytes > skip ? (size_t)bytes - skip : 0;
    }
    *place = buffer;
    return MPI_SUCCESS;
}

/* Room for a segment, in the first gap that fits. */
static struct segment *segment_new(struct mur_send_buffer *buffer, size_t data_bytes)
{
    size_t bytes = (sizeof(struct segment) + data_bytes + alignof(struct segment) - 1) & -alignof(struct segment);
    struct segment **link = &buffer->segments, *segment;
    char *gap = buffer->start;

    if (!buffer->start) {
        segment = malloc(bytes);
        if (!segment)
            return NULL;
    } else {
        while (*link && (size_t)((char *)*link - gap) < bytes) {
            gap = (char *)*link + (*link)->bytes;
            link = &(*link)->next;
        }
        if (!*link && (size_t)(buffer->start + buffer->bytes - gap) < bytes)
            return NULL;
        segment = (struct segment *)gap;
    }
    *segment = (struct segment){.next = *link, .bytes = bytes, .number = buffer->next_number++, .buffer = buffer};
    *link = segment;
    return segment;
}

/* A thread that detaches the buffer may wait for that. */
static void stop_using(struct mur_send_buffer *buffer)
{
    if (--buffer->users == 0)
        mur_engine_notify();
}

/* Messages that have been received by now, but not heard of, make room. */
static struct segment *segment_find_room(struct mur_send_buffer *buffer, size_t data_bytes)
{
    struct segment *segment = segment_new(buffer, data_bytes);

    if (segment)
        return segment;
    buffer->users++;
    while (!segment && buffer->segments && mur_progress())
        segment = segment_new(buffer, data_bytes);
    stop_using(buffer);
    return segment;
}

/* Completes the flushes that waited for what has left by now. */
static void complete_flushes(struct mur_send_buffer *buffer)
{
    uint64_t lowest = buffer->next_number;
    struct mur_request **link = &buffer->flushes;

    for (const struct segment *segment = buffer->segments; segment; segment = segment->next)
        lowest = segment->number < lowest ? segment->number : lowest;
    while (*link) {
        struct mur_request *flush = *link;

        if (*(const uint64_t *)flush->extra > lowest) {
            link = &flush->owner;
            continue;
        }
        *link = flush->owner;
        mur_request_complete(flush);
    }
}

static void segment_free(struct segment *segment)
{
    struct mur_send_buffer *buffer = segment->buffer;
    struct segment **link = &buffer->segments;

    while (*link != segment)
        link = &(*link)->next;
    *link = segment->next;
    if (!buffer->start)
        free(segment);
    if (buffer->flushes)
        complete_flushes(buffer);
}

static void message_left(struct mur_request *part)
{
    segment_free((struct segment *)(void *)part->owner);
}

int mur_ibsend(const void *data, MPI_Count count, struct mur_type *type, int dest, int tag, struct mur_comm *comm,
               struct mur_request **request_p)
{
    struct mur_send_buffer *buffer = buffer_for(comm);
    struct mur_request *part;
    struct mur_cursor cursor;
    struct segment *segment;
    int rc;

    *request_p = mur_request_finished;
    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    mur_cursor_start(&cursor, data, count, type);
    segment = buffer ? segment_find_room(buffer, cursor.bytes) : NULL;
    if (!segment)
        return mur_error(MPI_ERR_BUFFER,
                         buffer ? "the attached buffer has no room for a message of %zu bytes; it must "
                                  "hold all messages that are under way, with MPI_BSEND_OVERHEAD each"
                                : "no buffer is attached for a message of %zu bytes",
                         cursor.bytes);
    mur_cursor_pack(&cursor, segment->data, cursor.bytes);
    rc = mur_isend(segment->data, (MPI_Count)cursor.bytes, mur_type_find(MPI_BYTE), dest, tag, comm, comm->context,
                   MUR_STANDARD, &part);
    if (rc) {
        segment_free(segment);
        return rc;
    }
    mur_request_join(part, (struct mur_request *)(void *)segment, message_left);
    return MPI_SUCCESS;
}

static bool has_older(const struct mur_send_buffer *buffer, uint64_t number)
{
    const struct segment *segment = buffer->segments;

    while (segment && segment->number >= number)
        segment = segment->next;
    return segment != NULL;
}

/* The messages that still lie in the buffer. */
static void describe_segments(const void *what)
{
    const struct mur_send_buffer *buffer = what;

    for (const struct mur_request *request = mur_pool_next(&mur_request_pool, NULL); request;
         request = mur_pool_next(&mur_request_pool, request))
        for (const struct segment *segment = buffer->segments; segment && request->on_complete == message_left;
             segment = segment->next)
            if ((const void *)request->owner == segment && !request->is_complete)
                mur_describe_request(request);
}

static void pass(struct mur_waiter *waiter, const struct mur_send_buffer *buffer)
{
    if (mur_progress())
        mur_waiter_moved(waiter);
    else
        mur_waiter_idle(waiter, describe_segments, buffer);
}

void mur_send_buffer_flush(struct mur_send_buffer *buffer)
{
    struct mur_waiter waiter = {0};
    uint64_t number;

    if (!buffer)
        return;
    number = buffer->next_number;
    buffer->users++;
    while (has_older(buffer, number))
        pass(&waiter, buffer);
    stop_using(buffer);
}

void mur_send_buffer_detach(struct mur_send_buffer **place, void **address, MPI_Count *bytes)
{
    struct mur_send_buffer *buffer = *place;
    struct mur_waiter waiter = {0};

    *place = NULL;
    *address = buffer ? buffer->user : NULL;
    *bytes = buffer ? buffer->user_bytes : 0;
    while (buffer && (buffer->segments || buffer->users))
        pass(&waiter, buffer);
    free(buffer);
}

static const struct mur_request_kind flush_kind = {.name = "a flush of a buffer"};

int mur_send_buffer_iflush(struct mur_send_buffer *buffer, struct mur_request **request_p)
{
    struct mur_request *request =
        mur_request_create_composite(&flush_kind, &mur_comm_self, NULL, sizeof(uint64_t), false);

    if (!request)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a request");
    request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    *request_p = request;
    if (!buffer) {
        mur_request_complete(request);
        return MPI_SUCCESS;
    }
    *(uint64_t *)request->extra = buffer->next_number;
    request->owner = buffer->flushes;
    buffer->flushes = request;
    complete_flushes(buffer);
    return MPI_SUCCESS;
}
