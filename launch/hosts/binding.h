/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs a rank is bound to.
 *
 * The ranks of a host go over its parts of the kind `map` in turn; each is bound to the next `width` parts of the
 * kind `bind` in there, or to the one around it when that is larger. When all are taken they are taken again. Nothing
 * goes beyond the affinity that mpiexec itself was given. Without -bind-to nothing is bound. */
#ifndef MUR_LAUNCH_BINDING_H
#define MUR_LAUNCH_BINDING_H

#include <sched.h>
#include <stdbool.h>

#include "launch/hosts/topology.h"

struct mur_jobspec;
struct mur_problem;

struct mur_binding_request {
    enum mur_part bind; /* MUR_PART_NONE: no binding, but for a list */
    enum mur_part map;  /* MUR_PART_NONE: as `bind` */
    int width;          /* parts of each rank */
    int block;          /* ranks that go to a part `map` before the next one's turn */
    cpu_set_t *list;    /* the sets of local rank 0, 1, ...; then again from the first; NULL: none */
    int list_count;
    bool is_explicit; /* -bind-to was given, if only as none */
    bool is_reported;
};

/* Finds the topology, once, in the process that will start the ranks of job->hosts.items[node] or in its parent; says
 * who is bound where if that is asked for, and if ranks share what they are bound to. Does nothing without binding. */
bool mur_binding_start(const struct mur_jobspec *job, int node, struct mur_problem *problem);
/* The CPUs for rank `local_rank` of the `local_size` of this host; false: it is not to be bound. After
 * mur_binding_start. */
bool mur_binding_of(const struct mur_jobspec *job, int local_rank, int local_size, cpu_set_t *set);

/* The same for any topology. */
bool mur_binding_choose(const struct mur_hardware *topology, const struct mur_binding_request *request, int local_rank,
                        cpu_set_t *set);
/* Reads "core", "socket:2", "none", "user:0,1+2,4-7" into `request`. */
bool mur_binding_read(struct mur_binding_request *request, const char *text, struct mur_problem *problem);
/* Writes a set as "0-3,8" into `text` and returns that. */
const char *mur_binding_text(const cpu_set_t *set, char *text, int size);

#endif
