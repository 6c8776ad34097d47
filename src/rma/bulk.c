/* SPDX-License-Identifier: BSD-3-Clause */
/* Large dense data of puts and gets by message: sent from where it lies, and put where it belongs as it arrives.
 *
 * An access (of a put) or an answer (to a get) announces such data: it says "apart", and the data is the next bulk
 * frame in the same direction between the same two ranks of the window. So at the receiver one record for each
 * direction is enough: where the next data of that rank belong. Frames of a peer arrive in order, so the record is free
 * again before the next announcement comes. */
#include <stdlib.h>

#include "base/copy.h"
#include "base/counters.h"
#include "boot/process.h"
#include "rma/rma.h"

struct expected {
    bool is_any;
    char *place; /* NULL: nowhere, the data is dropped */
    uint32_t bytes;
    uint64_t id; /* of the operation that is answered */
};

struct mur_rma_bulk {
    struct expected of[2]; /* by direction */
};

bool mur_rma_is_bulk(const struct mur_peer *peer, size_t bytes)
{
    enum { LEAST = 32 << 10 }; /* below, two frames cost more than the copies */

    return bytes >= LEAST && peer->transport->straight_max;
}

/* ---- the receiver ---- */

bool mur_rma_bulk_expect(struct mur_win *win, int rank, enum mur_rma_direction direction, char *place, uint32_t bytes,
                         uint64_t id)
{
    struct mur_win_target *target = &win->targets[rank];

    if (!target->bulk && !(target->bulk = calloc(1, sizeof *target->bulk)))
        mur_boot_abort(1, "no memory for the data of a one-sided operation");
    if (target->bulk->of[direction].is_any)
        return false;
    target->bulk->of[direction] = (struct expected){true, place, bytes, id};
    return true;
}

/* NULL: no such data has been announced. */
static struct expected *find(const struct mur_frame *frame)
{
    struct mur_win *win = mur_win_of_context(frame->context);
    struct mur_rma_bulk *bulk;
    struct expected *expected;

    if (!win || frame->source < 0 || frame->source >= win->size || frame->tag < 0 || frame->tag > MUR_BULK_ANSWER)
        return NULL;
    bulk = win->targets[frame->source].bulk;
    expected = bulk ? &bulk->of[frame->tag] : NULL;
    return expected && expected->is_any && expected->bytes == frame->bytes ? expected : NULL;
}

static void *place_bulk(struct mur_peer *peer, const struct mur_frame *frame)
{
    struct expected *expected = find(frame);

    if (!expected)
        mur_frame_refuse(peer, frame);
    return expected->place;
}

static void bulk_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct expected *expected = find(frame), met;

    if (!expected)
        mur_frame_refuse(peer, frame);
    met = *expected;
    expected->is_any = false;
    if (met.place && data != met.place)
        mur_copy(met.place, data, met.bytes);
    if (frame->tag == MUR_BULK_ANSWER)
        mur_rma_answered(peer, met.id, met.bytes);
}

/* ---- the sender ---- */

static struct mur_frame frame_of(const struct mur_win *win, enum mur_rma_direction direction, uint32_t bytes)
{
    return (struct mur_frame){.kind = MUR_FRAME_BULK,
                              .context = win->comm->context,
                              .source = win->rank,
                              .tag = (int32_t)direction,
                              .bytes = bytes};
}

bool mur_rma_bulk_send(const struct mur_win *win, struct mur_peer *peer, const void *data, uint32_t bytes,
                       mur_sent_function *sent, void *argument)
{
    struct mur_frame frame = frame_of(win, MUR_BULK_DATA, bytes);

    if (!peer->transport->send_straight(peer, &frame, data, sent, argument))
        return false;
    mur_counters.straight_bytes += bytes;
    return true;
}

/* An answer's data, which lie in the window. */
struct answer {
    struct mur_backlog_entry entry;
    struct mur_peer *peer;
    struct mur_frame frame;
    const char *data;
};

static bool resume_answer(struct mur_backlog_entry *entry)
{
    struct answer *answer = (struct answer *)entry;

    return answer->peer->transport->send_straight(answer->peer, &answer->frame, answer->data, free, answer);
}

void mur_rma_bulk_answer(const struct mur_win *win, struct mur_peer *peer, const char *data, uint32_t bytes)
{
    struct answer *answer = malloc(sizeof *answer);

    if (!answer)
        mur_boot_abort(1, "no memory to answer a one-sided operation");
    *answer = (struct answer){{.resume = resume_answer}, peer, frame_of(win, MUR_BULK_ANSWER, bytes), data};
    mur_counters.straight_bytes += bytes;
    if (peer->backlog || !resume_answer(&answer->entry))
        mur_engine_backlog_add(peer, &answer->entry);
}

void mur_rma_bulk_setup(void)
{
    mur_engine.handlers[MUR_FRAME_BULK] = bulk_arrived;
    mur_engine.placers[MUR_FRAME_BULK] = place_bulk;
}
