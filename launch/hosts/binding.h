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
    char **slots;    /* of each rank of the job, cores as a rank file writes them, "0:1-2" or "3"; NULL: none */
    int slot_count;  /* ranks that these are for */
    bool is_auto;    /* only where the host has enough parts for its ranks */
    bool is_limited; /* the job may use no other CPUs than these, */
    cpu_set_t limit;
    bool is_explicit; /* -bind-to was given, if only as none */
    bool is_reported;
};

/* Finds the topology, once, in the process that will start the ranks of job->hosts.items[node] or in its parent; says
 * who is bound where if that is asked for, and if ranks share what they are bound to. Does nothing without binding. */
bool mur_binding_start(const struct mur_jobspec *job, int node, struct mur_problem *problem);
/* The CPUs for a rank of this host; false: it is not to be bound. After mur_binding_start. */
bool mur_binding_of(const struct mur_jobspec *job, int rank, cpu_set_t *set);

/* The same for any topology. */
bool mur_binding_choose(const struct mur_hardware *topology, const struct mur_binding_request *request, int local_rank,
                        cpu_set_t *set);
/* Cores by their numbers, within a socket where one stands before ':': "3", "0:1-2", "0:*,1:0". False: the machine has
 * no such, or this is no such text. */
bool mur_binding_read_slot(const struct mur_hardware *topology, const char *text, cpu_set_t *set);
/* Reads "0,2-5", CPUs of which each rank gets the next (-cpu-list), or that all must do with (-cpu-set). */
bool mur_binding_read_cpus(struct mur_binding_request *request, const char *text, struct mur_problem *problem);
bool mur_binding_read_limit(struct mur_binding_request *request, const char *text, struct mur_problem *problem);
/* Reads "core", "socket:2", "none", "auto", "user:0,1+2,4-7" into `request`. */
bool mur_binding_read(struct mur_binding_request *request, const char *text, struct mur_problem *problem);
/* Writes a set as "0-3,8" into `text` and returns that. */
const char *mur_binding_text(const cpu_set_t *set, char *text, int size);

#endif
