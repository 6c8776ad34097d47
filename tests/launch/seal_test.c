/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed connections: two branches of the tree, joined by somebody in the middle who flips, drops, repeats and swaps
 * bytes. Whatever he does, each side gets what the other said, all of it, in order and once, by new connections; and
 * bytes that he alters are never handed over. A recorded connection cannot be played again. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/tree/branch.h"
#include "unit.h"

enum { MESSAGES = 400, BYTES_MAX = 40000, CONNECTIONS_MAX = 100000 };

static const unsigned char secret[MUR_MAC_BYTES] = {7, 8, 9};
static struct mur_loop loop;

static struct side {
    struct mur_branch branch;
    unsigned next; /* the number of the message that is to come */
    bool is_broken;
} sides[2];

static struct wire { /* from one side to the other */
    int from, to;    /* sockets of the middle */
    char held[1 << 16];
    size_t bytes;
} wires[2];
static int breaks, harms;

static unsigned pattern(unsigned number, size_t at)
{
    return (number * 2654435761u + (unsigned)at * 40503u) >> 13;
}

static size_t size_of(unsigned number)
{
    return sizeof number + pattern(number, 1) % (number % 8 ? 200 : BYTES_MAX);
}

static void say(struct side *side, unsigned number)
{
    static char data[BYTES_MAX + 8];
    size_t bytes = size_of(number);

    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)pattern(number, i);
    memcpy(data, &number, sizeof number);
    mur_branch_send(&side->branch, MUR_BRANCH_PUT, data, bytes);
}

static void message(void *owner, uint32_t kind, const char *data, size_t bytes)
{
    struct side *side = owner;
    unsigned number = side->next++;

    CHECK(kind == MUR_BRANCH_PUT);
    CHECK(bytes == size_of(number));
    CHECK(memcmp(data, &number, sizeof number) == 0);
    for (size_t i = sizeof number; i < bytes; i++)
        if (data[i] != (char)pattern(number, i)) {
            CHECK(!"bytes are as they were said");
            return;
        }
}

static void broken(void *owner, int error)
{
    struct side *side = owner;

    breaks += error == EBADMSG;
    side->is_broken = true;
}

/* A new connection through the middle, after a greeting of its own. */
static void join(void)
{
    struct mur_handshake caller, called;
    struct mur_challenge challenge;
    struct mur_proof proof;
    int first[2], second[2];

    for (int i = 0; i < 2; i++) {
        mur_branch_detach(&sides[i].branch);
        sides[i].is_broken = false;
    }
    if (wires[0].from >= 0) {
        close(wires[0].from);
        close(wires[0].to);
    }
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, first) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, second) == 0);
    wires[0] = (struct wire){.from = first[1], .to = second[1]};
    wires[1] = (struct wire){.from = second[1], .to = first[1]};
    mur_handshake_call(&caller, secret, MUR_PURPOSE_AGENTS, 0, 1, 0);
    CHECK(mur_handshake_answer(&called, secret, MUR_PURPOSE_AGENTS, &caller.hello, &challenge) == MUR_HELLO_FINE);
    CHECK(mur_handshake_prove(&caller, &challenge, 0, &proof));
    CHECK(mur_branch_attach(&sides[0].branch, first[0], sides[1].branch.received, &caller, true));
    if (!sides[0].is_broken)
        CHECK(mur_branch_attach(&sides[1].branch, second[0], sides[0].branch.received, &called, false));
}

/* Does something to what is under way, seldom. */
static void harm(struct wire *wire)
{
    size_t at = below(wire->bytes), length = 1 + below(64);

    if (below(12))
        return;
    harms++;
    length = length < wire->bytes - at ? length : wire->bytes - at;
    switch (below(4)) {
    case 0:
        wire->held[at] ^= (char)(1 << below(8));
        break;
    case 1: /* drop */
        memmove(wire->held + at, wire->held + at + length, wire->bytes - at - length);
        wire->bytes -= length;
        break;
    case 2: /* repeat */
        if (wire->bytes + length > sizeof wire->held)
            return;
        memmove(wire->held + at + length, wire->held + at, wire->bytes - at);
        wire->bytes += length;
        break;
    default: /* swap */
        if (wire->bytes > 1) {
            char first = wire->held[0];

            wire->held[0] = wire->held[at];
            wire->held[at] = first;
        }
    }
}

static void carry(struct wire *wire)
{
    ssize_t got = recv(wire->from, wire->held, sizeof wire->held / 2, MSG_DONTWAIT);

    if (got <= 0)
        return;
    wire->bytes = (size_t)got;
    harm(wire);
    for (size_t done = 0; done < wire->bytes;) {
        ssize_t sent = send(wire->to, wire->held + done, wire->bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno != EAGAIN)
            return;
        done += sent > 0 ? (size_t)sent : 0;
        if (sent < 0)
            mur_loop_turn(&loop); /* somebody reads, or has something to say */
    }
}

static void wake(void *owner)
{
    (void)owner;
}

static void nothing_is_changed(void)
{
    struct mur_timer timer = {.fire = wake};
    unsigned said = 0;
    int connections = 0;

    mur_loop_add_timer(&loop, &timer);
    wires[0].from = -1;
    for (int i = 0; i < 2; i++) {
        sides[i].branch.message = message;
        sides[i].branch.broken = broken;
        sides[i].branch.owner = &sides[i];
        mur_branch_open(&sides[i].branch, &loop);
    }
    join();
    while ((sides[0].next < MESSAGES || sides[1].next < MESSAGES) && connections < CONNECTIONS_MAX) {
        if (said < MESSAGES && below(2)) {
            say(&sides[0], said);
            say(&sides[1], said);
            said++;
        }
        carry(&wires[0]);
        carry(&wires[1]);
        mur_timer_set(&timer, 1);
        mur_loop_turn(&loop);
        /* A hole makes the receiver wait for what is not there, until it has been silent for too long. */
        if (sides[0].is_broken || sides[1].is_broken || below(40) == 0) {
            connections++;
            join();
        }
    }
    printf("%d connections, %d harms, %d of them noticed by the seal\n", connections, harms, breaks);
    CHECK(sides[0].next == MESSAGES && sides[1].next == MESSAGES);
    CHECK(breaks > 0);
}

static void is_played_once(void)
{
    const struct mur_seal_keys keys = {{1}, {2}}, other = {{2}, {1}}, fresh = {{3}, {4}};
    static struct mur_seal sender, receiver, later;
    char record[2000], data[MUR_SEAL_CHUNK];
    int ends[2];
    ssize_t bytes;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    mur_seal_start(&sender, &keys);
    mur_seal_start(&receiver, &other);
    mur_seal_start(&later, &fresh);
    CHECK(mur_seal_put(&sender, "a message", 9) == 9);
    CHECK(mur_seal_put(&sender, "another", 7) == 0);
    CHECK(mur_seal_flush(&sender, ends[0]));
    bytes = recv(ends[1], record, sizeof record, 0);
    CHECK(bytes > 9 && !memmem(record, (size_t)bytes, "message", 7));
    CHECK(send(ends[0], record, (size_t)bytes, 0) == bytes);
    CHECK(mur_seal_fill(&receiver, ends[1]) == bytes);
    CHECK(mur_seal_take(&receiver, data) == 9 && memcmp(data, "a message", 9) == 0);
    CHECK(mur_seal_take(&receiver, data) == 0);
    CHECK(send(ends[0], record, (size_t)bytes, 0) == bytes); /* again */
    CHECK(mur_seal_fill(&receiver, ends[1]) > 0);
    CHECK(mur_seal_take(&receiver, data) == -1);
    CHECK(mur_seal_take(&receiver, data) == -1); /* and it stays broken */
    CHECK(send(ends[0], record, (size_t)bytes, 0) == bytes);
    CHECK(mur_seal_fill(&later, ends[1]) == bytes);
    CHECK(mur_seal_take(&later, data) == -1);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    char complaint[400];

    unit_start();
    if (!mur_seal_open(complaint, sizeof complaint)) {
        printf("%s\n", complaint);
        return 77;
    }
    mur_loop_init(&loop);
    is_played_once();
    nothing_is_changed();
    return unit_end();
}
