/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the ranks of this node. */
#include <sys/epoll.h>
#include <unistd.h>

#include "launch/agent/inside.h"

void mur_agent_connect_rank(struct mur_agent_rank *rank, const struct mur_spawned *spawned)
{
    struct mur_agent *agent = rank->agent;

    rank->pid = spawned->pid;
    rank->program_end.fd = -1;
    rank->control = (struct mur_watch){.fd = spawned->control_fd, .ready = mur_agent_read_control, .owner = rank};
    mur_loop_watch(agent->loop, &rank->control, EPOLLIN);
    rank->out = (struct mur_stream){.fd = spawned->stdout_fd, .rank = rank->number};
    rank->err = (struct mur_stream){.fd = spawned->stderr_fd, .rank = rank->number};
    mur_output_add(&agent->output, &rank->out, &rank->err);
    if (agent->job->starting.has_no_mpi || agent->job->starting.has_pmi_port)
        close(spawned->pmi_fd);
    else
        mur_pmi_ranks_add(&agent->pmi, (int)(rank - agent->ranks), rank->number, spawned->appnum, spawned->pmi_fd);
    agent->running++;
    agent->has_descendants = true;
    if (agent->job->is_verbose) {
        struct mur_tree_frame frame = {.kind = MUR_FRAME_STARTED, .rank = rank->number, .pid = rank->pid};

        mur_agent_report(agent, &frame);
    }
}

bool mur_agent_start_ranks(struct mur_agent *agent, struct mur_spawner *spawner, struct mur_tree_frame *failure)
{
    const struct mur_jobspec *job = agent->job;
    int number = 0;

    if (job->checkpointing.snapshot)
        return mur_agent_bring_back(agent, failure);
    if (job->checkpointing.is_on)
        return mur_agent_start_rooted(agent, spawner, failure);
    spawner->pmi_port = mur_agent_pmi_port(agent);
    if (!mur_agent_make_memory(agent, &spawner->node_fd, failure))
        return false;
    for (int i = 0; i < job->context_count; i++)
        for (int left = job->contexts[i].ranks; left > 0; left--, number++) {
            struct mur_agent_rank *rank;
            struct mur_spawned spawned;

            if (job->node_of[number] != agent->node)
                continue;
            rank = &agent->ranks[job->local_of[number]];
            rank->agent = agent;
            rank->number = number;
            spawner->stdin_fd = mur_input_take(&agent->input, number);
            if (!mur_spawner_start(spawner, number, i, &spawned, failure))
                return false;
            spawned.appnum = i;
            mur_agent_connect_rank(rank, &spawned);
        }
    mur_agent_tell_machine(agent);
    return true;
}
