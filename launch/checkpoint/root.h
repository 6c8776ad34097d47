/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of the process tree that CRIU saves and restores: it starts the ranks of a node, adopts what they leave
 * behind, and tells the agent how they end. It is mpiexec once more (agent/root_process.c), started in the namespaces:
 * of a file that was opened outside CRIU would not know the mount. The process above it, number 1 of a namespace of
 * process numbers, ends with the agent, and all below with that. */
#ifndef MUR_LAUNCH_CHECKPOINT_ROOT_H
#define MUR_LAUNCH_CHECKPOINT_ROOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/frame.h"

/* Over a SOCK_SEQPACKET pair. */
enum mur_root_kind {
    MUR_ROOT_ASK = 1, /* to it: tell of all that run */
    MUR_ROOT_RUNS,    /* rank `index` runs; the message's credentials are its process's */
    MUR_ROOT_TOLD,    /* of all */
    MUR_ROOT_STOPPED, /* rank `index` has been stopped: `status` as waitpid tells it */
    MUR_ROOT_ENDED,   /* it has ended */
    MUR_ROOT_FAILED,  /* it could not be started: `failure` */
};

struct mur_root_message {
    uint32_t kind;
    int32_t index; /* among the ranks of the node */
    int32_t status;
    struct mur_tree_frame failure;
};

/* Starts rank `index`; 0 with *failure filled: it cannot be started. */
typedef pid_t mur_root_start(void *owner, int index, struct mur_tree_frame *failure);

/* Forks number 1 of new namespaces, which calls `run` with `owner` there and then reaps until no process is left. It
 * has what the caller has open, and ends with the caller. -1 with errno. */
pid_t mur_namespace_start(void (*run)(void *owner), void *owner);

/* What number 1 runs at a job's start: it forks the root process, which becomes this program. */
void mur_root_execute(char *const words[]);

/* That program's life, behind what it has to prepare: starts `count` ranks, and tends them. `line` is its end of the
 * pair. */
_Noreturn void mur_root_run(int line, int count, mur_root_start *start, void *owner);

/* The agent's side. Does not wait with `is_patient` false; false: there is no message, or (errno 0) no root process.
 * `pid` is that of MUR_ROOT_RUNS. */
bool mur_root_receive(int line, struct mur_root_message *message, pid_t *pid, bool is_patient);
void mur_root_ask(int line);

/* Of a tree that is started, or was restored: how the root process is numbered in its namespace. */
enum { MUR_ROOT_PID = 300 };

#endif
