/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec's part of snapshots: when one is taken, and in which order agents act. */
#ifndef MUR_LAUNCH_CHECKPOINT_TRIGGER_H
#define MUR_LAUNCH_CHECKPOINT_TRIGGER_H

#include "launch/checkpoint/manifest.h"
#include "launch/frame.h"
#include "launch/jobspec.h"
#include "launch/loop.h"

enum mur_snapshot_phase {
    MUR_SNAPSHOT_NONE,
    MUR_SNAPSHOT_FREEZING, /* some hosts are not frozen and written yet */
    MUR_SNAPSHOT_SAVING,   /* the job goes on; some hosts have not packed what they wrote */
};

struct mur_trigger {
    const struct mur_jobspec *job;
    enum mur_snapshot_phase phase;
    int next;           /* number of the next snapshot */
    int waiting;        /* hosts that have not answered */
    bool *has_answered; /* [hosts] */
    bool has_failed, has_retried, has_told, is_closed;
    char failure[2400];
    struct mur_manifest manifest;
    struct mur_timer again, patience;
    void (*send)(void *owner, const struct mur_tree_frame *frame); /* to all agents */
    void (*over)(void *owner, bool is_good); /* the snapshot that was asked for is there, or is not */
    void *owner;
};

/* Ends mpiexec if another one takes snapshots into the same folder. */
void mur_trigger_lock(const struct mur_jobspec *job);

void mur_trigger_open(struct mur_trigger *trigger, struct mur_loop *loop, const struct mur_jobspec *job);
/* Takes a snapshot, unless one is being taken. False: there will be none. */
bool mur_trigger_pull(struct mur_trigger *trigger);
void mur_trigger_answer(struct mur_trigger *trigger, const struct mur_tree_frame *frame); /* FROZEN, SAVED or LEFT */
void mur_trigger_close(struct mur_trigger *trigger); /* the job ends: no more of them */

#endif
