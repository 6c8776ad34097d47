/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets to one who does not read: none is lost or overtaken, each brings its descriptor, and none keeps one open when
 * it has gone or is forgotten. Frames: what does not hold together is no frame; the end, a signal and a stale errno. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "launch/frame.h"
#include "launch/packets.h"
#include "unit.h"

enum { PACKETS = 500, BYTES = 2000, EVERY = 50 /* packets without a descriptor to one with */, FULL = 2036 };

static struct mur_loop loop;
static struct mur_packets packets;
static struct mur_watch watch;
static int far_end, turns;

/* As long as nothing is left open it is the same. */
static int lowest_free(void)
{
    int fd = dup(0);

    CHECK(fd >= 0);
    close(fd);
    return fd;
}

/* ---- packets ---- */

static void ready(void *owner)
{
    (void)owner;
    turns++;
    mur_packets_flush(&packets, &loop, &watch);
}

static void open_pair(void)
{
    int pair[2], room = 16384;

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    CHECK(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
    watch = (struct mur_watch){.fd = pair[0], .ready = ready};
    far_end = pair[1];
    mur_loop_watch(&loop, &watch, 1 /* EPOLLIN */);
}

static void close_pair(void)
{
    mur_loop_unwatch(&loop, &watch);
    close(watch.fd);
    if (far_end >= 0)
        close(far_end);
}

static void send_all(int fd)
{
    char data[BYTES];

    for (int i = 0; i < PACKETS; i++) {
        memset(data, i, sizeof data);
        memcpy(data, &i, sizeof i);
        mur_packets_send(&packets, &loop, &watch, data, sizeof i + (size_t)i, i % EVERY ? -1 : fd);
        memset(data, 0xee, sizeof data);
    }
}

/* The next packet, and the descriptor that came with it. False: there is none yet. */
static bool take(int number)
{
    char data[BYTES], room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
    struct iovec vector = {data, sizeof data};
    struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t got = recvmsg(far_end, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *part = CMSG_FIRSTHDR(&header);
    int found, fd;

    if (got < 0)
        return false;
    memcpy(&found, data, sizeof found);
    CHECK(found == number && got == (ssize_t)sizeof number + number);
    for (ssize_t i = sizeof number; i < got; i++)
        CHECK(data[i] == (char)number);
    CHECK((part != NULL) == (number % EVERY == 0));
    if (part) {
        memcpy(&fd, CMSG_DATA(part), sizeof fd);
        CHECK(write(fd, "x", 1) == 1);
        close(fd);
    }
    return true;
}

static void none_is_lost(void)
{
    int before = lowest_free(), pipe_ends[2], next = 0;
    char byte[PACKETS];

    open_pair();
    CHECK(pipe(pipe_ends) == 0);
    send_all(pipe_ends[1]);
    close(pipe_ends[1]); /* those that wait have copies */
    CHECK(packets.first && packets.last && packets.first != packets.last);
    while (next < PACKETS && !failures) {
        while (take(next))
            next++;
        if (next < PACKETS)
            mur_loop_turn(&loop);
    }
    CHECK(!packets.first && !packets.last);
    CHECK(read(pipe_ends[0], byte, sizeof byte) == PACKETS / EVERY);
    CHECK(read(pipe_ends[0], byte, sizeof byte) == 0); /* no copy is left */
    close(pipe_ends[0]);
    turns = 0;
    mur_packets_send(&packets, &loop, &watch, "", 1, -1);
    CHECK(!packets.first && turns == 0);
    close_pair();
    CHECK(lowest_free() == before);
}

/* The receiver ends, or the sender forgets: the copies are closed, and what comes later does not wait. */
static void forgotten(bool receiver_ends)
{
    int before = lowest_free(), fd;

    open_pair();
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    send_all(fd);
    CHECK(packets.first != NULL);
    if (receiver_ends) {
        close(far_end);
        far_end = -1;
        mur_packets_flush(&packets, &loop, &watch);
    } else {
        mur_packets_drop(&packets);
    }
    CHECK(!packets.first && !packets.last);
    if (receiver_ends)
        mur_packets_send(&packets, &loop, &watch, "", 1, fd);
    CHECK(!packets.first);
    close(fd);
    close_pair();
    CHECK(lowest_free() == before);
}

/* ---- frames ---- */

static void frames_hold_together(void)
{
    static struct mur_tree_frame frame, got;
    static char data[sizeof frame + 1];
    size_t head;

    frame = (struct mur_tree_frame){.kind = MUR_FRAME_DONE, .rank = 7};
    head = mur_frame_bytes(&frame);
    memcpy(data, &frame, sizeof frame);
    CHECK(mur_frame_unpack(&got, data, head) && got.rank == 7 && got.length == 0);
    CHECK(!mur_frame_unpack(&got, data, head - 1) && !mur_frame_unpack(&got, data, head + 1));
    frame.length = FULL;
    memset(frame.text, 'z', FULL);
    memcpy(data, &frame, sizeof frame);
    CHECK(mur_frame_bytes(&frame) == head + FULL);
    CHECK(mur_frame_unpack(&got, data, head + FULL) && got.text[FULL - 1] == 'z');
    CHECK(!mur_frame_unpack(&got, data, head + FULL - 1));
    CHECK(!mur_frame_unpack(&got, data, sizeof data));
    mur_frame_set_text(&frame, "%5000d", 1);
    CHECK(frame.length == FULL - 1 && frame.text[0] == ' ');
    mur_frame_set_failure(&frame, "%s", "why");
    CHECK(frame.kind == MUR_FRAME_FAILURE && frame.cause == MUR_CAUSE_START && frame.rank == -1 && frame.length == 3);
}

static void interrupt(int number)
{
    (void)number;
}

/* A signal that comes while nothing is there is not the end; the end is, whatever errno says from before. */
static void frames_end(void)
{
    struct itimerval soon = {.it_value.tv_usec = 1000, .it_interval.tv_usec = 1000}, never = {0};
    struct sigaction action = {.sa_handler = interrupt};
    struct mur_tree_frame frame = {.kind = MUR_FRAME_DONE}, got;
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    sigaction(SIGALRM, &action, NULL);
    if (fork() == 0) {
        usleep(100000);
        _exit(!mur_frame_send(pair[1], &frame));
    }
    close(pair[1]);
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK(mur_frame_receive(pair[0], &got) && got.kind == MUR_FRAME_DONE);
    setitimer(ITIMER_REAL, &never, NULL);
    errno = EINTR;
    CHECK(!mur_frame_receive(pair[0], &got));
    CHECK(!mur_frame_send(pair[0], &frame));
    close(pair[0]);
}

/* One who ended with a frame unread had sent one before. */
static void frames_of_the_dead(void)
{
    struct mur_tree_frame frame = {.kind = MUR_FRAME_DONE, .rank = 3}, got;
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    CHECK(mur_frame_send(pair[0], &frame) && mur_frame_send(pair[1], &frame));
    close(pair[1]);
    CHECK(mur_frame_receive(pair[0], &got) && got.rank == 3);
    CHECK(!mur_frame_receive(pair[0], &got));
    close(pair[0]);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    mur_loop_init(&loop);
    none_is_lost();
    forgotten(false);
    forgotten(true);
    frames_hold_together();
    frames_end();
    frames_of_the_dead();
    return unit_end();
}
