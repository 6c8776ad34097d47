/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport of the lost: so that what waits to be sent to them drains away. */
#include "transport/transport.h"

static int nowhere_open(struct mur_peer *peers, int count)
{
    (void)peers;
    (void)count;
    return 0;
}

static void notify(enum mur_transport_event event)
{
    (void)event;
}

static bool drop(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    (void)peer;
    (void)frame;
    (void)data;
    return true;
}

static bool drop_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument)
{
    (void)pack;
    (void)argument;
    return drop(peer, frame, NULL);
}

static bool drop_straight(struct mur_peer *peer, const struct mur_frame *frame, const void *data,
                          mur_sent_function *sent, void *argument)
{
    (void)sent;
    (void)argument;
    return drop(peer, frame, data);
}

static bool settle(bool is_last)
{
    (void)is_last;
    return true;
}

static int progress(void)
{
    return 0;
}

static int64_t take(struct mur_peer *peer, const struct mur_frame *wanted, void *buffer, int looks)
{
    (void)peer;
    (void)wanted;
    (void)buffer;
    (void)looks;
    return -1;
}

static bool has_left(struct mur_peer *peer)
{
    (void)peer;
    return true;
}

static bool prepare_sleep(const struct mur_peer *refused)
{
    (void)refused;
    return true;
}

static void nowhere_sleep(uint64_t until)
{
    (void)until;
}

struct mur_transport mur_nowhere_transport = {
    .name = "nowhere",
    .frame_max = 256 << 10,
    .piece_max = 128 << 10,
    .straight_max = 512 << 10,
    .open = nowhere_open,
    .notify = notify,
    .send = drop,
    .send_packed = drop_packed,
    .send_straight = drop_straight,
    .settle = settle,
    .progress = progress,
    .take = take,
    .has_left = has_left,
    .prepare_sleep = prepare_sleep,
    .sleep = nowhere_sleep,
};
