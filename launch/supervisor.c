/* SPDX-License-Identifier: BSD-3-Clause */
/* The supervisor of a job: one loop over the agent's frames, our signals and the time limit.
 *
 * The first cause that ends the job, be it a failure, a signal to us or the time limit, is what is reported and makes
 * the exit code; what follows from it is not news. The agent's end of file before MUR_FRAME_DONE means it was killed:
 * the ranks die with it, by the kernel's hand, and what else it had adopted becomes ours to kill. */
#include "launch/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/agent/agent.h"
#include "launch/checkpoint/trigger.h"
#include "launch/descendants.h"
#include "launch/exits.h"
#include "launch/frame.h"
#include "launch/guard.h"
#include "launch/loop.h"
#include "launch/report.h"
#include "launch/say.h"
#include "launch/standing.h"
#include "launch/status/desk.h"
#include "launch/status/report.h"
#include "launch/tree/tree.h"

#define FAILURE_GRACE_MS 200  /* between SIGTERM and SIGKILL for the others after a failure */
#define SIGNAL_GRACE_MS  2000 /* for all, after a signal that asks us to end */
#define DRAIN_MS         500  /* how long a reader that has stopped may hold up a job that is to end */
#define LEFTOVER_MS      2000

struct supervisor {
    const struct mur_jobspec *job;
    struct mur_loop loop;
    struct mur_watch agent;
    struct mur_watch signals;
    struct mur_timer timeout;
    pid_t guard_pid, agent_pid; /* guard.h */
    struct mur_pids strangers;  /* children that an exec gave us: not ours to kill */
    struct mur_exits exits;
    struct mur_standings standings;
    int code;                      /* of the first failure */
    struct mur_tree_frame failure; /* what ended the job; cause MUR_CAUSE_NONE: nothing did */
    struct mur_sample sample;      /* what the ranks are doing, when somebody asks */
    struct mur_status_desk desk;   /* where they do */
    struct mur_timer sample_timer; /* for the next question, or for the end of patience with the answers */
    bool wants_sample;             /* an asker waits for the next question */
    bool is_last_look;             /* the job ends after the one under way: */
    int last_signal;               /* by this signal, or, 0, as its time is up */
    char *last_words;              /* the latter's status; NULL: there is none */
    int end_signal;                /* a signal to us that ended the job */
    struct mur_trigger trigger;
    bool ends_when_saved; /* SIGTERM came, and a snapshot is taken first */
    bool is_ending;
    bool has_timed_out;
    bool is_over;
};

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int passed_signals[] = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

static void lose_agent(struct supervisor *supervisor);

/* A frame the agent does not take shows as its end of file, which says more. */
static void send_end(struct supervisor *supervisor, int signal, int grace_ms, int drain_ms)
{
    struct mur_tree_frame frame = {.kind = MUR_FRAME_END,
                                   .rank = supervisor->failure.cause == MUR_CAUSE_NONE ? -1 : supervisor->failure.rank,
                                   .signal = signal,
                                   .grace_ms = grace_ms,
                                   .drain_ms = drain_ms};

    supervisor->is_ending = true;
    mur_trigger_close(&supervisor->trigger);
    mur_frame_send(supervisor->agent.fd, &frame);
    kill(supervisor->agent_pid, SIGCONT); /* somebody may have stopped it */
    kill(supervisor->guard_pid, SIGCONT);
}

/* ---- what the ranks are doing ---- */

static void ask_ranks(struct supervisor *supervisor)
{
    struct mur_tree_frame frame;

    supervisor->wants_sample = false;
    mur_sample_ask(&supervisor->sample, mur_status_desk_wants_traffic(&supervisor->desk), &frame);
    mur_frame_send(supervisor->agent.fd, &frame);
    mur_timer_set(&supervisor->sample_timer, MUR_SAMPLE_PATIENCE_MS);
}

/* Askers get a new sample, but there is at most one in a while. */
static void sample_wanted(void *owner)
{
    struct supervisor *supervisor = owner;
    int64_t next = supervisor->sample.states ? supervisor->sample.asked_at + MUR_SAMPLE_EVERY_MS - mur_loop_now() : 0;

    if (supervisor->sample.is_open || supervisor->wants_sample)
        return;
    if (next <= 0) {
        ask_ranks(supervisor);
        return;
    }
    supervisor->wants_sample = true;
    mur_timer_set(&supervisor->sample_timer, next);
}

static void end_by_signal(struct supervisor *supervisor, int signal);
static void end_by_time(struct supervisor *supervisor);

/* All answers are there, or it makes no sense to wait for more. */
static void sample_done(struct supervisor *supervisor)
{
    char *text;

    mur_sample_close(&supervisor->sample);
    mur_timer_clear(&supervisor->sample_timer);
    mur_status_desk_answer(&supervisor->desk);
    if (mur_status_desk_wants_traffic(&supervisor->desk))
        sample_wanted(supervisor);
    if (!supervisor->is_last_look)
        return;
    supervisor->is_last_look = false;
    if (supervisor->is_ending)
        return; /* something else has ended the job meanwhile */
    text = mur_sample_has_mpi(&supervisor->sample) ? mur_status_text(&supervisor->sample) : NULL;
    if (supervisor->last_signal) {
        if (text)
            mur_say_raw(text, strlen(text));
        free(text);
        end_by_signal(supervisor, supervisor->last_signal);
    } else {
        supervisor->last_words = text;
        end_by_time(supervisor);
    }
}

static void sample_time(void *owner)
{
    struct supervisor *supervisor = owner;

    if (supervisor->sample.is_open)
        sample_done(supervisor);
    else if (supervisor->wants_sample)
        ask_ranks(supervisor);
}

/* Before the job is ended: a look at what it hangs in. One that is under way will do. */
static void look_first(struct supervisor *supervisor, int signal)
{
    supervisor->is_last_look = true;
    supervisor->last_signal = signal;
    if (!supervisor->sample.is_open)
        ask_ranks(supervisor);
}

/* ---- signals and time ---- */

static void end_by_signal(struct supervisor *supervisor, int signal)
{
    if (!supervisor->is_ending && !supervisor->code)
        supervisor->code = MUR_EXIT_SIGNAL + signal;
    supervisor->end_signal = signal;
    send_end(supervisor, signal, SIGNAL_GRACE_MS, DRAIN_MS);
}

/* SIGQUIT, which a terminal's user types to see what a program is doing, shows that first. */
static void take_ending_signal(struct supervisor *supervisor, int signal)
{
    if (supervisor->end_signal) { /* the second: no more patience */
        send_end(supervisor, 0, 0, 0);
        return;
    }
    if (signal == SIGQUIT && !supervisor->is_ending && !supervisor->is_last_look)
        look_first(supervisor, signal);
    else
        end_by_signal(supervisor, signal);
}

/* ---- snapshots ---- */

static void send_all(void *owner, const struct mur_tree_frame *frame)
{
    struct supervisor *supervisor = owner;

    mur_frame_send(supervisor->agent.fd, frame);
}

static void snapshot_over(void *owner, bool is_good)
{
    struct supervisor *supervisor = owner;

    if (!supervisor->ends_when_saved || supervisor->is_ending)
        return;
    supervisor->ends_when_saved = false;
    if (!is_good) {
        take_ending_signal(supervisor, SIGTERM);
        return;
    }
    mur_say("the job is saved in %s, and ends on SIGTERM; mpiexec -restart %s goes on with it",
            supervisor->job->checkpointing.prefix, supervisor->job->checkpointing.prefix);
    supervisor->code = MUR_EXIT_REQUEUE;
    send_end(supervisor, 0, 0, DRAIN_MS);
}

/* Whether the signal asks for a snapshot. */
static bool take_request(struct supervisor *supervisor, int signal)
{
    const struct mur_checkpointing *checkpointing = &supervisor->job->checkpointing;

    if (!checkpointing->is_on || supervisor->is_ending)
        return false;
    if (signal == SIGUSR1 || signal == SIGALRM) {
        mur_trigger_pull(&supervisor->trigger);
        return true;
    }
    if (signal != SIGTERM || !checkpointing->is_on_term || supervisor->ends_when_saved)
        return false;
    supervisor->ends_when_saved = true;
    if (!mur_trigger_pull(&supervisor->trigger) && !supervisor->is_ending)
        snapshot_over(supervisor, false);
    return true;
}

static void take_signal(struct supervisor *supervisor, int signal)
{
    struct mur_tree_frame frame = {.kind = MUR_FRAME_SIGNAL, .signal = signal};

    if (take_request(supervisor, signal))
        return;

    for (size_t i = 0; i < sizeof ending_signals / sizeof ending_signals[0]; i++)
        if (signal == ending_signals[i]) {
            take_ending_signal(supervisor, signal);
            return;
        }
    mur_frame_send(supervisor->agent.fd, &frame);
    if (signal == SIGTSTP)
        raise(SIGSTOP); /* the shell waits to see us stop; SIGCONT comes as any signal, when we go on */
}

/* What is typed at the terminal reaches rank 0 by itself where that has kept mpiexec's process group (-localroot): a
 * debugger there interrupts the program, which is not to end the job. */
static bool is_for_root(const struct supervisor *supervisor, const struct signalfd_siginfo *info)
{
    return supervisor->job->starting.has_local_root && info->ssi_code == SI_KERNEL &&
           (info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT);
}

static void signals_ready(void *owner)
{
    struct supervisor *supervisor = owner;
    struct signalfd_siginfo info;

    if (read(supervisor->signals.fd, &info, sizeof info) == sizeof info && !is_for_root(supervisor, &info))
        take_signal(supervisor, (int)info.ssi_signo);
}

static void time_is_up(void *owner)
{
    struct supervisor *supervisor = owner;

    if (!supervisor->is_ending && !supervisor->is_last_look)
        look_first(supervisor, 0);
}

static void end_by_time(struct supervisor *supervisor)
{
    supervisor->has_timed_out = true;
    supervisor->code = MUR_EXIT_TIMEOUT;
    send_end(supervisor, SIGTERM, FAILURE_GRACE_MS, DRAIN_MS);
}

/* ---- the agent ---- */

static void take_failure(struct supervisor *supervisor, const struct mur_tree_frame *failure)
{
    if (supervisor->is_ending)
        return;
    if (!supervisor->code)
        supervisor->code = mur_report_exit_code(failure);
    if (failure->is_tolerated) {
        if (supervisor->job->is_verbose)
            mur_report_failure(supervisor->job, failure, 0);
        return;
    }
    supervisor->failure = *failure;
    send_end(supervisor, SIGTERM, FAILURE_GRACE_MS, MUR_FRAME_KEEP_OUTPUT);
}

static void finish(struct supervisor *supervisor, const struct mur_tree_frame *done)
{
    supervisor->is_over = true;
    mur_trigger_close(&supervisor->trigger);
    mur_exits_print(&supervisor->exits, supervisor->job);
    mur_report_failure(supervisor->job, &supervisor->failure, done->ended);
    if (supervisor->has_timed_out)
        mur_say("the job reached its time limit of %g s and was ended (%d rank%s still ran)",
                (double)supervisor->job->timeout_ms / 1000, done->ended, done->ended == 1 ? "" : "s");
    if (supervisor->last_words)
        mur_say_raw(supervisor->last_words, strlen(supervisor->last_words));
    if (supervisor->end_signal && done->killed > 0)
        mur_say("%d rank%s did not end on %s in time and %s killed", done->killed, done->killed == 1 ? "" : "s",
                mur_report_signal(supervisor->end_signal), done->killed == 1 ? "was" : "were");
}

static void agent_ready(void *owner)
{
    struct supervisor *supervisor = owner;
    struct mur_tree_frame frame, failure;

    if (!mur_frame_receive(supervisor->agent.fd, &frame)) {
        lose_agent(supervisor);
        return;
    }
    if (frame.kind == MUR_FRAME_STARTED)
        mur_say("rank %d runs as pid %d", frame.rank, frame.pid);
    else if (frame.kind == MUR_FRAME_FAILURE)
        take_failure(supervisor, &frame);
    else if (frame.kind == MUR_FRAME_STANDING &&
             mur_standings_take(&supervisor->standings, supervisor->job, &frame, &failure))
        take_failure(supervisor, &failure);
    else if (frame.kind == MUR_FRAME_TRAFFIC)
        mur_sample_take_traffic(&supervisor->sample, &frame);
    else if (frame.kind == MUR_FRAME_STATE && mur_sample_take(&supervisor->sample, &frame))
        sample_done(supervisor);
    else if (frame.kind == MUR_FRAME_EXITED)
        mur_exits_note(&supervisor->exits, supervisor->job, &frame);
    else if (frame.kind == MUR_FRAME_FROZEN || frame.kind == MUR_FRAME_SAVED || frame.kind == MUR_FRAME_LEFT)
        mur_trigger_answer(&supervisor->trigger, &frame);
    else if (frame.kind == MUR_FRAME_DONE)
        finish(supervisor, &frame);
}

static void lose_agent(struct supervisor *supervisor)
{
    int status = 0;

    supervisor->is_over = true;
    mur_trigger_close(&supervisor->trigger);
    kill(supervisor->agent_pid, SIGKILL); /* it may have closed its end without dying */
    waitpid(supervisor->guard_pid, &status, 0);
    mur_descendants_end(&supervisor->strangers, LEFTOVER_MS);
    supervisor->code = MUR_EXIT_LOST;
    if (WIFSIGNALED(status))
        mur_say("the agent on %s (pid %d) was killed by signal %d (%s); all ranks were ended with it",
                supervisor->job->host, supervisor->agent_pid, WTERMSIG(status), mur_report_signal(WTERMSIG(status)));
    else
        mur_say("the agent on %s (pid %d) ended early; all ranks were ended with it", supervisor->job->host,
                supervisor->agent_pid);
}

/* ---- starting ---- */

/* Blocks every signal, for us and, through the fork, for the agent; we read those that mean something to a job. SIGHUP
 * is left out where nohup had it ignored. SIGINT is not treated so: a script's `mpiexec &` has it ignored, and a
 * kill -INT must reach the ranks all the same. */
static void open_signals(struct supervisor *supervisor)
{
    struct sigaction hangup;
    sigset_t all;
    sigset_t read;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&read);
    for (size_t i = 0; i < sizeof ending_signals / sizeof ending_signals[0]; i++)
        sigaddset(&read, ending_signals[i]);
    for (size_t i = 0; i < sizeof passed_signals / sizeof passed_signals[0]; i++)
        if (!supervisor->job->passes_no_signals)
            sigaddset(&read, passed_signals[i]);
    if (supervisor->job->checkpointing.is_on) {
        sigaddset(&read, SIGUSR1);
        sigaddset(&read, SIGALRM);
    }
    for (int signal = 1; signal <= SIGRTMAX && signal <= 64; signal++)
        if (supervisor->job->more_signals >> (signal - 1) & 1)
            sigaddset(&read, signal);
    sigaction(SIGHUP, NULL, &hangup);
    if (hangup.sa_handler == SIG_IGN)
        sigdelset(&read, SIGHUP);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL); /* ignored, it would eat exit codes */
    supervisor->signals = (struct mur_watch){
        .fd = signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK), .ready = signals_ready, .owner = supervisor};
    if (supervisor->signals.fd < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot create a signal descriptor: %s", strerror(errno));
}

/* The agent needs none of our descriptors but its own end: with ours open in it, it would not see us die. */
static void start_agent(struct supervisor *supervisor, const struct rlimit *files)
{
    int ends[2], tell[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 || pipe2(tell, O_CLOEXEC) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot create a socket pair: %s", strerror(errno));
    supervisor->guard_pid = fork();
    if (supervisor->guard_pid < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot fork the agent: %s; is the limit of processes (ulimit -u) reached?",
                 strerror(errno));
    if (supervisor->guard_pid == 0) {
        close(ends[0]);
        close(tell[0]);
        close(supervisor->signals.fd);
        mur_guard_split(tell[1]);
        close(tell[1]);
        mur_agent_run(supervisor->job, files,
                      &(struct mur_agent_place){.end = mur_place_count(supervisor->job), .supervisor_fd = ends[1]});
        _exit(0);
    }
    close(ends[1]);
    close(tell[1]);
    if (read(tell[0], &supervisor->agent_pid, sizeof supervisor->agent_pid) != sizeof supervisor->agent_pid) {
        waitpid(supervisor->guard_pid, NULL, 0); /* it has said why */
        exit(MUR_EXIT_TROUBLE);
    }
    close(tell[0]);
    supervisor->agent = (struct mur_watch){.fd = ends[0], .ready = agent_ready, .owner = supervisor};
}

static void open_desk(struct supervisor *supervisor)
{
    supervisor->sample.job = supervisor->job;
    supervisor->sample.started_at = mur_loop_now();
    supervisor->sample_timer = (struct mur_timer){.fire = sample_time, .owner = supervisor};
    mur_loop_add_timer(&supervisor->loop, &supervisor->sample_timer);
    supervisor->desk.sample = &supervisor->sample;
    supervisor->desk.ask = sample_wanted;
    supervisor->desk.owner = supervisor;
    mur_status_desk_open(&supervisor->desk, &supervisor->loop);
}

int mur_supervisor_run(const struct mur_jobspec *job, const struct rlimit *files)
{
    struct supervisor supervisor = {.job = job};

    mur_descendants_adopt();
    if (waitpid(-1, NULL, WNOHANG) >= 0) /* fails with ECHILD where, as nearly always, there is none */
        mur_descendants_find(&supervisor.strangers);
    if (job->is_verbose)
        mur_report_start(job);
    open_signals(&supervisor);
    start_agent(&supervisor, files);
    mur_loop_init(&supervisor.loop);
    mur_loop_watch(&supervisor.loop, &supervisor.agent, EPOLLIN);
    mur_loop_watch(&supervisor.loop, &supervisor.signals, EPOLLIN);
    supervisor.timeout = (struct mur_timer){.fire = time_is_up, .owner = &supervisor};
    mur_loop_add_timer(&supervisor.loop, &supervisor.timeout);
    open_desk(&supervisor);
    if (job->timeout_ms)
        mur_timer_set(&supervisor.timeout, job->timeout_ms);
    supervisor.trigger = (struct mur_trigger){.send = send_all, .over = snapshot_over, .owner = &supervisor};
    mur_trigger_open(&supervisor.trigger, &supervisor.loop, job);
    while (!supervisor.is_over)
        mur_loop_turn(&supervisor.loop);
    waitpid(supervisor.guard_pid, NULL, 0); /* so that nothing of us is left when our exit is seen */
    return supervisor.code;
}
