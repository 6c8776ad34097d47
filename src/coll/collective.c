/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting collectives: the rules that all forms share, and the choice of what performs them. */
#include "coll/collective.h"

#include "base/counters.h"
#include "base/error.h"
#include "base/events.h"
#include "base/settings.h"
#include "coll/board/run.h"
#include "coll/buffers.h"
#include "coll/choose.h"
#include "coll/verify.h"
#include "object/buffer.h"
#include "object/look.h"

/* One of the two buffers is of the root alone. */
static bool has_root_buffer(const struct mur_collective *c)
{
    return c->kind == MUR_GATHER || c->kind == MUR_SCATTER || c->kind == MUR_REDUCE;
}

/* Where MPI_IN_PLACE must not be: between two groups, and where the other end of a rooted operation is meant. */
static int check_in_place(const struct mur_collective *c, const struct mur_comm *comm)
{
    const void *buffer = c->kind == MUR_SCATTER ? c->to.buffer : c->from.buffer;

    if (buffer != MPI_IN_PLACE || (!comm->remote && (!has_root_buffer(c) || comm->rank == c->root)))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_BUFFER, comm->remote ? "MPI_IN_PLACE cannot be used with an intercommunicator"
                                                  : "MPI_IN_PLACE can be used at the root only");
}

/* Operations that read all of one buffer for what they write to the other: the two must not be the same. Derived types
 * may keep them apart though they begin at one address. A block that is where it will be gathered does no harm. */
static bool is_aliased(const struct mur_collective *c)
{
    bool reads_all = c->op || c->kind == MUR_ALLTOALL;

    return reads_all && c->from.buffer == c->to.buffer && c->to.buffer && !c->is_irregular && c->from.count > 0 &&
           c->from.type && c->from.type->is_dense;
}

/* Data goes to one buffer (of a scatter: comes from it) whatever MPI_IN_PLACE says of the other. */
static int check_buffers(const struct mur_collective *c, const struct mur_comm *comm)
{
    const void *buffer = c->kind == MUR_SCATTER ? c->from.buffer : c->to.buffer;

    if (has_root_buffer(c) && c->root != (comm->remote ? MPI_ROOT : comm->rank))
        return MPI_SUCCESS;
    if (buffer == MPI_IN_PLACE)
        return mur_error(MPI_ERR_BUFFER, "MPI_IN_PLACE cannot be the %s buffer here",
                         c->kind == MUR_SCATTER ? "send" : "receive");
    if (is_aliased(c))
        return mur_error(MPI_ERR_BUFFER, "the send and the receive buffer are the same memory; pass MPI_IN_PLACE for "
                                         "the send buffer instead");
    return MPI_SUCCESS;
}

static int check(const struct mur_collective *c, const struct mur_comm *comm)
{
    int rc = check_in_place(c, comm);

    if (rc || (rc = check_buffers(c, comm)))
        return rc;
    if (__builtin_expect((c->from.count | c->to.count) >> 31, 0) && (rc = mur_collective_check_sizes(c)))
        return rc;
    if (!(mur_is_memory(c->from.buffer) && mur_is_memory(c->to.buffer)) && (rc = mur_collective_check_buffers(c, comm)))
        return rc;
    if (comm->remote && (c->kind == MUR_SCAN || c->kind == MUR_EXSCAN))
        return mur_error(MPI_ERR_COMM, "comm is an intercommunicator, for which there is no %s",
                         mur_collective_name(c->kind));
    return c->op ? mur_op_check(c->op, c->from.type) : MPI_SUCCESS;
}

static void build(struct mur_schedule *s, const struct mur_collective *c, const struct mur_algorithm *algorithm,
                  const char *why)
{
    if (!algorithm) {
        mur_schedule_no_memory(s);
        return;
    }
    mur_counters.schedules++;
    mur_algorithm_uses[algorithm - mur_algorithms]++;
    if (__builtin_expect(mur_settings.coll_verbose, 0) && s->owner->rank == 0)
        mur_choose_tell(c, s->comm, algorithm->name, why);
    algorithm->build(s, c);
}

void mur_collective_build(struct mur_schedule *s, const struct mur_collective *c)
{
    const char *why;
    const struct mur_algorithm *algorithm = mur_choose_by_messages(c, s->comm, &why);

    build(s, c, algorithm, why);
}

int mur_collective_setup(void)
{
    struct mur_comm *world = &mur_comm_world;

    mur_comm_close_board = mur_board_close;
    mur_look_performers[0] = mur_board_describe;
    mur_look_performers[1] = mur_schedule_describe;
    if (world->size < 2 || !mur_engine.common)
        return MPI_SUCCESS;
    world->board = mur_board_open_common(mur_engine.common, world->rank, world->size, world->processes);
    return world->board ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for the world's collectives");
}

/* On the board; *is_done says whether there was one, which a persistent operation needs for itself. */
static int start_on_board(const struct mur_algorithm *algorithm, const struct mur_collective *c, struct mur_comm *comm,
                          enum mur_form form, MPI_Request *request, bool *is_done)
{
    int rc;

    *is_done = true;
    if (form == MUR_BLOCKING)
        return mur_board_run(algorithm, c, comm);
    if (form == MUR_NONBLOCKING)
        return mur_board_start(algorithm, c, comm, request);
    *request = MPI_REQUEST_NULL;
    rc = mur_board_keep(algorithm, c, comm, request);
    *is_done = rc || *request != MPI_REQUEST_NULL;
    return rc;
}

int mur_collective(const struct mur_collective *c, struct mur_comm *comm, enum mur_form form, MPI_Request *request)
{
    const struct mur_algorithm *algorithm;
    struct mur_schedule *s;
    const char *why;
    bool is_done;
    int rc = check(c, comm);

    if (rc)
        return rc;
    mur_counters.collectives[c->kind]++;
    comm->collectives++;
    mur_event(MUR_EVENT_COLLECTIVE, comm, &(struct mur_event_collective){.kind = (int)c->kind, .form = (int)form});
    algorithm = mur_choose(c, comm, &why);
    if (algorithm && algorithm->advance) {
        rc = start_on_board(algorithm, c, comm, form, request, &is_done);
        if (is_done)
            return rc;
        algorithm = mur_choose_by_messages(c, comm, &why);
    }
    s = form == MUR_NONBLOCKING ? mur_schedule_create_nonblocking(comm) : mur_schedule_create_strict(comm);
    if (!s)
        return mur_collective_no_memory(comm);
    if (__builtin_expect(mur_settings.coll_check, 0))
        mur_verify_add(s, c, form);
    build(s, c, algorithm, why);
    if (form == MUR_BLOCKING)
        return mur_schedule_run(s);
    return form == MUR_NONBLOCKING ? mur_schedule_start(s, request) : mur_schedule_keep(s, request);
}
