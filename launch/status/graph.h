/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits on whom. A rank that waits needs others: all of those that something lacks, or one of many, where it
 * receives from any source or waits for any of its requests. Who does not wait may go on by itself, unless it has ended
 * or is stopped. Whoever cannot go on, whatever the others do, is stuck: those are in circles, or wait for such. */
#ifndef MUR_LAUNCH_STATUS_GRAPH_H
#define MUR_LAUNCH_STATUS_GRAPH_H

#include <stdbool.h>

#include "launch/status/sample.h"

struct mur_wait_graph {
    const struct mur_sample *sample;
    int size;
    bool *is_stuck; /* [size] waits, and cannot go on whatever others do */
};

void mur_graph_make(struct mur_wait_graph *graph, const struct mur_sample *sample);
void mur_graph_free(struct mur_wait_graph *graph);

/* Calls `take` for each rank that this thing lacks, as far as is known. */
typedef void mur_graph_asker(void *argument, int rank);
void mur_graph_needs(const struct mur_sample *sample, int rank, const struct mur_look_wait *wait, mur_graph_asker *take,
                     void *argument);

/* Whether `rank` waits for `other`, for anything. */
bool mur_graph_waits(const struct mur_sample *sample, int rank, int other);

/* A circle that `start` leads to: ranks in the order of waiting; returns how many, 0: none. */
int mur_graph_circle(const struct mur_wait_graph *graph, int start, int *ranks);

#endif
