/* SPDX-License-Identifier: BSD-3-Clause */
/* An event loop on epoll: watches call back when their descriptor is ready, timers when their time has come.
 *
 * Watches and timers belong to the caller and must outlive the loop's use of them. A callback may remove any watch: one
 * that was removed is not called for the events of the same turn. There are few timers, so they are a plain list. */
#ifndef MUR_LAUNCH_LOOP_H
#define MUR_LAUNCH_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct mur_watch {
    int fd;
    void (*ready)(void *owner);
    void *owner;
    bool is_active; /* kept by the loop */
};

struct mur_timer {
    void (*fire)(void *owner);
    void *owner;
    int64_t deadline; /* in ms of mur_loop_now; 0: not set */
    struct mur_timer *next;
};

struct mur_loop {
    int epoll;
    struct mur_timer *timers;
};

int64_t mur_loop_now(void); /* ms, monotonic */
void mur_loop_init(struct mur_loop *loop);
void mur_loop_watch(struct mur_loop *loop, struct mur_watch *watch, uint32_t events);   /* EPOLLIN or EPOLLOUT */
void mur_loop_rewatch(struct mur_loop *loop, struct mur_watch *watch, uint32_t events); /* for others than before */
void mur_loop_unwatch(struct mur_loop *loop, struct mur_watch *watch);                  /* may be inactive already */
void mur_loop_add_timer(struct mur_loop *loop, struct mur_timer *timer);
void mur_timer_set(struct mur_timer *timer, int64_t delay_ms);
void mur_timer_clear(struct mur_timer *timer);
void mur_loop_turn(struct mur_loop *loop); /* waits for something to happen and handles it */

#endif
