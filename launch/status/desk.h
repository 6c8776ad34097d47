/* SPDX-License-Identifier: BSD-3-Clause */
/* Where mpiexec can be asked what its job is doing, and `mpiexec -status`, which asks.
 *
 * mpiexec listens at an abstract socket whose name has the user's number and its own process number, so nothing is left
 * in any directory however it ends, and those who ask find all jobs of the user in /proc/net/unix. An abstract socket
 * has no permissions: each side asks the system who the other is, and talks to the same user and to root only.
 *
 * A question is one line, "text\n" or "json\n"; the answer ends where the connection does. The running mpiexec puts it
 * together, so the one that asks may be of another version. */
#ifndef MUR_LAUNCH_STATUS_DESK_H
#define MUR_LAUNCH_STATUS_DESK_H

#include <stdbool.h>

#include "launch/loop.h"
#include "launch/status/sample.h"

enum { MUR_DESK_ASKERS = 8 };

struct mur_status_desk;

struct mur_asker {
    struct mur_status_desk *desk;
    struct mur_watch watch; /* fd -1: nobody */
    char question[8];       /* what has come of it */
    int length;
    bool has_asked;
    char *answer; /* NULL: it waits for one. Owned */
    size_t bytes, sent;
    struct mur_timer limit;
};

struct mur_status_desk {
    struct mur_loop *loop;
    struct mur_watch door;  /* fd -1: it could not be opened */
    struct mur_timer pause; /* until it is looked at again */
    struct mur_asker askers[MUR_DESK_ASKERS];
    const struct mur_sample *sample;
    void (*ask)(void *owner); /* somebody wants a sample; mur_status_desk_answer is called when there is one */
    void *owner;
};

/* `sample`, `ask` and `owner` are set before. Where there is no socket to be had, nobody can ask. */
void mur_status_desk_open(struct mur_status_desk *desk, struct mur_loop *loop);

/* Whether somebody who waits wants the ranks' traffic, too. */
bool mur_status_desk_wants_traffic(const struct mur_status_desk *desk);

/* The sample that was asked for is there. Who wants traffic that it does not have waits for another one. */
void mur_status_desk_answer(struct mur_status_desk *desk);

/* mpiexec -status: prints what the jobs of this user on this machine are doing, or the one whose id, or whose mpiexec's
 * process number, this is (NULL: all). Returns the exit code. */
int mur_status_print(const char *job, bool is_json);

#endif
