/* SPDX-License-Identifier: BSD-3-Clause */
/* The pipes of splices: links keep theirs while their socket is full, a few spare ones wait for later, all others are
 * closed; and data that is spliced in parts arrives as it is. Links here are made up, over pairs of sockets. */
#include <fcntl.h>
#include <unistd.h>

#include "transport/tcp/tcp.h"

#include "descriptors.h"
#include "draw.h"
#include "test.h"

enum { LINKS = 7, SPARE = 4 /* pipes, two descriptors each */, BYTES = 3 << 20, ROUNDS = 12 };

struct end {
    struct mur_link link;
    struct mur_out_segment *segment;
    int other;
    size_t received;
};

static struct end ends[LINKS];
static char *data;

static void sent(void *argument)
{
    (void)argument;
}

static void begin(struct end *end)
{
    if (!end->segment)
        end->segment = malloc(sizeof *end->segment);
    CHECK(end->segment);
    *end->segment = (struct mur_out_segment){.bytes = BYTES, .data = data, .sent = sent};
    end->link.next = end->segment;
    end->link.sent = 0;
    end->received = 0;
}

/* As much as the socket takes at once. False: the system lets nobody splice. */
static bool write_some(struct end *end)
{
    ssize_t moved = end->link.sent < BYTES ? mur_splice_write(&end->link) : 0;

    if (moved == MUR_SPLICE_REFUSED)
        return false;
    end->link.sent += moved > 0 ? (uint64_t)moved : 0;
    return true;
}

static void read_some(struct end *end)
{
    static char in[1 << 20];
    ssize_t got = recv(end->other, in, sizeof in, MSG_DONTWAIT);

    if (got <= 0)
        return;
    CHECK(end->received + (size_t)got <= BYTES && memcmp(in, data + end->received, (size_t)got) == 0);
    end->received += (size_t)got;
}

/* So many links send at the same time: each holds a pipe before any is done with its own. */
static bool send_by(int links)
{
    for (int i = 0; i < links; i++) {
        begin(&ends[i]);
        if (!write_some(&ends[i]))
            return false;
        CHECK(ends[i].link.pipe && ends[i].link.sent < BYTES);
    }
    for (int i = 0; i < links; i++) {
        while (ends[i].received < BYTES) {
            write_some(&ends[i]);
            read_some(&ends[i]);
        }
        CHECK(!ends[i].link.pipe);
    }
    return true;
}

int main(void)
{
    unsigned state = 1;
    int before;

    data = malloc(BYTES);
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)draw_next(&state);
    for (int i = 0; i < LINKS; i++) {
        int pair[2];

        CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
        ends[i].link.fd = pair[0];
        ends[i].other = pair[1];
    }
    before = count_descriptors();
    for (int round = 0; round < ROUNDS; round++) {
        if (!send_by(2))
            return test_skip("the system lets nobody splice");
        CHECK(count_descriptors() == before + 2 * 2); /* both are spare, and serve again */
    }
    for (int round = 0; round < ROUNDS; round++) {
        send_by(round % LINKS + 1);
        CHECK(count_descriptors() <= before + 2 * SPARE);
    }
    send_by(LINKS);
    CHECK(count_descriptors() == before + 2 * SPARE);
    mur_splice_trim();
    CHECK(count_descriptors() == before);
    send_by(1);
    CHECK(count_descriptors() == before + 2);
    return 0;
}
