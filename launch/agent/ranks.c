/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks say over their control sockets, and how they end. A socket is read before an exit is judged, so what a
 * rank said before it died is known. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot/job.h"
#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/cgroup.h"
#include "launch/say.h"

/* ---- exits ---- */

void mur_agent_set_end(const struct mur_agent *agent, struct mur_tree_frame *frame, int status)
{
    if (WIFSIGNALED(status)) {
        frame->cause = MUR_CAUSE_SIGNAL;
        frame->signal = WTERMSIG(status);
        frame->has_core = WCOREDUMP(status) != 0;
        frame->has_oom = frame->signal == SIGKILL && mur_cgroup_oom_kills() > agent->oom_kills;
    } else {
        frame->code = WEXITSTATUS(status);
    }
}

/* Judges how a rank ended. */
static void report_exit(struct mur_agent_rank *rank, pid_t pid, int status)
{
    struct mur_agent *agent = rank->agent;
    struct mur_tree_frame frame = {.kind = MUR_FRAME_FAILURE, .rank = rank->number, .pid = pid};

    mur_agent_set_end(agent, &frame, status);
    if (!frame.signal && rank->is_in_mpi)
        frame.cause = MUR_CAUSE_UNFINALIZED;
    else if (frame.code)
        frame.cause = MUR_CAUSE_EXIT;
    frame.is_tolerated = agent->job->keeps_going && !rank->is_in_mpi;
    if (frame.cause != MUR_CAUSE_NONE && !agent->is_ending && !rank->has_aborted)
        mur_agent_report(agent, &frame);
    mur_agent_note_left(rank, pid, frame.signal ? MUR_EXIT_SIGNAL + frame.signal : frame.code);
    if (agent->job->shows_exits) {
        frame.kind = MUR_FRAME_EXITED;
        mur_agent_report(agent, &frame);
    }
}

/* ---- messages ---- */

/* A rank that has died gets none. */
static void answer_rank(void *owner, const char *key, const char *value)
{
    struct mur_agent_rank *rank = owner;
    struct mur_control_message message = {.kind = MUR_CONTROL_VALUE};
    size_t name = strlen(key) + 1, bytes = value ? strlen(value) : 0;

    if (!value || name + bytes > sizeof message.text || rank->control.fd < 0)
        return;
    memcpy(message.text, key, name);
    memcpy(message.text + name, value, bytes);
    message.length = (uint32_t)(name + bytes);
    mur_packets_send(&rank->answers, rank->agent->loop, &rank->control, &message,
                     offsetof(struct mur_control_message, text) + message.length, -1);
}

void mur_agent_abort(struct mur_agent_rank *rank, int code, const char *text, size_t bytes)
{
    struct mur_tree_frame frame = {.kind = MUR_FRAME_FAILURE, .cause = MUR_CAUSE_ABORT, .rank = rank->number};

    rank->has_aborted = true;
    frame.pid = rank->pid;
    frame.code = code;
    frame.length = (uint16_t)(bytes < sizeof frame.text ? bytes : sizeof frame.text);
    memcpy(frame.text, text, frame.length);
    if (!rank->agent->is_ending)
        mur_agent_report(rank->agent, &frame);
}

static void take_message(struct mur_agent_rank *rank, const struct mur_control_message *message, pid_t sender)
{
    char text[sizeof message->text + 2] = ""; /* a key and a value both end */

    switch (message->kind) {
    case MUR_CONTROL_INIT:
        mur_agent_note_look(rank, message->text, message->length);
        mur_agent_begin_program(rank, (uint32_t)message->value + 1, sender);
        break;
    case MUR_CONTROL_FINALIZED:
        mur_agent_end_program(rank);
        break;
    case MUR_CONTROL_EXITING:
        rank->is_exiting = true;
        rank->exit_code = message->value & 0xff;
        break;
    case MUR_CONTROL_SOCKET:
        memcpy(text, message->text, message->length);
        mur_agent_note_socket(rank->agent, text);
        break;
    case MUR_CONTROL_FOREIGN:
        rank->foreign += message->value;
        break;
    case MUR_CONTROL_MEMORY:
        mur_agent_give_memory(rank, (uint32_t)message->value);
        break;
    case MUR_CONTROL_ABORT:
        mur_agent_abort(rank, message->value, message->text, message->length);
        break;
    case MUR_CONTROL_PUT:
        memcpy(text, message->text, message->length);
        text[message->length] = text[message->length + 1] = '\0';
        mur_agent_put(rank->agent, text);
        break;
    case MUR_CONTROL_GET:
        memcpy(text, message->text, message->length);
        text[message->length] = '\0';
        mur_agent_get(rank->agent, text, answer_rank, rank);
        break;
    case MUR_CONTROL_SPAWN_TEXT:
        rank->spawn = mur_alloc_again(rank->spawn, rank->spawn_bytes + message->length + 1, 1);
        memcpy(rank->spawn + rank->spawn_bytes, message->text, message->length);
        rank->spawn_bytes += message->length;
        break;
    case MUR_CONTROL_SPAWN:
        memcpy(text, message->text, message->length);
        text[message->length] = '\0';
        mur_agent_spawn(rank, text);
        break;
    default: /* a later protocol; nothing it could mean here */
        break;
    }
}

/* One message, and the process that sent it as this process sees it; 0: it is in a place that this one does not see. */
static ssize_t receive(int fd, struct mur_control_message *message, pid_t *sender)
{
    char room[CMSG_SPACE(sizeof(struct ucred))] __attribute__((aligned(8)));
    struct iovec data = {.iov_base = message, .iov_len = sizeof *message};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t size = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
    struct cmsghdr *part = size > 0 ? CMSG_FIRSTHDR(&header) : NULL;

    *sender = 0;
    if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS) {
        struct ucred credentials;

        memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
        *sender = credentials.pid;
    }
    return size;
}

void mur_agent_read_control(void *owner)
{
    const ssize_t head = offsetof(struct mur_control_message, text);
    struct mur_agent_rank *rank = owner;
    struct mur_control_message message;
    ssize_t size;
    pid_t sender;

    mur_packets_flush(&rank->answers, rank->agent->loop, &rank->control);
    /* A rank that ended with answers unread shows as ECONNRESET, once, before its last messages can be read. */
    while ((size = receive(rank->control.fd, &message, &sender)) != 0) {
        if (size < 0 && (errno == EINTR || errno == ECONNRESET))
            continue;
        if (size < 0)
            break;
        if (size >= head && message.length <= size - head) /* else not from our library: ignored */
            take_message(rank, &message, sender);
    }
    if (size == 0 || errno != EAGAIN)
        mur_loop_unwatch(rank->agent->loop, &rank->control); /* the rank closed it, or ended */
    mur_agent_check_program(rank);
}

static struct mur_agent_rank *find_rank(const struct mur_agent *agent, pid_t pid)
{
    for (int i = 0; i < agent->count; i++)
        if (agent->ranks[i].pid == pid)
            return &agent->ranks[i];
    return NULL;
}

/* A job in which a rank stands still would otherwise hang without a word. Stops that mpiexec was asked to pass on are
 * the user's own. */
void mur_agent_note_stop(const struct mur_agent_rank *rank, int status)
{
    if (rank && WIFSTOPPED(status) && !rank->agent->is_suspended)
        mur_say("rank %d on %s (pid %d) was stopped by SIG%s; the job waits for it to go on (kill -CONT %d)",
                rank->number, rank->agent->job->host, (int)rank->pid, sigabbrev_np(WSTOPSIG(status)), (int)rank->pid);
}

void mur_agent_end_rank(struct mur_agent_rank *rank, int status)
{
    struct mur_agent *agent = rank->agent;
    pid_t pid = rank->pid;

    mur_agent_read_control(rank);
    rank->pid = 0;
    rank->foreign = 0;
    agent->running--;
    agent->killed += agent->is_killing && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    report_exit(rank, pid, status);
}

void mur_agent_children_ready(void *owner)
{
    struct mur_agent *agent = owner;
    struct signalfd_siginfo drained[8];
    int status;
    pid_t pid;

    while (read(agent->children.fd, drained, sizeof drained) > 0)
        continue;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        struct mur_agent_rank *rank = find_rank(agent, pid);

        if (WIFSTOPPED(status)) {
            mur_agent_note_stop(rank, status);
            continue;
        }
        if (!rank && (mur_agent_end_job_of(agent, pid, status) || mur_agent_end_tree_process(agent, pid)))
            continue;
        if (!rank) {
            mur_tree_reap(&agent->tree, pid, status); /* or an orphan of a rank's */
            continue;
        }
        mur_agent_end_rank(rank, status);
    }
    agent->has_descendants = pid == 0;
    if (agent->running == 0)
        mur_agent_finish(agent);
}
