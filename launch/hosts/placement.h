/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ranks run: finds the hosts of a job and gives each rank one of them.
 *
 * The hosts are, the first that is there:
 *   1. what the command line names: a host file, of which -host chooses, or -host alone
 *   2. what the environment names: see mur_hosts_from_settings
 *   3. what a resource manager has given us
 *   4. this machine, which takes any number of ranks
 * A host without a number has one slot. Ranks fill the slots of one host after the other, or take one slot of each host
 * in turn; when all slots are taken, all hosts offer them once more, unless that is forbidden. */
#ifndef MUR_LAUNCH_PLACEMENT_H
#define MUR_LAUNCH_PLACEMENT_H

#include "launch/jobspec.h"

/* Finds out how many of a part each host has for which counts[i] is MUR_PART_UNKNOWN, and writes it there. */
typedef bool mur_part_counter(const struct mur_jobspec *job, const struct mur_hosts *hosts, enum mur_part part,
                              int *counts, struct mur_problem *problem);
enum { MUR_PART_UNKNOWN = -1 };

/* Fills job->hosts, job->node_of, job->local_of and job->manager, and the numbers of ranks that were left to us.
 * job->host is known. `counter` is asked where the places depend on the parts of other hosts. */
bool mur_placement_make(struct mur_jobspec *job, mur_part_counter *counter, struct mur_problem *problem);
int mur_placement_first(const struct mur_jobspec *job, int node); /* the lowest rank there */
/* The number of the `local`th rank there; returns its part of the command line. Both -1: there are not so many. */
int mur_placement_find(const struct mur_jobspec *job, int node, int local, int *number);
/* Says which ranks each host runs. */
void mur_placement_show(const struct mur_jobspec *job);

#endif
