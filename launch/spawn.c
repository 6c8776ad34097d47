/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts ranks by vfork and exec.
 *
 * vfork shares the agent's memory with the child and suspends the agent until the exec, so starting costs no page-table
 * copy, and a child that fails simply writes where and why into the agent's memory. The child touches nothing else, and
 * runs with all signals blocked and no handlers until just before the exec. */
#include "launch/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/hosts/ranklist.h"
#include "launch/say.h"

enum step {
    STEP_NONE,
    STEP_TIE,
    STEP_GROUP,
    STEP_STDIO,
    STEP_PASS,
    STEP_LIMIT,
    STEP_PRIORITY,
    STEP_CPUS,
    STEP_DIRECTORY,
    STEP_EXECUTE
};

static const char *const step_texts[] = {
    [STEP_TIE] = "tie its life to the agent's",
    [STEP_GROUP] = "make a process group",
    [STEP_STDIO] = "set up standard input and output",
    [STEP_PASS] = "pass on the control socket",
    [STEP_LIMIT] = "restore the limit of open files",
    [STEP_PRIORITY] = "set its priority",
    [STEP_CPUS] = "bind it to its CPUs",
    [STEP_DIRECTORY] = "enter its working directory",
    [STEP_EXECUTE] = "execute the program",
};

struct start {        /* what the child needs, and how it reports */
    const char *path; /* without a '/': to be looked for in PATH */
    const char *wdir;
    char **argv;
    char **shell_argv;
    char **environment;
    int stdio[3];
    int control_fd; /* this and the next two: -1 for none */
    int pmi_fd;
    int node_fd;
    const struct mur_starting *way;
    bool is_local_root;
    const char *life; /* a name of the pipe that ends with the agent; NULL: there is none */
    struct rlimit files;
    bool is_bound;
    cpu_set_t cpus;
    pid_t agent;
    /* Volatile: the compiler believes that what a function that never returns has stored, nobody will read. */
    volatile int step;  /* enum step: what failed */
    volatile int error; /* its errno */
};

static char **make_shell_argv(const struct mur_context *context)
{
    size_t count = 0;
    char **argv;

    while (context->argv[count])
        count++;
    argv = mur_alloc(count + 2, sizeof *argv);
    argv[0] = mur_alloc_text("/bin/sh");
    argv[1] = context->path;
    memcpy(argv + 2, context->argv + 1, (count - 1) * sizeof *argv);
    return argv;
}

void mur_spawner_prepare(struct mur_spawner *spawner, const struct mur_jobspec *job, const struct rlimit *files)
{
    int life[2];

    spawner->job = job;
    spawner->files = *files;
    spawner->environments = mur_alloc((size_t)job->context_count, sizeof *spawner->environments);
    spawner->shell_argvs = mur_alloc((size_t)job->context_count, sizeof *spawner->shell_argvs);
    for (int i = 0; i < job->context_count; i++) {
        mur_environment_prepare(&spawner->environments[i], job, &job->contexts[i]);
        if (job->contexts[i].path) /* else it has no ranks here */
            spawner->shell_argvs[i] = make_shell_argv(&job->contexts[i]);
    }
    spawner->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (spawner->null_fd < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot open /dev/null: %s", strerror(errno));
    if (pipe2(life, O_CLOEXEC) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot open a pipe: %s", strerror(errno));
    spawner->life_fd = life[0]; /* the other end stays open as long as this process lives */
}

/* ---- in the child ---- */

static void child_fail(struct start *start, enum step step)
{
    start->error = errno;
    start->step = step;
    _exit(127);
}

/* Ties the child's life to the agent's. The agent may have died before the prctl: then the parent is another one. */
static void child_bind(struct start *start)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        child_fail(start, STEP_TIE);
    if (getppid() != start->agent)
        _exit(127);
}

static bool is_refusal(int error) /* by a filter */
{
    return error == EPERM || error == EACCES || error == ENOSYS;
}

/* A session for each rank, and so a process group that signals reach. Where the kernel shares processors between
 * sessions (sched_autogroup), a rank then has its own share beside what else the user runs, as under MPICH's Hydra; in
 * the session of mpiexec, a program that computes there could take most of the ranks' time. */
static void child_lead(struct start *start)
{
    if (start->is_local_root) /* it keeps the group that the terminal talks to */
        return;
    if (setsid() < 0 && setpgid(0, 0) < 0 && !is_refusal(errno))
        child_fail(start, STEP_GROUP);
}

/* Ties the lives of all processes in the rank's group to the agent's: that of a script would go, and its children stay.
 * The kernel sends the signal when the pipe has no writer any more (fcntl(2), F_SETSIG). The process group must be
 * there, and the description must be the rank's own. It is no failure where the system refuses it. */
static void child_tie_group(const struct start *start)
{
    int fd = start->life ? open(start->life, O_RDONLY | O_NONBLOCK) : -1;

    if (fd >= 0 &&
        (fcntl(fd, F_SETSIG, SIGKILL) < 0 || fcntl(fd, F_SETOWN, start->is_local_root ? getpid() : -getpid()) < 0 ||
         fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) < 0))
        close(fd);
}

static void child_set_descriptors(struct start *start)
{
    const int passed[] = {start->control_fd, start->pmi_fd, start->node_fd};

    for (int i = 0; i < 3; i++) /* sources are above 2, or already in place */
        if (start->stdio[i] != i && dup2(start->stdio[i], i) < 0)
            child_fail(start, STEP_STDIO);
    for (int i = 0; i < 3; i++)
        if (passed[i] >= 0 && fcntl(passed[i], F_SETFD, 0) < 0)
            child_fail(start, STEP_PASS);
    if (setrlimit(RLIMIT_NOFILE, &start->files) < 0)
        child_fail(start, STEP_LIMIT);
}

/* Relative to mpiexec's own. The I/O priority that has never been set follows the nice value by itself (ioprio_set(2)).
 */
static void child_set_priority(struct start *start)
{
    struct sched_param none = {0};

    if (start->way->is_idle && sched_setscheduler(0, SCHED_IDLE, &none) < 0)
        child_fail(start, STEP_PRIORITY);
    errno = 0;
    if (start->way->nice && nice(start->way->nice) == -1 && errno)
        child_fail(start, STEP_PRIORITY);
}

static _Noreturn __attribute__((noinline)) void child_run(struct start *start)
{
    sigset_t none;

    child_bind(start);
    child_lead(start);
    child_tie_group(start);
    child_set_descriptors(start);
    child_set_priority(start);
    if (start->is_bound && sched_setaffinity(0, sizeof start->cpus, &start->cpus) < 0)
        child_fail(start, STEP_CPUS);
    if (start->wdir && chdir(start->wdir) < 0)
        child_fail(start, STEP_DIRECTORY);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (strchr(start->path, '/'))
        execve(start->path, start->argv, start->environment);
    else
        execvpe(start->path, start->argv, start->environment);
    if (errno == ENOEXEC) /* a script without #!: execute it as the shell would */
        execve(start->shell_argv[0], start->shell_argv, start->environment);
    child_fail(start, STEP_EXECUTE);
    _exit(127);
}

/* Never inlined, nor is child_run: the child's calls overwrite the stack below the frame in which vfork was called, and
 * the compiler may keep variables of that frame where the child writes others. This frame has none to lose. */
static __attribute__((noinline)) pid_t start_child(struct start *start)
{
    pid_t pid = vfork();

    if (pid == 0)
        child_run(start);
    return pid;
}

/* ---- in the agent ---- */

static bool open_channels(struct mur_channels *channels)
{
    if (pipe2(channels->out, O_CLOEXEC) < 0)
        return false;
    if (pipe2(channels->err, O_CLOEXEC) < 0)
        return false;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channels->control) < 0)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channels->pmi) < 0)
        return false;
    /* Messages over the control socket come with their sender's pid, as this process sees it. */
    if (setsockopt(channels->control[0], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) < 0)
        return false;
    /* Only our ends: whether the rank's block is the rank's affair. */
    return fcntl(channels->out[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(channels->err[0], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(channels->control[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(channels->pmi[0], F_SETFL, O_NONBLOCK) == 0;
}

static bool set_failure(struct mur_tree_frame *failure, const struct mur_jobspec *job, int rank, const char *step,
                        int error, const char *path)
{
    const char *hint = "";

    *failure = (struct mur_tree_frame){
        .kind = MUR_FRAME_FAILURE, .cause = MUR_CAUSE_START, .rank = rank, .code = MUR_EXIT_TROUBLE};
    if (!path && error == EAGAIN)
        hint = "; the limit of processes (ulimit -u, or pids.max of the control group) seems reached";
    if (strcmp(step, step_texts[STEP_PRIORITY]) == 0)
        hint = "; a priority above normal needs root's permission, or a limit that allows it (ulimit -e)";
    if (!path && (error == EMFILE || error == ENFILE))
        hint = "; the limit of open files (ulimit -n, or fs.file-max) seems reached";
    if (path && error == ENOENT)
        hint = "; the interpreter in its #! line or its ELF loader may be missing";
    if (path)
        failure->code = error == ENOENT ? MUR_EXIT_NOT_FOUND : MUR_EXIT_NOT_EXECUTABLE;
    mur_frame_set_text(failure, "cannot start rank %d of %d on %s: could not %s%s%s%s: %s%s", rank, job->size,
                       job->host, step, path ? " '" : "", path ? path : "", path ? "'" : "", strerror(error), hint);
    return false;
}

/* In a terminal window of its own: the program is the last of the terminal's words. */
static void put_into_window(struct start *start, int rank)
{
    size_t count = 0;
    char **argv;

    while (start->argv[count])
        count++;
    argv = mur_alloc(count + 5, sizeof *argv);
    argv[0] = mur_alloc_text("xterm");
    argv[1] = mur_alloc_text("-T");
    argv[2] = mur_alloc_text("rank %d", rank);
    argv[3] = mur_alloc_text("-e");
    memcpy(argv + 4, start->argv, count * sizeof *argv);
    argv[4] = (char *)(uintptr_t)start->path;
    start->argv = argv;
    start->path = argv[0];
}

/* What differs from rank to rank of how they are started. */
static void adapt(struct start *start, const struct mur_spawner *spawner, int rank)
{
    const struct mur_starting *way = &spawner->job->starting;

    start->way = way;
    start->is_local_root = way->has_local_root && rank == 0;
    if (start->is_local_root)
        for (int i = 0; i < 3; i++)
            start->stdio[i] = i;
    else if (way->shown && !mur_ranklist_has(way->shown, rank))
        start->stdio[1] = spawner->null_fd;
    if (way->has_pmi_port)
        start->pmi_fd = -1;
    if (way->has_no_mpi)
        start->control_fd = start->pmi_fd = start->node_fd = -1;
    if (way->windows && mur_ranklist_has(way->windows, rank))
        put_into_window(start, rank);
}

bool mur_channels_open(struct mur_channels *channels, const struct mur_jobspec *job, int rank,
                       struct mur_tree_frame *failure)
{
    return open_channels(channels) || set_failure(failure, job, rank, "open its pipes", errno, NULL);
}

void mur_channels_close_rank(const struct mur_channels *channels)
{
    close(channels->out[1]);
    close(channels->err[1]);
    close(channels->control[1]);
    close(channels->pmi[1]);
}

void mur_channels_keep(const struct mur_channels *channels, struct mur_spawned *spawned)
{
    *spawned = (struct mur_spawned){.control_fd = channels->control[0],
                                    .pmi_fd = channels->pmi[0],
                                    .stdout_fd = channels->out[0],
                                    .stderr_fd = channels->err[0]};
}

/* What the child needs, but for its environment, which is in the spawner. */
static void prepare_start(struct start *start, struct mur_spawner *spawner, int rank, int appnum,
                          const struct mur_channels *channels)
{
    const struct mur_context *context = &spawner->job->contexts[appnum];

    *start = (struct start){
        .path = context->path,
        .wdir = context->wdir,
        .argv = context->argv,
        .shell_argv = spawner->shell_argvs[appnum],
        .environment = spawner->environments[appnum].variables,
        .stdio = {spawner->stdin_fd >= 0 ? spawner->stdin_fd : spawner->null_fd, channels->out[1], channels->err[1]},
        .control_fd = channels->control[1],
        .pmi_fd = channels->pmi[1],
        .node_fd = spawner->node_fd,
        .files = spawner->files,
        .agent = getpid(),
    };
    adapt(start, spawner, rank);
    start->is_bound = mur_binding_of(spawner->job, rank, &start->cpus);
}

pid_t mur_spawner_start_with(struct mur_spawner *spawner, int rank, int appnum, const struct mur_channels *channels,
                             struct mur_tree_frame *failure)
{
    struct mur_rank_place place = {.rank = rank,
                                   .appnum = appnum,
                                   .control_fd = channels->control[1],
                                   .pmi_fd = channels->pmi[1],
                                   .pmi_port = spawner->pmi_port,
                                   .node_fd = spawner->node_fd};
    struct start start;
    char life[32];
    pid_t pid;

    mur_environment_set_rank(&spawner->environments[appnum], spawner->job, &place);
    prepare_start(&start, spawner, rank, appnum, channels);
    snprintf(life, sizeof life, "/proc/self/fd/%d", spawner->life_fd);
    start.life = spawner->life_fd >= 0 ? life : NULL;
    pid = start_child(&start);
    if (pid < 0) {
        set_failure(failure, spawner->job, rank, "fork", errno, NULL);
        return 0;
    }
    if (!start.step)
        return pid;
    waitpid(pid, NULL, 0);
    set_failure(failure, spawner->job, rank, step_texts[start.step], start.error,
                start.step == STEP_EXECUTE ? start.path : NULL);
    return 0;
}

bool mur_spawner_start(struct mur_spawner *spawner, int rank, int appnum, struct mur_spawned *spawned,
                       struct mur_tree_frame *failure)
{
    struct mur_channels channels;
    pid_t pid;

    if (!mur_channels_open(&channels, spawner->job, rank, failure)) /* the job ends now */
        return false;
    pid = mur_spawner_start_with(spawner, rank, appnum, &channels, failure);
    mur_channels_close_rank(&channels);
    mur_channels_keep(&channels, spawned);
    spawned->pid = pid;
    return pid != 0;
}
