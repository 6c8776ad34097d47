/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates. All of them come down to mur_rma_apply, at the origin where it reaches the memory, else at the target:
 * a stretch of elements is combined while its stripe is held, so each element is changed by one at a time. Between a
 * pair of processes operations keep their order, since each is done before the next begins, or they are messages. */
#include <string.h>

#include "base/counters.h"
#include "base/error.h"
#include "base/settings.h"
#include "datatype/basic.h"
#include "object/type_predefined.h"
#include "rma/control.h"
#include "rma/way.h"

enum { STRIPE = 1 << MUR_WIN_STRIPE_SHIFT, PIECE = 32 << 10, VECTORS = 64, STAGE = 256, FETCH = 4096 };

#define ALIGNED __attribute__((aligned(64)))

/* The engine's lock is held all the while. */
static ALIGNED unsigned char in_piece[PIECE + MUR_RMA_ELEMENT_MAX], out_piece[PIECE + MUR_RMA_ELEMENT_MAX],
    copied[STRIPE + MUR_RMA_ELEMENT_MAX];

/* ---- combining in memory ---- */

static void reduce(const struct mur_rma_leaf *leaf, const void *in, void *inout, size_t count)
{
    if (leaf->kernel)
        leaf->kernel(in, inout, count);
    else
        mur_type_reduce_pairs(leaf->type, leaf->reduction == MUR_REDUCE_MAXLOC, in, inout, (MPI_Count)count);
}

static void copy_pair(const struct mur_rma_leaf *leaf, char *out, const char *in)
{
    memcpy(out, in, leaf->value_bytes);
    memcpy(out + leaf->index_offset, in + leaf->index_offset, leaf->index_bytes);
}

/* Pairs one by one and beside the memory: what lies in their gaps is not ours to touch. */
static void combine_pairs(const struct mur_rma_leaf *leaf, char *memory, const char *in, char *out, size_t count)
{
    ALIGNED char before[MUR_RMA_ELEMENT_MAX] = {0}, with[MUR_RMA_ELEMENT_MAX] = {0};

    for (; count; count--, memory += leaf->bytes) {
        copy_pair(leaf, before, memory);
        if (out) {
            memcpy(out, before, leaf->bytes);
            out += leaf->bytes;
        }
        if (leaf->reduction == MUR_REDUCE_NO_OP)
            continue;
        memcpy(with, in, leaf->bytes);
        in += leaf->bytes;
        if (leaf->reduction == MUR_REDUCE_REPLACE) {
            copy_pair(leaf, memory, with);
        } else {
            reduce(leaf, with, before, 1);
            copy_pair(leaf, memory, before);
        }
    }
}

/* Users may give any displacement, and data any address: kernels count on the alignment of the type. */
static void reduce_unaligned(const struct mur_rma_leaf *leaf, const char *in, char *memory, size_t count)
{
    ALIGNED char with[STAGE], before[STAGE];
    size_t most = STAGE / leaf->bytes;

    while (count) {
        size_t some = count < most ? count : most, bytes = some * leaf->bytes;

        memcpy(with, in, bytes);
        memcpy(before, memory, bytes);
        reduce(leaf, with, before, some);
        memcpy(memory, before, bytes);
        in += bytes;
        memory += bytes;
        count -= some;
    }
}

static void combine_plain(const struct mur_rma_leaf *leaf, char *memory, const void *in, void *out, size_t count)
{
    size_t bytes = count * leaf->bytes;

    if (out)
        memcpy(out, memory, bytes);
    if (leaf->reduction == MUR_REDUCE_REPLACE)
        memcpy(memory, in, bytes);
    else if (leaf->reduction == MUR_REDUCE_NO_OP)
        return;
    else if (((uintptr_t)memory | (uintptr_t)in) & (uintptr_t)(leaf->type->alignment - 1))
        reduce_unaligned(leaf, in, memory, count);
    else
        leaf->kernel(in, memory, count);
}

/* What is fetched first and then combined is in the cache still. */
static void combine(const struct mur_rma_leaf *leaf, char *memory, const char *in, char *out, size_t count)
{
    size_t most = out ? FETCH / leaf->bytes : count;

    if (leaf->is_pair) {
        combine_pairs(leaf, memory, in, out, count);
        return;
    }
    while (count) {
        size_t some = count < most ? count : most, bytes = some * leaf->bytes;

        combine_plain(leaf, memory, in, out, some);
        memory += bytes;
        in = in ? in + bytes : NULL;
        out = out ? out + bytes : NULL;
        count -= some;
    }
}

/* ---- in any rank's memory ---- */

/* Elements that start in one stripe. */
struct group {
    struct iovec places[VECTORS];
    int count;
    size_t bytes;
};

/* Walks stretches of places, group by group. */
struct walk {
    const struct iovec *places;
    int count;
    size_t offset; /* into the first of them */
};

static bool next_group(struct walk *walk, size_t element, struct group *group)
{
    uint64_t number = 0;

    group->count = 0;
    group->bytes = 0;
    while (walk->count && group->count < VECTORS && group->bytes < STRIPE) {
        uint64_t place = (uintptr_t)walk->places->iov_base + walk->offset, end = (place | (STRIPE - 1)) + 1;
        size_t left = walk->places->iov_len - walk->offset;
        size_t some = (end - place + element - 1) / element * element, most = STRIPE - group->bytes;

        if (group->count && place >> MUR_WIN_STRIPE_SHIFT != number)
            break;
        number = place >> MUR_WIN_STRIPE_SHIFT;
        some = some < left ? some : left;
        some = some < most ? some : (most + element - 1) / element * element;
        some = some < left ? some : left;
        group->places[group->count++] = (struct iovec){(void *)(uintptr_t)place, some};
        group->bytes += some;
        walk->offset += some;
        if (some == left) {
            walk->places++;
            walk->count--;
            walk->offset = 0;
        }
    }
    return group->count > 0;
}

/* Into gaps of pairs nothing is written. */
static int write_pairs(struct mur_win *win, int rank, const struct group *group, const struct mur_rma_leaf *leaf)
{
    unsigned char *pair = copied;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < group->count; i++)
        for (size_t at = 0; at < group->places[i].iov_len && !rc; at += leaf->bytes, pair += leaf->bytes) {
            uintptr_t place = (uintptr_t)group->places[i].iov_base + at;
            struct iovec here[2] = {{pair, leaf->value_bytes}, {pair + leaf->index_offset, leaf->index_bytes}};
            struct iovec there[2] = {{(void *)place, leaf->value_bytes},
                                     {(void *)(place + leaf->index_offset), leaf->index_bytes}};

            rc = mur_rma_copy(win, rank, true, here, 2, there, 2);
        }
    return rc;
}

static int apply_to_copy(struct mur_win *win, int rank, const struct group *group, const struct mur_rma_leaf *leaf,
                         const char *in, char *out)
{
    struct iovec here = {copied, group->bytes};
    int rc = mur_rma_copy(win, rank, false, &here, 1, group->places, group->count);

    if (rc)
        return rc;
    combine(leaf, (char *)copied, in, out, group->bytes / leaf->bytes);
    if (leaf->reduction == MUR_REDUCE_NO_OP)
        return MPI_SUCCESS;
    return leaf->is_pair ? write_pairs(win, rank, group, leaf)
                         : mur_rma_copy(win, rank, true, &here, 1, group->places, group->count);
}

static void apply_here(const struct mur_win_target *target, const struct group *group, const struct mur_rma_leaf *leaf,
                       const char *in, char *out)
{
    for (int i = 0; i < group->count; i++) {
        size_t bytes = group->places[i].iov_len;

        combine(leaf, (char *)((uintptr_t)target->memory + (uintptr_t)group->places[i].iov_base), in, out,
                bytes / leaf->bytes);
        in = in ? in + bytes : NULL;
        out = out ? out + bytes : NULL;
    }
}

int mur_rma_apply(struct mur_win *win, int rank, const struct iovec *places, int place_count,
                  const struct mur_rma_leaf *leaf, const void *in_, void *out_)
{
    const struct mur_win_target *target = &win->targets[rank];
    struct walk walk = {.places = places, .count = place_count};
    struct group group;
    const char *in = in_;
    char *out = out_;
    int rc = MPI_SUCCESS;

    while (!rc && next_group(&walk, leaf->bytes, &group)) {
        _Atomic uint32_t *stripe = mur_control_stripe(target->control, (uintptr_t)group.places[0].iov_base);

        mur_control_stripe_lock(stripe);
        if (target->way == MUR_WAY_LOADS)
            apply_here(target, &group, leaf, in, out);
        else
            rc = apply_to_copy(win, rank, &group, leaf, in, out);
        mur_control_stripe_unlock(stripe);
        in = in ? in + group.bytes : NULL;
        out = out ? out + group.bytes : NULL;
    }
    return rc;
}

int mur_rma_apply_swap(struct mur_win *win, int rank, uint64_t place, size_t bytes, const void *compare, const void *in,
                       void *out)
{
    struct mur_win_target *target = &win->targets[rank];
    _Atomic uint32_t *stripe = mur_control_stripe(target->control, place);
    char *memory = (char *)((uintptr_t)target->memory + place), before[MUR_RMA_ELEMENT_MAX];
    struct iovec there = {(void *)(uintptr_t)place, bytes}, here = {before, bytes};
    int rc = MPI_SUCCESS;

    mur_control_stripe_lock(stripe);
    if (target->way == MUR_WAY_LOADS)
        memcpy(before, memory, bytes);
    else
        rc = mur_rma_copy(win, rank, false, &here, 1, &there, 1);
    if (!rc && !memcmp(before, compare, bytes)) {
        here.iov_base = (void *)(uintptr_t)in;
        if (target->way == MUR_WAY_LOADS)
            memcpy(memory, in, bytes);
        else
            rc = mur_rma_copy(win, rank, true, &here, 1, &there, 1);
    }
    mur_control_stripe_unlock(stripe);
    if (!rc)
        memcpy(out, before, bytes);
    return rc;
}

/* ---- the operations ---- */

struct streams {
    struct mur_rma_stream origin, target, result;
    bool has_origin, has_result;
};

static void end_streams(struct streams *s)
{
    mur_rma_stream_end(&s->origin);
    mur_rma_stream_end(&s->target);
    mur_rma_stream_end(&s->result);
}

static int start_streams(struct streams *s, const struct mur_rma_arguments *a, const struct mur_rma_leaf *leaf)
{
    int rc = mur_rma_stream_start(&s->target, (void *)(uintptr_t)a->place, a->target_count, a->target_type, leaf);

    s->has_origin = leaf->reduction != MUR_REDUCE_NO_OP;
    s->has_result = a->result_type != NULL;
    if (!rc && s->has_origin)
        rc = mur_rma_stream_start(&s->origin, a->origin, a->origin_count, a->origin_type, leaf);
    if (!rc && s->has_result)
        rc = mur_rma_stream_start(&s->result, a->result, a->result_count, a->result_type, leaf);
    if (rc)
        end_streams(s);
    return rc;
}

static bool is_one_run(const struct mur_rma_stream *stream)
{
    return stream->type->is_dense && !stream->leaf->is_pair;
}

/* Where the next bytes of the origin are, as one run; packed if they are none. */
static const void *next_in(struct mur_rma_stream *origin, size_t bytes)
{
    if (is_one_run(origin)) {
        const char *in = origin->cursor.buffer + origin->position;

        mur_rma_stream_seek(origin, origin->position + bytes);
        return in;
    }
    mur_rma_stream_pack(origin, in_piece, bytes);
    return in_piece;
}

/* As many bytes as the origin has, or, where nothing is combined, as the target has. */
static int apply_all(const struct mur_rma_arguments *a, const struct mur_rma_leaf *leaf)
{
    size_t most = PIECE / leaf->bytes * leaf->bytes;
    struct streams s = {0};
    struct iovec places[VECTORS];
    int rc = start_streams(&s, a, leaf);
    size_t bytes = s.has_origin ? s.origin.bytes : s.target.bytes;

    while (!rc && s.target.position < bytes) {
        size_t start = s.target.position, left = bytes - start;
        int count = mur_rma_stream_vectors(&s.target, places, VECTORS, left < most ? left : most);
        const void *in = s.has_origin ? next_in(&s.origin, s.target.position - start) : NULL;
        bool is_direct = s.has_result && is_one_run(&s.result);
        void *out = !s.has_result ? NULL : is_direct ? s.result.cursor.buffer + start : (char *)out_piece;

        rc = mur_rma_apply(a->win, a->rank, places, count, leaf, in, out);
        if (!rc && s.has_result && !is_direct)
            mur_rma_stream_unpack(&s.result, out_piece, s.target.position - start);
    }
    end_streams(&s);
    return rc;
}

/* All in one run on all sides, as it is most often. */
static int apply_run(const struct mur_rma_arguments *a, const struct mur_rma_leaf *leaf, size_t bytes)
{
    struct iovec place = {(void *)(uintptr_t)a->place, bytes};

    return mur_rma_apply(a->win, a->rank, &place, 1, leaf, leaf->reduction == MUR_REDUCE_NO_OP ? NULL : a->origin,
                         a->result);
}

static bool is_run(const struct mur_rma_arguments *a, const struct mur_rma_leaf *leaf)
{
    return !leaf->is_pair && a->target_type->is_dense && (!a->result_type || a->result_type->is_dense) &&
           (leaf->reduction == MUR_REDUCE_NO_OP || a->origin_type->is_dense);
}

static bool is_same_leaf(const struct mur_rma_leaf *a, const struct mur_rma_leaf *b)
{
    return a->type == b->type || (a->bytes == b->bytes && a->is_pair == b->is_pair && !a->is_pair &&
                                  mur_basics[a->type->basic].machine == mur_basics[b->type->basic].machine);
}

/* The basic type, the same on all sides, and the operation. */
static int find_leaf(const struct mur_rma_arguments *a, struct mur_rma_leaf *leaf)
{
    struct mur_rma_leaf other;
    int rc = mur_rma_leaf_find(a->target_type, "target_datatype", leaf);

    if (rc || (rc = mur_rma_leaf_set_op(leaf, a->op)))
        return rc;
    if (leaf->reduction != MUR_REDUCE_NO_OP && a->origin_type != a->target_type) {
        if ((rc = mur_rma_leaf_find(a->origin_type, "origin_datatype", &other)))
            return rc;
        if (!is_same_leaf(leaf, &other) && a->origin_count && a->origin_type->size)
            return mur_error(MPI_ERR_TYPE, "origin_datatype consists of %s, but target_datatype of %s",
                             other.type->name, leaf->type->name);
    }
    if (a->result_type && a->result_type != a->target_type) {
        if ((rc = mur_rma_leaf_find(a->result_type, "result_datatype", &other)))
            return rc;
        if (!is_same_leaf(leaf, &other) && a->target_count && a->target_type->size)
            return mur_error(MPI_ERR_TYPE, "result_datatype consists of %s, but target_datatype of %s",
                             other.type->name, leaf->type->name);
    }
    return MPI_SUCCESS;
}

/* Bytes of data to move, once it is known to fit. */
static int check_fit(const struct mur_rma_arguments *a, const struct mur_rma_leaf *leaf, MPI_Count *bytes)
{
    bool has_origin = leaf->reduction != MUR_REDUCE_NO_OP;
    MPI_Count room = a->target_count * a->target_type->size;

    *bytes = has_origin ? a->origin_count * a->origin_type->size : room;
    if (*bytes > room)
        return mur_error(MPI_ERR_TRUNCATE,
                         "the origin has %lld bytes of data, for which the target has no room: %lld "
                         "bytes",
                         (long long)*bytes, (long long)room);
    if (a->result_type && *bytes > a->result_count * a->result_type->size)
        return mur_error(MPI_ERR_TRUNCATE,
                         "%lld bytes are fetched, for which the result buffer has no room: %lld "
                         "bytes",
                         (long long)*bytes, (long long)(a->result_count * a->result_type->size));
    return MPI_SUCCESS;
}

static int perform(enum mur_rma_kind kind, struct mur_rma_arguments *a, struct mur_request **request_p)
{
    struct mur_rma_leaf leaf;
    MPI_Count bytes;
    int rc = mur_rma_locate(a);

    if (rc || (rc = find_leaf(a, &leaf)) || (rc = check_fit(a, &leaf, &bytes)))
        return rc;
    if (request_p)
        *request_p = mur_request_finished;
    mur_counters.accumulates++;
    if (!bytes)
        return MPI_SUCCESS;
    if (a->win->targets[a->rank].way == MUR_WAY_MESSAGES)
        return mur_rma_send(kind, a, &leaf, request_p);
    if (!is_run(a, &leaf))
        return apply_all(a, &leaf);
    if (mur_way_with_target(a, kind, &leaf, (size_t)bytes, &rc))
        return rc;
    return apply_run(a, &leaf, (size_t)bytes);
}

int mur_rma_accumulate(struct mur_rma_arguments *a, struct mur_request **request_p)
{
    if (a->op->object.predefined && a->op->reduction == MUR_REDUCE_NO_OP)
        return mur_error(MPI_ERR_OP, "op is MPI_NO_OP, which only operations that fetch something take");
    return perform(MUR_RMA_ACCUMULATE, a, request_p);
}

int mur_rma_get_accumulate(struct mur_rma_arguments *a, struct mur_request **request_p)
{
    return perform(MUR_RMA_GET_ACCUMULATE, a, request_p);
}

/* ---- one element ---- */

static int check_single(const struct mur_type *type)
{
    return type->object.predefined || type->is_permanent
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_TYPE, "datatype is a derived one, but must be predefined");
}

int mur_rma_fetch_and_op(struct mur_rma_arguments *a)
{
    int rc = check_single(a->target_type);

    return rc ? rc : perform(MUR_RMA_GET_ACCUMULATE, a, NULL);
}

int mur_rma_compare_and_swap(struct mur_rma_arguments *a)
{
    enum mur_class class = mur_basics[a->target_type->basic].class;
    struct mur_rma_leaf leaf;
    int rc = check_single(a->target_type);

    if (rc)
        return rc;
    if (class != MUR_CLASS_C_INTEGER && class != MUR_CLASS_FORTRAN_INTEGER && class != MUR_CLASS_ANY_INTEGER &&
        class != MUR_CLASS_LOGICAL && class != MUR_CLASS_BYTE && (class != MUR_CLASS_CHAR || mur_is_strict()))
        return mur_error(MPI_ERR_TYPE, "datatype is %s, but must be an integer, logical or byte type",
                         a->target_type->name);
    if ((rc = mur_rma_locate(a)))
        return rc;
    mur_counters.accumulates++;
    if (mur_way_with_target(a, MUR_RMA_SWAP, NULL, (size_t)a->target_type->size, &rc))
        return rc;
    if (a->win->targets[a->rank].way != MUR_WAY_MESSAGES)
        return mur_rma_apply_swap(a->win, a->rank, a->place, (size_t)a->target_type->size, a->compare, a->origin,
                                  a->result);
    mur_rma_leaf_fill(&leaf, a->target_type, MUR_REDUCE_REPLACE);
    return mur_rma_send(MUR_RMA_SWAP, a, &leaf, NULL);
}
