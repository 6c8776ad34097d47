/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of packets that found no room. */
#include "launch/packets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/alloc.h"

struct mur_packet {
    struct mur_packet *next;
    int fd; /* a copy of our own, -1: none */
    size_t bytes;
    char data[];
};

enum fate { SENT, NO_ROOM, NOBODY };

static enum fate send_one(int socket, const void *data, size_t bytes, int fd)
{
    char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
    struct iovec vector = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};
    ssize_t sent;

    if (fd >= 0) {
        struct cmsghdr *part;

        header.msg_control = room;
        header.msg_controllen = sizeof room;
        part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(part), &fd, sizeof fd);
    }
    do
        sent = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return SENT;
    return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS ? NO_ROOM : NOBODY;
}

static void watch_for(struct mur_loop *loop, struct mur_watch *watch, uint32_t events)
{
    if (watch->is_active)
        mur_loop_rewatch(loop, watch, events);
}

static void keep(struct mur_packets *packets, const void *data, size_t bytes, int fd)
{
    struct mur_packet *packet = mur_alloc(1, sizeof *packet + bytes);

    packet->next = NULL;
    packet->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    packet->bytes = bytes;
    memcpy(packet->data, data, bytes);
    if (packets->last)
        packets->last->next = packet;
    else
        packets->first = packet;
    packets->last = packet;
}

void mur_packets_send(struct mur_packets *packets, struct mur_loop *loop, struct mur_watch *watch, const void *data,
                      size_t bytes, int fd)
{
    bool is_first = !packets->first;

    if (is_first && send_one(watch->fd, data, bytes, fd) != NO_ROOM)
        return;
    keep(packets, data, bytes, fd);
    if (is_first)
        watch_for(loop, watch, EPOLLIN | EPOLLOUT);
}

static void forget_first(struct mur_packets *packets)
{
    struct mur_packet *packet = packets->first;

    packets->first = packet->next;
    if (!packets->first)
        packets->last = NULL;
    if (packet->fd >= 0)
        close(packet->fd);
    free(packet);
}

void mur_packets_flush(struct mur_packets *packets, struct mur_loop *loop, struct mur_watch *watch)
{
    enum fate fate = SENT;

    if (!packets->first)
        return;
    while (packets->first && fate == SENT) {
        fate = send_one(watch->fd, packets->first->data, packets->first->bytes, packets->first->fd);
        if (fate == SENT)
            forget_first(packets);
    }
    if (fate == NOBODY)
        mur_packets_drop(packets);
    if (!packets->first)
        watch_for(loop, watch, EPOLLIN);
}

void mur_packets_drop(struct mur_packets *packets)
{
    while (packets->first)
        forget_first(packets);
}
