/* SPDX-License-Identifier: BSD-3-Clause */
/* The roots of the two groups meet over a socket: that of a port, or the user's own. Each tells the other who it is,
 * which by a port is encrypted, since an identity has a secret. From then on they can send each other messages, in a
 * context that is kept for this, and a number that they have agreed on keeps meetings apart. The rest is like making
 * any intercommunicator whose leaders have a bridge. */
#include "comm/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/seal.h"
#include "base/settings.h"
#include "boot/process.h"
#include "coll/coll.h"
#include "comm/agree.h"
#include "comm/intercomm.h"
#include "engine/engine.h"
#include "engine/foreign.h"
#include "engine/lock.h"
#include "engine/rest.h"
#include "object/context.h"
#include "object/group.h"
#include "transport/port.h"

/* What each says to the other. */
struct introduction {
    char magic[8];
    int32_t number;
    int32_t bytes; /* of all this */
    struct mur_identity identity;
};

static const char magic[8] = "MURMET2";

/* ---- the conversation ---- */

static struct mur_waiter waiter;

static void describe_meeting(const void *nothing)
{
    (void)nothing;
    mur_rest_miss(mur_rest_add(MUR_WAIT_MEETING), mur_engine.peer_count); /* of another job, not known yet */
}

static void pass(void)
{
    if (mur_progress())
        mur_waiter_moved(&waiter);
    else
        mur_waiter_idle(&waiter, describe_meeting, NULL);
}

/* The conversation of two roots. */
struct talk {
    int fd, timer; /* -1: there is no timer */
    bool is_sealed;
    struct mur_sealer sender, receiver;
};

static struct talk talk_by_port(const struct mur_port_line *line, int timer)
{
    struct talk talk = {.fd = line->fd, .timer = timer, .is_sealed = true};

    mur_sealer_start(&talk.sender, line->send_key, MUR_CIPHER_CHACHA, MUR_SEAL_ENCRYPT);
    mur_sealer_start(&talk.receiver, line->receive_key, MUR_CIPHER_CHACHA, MUR_SEAL_ENCRYPT);
    return talk;
}

/* Until the descriptor can be used, or the timer has run out; it may be none (-1). */
static bool await_descriptor(int fd, uint32_t events, int timer)
{
    uint64_t times;

    mur_port_watch(fd, events);
    if (timer >= 0)
        mur_port_watch(timer, EPOLLIN);
    pass();
    mur_port_unwatch(fd);
    if (timer < 0)
        return true;
    mur_port_unwatch(timer);
    return read(timer, &times, sizeof times) < 0;
}

/* Sends or receives all of it, while progress goes on. False with errno: the other side is gone (0), or an error. */
static bool move_until(int timer, int fd, void *data, size_t bytes, bool is_out)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t moved = is_out ? send(fd, (char *)data + done, bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL)
                               : recv(fd, (char *)data + done, bytes - done, MSG_DONTWAIT);

        if (moved > 0) {
            done += (size_t)moved;
        } else if (moved == 0) {
            errno = 0;
            return false;
        } else if (errno == EAGAIN) {
            if (await_descriptor(fd, is_out ? EPOLLOUT : EPOLLIN, timer))
                continue;
            errno = ETIMEDOUT;
            return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool say(struct talk *talk, const void *data, size_t bytes)
{
    unsigned char record[MUR_RECORD_HEAD + sizeof(struct introduction)];

    if (!talk->is_sealed)
        return move_until(talk->timer, talk->fd, (void *)(uintptr_t)data, bytes, true);
    return move_until(talk->timer, talk->fd, record, mur_sealer_seal(&talk->sender, record, data, bytes), true);
}

/* A peer that does not know the keys sends a value that does not fit. */
static bool hear(struct talk *talk, void *data, size_t bytes)
{
    unsigned char record[MUR_RECORD_HEAD + sizeof(struct introduction)];

    if (!talk->is_sealed)
        return move_until(talk->timer, talk->fd, data, bytes, false);
    if (!move_until(talk->timer, talk->fd, record, MUR_RECORD_HEAD + bytes, false))
        return false;
    if (mur_record_length(record) == bytes && mur_sealer_open(&talk->receiver, record, data))
        return true;
    errno = EPROTO;
    return false;
}

static bool introduce(struct talk *talk, struct introduction *own)
{
    *own = (struct introduction){.bytes = sizeof *own};
    memcpy(own->magic, magic, sizeof magic);
    mur_secret_random(&own->number, sizeof own->number);
    mur_foreign_identify(mur_process.rank, &own->identity);
    return say(talk, own, sizeof *own);
}

static bool listen_to(struct talk *talk, struct introduction *other)
{
    if (!hear(talk, other, sizeof *other))
        return false;
    if (memcmp(other->magic, magic, sizeof magic) == 0 && other->bytes == sizeof *other &&
        mur_foreign_identity_is_sound(&other->identity))
        return true;
    errno = EPROTO;
    return false;
}

/* The two as a communicator, which makeshift_free gives up. Its ranks are in an order that both agree on. */
static int makeshift(int process, struct mur_comm **comm_p)
{
    bool is_first = mur_foreign_precedes(mur_process.rank, process);
    int processes[2] = {is_first ? mur_process.rank : process, is_first ? process : mur_process.rank};
    struct mur_group *group;
    int rc;

    if (process == mur_process.rank)
        return mur_error(MPI_ERR_COMM, "the two groups overlap: this process would meet itself");
    rc = mur_group_create(processes, 2, &group);
    if (rc)
        return rc;
    rc = mur_comm_create(&mur_comm_self, group, NULL, comm_p);
    mur_group_release(group);
    if (!rc)
        (*comm_p)->context = MUR_CONTEXT_PORTS;
    return rc;
}

static void makeshift_free(struct mur_comm *comm)
{
    if (!comm)
        return;
    comm->context = MUR_CONTEXT_NONE; /* the context stays */
    mur_comm_release(comm);
}

/* How the roots reach each other. */
struct meeting {
    struct mur_comm *bridge;
    int number;
};

static int get_to_know(const struct introduction *own, const struct introduction *other, struct meeting *meeting)
{
    int process, rc = mur_foreign_meet(&other->identity, &process);

    meeting->number = (own->number ^ other->number) & INT32_MAX;
    if (rc)
        return rc;
    rc = makeshift(process, &meeting->bridge);
    mur_foreign_hold(&process, 1, -1); /* the bridge's group does */
    return rc;
}

/* ---- both groups ---- */

/* Everybody learns whether the root has met the other one, and by which number: agreements that collide count on all
 * to have the same. Then the groups join. */
static int try_to_join(int rc, const struct meeting *meeting, int root, struct mur_comm *comm,
                       struct mur_comm **newcomm)
{
    struct mur_schedule *s = mur_schedule_create(comm);
    int words[2] = {rc ? mur_error_class(rc) : MPI_SUCCESS, meeting->number}, told;

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to make an intercommunicator");
    mur_coll_bcast(s, words, 2, mur_type_find(MPI_INT), root);
    told = mur_schedule_run(s);
    if (rc || told)
        return rc ? rc : told;
    if (words[0])
        return mur_error(words[0], "rank %d, the root, has failed; its own error says why", root);
    return mur_intercomm_create(comm, root, meeting->bridge, meeting->bridge ? 1 - meeting->bridge->rank : 0, words[1],
                                newcomm);
}

/* Both groups would wait for one that has no memory. */
static int join_groups(int rc, const struct meeting *meeting, int root, struct mur_comm *comm,
                       struct mur_comm **newcomm)
{
    return mur_collective_result(try_to_join(rc, meeting, root, comm, newcomm), comm->size + 1);
}

static int no_port(const char *name)
{
    return mur_error(MPI_ERR_PORT, "this process has no open port '%.40s...'; MPI_Open_port makes one", name);
}

int mur_comm_open_port(char *name)
{
    int rc = mur_network_open();

    if (rc)
        return mur_error(MPI_ERR_PORT, "no port can be opened: %s", mur_error_text(rc));
    return mur_port_open(name, MPI_MAX_PORT_NAME) ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a port");
}

int mur_comm_close_port(const char *name)
{
    struct mur_port *port = mur_port_find(name);

    if (!port)
        return no_port(name);
    mur_port_close(port);
    mur_engine_notify(); /* another thread may wait for callers at it */
    return MPI_SUCCESS;
}

static void pass_or_doubt(const struct mur_doubt *doubt)
{
    bool has_news = doubt && doubt->fd >= 0;

    if (has_news)
        mur_port_watch(doubt->fd, EPOLLIN);
    pass();
    if (has_news)
        mur_port_unwatch(doubt->fd);
}

/* The caller may have given up before it was answered; so it confirms at last that it is still there. */
static bool confirm(struct talk *talk, bool is_caller)
{
    char word = 1;

    return is_caller ? say(talk, &word, sizeof word) : hear(talk, &word, sizeof word);
}

/* A timer of the seconds that the text says; NULL: of MUR_CONNECT_TIMEOUT. */
static int start_timer(const char *seconds, int *timer, long *limit)
{
    struct itimerspec when = {.it_value.tv_sec = mur_settings.connect_timeout};
    char *end = NULL;

    if (seconds)
        when.it_value.tv_sec = strtol(seconds, &end, 10);
    if (seconds && (!*seconds || *end || when.it_value.tv_sec < 1))
        return mur_error(MPI_ERR_INFO_VALUE,
                         "the info key timeout is '%.40s', but must be a number of seconds, 1 or more", seconds);
    *limit = when.it_value.tv_sec;
    *timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (*timer < 0)
        return mur_error(MPI_ERR_OTHER, "cannot make a timer: %s", strerror(errno));
    timerfd_settime(*timer, 0, &when, NULL);
    return MPI_SUCCESS;
}

/* The conversation with a caller. */
static int receive(const struct mur_port_line *line, struct introduction *own, struct introduction *other,
                   bool *has_met)
{
    struct talk talk;
    long limit;
    int timer, rc = start_timer(NULL, &timer, &limit);

    if (rc)
        return rc;
    talk = talk_by_port(line, timer);
    *has_met = listen_to(&talk, other) && introduce(&talk, own) && confirm(&talk, false);
    mur_seal_wipe(&talk, sizeof talk);
    close(timer);
    return MPI_SUCCESS;
}

/* At the root: accepts a caller. A caller that goes away, stalls or breaks the protocol is dropped, and the root waits
 * for the next for. */
static int receive_caller(const char *name, const struct mur_doubt *doubt, struct meeting *meeting)
{
    struct introduction own, other;

    for (;;) {
        struct mur_port *port = mur_port_find(name); /* another thread may close it */
        struct mur_port_line line;
        bool is_called = port && mur_port_take(port, &line), has_met = false;
        int rc = doubt ? doubt->has_failed(doubt->owner) : MPI_SUCCESS;

        if (!port)
            return no_port(name);
        if (!is_called && rc)
            return rc;
        if (!is_called) {
            pass_or_doubt(doubt);
            continue;
        }
        rc = receive(&line, &own, &other, &has_met);
        close(line.fd);
        if (rc)
            return rc;
        if (has_met)
            return get_to_know(&own, &other, meeting);
    }
}

int mur_comm_await(const char *name, int root, struct mur_comm *comm, const struct mur_doubt *doubt,
                   struct mur_comm **newcomm)
{
    struct meeting meeting = {0};
    int rc = doubt ? doubt->error : MPI_SUCCESS;

    if (!rc && comm->rank == root)
        rc = receive_caller(name, doubt, &meeting);
    rc = join_groups(rc, &meeting, root, comm, newcomm);
    makeshift_free(meeting.bridge);
    return rc;
}

int mur_comm_accept(const char *name, int root, struct mur_comm *comm, struct mur_comm **newcomm)
{
    return mur_comm_await(name, root, comm, NULL, newcomm);
}

/* Waits at the port to be taken. */
static int wait_at_port(const char *name, const char *timeout, const struct mur_port_line *line,
                        struct meeting *meeting)
{
    struct introduction own, other;
    struct talk talk;
    long limit = 0;
    int timer = -1, rc = start_timer(timeout, &timer, &limit);
    bool has_met;

    if (rc)
        return rc;
    talk = talk_by_port(line, timer);
    has_met = introduce(&talk, &own) && listen_to(&talk, &other) && confirm(&talk, true);
    rc = errno;
    mur_seal_wipe(&talk, sizeof talk);
    close(timer);
    if (has_met)
        return get_to_know(&own, &other, meeting);
    if (rc == ETIMEDOUT)
        return mur_error(MPI_ERR_PORT,
                         "nobody has accepted this at the port '%.40s...' within %ld s; the info key timeout, or "
                         "MUR_CONNECT_TIMEOUT, says how long to wait",
                         name, limit);
    return mur_error(MPI_ERR_PORT, "the port '%.40s...' was closed before the connection was accepted", name);
}

/* At the root: calls, and waits to be taken. */
static int call_port(const char *name, const char *timeout, struct meeting *meeting)
{
    int rc = mur_network_open(), error;
    struct mur_port_line line;

    if (rc)
        return mur_error(MPI_ERR_PORT, "no port can be reached: %s", mur_error_text(rc));
    error = mur_port_call(name, &line, pass);
    if (error == EINVAL)
        return mur_error(MPI_ERR_PORT, "'%.40s' is not the name of a port; MPI_Open_port gives such names", name);
    if (error == ECONNRESET || error == ECONNREFUSED)
        return mur_error(MPI_ERR_PORT, "the port '%.40s...' is not open: it has been closed, or its process has ended",
                         name);
    if (error == EPROTONOSUPPORT)
        return mur_error(
            MPI_ERR_PORT,
            "the process of the port '%.40s...' has another MUR_TCP_SEAL than this one; it must be the same "
            "at all processes that speak to each other",
            name);
    if (error)
        return mur_error(MPI_ERR_PORT, "the process of the port '%.40s...' does not answer: %s", name,
                         strerror(error == EBUSY ? ETIMEDOUT : error));
    rc = wait_at_port(name, timeout, &line, meeting);
    close(line.fd);
    return rc;
}

int mur_comm_connect(const char *name, const char *timeout, int root, struct mur_comm *comm, struct mur_comm **newcomm)
{
    struct meeting meeting = {0};
    int rc = MPI_SUCCESS;

    if (comm->rank == root)
        rc = call_port(name, timeout, &meeting);
    rc = join_groups(rc, &meeting, root, comm, newcomm);
    makeshift_free(meeting.bridge);
    return rc;
}

int mur_comm_join(int fd, struct mur_comm **newcomm)
{
    struct talk talk = {.fd = fd, .timer = -1};
    struct introduction own, other;
    struct meeting meeting = {0};
    int rc = mur_network_open(), type;
    socklen_t length = sizeof type;

    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_STREAM)
        return mur_error(MPI_ERR_ARG, "fd is %d, which is no stream socket; a connected one was expected", fd);
    if (rc)
        return rc;
    if (!introduce(&talk, &own) || !listen_to(&talk, &other))
        return mur_error(MPI_ERR_OTHER, "nobody at the other end of descriptor %d says who it is: %s", fd,
                         errno == EPROTO ? "what it says is not of MPI_Comm_join of this library"
                         : errno         ? strerror(errno)
                                         : "the socket was closed");
    rc = get_to_know(&own, &other, &meeting);
    if (!rc)
        rc = join_groups(rc, &meeting, 0, &mur_comm_self, newcomm);
    makeshift_free(meeting.bridge);
    return rc;
}

/* ---- parting ---- */

static int wait_for_all(struct mur_comm *comm)
{
    struct mur_schedule *s = mur_schedule_create(comm);
    struct mur_scope scope;
    uint64_t word = 0;

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to disconnect a communicator");
    scope = mur_agree_scope_of(s, comm);
    mur_agree_scope_and(s, &scope, &word, 1);
    return mur_schedule_run(s);
}

int mur_comm_disconnect(struct mur_comm *comm)
{
    struct mur_group *groups[2] = {comm->group, comm->remote};
    bool has_foreign = comm->group->has_foreign || (comm->remote && comm->remote->has_foreign);
    int rc = has_foreign ? wait_for_all(comm) : MPI_SUCCESS;

    if (rc || !has_foreign) {
        if (!rc)
            mur_comm_release(comm);
        return rc;
    }
    for (int i = 0; i < 2; i++)
        if (groups[i])
            mur_group_retain(groups[i]);
    mur_comm_release(comm);
    for (int i = 0; i < 2; i++)
        if (groups[i]) {
            mur_foreign_part(groups[i]->processes, groups[i]->size);
            mur_group_release(groups[i]);
        }
    return MPI_SUCCESS;
}
