/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver counts the bytes that it keeps of each peer's eager messages. Above a bound it tells the peer to HOLD:
 * from then on even the smallest message is a rendezvous, whose data stays with the sender (and a blocking send
 * waits). When most of what was kept has been received, RESUME ends that. Messages keep their order, since both kinds
 * go the same way. The number of a foreign process is held while messages of it are kept. A sender that only sends
 * looks for answers now and then, so that a HOLD reaches it (send.c). */
#include "pt2pt/flow.h"

#include "base/counters.h"
#include "base/events.h"
#include "base/settings.h"
#include "engine/foreign.h"
#include "pt2pt/peer.h"

enum { ALL_PEERS_MAX = 256 << 20, PEER_MAX = 16 << 20, PEER_MIN = 1 << 20 };

static size_t bound(void)
{
    size_t share = (size_t)ALL_PEERS_MAX / (size_t)mur_engine.peer_count;

    if (mur_settings.unexpected_max)
        return (size_t)mur_settings.unexpected_max;
    return share < PEER_MIN ? PEER_MIN : share > PEER_MAX ? PEER_MAX : share;
}

static size_t cost(const struct mur_frame *frame)
{
    return sizeof(struct mur_message) + frame->bytes;
}

static void tell(struct mur_peer *peer, bool is_held)
{
    struct mur_frame frame = {.kind = is_held ? MUR_FRAME_HOLD : MUR_FRAME_RESUME};

    mur_pt2pt_peer(peer)->is_held = is_held;
    mur_counters.holds += is_held;
    mur_event(
        MUR_EVENT_HOLD, NULL,
        &(struct mur_event_hold){.process = peer->process, .is_held = is_held, .bytes = mur_pt2pt_peer(peer)->kept});
    mur_send_control(peer, &frame, NULL);
}

void mur_flow_keep(struct mur_peer *peer, const struct mur_frame *frame)
{
    struct mur_pt2pt_peer *state = mur_pt2pt_peer(peer);

    if (frame->kind != MUR_FRAME_EAGER)
        return;
    if (!state->kept)
        mur_foreign_hold(&peer->process, 1, 1);
    state->kept += cost(frame);
    if (__builtin_expect(state->kept > bound() && !state->is_held, 0))
        tell(peer, true);
}

void mur_flow_free(struct mur_peer *peer, const struct mur_frame *frame)
{
    struct mur_pt2pt_peer *state = mur_pt2pt_peer(peer);

    if (frame->kind != MUR_FRAME_EAGER)
        return;
    state->kept -= cost(frame);
    if (__builtin_expect(state->is_held && state->kept <= bound() / 4, 0))
        tell(peer, false);
    if (!state->kept)
        mur_foreign_hold(&peer->process, 1, -1);
}

static void hold_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    (void)frame;
    (void)data;
    mur_pt2pt_peer(peer)->is_closed = true;
}

static void resume_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    (void)frame;
    (void)data;
    mur_pt2pt_peer(peer)->is_closed = false;
}

void mur_flow_setup(void)
{
    mur_engine.handlers[MUR_FRAME_HOLD] = hold_arrived;
    mur_engine.handlers[MUR_FRAME_RESUME] = resume_arrived;
}
