/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that stands between a connection and a command in a pod. The node starts the command (agent/protocol.h) and
 * says how it ended; the command's input and output are pipes, or a terminal, of this process. */
#include "mpijob/server/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/agent/protocol.h"
#include "mpijob/document/document.h"
#include "mpijob/server/sessions.h"

enum { LONGEST_INPUT = 256 << 10, PART = 16 << 10, FAREWELL = 10000 }; /* bytes; milliseconds */

struct mur_exec_session {
    const struct mur_session_plan *plan;
    void *state;
    int socket;                /* -1: the client is gone */
    int input, output, errors; /* of the command; -1: none, or closed. A terminal is input and output */
    int ask;                   /* to the node; -1: the command has not been started, or has ended */
    unsigned char *got;        /* from the connection, not used up yet */
    size_t got_length;
    char *queue; /* for the command's input */
    size_t queued;
    bool is_begun, input_ends;
    int status; /* of the command, if is_over */
    bool is_over;
};

bool mur_session_wants(const struct mur_exec_session *session, enum mur_exec_channel channel)
{
    return session->plan->wants[channel];
}

static void lose_client(struct mur_exec_session *session)
{
    if (session->socket >= 0)
        close(session->socket);
    session->socket = -1;
}

void mur_session_write(struct mur_exec_session *session, const void *data, size_t length)
{
    const char *at = data;

    while (length > 0 && session->socket >= 0) {
        ssize_t written = send(session->socket, at, length, MSG_NOSIGNAL);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            lose_client(session);
            return;
        }
        at += written;
        length -= (size_t)written;
    }
}

static void resize(const struct mur_exec_session *session, const void *data, size_t length)
{
    struct mur_document_error error;
    struct mur_value *size = mur_json_read(data, length, &error);
    struct winsize wanted = {.ws_col = (unsigned short)mur_value_long(size, "Width", 80),
                             .ws_row = (unsigned short)mur_value_long(size, "Height", 25)};

    if (size && session->plan->has_terminal && session->input >= 0)
        ioctl(session->input, TIOCSWINSZ, &wanted);
    mur_value_free(size);
}

void mur_session_take(struct mur_exec_session *session, enum mur_exec_channel channel, const void *data, size_t length)
{
    if (channel == MUR_RESIZE)
        resize(session, data, length);
    if (channel != MUR_STDIN || session->input < 0)
        return;
    session->queue = mur_alloc_again(session->queue, session->queued + length, 1);
    memcpy(session->queue + session->queued, data, length);
    session->queued += length;
}

void mur_session_end_of(struct mur_exec_session *session, enum mur_exec_channel channel)
{
    if (channel == MUR_STDIN)
        session->input_ends = true;
}

/* The three ends of the command: of a terminal the same, else pipes; what nobody wants is /dev/null. */
static int open_ends(struct mur_exec_session *session, int ends[3])
{
    int pair[2];

    if (session->plan->has_terminal) {
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

        if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
            return -1;
        session->input = master;
        session->output = dup(master);
        ends[0] = ends[1] = ends[2] = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
        return ends[0] < 0 ? -1 : 0;
    }
    for (int i = 0; i < 3; i++) {
        int *own = i == 0 ? &session->input : i == 1 ? &session->output : &session->errors;

        if (!session->plan->wants[i]) {
            ends[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
            continue;
        }
        if (pipe2(pair, O_CLOEXEC) < 0)
            return -1;
        *own = pair[i == 0];
        ends[i] = pair[i != 0];
    }
    return 0;
}

void mur_session_begin(struct mur_exec_session *session)
{
    const struct mur_session_plan *plan = session->plan;
    char **words = mur_alloc((size_t)plan->count + 3, sizeof *words);
    int ends[3] = {-1, -1, -1};

    session->is_begun = true;
    words[0] = (char *)"exec";
    words[1] = plan->host;
    words[2] = (char *)(plan->has_terminal ? "terminal" : "plain");
    memcpy(words + 3, plan->words, (size_t)plan->count * sizeof *words);
    if (open_ends(session, ends) == 0)
        session->ask = mur_ask_send(plan->socket, ends, plan->count + 3, words);
    for (int i = 0; i < 3; i++)
        if (ends[i] >= 0 && (i == 0 || ends[i] != ends[0]))
            close(ends[i]);
    if (session->input >= 0)
        fcntl(session->input, F_SETFL, O_NONBLOCK);
    if (session->ask < 0) {
        session->is_over = true;
        session->status = MUR_ASK_NOT_RUNNING;
    }
    free(words);
}

static void close_input(struct mur_exec_session *session)
{
    char end = 4; /* of a terminal's input */

    if (session->plan->has_terminal && session->input >= 0 && write(session->input, &end, 1) < 0)
        errno = 0;
    else if (!session->plan->has_terminal && session->input >= 0)
        close(session->input);
    if (!session->plan->has_terminal)
        session->input = -1;
    session->input_ends = false;
}

static void feed_input(struct mur_exec_session *session)
{
    ssize_t written = session->queued ? write(session->input, session->queue, session->queued) : 0;

    if (written < 0 && errno != EAGAIN && errno != EINTR) { /* nobody reads it any more */
        session->queued = 0;
        session->input_ends = true;
    } else if (written > 0) {
        session->queued -= (size_t)written;
        memmove(session->queue, session->queue + written, session->queued);
    }
    if (session->queued == 0 && session->input_ends)
        close_input(session);
}

static void read_client(struct mur_exec_session *session)
{
    unsigned char part[PART];
    ssize_t got = recv(session->socket, part, sizeof part, 0), used;

    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        lose_client(session);
        return;
    }
    session->got = mur_alloc_again(session->got, session->got_length + (size_t)got, 1);
    memcpy(session->got + session->got_length, part, (size_t)got);
    session->got_length += (size_t)got;
    used = session->plan->protocol->take(session->state, session, session->got, session->got_length);
    if (used < 0) {
        lose_client(session);
        return;
    }
    session->got_length -= (size_t)used;
    memmove(session->got, session->got + used, session->got_length);
}

/* Returns whether there was something. */
static bool pass_output(struct mur_exec_session *session, int *from, enum mur_exec_channel channel)
{
    char part[PART];
    ssize_t got = *from >= 0 ? read(*from, part, sizeof part) : 0;

    if (got > 0) {
        session->plan->protocol->send(session->state, session, channel, part, (size_t)got);
        return true;
    }
    if (*from >= 0 && (got == 0 || (errno != EINTR && errno != EAGAIN))) {
        close(*from); /* a terminal says EIO when nobody has it open any more */
        *from = -1;
    }
    return false;
}

static void read_answer(struct mur_exec_session *session)
{
    struct mur_ask_answer answer = {MUR_ASK_NOT_RUNNING};

    if (recv(session->ask, &answer, sizeof answer, MSG_WAITALL) != (ssize_t)sizeof answer)
        answer.status = 137; /* whoever served it was killed */
    close(session->ask);
    session->ask = -1;
    session->status = answer.status;
    session->is_over = true;
}

static void say_last_word(struct mur_exec_session *session)
{
    const struct mur_protocol *protocol = session->plan->protocol;
    char *text;

    if (session->status == 0)
        text = mur_alloc_text("{\"metadata\":{},\"status\":\"Success\"}");
    else if (session->status == MUR_ASK_NOT_RUNNING)
        text = mur_alloc_text("{\"metadata\":{},\"status\":\"Failure\",\"message\":\"the container does not run\","
                              "\"reason\":\"InternalError\",\"code\":500}");
    else
        text = mur_alloc_text("{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero "
                              "exit code: exit status %d\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":"
                              "[{\"reason\":\"ExitCode\",\"message\":\"%d\"}]}}",
                              session->status, session->status);
    protocol->send(session->state, session, MUR_LAST_WORD, text, strlen(text));
    for (int i = MUR_STDOUT; i <= MUR_LAST_WORD; i++)
        protocol->close(session->state, session, (enum mur_exec_channel)i);
    free(text);
}

/* One wait. An entry that is -1 is passed over by poll. */
static void step(struct mur_exec_session *session)
{
    bool has_input = session->input >= 0 && session->is_begun && (session->queued > 0 || session->input_ends);
    struct pollfd polled[] = {{session->queued < LONGEST_INPUT ? session->socket : -1, POLLIN, 0},
                              {session->output, POLLIN, 0},
                              {session->errors, POLLIN, 0},
                              {has_input ? session->input : -1, POLLOUT, 0},
                              {session->ask, POLLIN, 0}};

    poll(polled, 5, -1);
    if (polled[3].revents)
        feed_input(session);
    if (polled[1].revents)
        pass_output(session, &session->output, MUR_STDOUT);
    if (polled[2].revents)
        pass_output(session, &session->errors, MUR_STDERR);
    if (polled[4].revents)
        read_answer(session);
    if (polled[0].revents)
        read_client(session);
}

/* What the command has written before its end, and no more: something in the background may hold the pipes. */
static void drain(struct mur_exec_session *session)
{
    if (session->output >= 0)
        fcntl(session->output, F_SETFL, O_NONBLOCK);
    if (session->errors >= 0)
        fcntl(session->errors, F_SETFL, O_NONBLOCK);
    while (pass_output(session, &session->output, MUR_STDOUT))
        ;
    while (pass_output(session, &session->errors, MUR_STDERR))
        ;
}

/* The client closes the connection when it has read everything. Until then it is answered: a command may have ended
 * before the client has opened its last channel. */
static void wait_for_farewell(struct mur_exec_session *session)
{
    struct pollfd polled = {session->socket, POLLIN, 0};

    while (session->socket >= 0 && poll(&polled, 1, FAREWELL) > 0)
        read_client(session);
}

static _Noreturn void serve(const struct mur_session_plan *plan, int socket, const char *extra, size_t length)
{
    struct mur_exec_session session = {
        .plan = plan, .socket = socket, .input = -1, .output = -1, .errors = -1, .ask = -1};

    fcntl(socket, F_SETFL, 0);
    session.got = mur_alloc(length + 1, 1);
    memcpy(session.got, extra, length);
    session.got_length = length;
    session.state = plan->protocol->start(&session);
    while (!session.is_over && session.socket >= 0)
        step(&session);
    if (session.is_over) {
        drain(&session);
        say_last_word(&session);
        wait_for_farewell(&session);
    }
    _exit(0);
}

pid_t mur_session_fork(const struct mur_session_plan *plan, int socket, const char *extra, size_t length)
{
    pid_t child = fork();
    sigset_t none;

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(socket, 3);
    close_range(4, ~0u, 0); /* other connections, and the database */
    serve(plan, 3, extra, length);
}
