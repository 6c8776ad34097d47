/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank is missing when it has ended after fewer MPI programs than another rank is in MPI with: the world of that
 * program can never be whole. Ranks that run no MPI program at all end when they like, as long as none is in MPI. */
#include "launch/standing.h"

#include "launch/alloc.h"

static const struct mur_standing *host_in_highest(const struct mur_standings *standings, int count)
{
    const struct mur_standing *best = &standings->hosts[0];

    for (int i = 1; i < count; i++)
        if (standings->hosts[i].highest > best->highest)
            best = &standings->hosts[i];
    return best;
}

static const struct mur_standing *host_left_first(const struct mur_standings *standings, int count)
{
    const struct mur_standing *best = NULL;

    for (int i = 0; i < count; i++)
        if (standings->hosts[i].has_left && (!best || standings->hosts[i].left < best->left))
            best = &standings->hosts[i];
    return best;
}

bool mur_standings_take(struct mur_standings *standings, const struct mur_jobspec *job,
                        const struct mur_tree_frame *frame, struct mur_tree_frame *failure)
{
    const struct mur_standing *highest, *left;

    if (frame->rank < 0 || frame->rank >= job->size)
        return false;
    if (!standings->hosts)
        standings->hosts = mur_alloc((size_t)job->hosts.count, sizeof *standings->hosts);
    standings->hosts[job->node_of[frame->rank]] = frame->standing;
    highest = host_in_highest(standings, job->hosts.count);
    left = host_left_first(standings, job->hosts.count);
    if (!left || left->left >= highest->highest)
        return false;
    *failure = (struct mur_tree_frame){.kind = MUR_FRAME_FAILURE,
                                       .cause = MUR_CAUSE_MISSING,
                                       .rank = left->left_rank,
                                       .pid = left->left_pid,
                                       .code = left->left_code,
                                       .standing = *left};
    failure->standing.highest = highest->highest;
    failure->standing.highest_rank = highest->highest_rank;
    return true;
}
