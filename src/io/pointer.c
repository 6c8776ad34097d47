/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/pointer.h"

#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "engine/engine.h"
#include "io/shared_state.h"
#include "io/file.h"
#include "object/look.h"

/* A question's and an answer's content. */
struct content {
    int64_t value;    /* to be added; what was there before */
    uint64_t address; /* of the asker's struct waiter */
};

struct waiter {
    volatile uint8_t is_complete;
    int64_t value;
    struct waiter *next;
};

static struct waiter *waiters; /* whose answers are believed; the engine's lock guards them */

static void send_frame(struct mur_peer *peer, int kind, const struct mur_file *file, struct content content)
{
    struct mur_frame frame = {
        .kind = (uint16_t)kind, .context = file->comm->context, .source = file->comm->rank, .bytes = sizeof content};

    mur_send_control(peer, &frame, &content);
}

/* At rank 0. It may wrap, like the atomic pointer of a shared file state; a rank that takes too much gives it back
 * (mur_pointer_take). */
static MPI_Offset advance(struct mur_file *file, MPI_Offset etypes)
{
    MPI_Offset before = file->shared_pointer;

    file->shared_pointer = (MPI_Offset)((uint64_t)before + (uint64_t)etypes);
    return before;
}

/* At rank 0. No rank asks about a file that is closed: a rank that asks waits for the answer. */
static void asked(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_file *file = mur_file_of_context(frame->context);
    struct content content;

    if (!file || frame->bytes != sizeof content)
        return;
    memcpy(&content, data, sizeof content);
    content.value = advance(file, content.value);
    send_frame(peer, MUR_FRAME_POINTER_IS, file, content);
}

static void answered(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct content content;
    struct waiter *waiter;

    if (frame->bytes != sizeof content)
        mur_frame_refuse(peer, frame);
    memcpy(&content, data, sizeof content);
    waiter = waiters;
    while (waiter && (uintptr_t)waiter != content.address)
        waiter = waiter->next;
    if (!waiter)
        mur_frame_refuse(peer, frame);
    waiter->value = content.value;
    waiter->is_complete = 1;
}

void mur_pointer_setup(void)
{
    mur_engine.handlers[MUR_FRAME_POINTER_ADD] = asked;
    mur_engine.handlers[MUR_FRAME_POINTER_IS] = answered;
}

static void forget(const struct waiter *waiter)
{
    struct waiter **link = &waiters;

    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
}

/* Rank 0 keeps it. */
static void describe_pointer(const void *what)
{
    const struct mur_file *file = what;
    struct mur_look_wait *wait = mur_look_add_comm(MUR_WAIT_FILE, file->comm);

    mur_rest_name(wait, file->name);
    mur_look_set_peer(wait, file->comm, 0);
}

int mur_pointer_add(struct mur_file *file, MPI_Offset etypes, MPI_Offset *before)
{
    struct waiter waiter = {0};

    if (file->shared) {
        *before = atomic_fetch_add(&file->shared->memory->pointer, etypes);
    } else if (file->comm->rank == 0) {
        *before = advance(file, etypes);
    } else {
        waiter.next = waiters;
        waiters = &waiter;
        send_frame(&mur_engine.peers[file->comm->processes[0]], MUR_FRAME_POINTER_ADD, file,
                   (struct content){etypes, (uintptr_t)&waiter});
        mur_wait_for(&waiter.is_complete, describe_pointer, file);
        forget(&waiter);
        *before = waiter.value;
    }
    return MPI_SUCCESS;
}

static int refuse(const struct mur_file *file, MPI_Offset place)
{
    return mur_error(MPI_ERR_ARG,
                     "the shared file pointer of file '%s' is %lld, from where on there is no place for it", file->name,
                     (long long)place);
}

int mur_pointer_take(struct mur_file *file, MPI_Offset etypes, MPI_Offset *start)
{
    MPI_Offset moved;
    int rc = mur_pointer_add(file, etypes, start);

    if (rc || mur_view_has_place(file, *start, etypes))
        return rc;
    mur_pointer_add(file, -etypes, &moved);
    return refuse(file, *start);
}

/* All have come before the pointer moves, and it has moved before any of them goes on. */
int mur_pointer_set(struct mur_file *file, MPI_Offset value)
{
    bool is_same;
    int rc = mur_file_compare(file, value, &is_same);

    if (rc)
        return rc;
    if (!is_same)
        return mur_error(MPI_ERR_NOT_SAME,
                         "the shared file pointer is to become %lld here, but must be given the same "
                         "place by all ranks",
                         (long long)value);
    if (file->comm->rank == 0) {
        file->shared_pointer = value;
        if (file->shared)
            atomic_store(&file->shared->memory->pointer, value);
    }
    return mur_file_agree(file, MPI_SUCCESS, "move the shared file pointer of");
}

/* Rank 0 knows how much all take, and moves the pointer once. */
int mur_pointer_take_ordered(struct mur_file *file, int rc, MPI_Offset etypes, MPI_Offset *start)
{
    struct mur_comm *comm = file->comm;
    struct mur_schedule *s = mur_file_schedule(comm);
    struct mur_type *type = mur_type_find(MPI_INT64_T);
    int64_t sum = etypes, mine = 0, told[2], failed = rc ? comm->rank : -1;
    MPI_Offset base = 0;
    int agreed;

    if (s)
        mur_coll_scan(s, &sum, &mine, 1, type, mur_op_find(MPI_SUM), true);
    if (s) {
        mur_schedule_fence(s);
        mur_coll_allreduce(s, MPI_IN_PLACE, &sum, 1, type, mur_op_find(MPI_SUM));
        mur_schedule_fence(s);
        mur_coll_allreduce(s, MPI_IN_PLACE, &failed, 1, type, mur_op_find(MPI_MAX));
    }
    agreed = mur_schedule_run(s);
    if (agreed)
        return rc ? rc : agreed;
    if (failed >= 0)
        return mur_file_hear(comm, (int)failed, rc, "access in order", file->name);
    if (comm->rank == 0)
        rc = mur_pointer_take(file, sum, &base);
    told[0] = base;
    told[1] = rc != MPI_SUCCESS;
    s = mur_file_schedule(comm);
    if (s)
        mur_coll_bcast(s, told, 2, type, 0);
    agreed = mur_schedule_run(s);
    if (rc || agreed)
        return rc ? rc : agreed;
    if (told[1])
        return refuse(file, told[0]);
    *start = told[0] + mine - etypes;
    return MPI_SUCCESS;
}
