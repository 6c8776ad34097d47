/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's memory, with the facts of the job at its start, and the ranks that share it. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/job.h"
#include "launch/agent/inside.h"
#include "launch/say.h"

/* What the ranks find at the start of their memory. */
static bool fill_job(int fd, struct mur_agent *agent)
{
    const struct mur_jobspec *spec = agent->job;
    size_t bytes = mur_job_bytes(spec->size);
    struct mur_job *job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (job == MAP_FAILED)
        return false;
    memcpy(job->secret, spec->secret, sizeof job->secret);
    job->size = spec->size;
    job->nodes = spec->hosts.count;
    job->node = agent->node;
    job->local_size = agent->count;
    job->machine_ranks = spec->hosts.count == 1 ? agent->count : 0; /* else machine.c finds out */
    for (int i = 0; i < spec->size; i++)
        job->node_of[i] = spec->node_of[i];
    agent->memory = job;
    return true;
}

static bool make_node_memory(struct mur_agent *agent, struct mur_spawner *spawner, struct mur_frame *failure)
{
    uint64_t bytes = mur_node_bytes(agent->job->size, agent->count);

    spawner->node_fd = memfd_create("murmur-node", MFD_CLOEXEC);
    if (spawner->node_fd >= 0 && ftruncate(spawner->node_fd, (off_t)bytes) == 0 && fill_job(spawner->node_fd, agent))
        return true;
    *failure =
        (struct mur_frame){.kind = MUR_FRAME_FAILURE, .cause = MUR_CAUSE_START, .rank = -1, .code = MUR_EXIT_TROUBLE};
    mur_frame_set_text(failure, "cannot make the ranks' shared memory on %s (memfd of %ju MiB): %s%s", agent->job->host,
                       (uintmax_t)bytes >> 20, strerror(errno),
                       errno == EFBIG ? "; the limit of file sizes (ulimit -f) is below it" : "");
    return false;
}

static void connect_rank(struct mur_agent_rank *rank, const struct mur_spawned *spawned)
{
    struct mur_agent *agent = rank->agent;

    rank->pid = spawned->pid;
    rank->control = (struct mur_watch){.fd = spawned->control_fd, .ready = mur_agent_read_control, .owner = rank};
    mur_loop_watch(agent->loop, &rank->control, EPOLLIN);
    rank->out = (struct mur_stream){.fd = spawned->stdout_fd, .rank = rank->number};
    rank->err = (struct mur_stream){.fd = spawned->stderr_fd, .rank = rank->number};
    mur_output_add(&agent->output, &rank->out, &rank->err);
    mur_pmi_ranks_add(&agent->pmi, (int)(rank - agent->ranks), rank->number, spawned->appnum, spawned->pmi_fd);
    agent->running++;
    agent->has_descendants = true;
    if (agent->job->is_verbose) {
        struct mur_frame frame = {.kind = MUR_FRAME_STARTED, .rank = rank->number, .pid = rank->pid};

        mur_agent_report(agent, &frame);
    }
}

bool mur_agent_start_ranks(struct mur_agent *agent, struct mur_spawner *spawner, struct mur_frame *failure)
{
    const struct mur_jobspec *job = agent->job;
    int number = 0;

    if (!make_node_memory(agent, spawner, failure))
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
            connect_rank(rank, &spawned);
        }
    mur_agent_tell_machine(agent);
    return true;
}
