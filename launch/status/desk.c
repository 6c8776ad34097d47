/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/status/desk.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/status/name.h"
#include "launch/status/report.h"

enum {
    ASK_MS = 10000, /* after which an asker that does not ask, or does not read, is sent away */
    PAUSE_MS = 100
};

static void send_away(void *owner)
{
    struct mur_asker *asker = owner;

    if (asker->watch.fd < 0)
        return;
    mur_loop_unwatch(asker->desk->loop, &asker->watch);
    mur_timer_clear(&asker->limit);
    close(asker->watch.fd);
    asker->watch.fd = -1;
    free(asker->answer);
    asker->answer = NULL;
    mur_loop_watch(asker->desk->loop, &asker->desk->door, EPOLLIN); /* it may have been full */
}

/* The watch is level-triggered: what the socket does not take now goes when it may. */
static void go_on_answering(struct mur_asker *asker)
{
    ssize_t sent =
        send(asker->watch.fd, asker->answer + asker->sent, asker->bytes - asker->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    asker->sent += sent > 0 ? (size_t)sent : 0;
    if (sent < 0 || asker->sent == asker->bytes)
        send_away(asker);
}

static void read_question(struct mur_asker *asker)
{
    ssize_t got = recv(asker->watch.fd, asker->question + asker->length,
                       sizeof asker->question - 1 - (size_t)asker->length, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    asker->length += got > 0 ? (int)got : 0;
    asker->question[asker->length] = '\0';
    if (got <= 0 || (!strchr(asker->question, '\n') && asker->length == sizeof asker->question - 1)) {
        send_away(asker);
        return;
    }
    if (!strchr(asker->question, '\n'))
        return;
    asker->has_asked = true;
    mur_loop_unwatch(asker->desk->loop, &asker->watch); /* until there is an answer */
    asker->desk->ask(asker->desk->owner);
}

static void asker_ready(void *owner)
{
    struct mur_asker *asker = owner;

    if (asker->answer)
        go_on_answering(asker);
    else
        read_question(asker);
}

static bool is_waiting(const struct mur_asker *asker)
{
    return asker->watch.fd >= 0 && asker->has_asked && !asker->answer;
}

static bool wants_json(const struct mur_asker *asker)
{
    return strcmp(asker->question, "json\n") == 0;
}

bool mur_status_desk_wants_traffic(const struct mur_status_desk *desk)
{
    for (int i = 0; i < MUR_DESK_ASKERS; i++)
        if (is_waiting(&desk->askers[i]) && wants_json(&desk->askers[i]))
            return true;
    return false;
}

void mur_status_desk_answer(struct mur_status_desk *desk)
{
    for (int i = 0; i < MUR_DESK_ASKERS; i++) {
        struct mur_asker *asker = &desk->askers[i];

        if (!is_waiting(asker) || (wants_json(asker) && !desk->sample->has_traffic))
            continue;
        asker->answer = wants_json(asker) ? mur_status_json(desk->sample) : mur_status_text(desk->sample);
        asker->bytes = strlen(asker->answer);
        mur_loop_watch(desk->loop, &asker->watch, EPOLLOUT);
    }
}

static struct mur_asker *free_place(struct mur_status_desk *desk)
{
    for (int i = 0; i < MUR_DESK_ASKERS; i++)
        if (desk->askers[i].watch.fd < 0)
            return &desk->askers[i];
    return NULL;
}

static void look_again(void *owner)
{
    struct mur_status_desk *desk = owner;

    mur_loop_watch(desk->loop, &desk->door, EPOLLIN);
}

/* Askers that find no place wait in the system's queue. */
static void somebody_comes(void *owner)
{
    struct mur_status_desk *desk = owner;
    struct mur_asker *asker = free_place(desk);
    int fd = asker ? accept4(desk->door.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;

    if (!asker) {
        mur_loop_unwatch(desk->loop, &desk->door);
        return;
    }
    if (fd < 0) { /* descriptors may be short: the loop must not turn for nothing */
        mur_loop_unwatch(desk->loop, &desk->door);
        mur_timer_set(&desk->pause, PAUSE_MS);
        return;
    }
    if (!mur_status_is_trusted(fd)) {
        close(fd);
        return;
    }
    asker->watch.fd = fd;
    asker->length = 0;
    asker->question[0] = '\0';
    asker->has_asked = false;
    asker->sent = 0;
    mur_loop_watch(desk->loop, &asker->watch, EPOLLIN);
    mur_timer_set(&asker->limit, ASK_MS);
}

void mur_status_desk_open(struct mur_status_desk *desk, struct mur_loop *loop)
{
    struct sockaddr_un address;
    socklen_t bytes = mur_status_name(&address, getuid(), getpid());

    desk->loop = loop;
    for (int i = 0; i < MUR_DESK_ASKERS; i++) {
        struct mur_asker *asker = &desk->askers[i];

        asker->desk = desk;
        asker->watch = (struct mur_watch){.fd = -1, .ready = asker_ready, .owner = asker};
        asker->limit = (struct mur_timer){.fire = send_away, .owner = asker};
        mur_loop_add_timer(loop, &asker->limit);
    }
    desk->pause = (struct mur_timer){.fire = look_again, .owner = desk};
    mur_loop_add_timer(loop, &desk->pause);
    desk->door = (struct mur_watch){
        .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), .ready = somebody_comes, .owner = desk};
    if (desk->door.fd < 0)
        return;
    if (bind(desk->door.fd, (struct sockaddr *)&address, bytes) < 0 || listen(desk->door.fd, MUR_DESK_ASKERS) < 0) {
        close(desk->door.fd);
        desk->door.fd = -1;
        return;
    }
    mur_loop_watch(loop, &desk->door, EPOLLIN);
}
