/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/status/sample.h"

#include <string.h>

#include "launch/alloc.h"
#include "launch/loop.h"

void mur_sample_ask(struct mur_sample *sample, bool wants_traffic, struct mur_tree_frame *frame)
{
    size_t bytes = (size_t)sample->job->size * sizeof *sample->states;

    if (!sample->states)
        sample->states = mur_alloc((size_t)sample->job->size, sizeof *sample->states);
    memset(sample->states, 0, bytes); /* all are MUR_STATE_UNKNOWN */
    sample->question++;
    sample->answered = 0;
    sample->is_open = true;
    sample->asked_at = mur_loop_now();
    sample->flow_count = 0;
    sample->has_traffic = wants_traffic;
    *frame = (struct mur_tree_frame){.kind = MUR_FRAME_LOOK, .code = sample->question, .wants_traffic = wants_traffic};
}

/* Numbers come from processes of the job, which a program may have damaged. */
static bool is_sound(const struct mur_sample *sample, const struct mur_tree_frame *frame)
{
    struct mur_rank_state state;

    if (frame->rank < 0 || frame->rank >= sample->job->size || frame->length < offsetof(struct mur_rank_state, waits) ||
        frame->length > sizeof state)
        return false;
    memcpy(&state, frame->text, frame->length);
    return state.kind < MUR_STATE_KINDS && state.shown <= MUR_LOOK_WAITS && mur_state_bytes(&state) == frame->length;
}

bool mur_sample_take(struct mur_sample *sample, const struct mur_tree_frame *frame)
{
    struct mur_rank_state *state;

    if (!sample->is_open || frame->code != sample->question || !is_sound(sample, frame))
        return false;
    state = &sample->states[frame->rank];
    sample->answered += state->kind == MUR_STATE_UNKNOWN;
    memcpy(state, frame->text, frame->length);
    if (sample->answered < sample->job->size)
        return false;
    mur_sample_close(sample);
    return true;
}

void mur_sample_take_traffic(struct mur_sample *sample, const struct mur_tree_frame *frame)
{
    struct mur_flow flow = {.from = frame->rank};

    if (!sample->is_open || frame->code != sample->question || frame->rank < 0 || frame->rank >= sample->job->size)
        return;
    for (size_t at = 0; at + sizeof flow.traffic <= frame->length; at += sizeof flow.traffic) {
        memcpy(&flow.traffic, frame->text + at, sizeof flow.traffic);
        if (flow.traffic.to < 0 || flow.traffic.to >= sample->job->size || sample->flow_count == MUR_SAMPLE_FLOWS)
            continue;
        if (sample->flow_count == sample->flow_space) {
            sample->flow_space = sample->flow_space ? 2 * sample->flow_space : 256;
            sample->flows = mur_alloc_again(sample->flows, (size_t)sample->flow_space, sizeof *sample->flows);
        }
        sample->flows[sample->flow_count++] = flow;
    }
}

bool mur_sample_has_mpi(const struct mur_sample *sample)
{
    for (int rank = 0; rank < sample->job->size; rank++)
        if (sample->states[rank].kind != MUR_STATE_OUTSIDE && sample->states[rank].kind != MUR_STATE_ENDED)
            return true;
    return false;
}

void mur_sample_close(struct mur_sample *sample)
{
    sample->is_open = false;
}
