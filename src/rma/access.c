/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get: where the target's memory is, and moving data there and back. */
#include "base/copy.h"
#include "base/counters.h"
#include "base/error.h"
#include "datatype/layout.h"
#include "engine/engine.h"
#include "node/node.h"
#include "rma/way.h"

enum { VECTORS = 64 };
static const size_t MOST = (size_t)1 << 30; /* bytes that the system takes at a time */

/* ---- where ---- */

static int no_rank(const struct mur_win *win, int rank)
{
    return mur_error(MPI_ERR_RANK, "target_rank is %d, but must be a rank of the window (0 to %d) or MPI_PROC_NULL",
                     rank, win->size - 1);
}

static int out_of_range(const struct mur_rma_arguments *a, MPI_Count low, MPI_Count high)
{
    const struct mur_win_target *target = &a->win->targets[a->rank];

    if (a->win->is_dynamic)
        return mur_error(MPI_ERR_RMA_RANGE,
                         "the operation reaches from %p to %p at rank %d, where not all of it is "
                         "attached to the window",
                         (void *)(uintptr_t)low, (void *)(uintptr_t)high, a->rank);
    return mur_error(MPI_ERR_RMA_RANGE,
                     "the operation reaches from byte %lld to byte %lld of the window's part of rank %d, which has "
                     "%lld bytes (target_disp %lld, in units of %lld bytes)",
                     (long long)low, (long long)high, a->rank, (long long)target->size, (long long)a->displacement,
                     (long long)target->unit);
}

/* Every single run of a type may be attached though the gaps between them are not. */
static bool are_runs_attached(const struct mur_rma_arguments *a)
{
    struct mur_cursor cursor;
    struct iovec vectors[VECTORS];
    int count;

    mur_cursor_start(&cursor, (void *)(uintptr_t)a->place, a->target_count, a->target_type);
    while ((count = mur_cursor_vectors(&cursor, vectors, VECTORS, cursor.bytes)) > 0)
        for (int i = 0; i < count; i++)
            if (!mur_rma_is_attached(a->win, a->rank, (uintptr_t)vectors[i].iov_base, vectors[i].iov_len))
                return false;
    return true;
}

/* Any type: the bounds of its data. */
static int check_bounds(const struct mur_rma_arguments *a)
{
    const struct mur_type *type = a->target_type;
    MPI_Count low, high, span;

    if (!a->target_count || !type->size)
        return MPI_SUCCESS;
    if (__builtin_mul_overflow(a->target_count - 1, type->extent, &span) ||
        __builtin_add_overflow((MPI_Count)a->place, type->true_lb + (span < 0 ? span : 0), &low) ||
        __builtin_add_overflow((MPI_Count)a->place, type->true_lb + type->true_extent + (span > 0 ? span : 0), &high))
        return out_of_range(a, (MPI_Count)a->place, INT64_MAX);
    if (a->win->is_dynamic) {
        if (mur_rma_is_attached(a->win, a->rank, (uint64_t)low, (uint64_t)(high - low)) ||
            (!type->is_dense && are_runs_attached(a)))
            return MPI_SUCCESS;
    } else if (low >= 0 && high <= a->win->targets[a->rank].size) {
        return MPI_SUCCESS;
    }
    return out_of_range(a, low, high);
}

static int find_place(struct mur_rma_arguments *a)
{
    const struct mur_win_target *target = &a->win->targets[a->rank];
    MPI_Count place;

    if (a->displacement < 0 && !a->win->is_dynamic)
        return mur_error(MPI_ERR_DISP, "target_disp is %lld, but must be 0 or more", (long long)a->displacement);
    if (__builtin_mul_overflow((MPI_Count)a->displacement, (MPI_Count)target->unit, &place))
        return mur_error(MPI_ERR_RMA_RANGE, "target_disp is %lld, in units of %lld bytes: more than any memory has",
                         (long long)a->displacement, (long long)target->unit);
    a->place = (uint64_t)place;
    return check_bounds(a);
}

int mur_rma_locate(struct mur_rma_arguments *a)
{
    const struct mur_win_target *target;
    MPI_Count place, bytes, end;
    int rc;

    if (__builtin_expect((unsigned)a->rank >= (unsigned)a->win->size, 0))
        return no_rank(a->win, a->rank);
    target = &a->win->targets[a->rank];
    if (__builtin_expect(!(a->win->is_open | target->is_open), 0) && (rc = mur_rma_open(a->win, a->rank)))
        return rc;
    if (__builtin_expect(a->displacement >= 0 && a->target_type->is_dense && !a->win->is_dynamic, 1) &&
        !__builtin_mul_overflow(a->displacement, target->unit, &place) &&
        !__builtin_mul_overflow(a->target_count, a->target_type->size, &bytes) &&
        !__builtin_add_overflow(place, bytes, &end) && end <= target->size) {
        a->place = (uint64_t)place;
        return MPI_SUCCESS;
    }
    return find_place(a);
}

/* ---- copies ---- */

int mur_rma_copy(struct mur_win *win, int rank, bool is_write, const struct iovec *local, int local_count,
                 const struct iovec *places, int place_count)
{
    struct mur_peer *peer = &mur_engine.peers[win->comm->processes[rank]];
    uintptr_t start = (uintptr_t)win->targets[rank].address;
    struct iovec there[MUR_MOVE_STRETCHES];

    for (int i = 0; i < place_count; i++)
        there[i] = (struct iovec){(void *)(start + (uintptr_t)places[i].iov_base), places[i].iov_len};
    if (mur_node_move(peer->local, is_write, local, local_count, there, place_count))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_RMA_RANGE, "memory from %p on cannot be %s at rank %d: there is none, there or here",
                     there[0].iov_base, is_write ? "written" : "read", rank);
}

/* The system takes lists on both sides: as many stretches at a time as both have room for. */
static int copy_all(const struct mur_rma_arguments *a, bool is_write, size_t bytes)
{
    struct iovec local[MUR_MOVE_STRETCHES], places[MUR_MOVE_STRETCHES];
    struct mur_cursor here, there;
    int rc = MPI_SUCCESS;

    mur_cursor_start(&here, a->origin, a->origin_count, a->origin_type);
    mur_cursor_start(&there, (void *)(uintptr_t)a->place, a->target_count, a->target_type);
    while (there.position < bytes && !rc) {
        size_t start = there.position, left = bytes - start < MOST ? bytes - start : MOST;
        int place_count = mur_cursor_vectors(&there, places, MUR_MOVE_STRETCHES, left);
        int local_count = mur_cursor_vectors(&here, local, MUR_MOVE_STRETCHES, there.position - start);

        if (here.position < there.position) {
            mur_cursor_seek(&there, start);
            place_count = mur_cursor_vectors(&there, places, MUR_MOVE_STRETCHES, here.position - start);
        }
        rc = mur_rma_copy(a->win, a->rank, is_write, local, local_count, places, place_count);
    }
    return rc;
}

/* ---- the operations ---- */

static int too_long(MPI_Count bytes, const char *from, const char *to, MPI_Count room)
{
    return mur_error(MPI_ERR_TRUNCATE, "the %s has %lld bytes of data, for which the %s has no room: %lld bytes", from,
                     (long long)bytes, to, (long long)room);
}

/* Where both sides are dense this is a plain copy. */
static inline void load_and_store(const void *in, MPI_Count in_count, struct mur_type *in_type, void *out,
                                  MPI_Count out_count, struct mur_type *out_type, MPI_Count bytes)
{
    if (__builtin_expect(in_type->is_dense & out_type->is_dense, 1))
        mur_copy(out, in, (size_t)bytes);
    else
        mur_layout_copy_typed(in, in_count, in_type, out, out_count, out_type);
}

static inline bool with_target(const struct mur_rma_arguments *a, enum mur_rma_kind kind, MPI_Count bytes, int *rc)
{
    return a->origin_type->is_dense && a->target_type->is_dense &&
           mur_way_with_target(a, kind, NULL, (size_t)bytes, rc);
}

int mur_rma_put(struct mur_rma_arguments *a, struct mur_request **request_p)
{
    MPI_Count bytes, room;
    const struct mur_win_target *target;
    int rc = mur_rma_locate(a);

    if (rc)
        return rc;
    bytes = a->origin_count * a->origin_type->size;
    room = a->target_count * a->target_type->size;
    if (__builtin_expect(bytes > room, 0))
        return too_long(bytes, "origin", "target", room);
    mur_counters.puts++;
    mur_counters.put_bytes += (uint64_t)bytes;
    target = &a->win->targets[a->rank];
    if (target->way == MUR_WAY_MESSAGES)
        return mur_rma_send(MUR_RMA_PUT, a, NULL, request_p);
    if (request_p)
        *request_p = mur_request_finished;
    if (with_target(a, MUR_RMA_PUT, bytes, &rc))
        return rc;
    if (target->way == MUR_WAY_LOADS)
        load_and_store(a->origin, a->origin_count, a->origin_type, (char *)((uintptr_t)target->memory + a->place),
                       a->target_count, a->target_type, bytes);
    else
        rc = copy_all(a, true, (size_t)bytes);
    return rc;
}

int mur_rma_get(struct mur_rma_arguments *a, struct mur_request **request_p)
{
    MPI_Count bytes, room;
    const struct mur_win_target *target;
    int rc = mur_rma_locate(a);

    if (rc)
        return rc;
    bytes = a->target_count * a->target_type->size;
    room = a->origin_count * a->origin_type->size;
    if (__builtin_expect(bytes > room, 0))
        return too_long(bytes, "target", "origin", room);
    mur_counters.gets++;
    mur_counters.get_bytes += (uint64_t)bytes;
    target = &a->win->targets[a->rank];
    if (target->way == MUR_WAY_MESSAGES)
        return mur_rma_send(MUR_RMA_GET, a, NULL, request_p);
    if (request_p)
        *request_p = mur_request_finished;
    if (with_target(a, MUR_RMA_GET, bytes, &rc))
        return rc;
    if (target->way == MUR_WAY_LOADS)
        load_and_store((char *)((uintptr_t)target->memory + a->place), a->target_count, a->target_type,
                       (void *)(uintptr_t)a->origin, a->origin_count, a->origin_type, bytes);
    else
        rc = copy_all(a, false, (size_t)bytes);
    return rc;
}
