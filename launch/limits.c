/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the number of ranks with each limit that would stop them midway: descriptors, processes, memory.
 *
 * The checks refuse only what cannot work: oversubscribing the CPUs is nobody's business here, and what other processes
 * of the user do meanwhile shows when a fork fails, which spawn.c reports. */
#include "launch/limits.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/cgroup.h"
#include "launch/say.h"

#define RANK_DESCRIPTORS 4             /* the agent's ends of a rank's stdout, stderr, control and PMI sockets */
#define ALL_DESCRIPTORS  10            /* both ends, of all ranks at a time, where a root process starts them */
#define OWN_DESCRIPTORS  32            /* of mpiexec and the agent, and the ends passed to a rank being started */
#define OWN_PROCESSES    2             /* mpiexec and the agent; a rank is one more each */
#define RANK_BYTES       (1024 * 1024) /* the least a process costs: its stack, page tables, libc's private pages */

/* What a rank needs beside, each for stdout and stderr: a file with a set of streams to watch, or a copy. */
static int more_descriptors(const struct mur_jobspec *job)
{
    const struct mur_formats *formats = &job->formats;
    int count = 2 * (formats->out != NULL) + 2 * (formats->err != NULL);

    if (formats->copies)
        count += formats->has_copies_only ? 4 : 2;
    return count + (job->stdin_rank == MUR_STDIN_ALL);
}

static void check_descriptors(const struct mur_jobspec *job, int ranks, struct rlimit *files)
{
    int each = (job->checkpointing.is_on ? ALL_DESCRIPTORS : RANK_DESCRIPTORS) + more_descriptors(job);
    rlim_t needed = (rlim_t)ranks * (rlim_t)each + OWN_DESCRIPTORS;
    struct rlimit raised;

    if (getrlimit(RLIMIT_NOFILE, files) < 0)
        return;
    raised = *files;
    raised.rlim_cur = raised.rlim_max;
    if (needed > files->rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) < 0)
        raised = *files;
    if (needed > raised.rlim_max)
        mur_quit(MUR_EXIT_TROUBLE,
                 "%d ranks need %ju open files here, but the limit is %ju (ulimit -Hn): raise it or start fewer ranks",
                 ranks, (uintmax_t)needed, (uintmax_t)raised.rlim_max);
}

/* The last number on the first line of a file like /proc/sys/kernel/pid_max, by a scanf format; -1 when unknown. */
static int64_t file_number(const char *path, const char *format)
{
    FILE *file = fopen(path, "re");
    char line[256];
    int64_t value = -1;

    if (!file)
        return -1;
    while (value < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, format, &value) != 1)
            value = -1;
    fclose(file);
    return value;
}

static void check_processes(int ranks)
{
    int64_t needed = (int64_t)ranks + OWN_PROCESSES;
    int64_t pid_max = file_number("/proc/sys/kernel/pid_max", "%" SCNd64);
    int64_t running = file_number("/proc/loadavg", "%*f %*f %*f %*d/%" SCNd64);
    int64_t left = mur_cgroup_pids_left();
    struct rlimit limit;

    /* The kernel does not hold root to RLIMIT_NPROC. */
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && (rlim_t)needed > limit.rlim_cur)
        mur_quit(MUR_EXIT_TROUBLE,
                 "%d ranks are more than the %ju processes a user may have (ulimit -u): raise it or start fewer ranks",
                 ranks, (uintmax_t)limit.rlim_cur);
    if (needed > left)
        mur_quit(MUR_EXIT_TROUBLE,
                 "%d ranks are more than the %" PRId64 " processes this control group may still start (pids.max): "
                 "raise it or start fewer ranks",
                 ranks, left);
    if (pid_max > 0 && needed + (running > 0 ? running : 0) > pid_max)
        mur_quit(MUR_EXIT_TROUBLE,
                 "%d ranks do not fit beside the %" PRId64 " tasks running: this machine has %" PRId64
                 " process numbers (/proc/sys/kernel/pid_max): start fewer ranks",
                 ranks, running > 0 ? running : 0, pid_max);
}

static void check_memory(int ranks)
{
    int64_t needed = (int64_t)ranks * RANK_BYTES;
    int64_t available = file_number("/proc/meminfo", "MemAvailable: %" SCNd64);
    int64_t limit = mur_cgroup_memory_limit();

    if (available > 0 && needed > available * 1024)
        mur_quit(MUR_EXIT_TROUBLE,
                 "%d ranks need at least %" PRId64 " MiB of memory, but %" PRId64 " MiB are available on this machine: "
                 "start fewer ranks",
                 ranks, needed >> 20, available >> 10);
    if (needed > limit)
        mur_quit(MUR_EXIT_TROUBLE,
                 "%d ranks need at least %" PRId64 " MiB of memory, but the limit of this control group is %" PRId64
                 " MiB: raise it or start fewer ranks",
                 ranks, needed >> 20, limit >> 20);
}

void mur_limits_check(const struct mur_jobspec *job, int node, struct rlimit *files)
{
    int ranks = node < 0 ? 0 : job->hosts.items[node].ranks;

    check_descriptors(job, ranks, files);
    check_processes(ranks);
    check_memory(ranks);
}
