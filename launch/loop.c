/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop: one epoll set, level-triggered, and a list of timers looked through at each turn. */
#include "launch/loop.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "launch/say.h"

int64_t mur_loop_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void mur_loop_init(struct mur_loop *loop)
{
    loop->timers = NULL;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot create an epoll descriptor: %s", strerror(errno));
}

void mur_loop_watch(struct mur_loop *loop, struct mur_watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if (watch->is_active)
        return;
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &event) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot watch descriptor %d: %s", watch->fd, strerror(errno));
    watch->is_active = true;
}

void mur_loop_unwatch(struct mur_loop *loop, struct mur_watch *watch)
{
    if (!watch->is_active)
        return;
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->is_active = false;
}

void mur_loop_add_timer(struct mur_loop *loop, struct mur_timer *timer)
{
    timer->next = loop->timers;
    loop->timers = timer;
}

void mur_loop_rewatch(struct mur_loop *loop, struct mur_watch *watch, uint32_t events)
{
    mur_loop_unwatch(loop, watch);
    mur_loop_watch(loop, watch, events);
}

void mur_timer_set(struct mur_timer *timer, int64_t delay_ms)
{
    timer->deadline = mur_loop_now() + delay_ms;
}

void mur_timer_clear(struct mur_timer *timer)
{
    timer->deadline = 0;
}

static int next_delay(const struct mur_loop *loop)
{
    int64_t first = INT64_MAX;
    int64_t delay;

    for (const struct mur_timer *timer = loop->timers; timer; timer = timer->next)
        if (timer->deadline && timer->deadline < first)
            first = timer->deadline;
    if (first == INT64_MAX)
        return -1;
    delay = first - mur_loop_now();
    if (delay < 0)
        return 0;
    return delay < INT_MAX ? (int)delay : INT_MAX;
}

void mur_loop_turn(struct mur_loop *loop)
{
    struct epoll_event events[64];
    int count = epoll_wait(loop->epoll, events, 64, next_delay(loop));
    int64_t now;

    if (count < 0 && errno != EINTR)
        mur_quit(MUR_EXIT_TROUBLE, "cannot wait for events: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
        struct mur_watch *watch = events[i].data.ptr;

        if (watch->is_active)
            watch->ready(watch->owner);
    }

    now = mur_loop_now();
    for (struct mur_timer *timer = loop->timers; timer; timer = timer->next)
        if (timer->deadline && timer->deadline <= now) {
            timer->deadline = 0;
            timer->fire(timer->owner);
        }
}
