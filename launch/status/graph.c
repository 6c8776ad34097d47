/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/status/graph.h"

#include <stdlib.h>

#include "launch/alloc.h"

/* ---- what a wait needs ---- */

/* Of a lock that is taken by message the holder says itself that it has it. */
static void need_holders(const struct mur_sample *sample, const struct mur_look_wait *wait, mur_graph_asker *take,
                         void *argument)
{
    for (int rank = 0; rank < sample->job->size; rank++) {
        const struct mur_rank_state *state = &sample->states[rank];

        for (uint32_t i = 0; i < state->hold_count && i < MUR_LOOK_HOLDS; i++)
            if (state->kind == MUR_STATE_WAITING && state->holds[i].context == wait->context &&
                state->holds[i].rank == wait->peer)
                take(argument, rank);
    }
}

/* Any source: the world's ranks are known, those of another communicator may be any. */
static void need_any(const struct mur_sample *sample, int rank, const struct mur_look_wait *wait, mur_graph_asker *take,
                     void *argument)
{
    for (int other = 0; other < sample->job->size; other++)
        if (other != rank || wait->size == 1)
            take(argument, other);
}

void mur_graph_needs(const struct mur_sample *sample, int rank, const struct mur_look_wait *wait, mur_graph_asker *take,
                     void *argument)
{
    if (wait->peer == MUR_LOOK_ANY)
        need_any(sample, rank, wait, take, argument);
    for (int i = 0; i < wait->missing_count && i < MUR_LOOK_MISSING; i++)
        if (wait->missing[i] >= 0 && wait->missing[i] < sample->job->size)
            take(argument, wait->missing[i]);
    if (wait->kind == MUR_WAIT_LOCK && !wait->missing_count)
        need_holders(sample, wait, take, argument);
}

struct search {
    int wanted;
    bool is_found;
};

static void compare(void *argument, int rank)
{
    struct search *search = argument;

    search->is_found |= rank == search->wanted;
}

bool mur_graph_waits(const struct mur_sample *sample, int rank, int other)
{
    const struct mur_rank_state *state = &sample->states[rank];
    struct search search = {.wanted = other};

    if (state->kind != MUR_STATE_WAITING)
        return false;
    for (int i = 0; i < state->shown; i++)
        mur_graph_needs(sample, rank, &state->waits[i], compare, &search);
    return search.is_found;
}

/* ---- who is stuck ---- */

struct count {
    const bool *may_go;
    int all, going;
};

static void add(void *argument, int rank)
{
    struct count *count = argument;

    count->all++;
    count->going += count->may_go[rank];
}

/* Whether this thing may come, if those may go on. What nobody is known to lack may. */
static bool may_come(const struct mur_sample *sample, int rank, const struct mur_look_wait *wait, const bool *may_go)
{
    struct count count = {.may_go = may_go};

    mur_graph_needs(sample, rank, wait, add, &count);
    if (!count.all)
        return wait->peer != MUR_LOOK_ANY;
    return wait->peer == MUR_LOOK_ANY ? count.going > 0 : count.going == count.all;
}

static bool may_go_on(const struct mur_sample *sample, int rank, const bool *may_go)
{
    const struct mur_rank_state *state = &sample->states[rank];
    int coming = 0;

    if (state->kind == MUR_STATE_ENDED || mur_state_is_stopped(state))
        return false;
    if (state->kind != MUR_STATE_WAITING || !state->shown)
        return true;
    for (int i = 0; i < state->shown; i++)
        coming += may_come(sample, rank, &state->waits[i], may_go);
    return state->is_any ? coming > 0 || (int)state->wait_count > state->shown : coming == state->shown;
}

/* At first nobody may go on but those who do not wait; then whoever needs only such, until nothing changes. */
void mur_graph_make(struct mur_wait_graph *graph, const struct mur_sample *sample)
{
    int size = sample->job->size;
    bool *may_go = mur_alloc((size_t)size, sizeof *may_go), has_changed;

    do {
        has_changed = false;
        for (int rank = 0; rank < size; rank++)
            if (!may_go[rank] && may_go_on(sample, rank, may_go))
                has_changed = may_go[rank] = true;
    } while (has_changed);
    *graph = (struct mur_wait_graph){.sample = sample, .size = size, .is_stuck = may_go};
    for (int rank = 0; rank < size; rank++)
        graph->is_stuck[rank] = !may_go[rank] && sample->states[rank].kind == MUR_STATE_WAITING &&
                                !mur_state_is_stopped(&sample->states[rank]);
}

void mur_graph_free(struct mur_wait_graph *graph)
{
    free(graph->is_stuck);
}

/* ---- circles ---- */

struct step {
    const struct mur_wait_graph *graph;
    const int *place; /* [size] where the rank is on the way; -1: nowhere */
    int next;         /* a stuck rank, one of the way if possible; -1: none */
};

static void choose(void *argument, int rank)
{
    struct step *step = argument;

    if (step->graph->is_stuck[rank] && (step->next < 0 || (step->place[rank] >= 0 && step->place[step->next] < 0)))
        step->next = rank;
}

static int next_of(const struct mur_wait_graph *graph, int rank, const int *place)
{
    const struct mur_rank_state *state = &graph->sample->states[rank];
    struct step step = {.graph = graph, .place = place, .next = -1};

    for (int i = 0; i < state->shown; i++)
        mur_graph_needs(graph->sample, rank, &state->waits[i], choose, &step);
    return step.next;
}

/* Goes from rank to rank until one comes again. */
int mur_graph_circle(const struct mur_wait_graph *graph, int start, int *ranks)
{
    int *place = mur_alloc((size_t)graph->size, sizeof *place), length = 0, first;

    for (int i = 0; i < graph->size; i++)
        place[i] = -1;
    while (start >= 0 && place[start] < 0) {
        place[start] = length;
        ranks[length++] = start;
        start = next_of(graph, start, place);
    }
    first = start < 0 ? length : place[start];
    for (int i = first; i < length; i++)
        ranks[i - first] = ranks[i];
    free(place);
    return length - first;
}
