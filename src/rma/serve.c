/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations as messages, the side whose memory it is; and frames about synchronisation. A piece is performed at once,
 * when it arrives. What does not fit the window is not performed: the answer says so, or the answer to the next flush.
 */
#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "boot/process.h"
#include "datatype/basic.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "object/type_predefined.h"
#include "rma/rma.h"

/* Pairs without a name are the same at all ranks: made where they are first asked for. False: there are no such
 * elements, or they do not have the operation. */
static bool find_leaf(const struct mur_rma_access *header, struct mur_rma_leaf *leaf)
{
    struct mur_type *type, *index;

    if (header->value >= MUR_BASICS || header->index >= MUR_BASICS || header->reduction >= MUR_REDUCTIONS)
        return false;
    type = mur_type_find(mur_basics[header->value].handle);
    if (header->index) {
        index = mur_type_find(mur_basics[header->index].handle);
        if (!type || !index || mur_type_value_index(type, index, &type) != MPI_SUCCESS)
            return false;
    }
    if (!type || !type->size)
        return false;
    mur_rma_leaf_fill(leaf, type, (enum mur_reduction)header->reduction);
    return leaf->kernel || leaf->reduction >= MUR_REDUCE_REPLACE || header->index;
}

bool mur_rma_is_inside(const struct mur_win *win, uint64_t place, uint64_t bytes)
{
    uint64_t size = (uint64_t)win->targets[win->rank].size;

    if (win->is_dynamic)
        return mur_rma_is_attached(win, win->rank, place, bytes);
    return place <= size && bytes <= size - place;
}

bool mur_rma_perform(struct mur_win *win, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf, uint64_t place,
                     size_t bytes, const unsigned char *in, unsigned char *out)
{
    char *memory = (char *)((uintptr_t)win->targets[win->rank].memory + place);
    struct iovec places = {(void *)(uintptr_t)place, bytes};

    if (!mur_rma_is_inside(win, place, bytes))
        return false;
    switch (kind) {
    case MUR_RMA_PUT:
        mur_copy(memory, in, bytes);
        return true;
    case MUR_RMA_GET:
        mur_copy(out, memory, bytes);
        return true;
    case MUR_RMA_SWAP:
        return mur_rma_apply_swap(win, win->rank, place, bytes, in, in + bytes, out) == MPI_SUCCESS;
    default:
        return mur_rma_apply(win, win->rank, &places, 1, leaf, in, out) == MPI_SUCCESS;
    }
}

static bool perform_runs(struct mur_win *win, const struct mur_rma_access *header, const unsigned char *runs,
                         bool brings, unsigned char *out)
{
    const unsigned char *in = brings ? runs + header->runs * sizeof(struct mur_rma_run) : NULL;
    struct mur_rma_leaf leaf = {.bytes = 1};

    if (header->kind != MUR_RMA_PUT && header->kind != MUR_RMA_GET && !find_leaf(header, &leaf))
        return false;
    for (int i = 0; i < header->runs; i++) {
        struct mur_rma_run run;

        memcpy(&run, runs + (size_t)i * sizeof run, sizeof run);
        if (run.bytes % leaf.bytes)
            return false;
        for (uint32_t k = 0; k < run.count; k++) {
            if (!mur_rma_perform(win, header->kind, &leaf, run.place + k * (uint64_t)run.stride, run.bytes, in, out))
                return false;
            in = in ? in + run.bytes : NULL;
            out = out ? out + run.bytes : NULL;
        }
    }
    return true;
}

/* Whether the frame has all that its header says, and an answer has room for what is asked. */
static bool is_whole(const struct mur_rma_access *header, const struct mur_frame *frame, const unsigned char *runs,
                     bool brings)
{
    uint64_t need = sizeof *header + (uint64_t)header->runs * sizeof(struct mur_rma_run), total = 0;

    if (need > frame->bytes || ((header->kind == MUR_RMA_GET || header->kind == MUR_RMA_SWAP) && !header->id))
        return false;
    for (int i = 0; i < header->runs && total <= header->bytes; i++) {
        struct mur_rma_run run;

        memcpy(&run, runs + (size_t)i * sizeof run, sizeof run);
        total += (uint64_t)run.count * run.bytes;
    }
    if (brings)
        need += header->kind == MUR_RMA_SWAP ? 2 * total : total;
    return total <= header->bytes && need <= frame->bytes;
}

/* The same for one whose data go apart: one run. */
static bool is_whole_apart(const struct mur_rma_access *header, const struct mur_frame *frame,
                           const struct mur_rma_run *run)
{
    return frame->bytes == sizeof *header + sizeof *run && header->runs == 1 && run->count == 1 && header->bytes &&
           run->bytes == header->bytes && (header->kind == MUR_RMA_PUT || (header->kind == MUR_RMA_GET && header->id));
}

/* What is put comes in the next bulk frame; what is got goes in one. */
static void access_apart(struct mur_win *win, struct mur_peer *peer, const struct mur_frame *frame,
                         const struct mur_rma_access *header, const void *runs)
{
    struct mur_frame back = {.kind = MUR_FRAME_ANSWER, .bytes = sizeof(struct mur_rma_answer)};
    struct mur_rma_answer answer = {.id = header->id, .bytes = header->bytes, .is_apart = 1};
    struct mur_rma_run run;
    char *memory = NULL;

    memcpy(&run, runs, sizeof run);
    if (!is_whole_apart(header, frame, &run))
        mur_frame_refuse(peer, frame);
    if (mur_rma_is_inside(win, run.place, run.bytes))
        memory = (char *)((uintptr_t)win->targets[win->rank].memory + run.place);
    if (header->kind == MUR_RMA_PUT) {
        if (!memory)
            win->targets[frame->source].fault = MPI_ERR_RMA_RANGE;
        if (!mur_rma_bulk_expect(win, frame->source, MUR_BULK_DATA, memory, run.bytes, 0))
            mur_frame_refuse(peer, frame);
        return;
    }
    answer.error = memory ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    mur_send_control(peer, &back, &answer);
    if (memory)
        mur_rma_bulk_answer(win, peer, memory, run.bytes);
}

static void access_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_win *win = mur_win_of_context(frame->context);
    struct mur_rma_access header;
    struct mur_rma_answer *answer = NULL;
    struct mur_frame back = {.kind = MUR_FRAME_ANSWER};
    bool brings, is_done;

    if (!win || frame->bytes < sizeof header || frame->source < 0 || frame->source >= win->comm->size)
        mur_frame_refuse(peer, frame);
    memcpy(&header, data, sizeof header);
    if (header.is_apart && frame->bytes >= sizeof header + sizeof(struct mur_rma_run)) {
        access_apart(win, peer, frame, &header, (const char *)data + sizeof header);
        return;
    }
    brings = header.kind == MUR_RMA_PUT || header.kind == MUR_RMA_SWAP ||
             (header.kind != MUR_RMA_GET && header.reduction != MUR_REDUCE_NO_OP);
    if (!is_whole(&header, frame, (const unsigned char *)data + sizeof header, brings))
        mur_frame_refuse(peer, frame);
    if (header.id) {
        answer = malloc(sizeof *answer + header.bytes);
        if (!answer)
            mur_boot_abort(1, "no memory to answer a one-sided operation");
        *answer = (struct mur_rma_answer){.id = header.id, .bytes = header.bytes};
    }
    is_done = perform_runs(win, &header, (const unsigned char *)data + sizeof header, brings,
                           answer ? (unsigned char *)(answer + 1) : NULL);
    if (!answer) {
        if (!is_done)
            win->targets[frame->source].fault = MPI_ERR_RMA_RANGE;
        return;
    }
    answer->error = is_done ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    back.bytes = (uint32_t)sizeof *answer + (is_done ? header.bytes : 0);
    mur_send_control(peer, &back, answer);
    free(answer);
}

/* ---- synchronisation ---- */

static void act(struct mur_win *win, int rank, int what, int flags)
{
    struct mur_win_target *target = &win->targets[rank];

    switch (what) {
    case MUR_SYNC_FLUSH:
        mur_rma_tell(win, rank, MUR_SYNC_FLUSHED, target->fault);
        target->fault = MPI_SUCCESS;
        break;
    case MUR_SYNC_FLUSHED:
        target->flushes--;
        target->reported = flags ? (uint8_t)flags : target->reported;
        break;
    case MUR_SYNC_LOCK:
    case MUR_SYNC_LOCK_SHARED:
        mur_rma_lock_asked(win, rank, what == MUR_SYNC_LOCK);
        break;
    case MUR_SYNC_GRANTED:
        target->is_granted = true;
        break;
    case MUR_SYNC_UNLOCK:
    case MUR_SYNC_UNLOCK_SHARED:
        mur_rma_unlock_asked(win, rank, what == MUR_SYNC_UNLOCK);
        break;
    case MUR_SYNC_POST:
        target->is_posted = true;
        break;
    default:
        win->completed++;
        break;
    }
    mur_engine_notify();
}

static void sync_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_win *win = mur_win_of_context(frame->context);
    uint64_t token;

    if (frame->tag == MUR_SYNC_HELP) {
        /* The window may be gone: its owner did without help, and the request was read late. */
        if (frame->bytes != sizeof token)
            mur_frame_refuse(peer, frame);
        memcpy(&token, data, sizeof token);
        if (!mur_rma_help_asked(peer, frame->context, token))
            mur_frame_refuse(peer, frame);
        return;
    }
    if (!win || frame->source < 0 || frame->source >= win->comm->size)
        mur_frame_refuse(peer, frame);
    act(win, frame->source, frame->tag, frame->flags);
}

void mur_rma_tell(struct mur_win *win, int rank, int what, int flags)
{
    struct mur_frame frame = {.kind = MUR_FRAME_SYNC,
                              .flags = (uint16_t)flags,
                              .context = win->comm->context,
                              .source = win->rank,
                              .tag = what};

    if (rank == win->rank)
        act(win, rank, what, flags);
    else
        mur_send_control(&mur_engine.peers[win->comm->processes[rank]], &frame, "");
}

void mur_rma_serve_setup(void)
{
    mur_engine.handlers[MUR_FRAME_ACCESS] = access_arrived;
    mur_engine.handlers[MUR_FRAME_SYNC] = sync_arrived;
}
