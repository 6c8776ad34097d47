/* SPDX-License-Identifier: BSD-3-Clause */
/* The root process is told the job as agents on other hosts are (tree/spec.h), and finds programs and CPUs once more.
 */
#include "launch/agent/root_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "boot/job.h"
#include "launch/alloc.h"
#include "launch/checkpoint/root.h"
#include "launch/hosts/placement.h"
#include "launch/program.h"
#include "launch/say.h"
#include "launch/tree/spec.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* ---- of the agent ---- */

static void keep_open(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
}

static bool write_all(int fd, const void *data, size_t bytes)
{
    return write(fd, data, bytes) == (ssize_t)bytes; /* memory takes all, or there is none */
}

int mur_root_process_write(const struct mur_root_process *what, const struct mur_jobspec *job)
{
    int fd = memfd_create("murmur-job", 0);
    size_t count = (size_t)what->count;
    struct mur_spec spec = {0};

    mur_spec_write(&spec, job);
    if (fd >= 0 &&
        !(write_all(fd, what, sizeof *what) && write_all(fd, what->channels, count * sizeof *what->channels) &&
          write_all(fd, what->in, count * sizeof *what->in) && write_all(fd, spec.data, spec.bytes))) {
        close(fd);
        fd = -1;
    }
    free(spec.data);
    keep_open(what->line);
    keep_open(what->node_fd);
    for (int i = 0; i < what->count; i++) {
        const struct mur_channels *channels = &what->channels[i];

        keep_open(channels->out[1]);
        keep_open(channels->err[1]);
        keep_open(channels->control[1]);
        keep_open(channels->pmi[1]);
        keep_open(what->in[i]);
    }
    return fd;
}

/* ---- of the root process ---- */

struct start {
    struct mur_root_process what;
    struct mur_jobspec job;
    struct mur_spawner spawner;
};

/* A rank gets what is its own, and nothing that mpiexec has inherited from who started it: files that were opened
 * outside the namespaces cannot be saved. */
static void close_on_exec(void)
{
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
}

static bool read_start(int fd, struct start *start, char **directory)
{
    struct mur_root_process *what = &start->what;
    struct stat status;
    size_t tables;
    char *data;

    if (fstat(fd, &status) < 0 || (size_t)status.st_size < sizeof *what)
        return false;
    data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    memcpy(what, data, sizeof *what);
    tables = (size_t)what->count * (sizeof *what->channels + sizeof *what->in);
    what->channels = mur_alloc((size_t)what->count, sizeof *what->channels);
    what->in = mur_alloc((size_t)what->count, sizeof *what->in);
    memcpy(what->channels, data + sizeof *what, (size_t)what->count * sizeof *what->channels);
    memcpy(what->in, data + sizeof *what + (size_t)what->count * sizeof *what->channels,
           (size_t)what->count * sizeof *what->in);
    if (!mur_spec_read(data + sizeof *what + tables, (size_t)status.st_size - sizeof *what - tables, &start->job,
                       directory, &environ))
        return false;
    memcpy(start->job.host, what->host, sizeof start->job.host);
    munmap(data, (size_t)status.st_size);
    close(fd);
    return true;
}

/* Ranks are told that this process is what starts them: a program that is no child of it asks the agent for memory. */
static void set_parent(const struct start *start)
{
    struct mur_job *job =
        mmap(NULL, mur_job_bytes(start->job.size), PROT_READ | PROT_WRITE, MAP_SHARED, start->what.node_fd, 0);

    if (job == MAP_FAILED)
        return; /* then all ask */
    job->agent = (int32_t)getpid();
    munmap(job, mur_job_bytes(start->job.size));
}

static pid_t start_one(void *owner, int local, struct mur_tree_frame *failure)
{
    struct start *start = owner;
    int number, appnum = mur_placement_find(&start->job, start->what.node, local, &number);

    start->spawner.stdin_fd = start->what.in[local];
    return mur_spawner_start_with(&start->spawner, number, appnum, &start->what.channels[local], failure);
}

static int fail_line;

/* What is wrong here was found to be right by the agent a moment ago; the agent says it. */
static void tell_agent(int code, const char *text)
{
    struct mur_root_message message = {.kind = MUR_ROOT_FAILED};

    mur_frame_set_failure(&message.failure, "%s", text);
    message.failure.code = code;
    if (write(fail_line, &message, sizeof message) < 0)
        _exit(code);
}

_Noreturn void mur_root_process_main(const char *file)
{
    static struct start start;
    struct mur_problem problem;
    char *directory = NULL;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    if (!read_start(atoi(file), &start, &directory))
        mur_quit(MUR_EXIT_USAGE, "'-root-process' is for mpiexec's own use");
    fail_line = start.what.line;
    mur_quit_tell = tell_agent;
    close_on_exec();
    if (directory && chdir(directory) < 0)
        mur_quit(MUR_EXIT_NOT_FOUND, "the directory '%s' cannot be entered: %s", directory, strerror(errno));
    if (!mur_binding_start(&start.job, start.what.node, &problem))
        mur_quit(MUR_EXIT_TROUBLE, "%s", problem.text);
    mur_programs_find(&start.job, start.what.node);
    start.spawner = (struct mur_spawner){.node_fd = start.what.node_fd, .pmi_port = start.what.pmi_port};
    mur_spawner_prepare(&start.spawner, &start.job, &start.what.files);
    close(start.spawner.life_fd);
    start.spawner.life_fd = -1;
    set_parent(&start);
    mur_root_run(start.what.line, start.what.count, start_one, &start);
}
