/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of each rank by name: -rankfile, a file with lines as
 *
 *     rank 0=hostA slot=1:0-2
 *     rank 1=+n0 slot=3
 *
 * or -rankmap, the numbers of hosts in the job's list. +nK is the host with number K. */
#ifndef MUR_LAUNCH_RANKFILE_H
#define MUR_LAUNCH_RANKFILE_H

#include "launch/hosts/hosts.h"

struct mur_placing;

struct mur_rankfile {
    const char *name; /* of the file, or the option, for messages */
    char **hosts;     /* of each rank: a name, or "+nK" */
    char **slots;     /* of each rank: what binding.h reads; NULL for a rank without, or for all */
    int count;
    bool has_names; /* at least one host is named */
};

/* Reads the one that the options name; without one, *ranks is empty. */
bool mur_rankfile_read(struct mur_rankfile *ranks, const struct mur_placing *placing, struct mur_problem *problem);
/* Adds the hosts that are named. */
bool mur_rankfile_hosts(const struct mur_rankfile *ranks, struct mur_hosts *hosts, struct mur_problem *problem);
/* The number of the rank's host in the list; -1: it is not there. `own_name` is this machine's. */
int mur_rankfile_find(const struct mur_rankfile *ranks, int rank, const struct mur_hosts *hosts, const char *own_name,
                      struct mur_problem *problem);

#endif
