/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of other MPI libraries: what their PMI servers ask, put to the tree of agents. */
#include <string.h>

#include "boot/pmi/mapping.h"
#include "launch/agent/inside.h"

void mur_agent_release_barrier(void *owner)
{
    struct mur_agent *agent = owner;

    mur_tree_release(&agent->tree);
    mur_pmi_ranks_release(&agent->pmi);
}

static void all_in_barrier(void *owner)
{
    struct mur_agent *agent = owner;

    if (agent->uplink)
        mur_branch_send(&agent->uplink->branch, MUR_BRANCH_BARRIER, NULL, 0);
    else
        mur_agent_release_barrier(agent);
}

static void pmi_active(void *owner, int index, bool is_active)
{
    struct mur_agent *agent = owner;

    agent->ranks[index].is_in_mpi = is_active;
}

static void pmi_abort(void *owner, int index, int code, const char *text)
{
    struct mur_agent *agent = owner;

    mur_agent_abort(&agent->ranks[index], code, text, strlen(text));
}

static const struct mur_pmi_ranks_calls pmi_calls = {
    .put = mur_agent_put, .get = mur_agent_ask, .all_in = all_in_barrier, .is_active = pmi_active, .abort = pmi_abort};

void mur_agent_open_pmi(struct mur_agent *agent)
{
    static char mapping[1024];
    const struct mur_jobspec *job = agent->job;

    agent->pmi = (struct mur_pmi_ranks){.loop = agent->loop,
                                        .calls = &pmi_calls,
                                        .owner = agent,
                                        .kvs = agent->kvs,
                                        .name = job->id,
                                        .size = job->size,
                                        .universe = job->universe ? job->universe : -1,
                                        .count = agent->count,
                                        .below = agent->tree.child_count};
    if (mur_pmi_mapping_write(job->node_of, job->size, mapping, sizeof mapping))
        agent->pmi.mapping = mapping;
    mur_pmi_ranks_open(&agent->pmi);
}
