/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of other MPI libraries: what their PMI servers ask, put to the tree of agents. */
#include <stdlib.h>
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

    if (agent->parent_link)
        mur_branch_send(&agent->parent_link->branch, MUR_BRANCH_BARRIER, NULL, 0);
    else
        mur_agent_release_barrier(agent);
}

static void pmi_active(void *owner, int index, bool is_active)
{
    struct mur_agent *agent = owner;

    struct mur_agent_rank *rank = &agent->ranks[index];

    if (is_active && !rank->is_in_mpi)
        mur_agent_begin_program(rank, rank->programs + 1, 0);
    else if (!is_active)
        mur_agent_end_program(rank);
    if (is_active && agent->job->spawner && !agent->has_run) {
        agent->has_run = true;
        mur_agent_put(agent, MUR_JOB_RUNS "\0");
    }
}

static void pmi_abort(void *owner, int index, int code, const char *text)
{
    struct mur_agent *agent = owner;

    mur_agent_abort(&agent->ranks[index], code, text, strlen(text));
}

static void wait_for_value(void *owner, const char *key, mur_kvs_waiter *answer, void *who)
{
    mur_agent_get(owner, key, answer, who);
}

static const struct mur_pmi_ranks_calls pmi_calls = {
    .put = mur_agent_put,
    .get = mur_agent_ask,
    .wait = wait_for_value,
    .all_in = all_in_barrier,
    .is_active = pmi_active,
    .abort = pmi_abort,
};

/* What the program that spawned this job wants it to find. */
static void put_spawner_values(struct mur_agent *agent)
{
    const char *at = agent->job->spawner_values, *end = at + agent->job->spawner_bytes;

    while (at < end) {
        const char *value = at + strlen(at) + 1;
        char *key = mur_pmi_ranks_key(at);

        if (value < end)
            mur_kvs_put(agent->kvs, key, value);
        free(key);
        at = value < end ? value + strlen(value) + 1 : end;
    }
}

void mur_agent_open_pmi(struct mur_agent *agent)
{
    static char mapping[1024];
    const struct mur_jobspec *job = agent->job;

    agent->pmi = (struct mur_pmi_ranks){.loop = agent->loop,
                                        .calls = &pmi_calls,
                                        .owner = agent,
                                        .kvs = agent->kvs,
                                        .name = job->id,
                                        .parent = job->spawner,
                                        .size = job->size,
                                        .universe = job->universe ? job->universe : -1,
                                        .count = agent->count,
                                        .below = agent->tree.child_count};
    if (mur_pmi_mapping_write(job->node_of, job->size, mapping, sizeof mapping))
        agent->pmi.mapping = mapping;
    mur_pmi_ranks_open(&agent->pmi);
    put_spawner_values(agent);
}
