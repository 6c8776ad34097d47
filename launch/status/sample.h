/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ranks of a job are doing at one time: the agents' answers to one question. mpiexec asks when somebody wants
 * to know, at most once a second, and what is missing after a while is taken for unknown. */
#ifndef MUR_LAUNCH_STATUS_SAMPLE_H
#define MUR_LAUNCH_STATUS_SAMPLE_H

#include <stdbool.h>

#include "launch/frame.h"
#include "launch/jobspec.h"
#include "launch/status/state.h"

enum {
    MUR_SAMPLE_EVERY_MS = 1000,    /* between two questions */
    MUR_SAMPLE_PATIENCE_MS = 1500, /* for the answers */
    MUR_SAMPLE_FLOWS = 1 << 20     /* pairs of ranks of which traffic is told */
};

struct mur_flow {
    int from;
    struct mur_rank_traffic traffic;
};

struct mur_sample {
    const struct mur_jobspec *job;
    struct mur_rank_state *states; /* [job->size]; NULL: nothing was asked yet */
    struct mur_flow *flows;        /* [flow_count] what ranks have sent to each other, if that was asked for; owned */
    int flow_count, flow_space;
    int question;       /* the number of the latest */
    int answered;       /* ranks */
    bool has_traffic;   /* that was asked for */
    bool is_open;       /* answers are awaited */
    int64_t asked_at;   /* ms of mur_loop_now */
    int64_t started_at; /* the job */
};

/* Begins a question: `frame` is to go to the agent. */
void mur_sample_ask(struct mur_sample *sample, bool wants_traffic, struct mur_tree_frame *frame);

/* Takes a MUR_FRAME_TRAFFIC. */
void mur_sample_take_traffic(struct mur_sample *sample, const struct mur_tree_frame *frame);

/* Takes a MUR_FRAME_STATE; true: it was the last answer. */
bool mur_sample_take(struct mur_sample *sample, const struct mur_tree_frame *frame);

/* Whether any rank is in MPI, or may be: else there is nothing to tell. */
bool mur_sample_has_mpi(const struct mur_sample *sample);

/* No more answers are awaited. */
void mur_sample_close(struct mur_sample *sample);

static inline bool mur_state_is_stopped(const struct mur_rank_state *state)
{
    return state->process == 'T' || state->process == 't';
}

#endif
