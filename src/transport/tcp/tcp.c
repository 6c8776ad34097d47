/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP transport: opening, progress, sleeping, the table of operations.
 *
 * Progress polls the one or two links that had frames lately by reading from them, and asks epoll for everything else
 * now and then; where there are more of them it asks epoll at once, and sooner where the core is shared. The thread
 * that sleeps does so in epoll: for the sockets, the launcher's answers, and the doorbell, which other ranks and other
 * threads ring. Only the sleeper empties that (mur_node_end_sleep): a thread that polls must leave it alone. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/settings.h"
#include "boot/job.h"
#include "boot/look.h"
#include "boot/process.h"
#include "mpi.h"
#include "node/node.h"
#include "transport/port.h"
#include "transport/tcp/sealed.h"
#include "transport/tcp/tcp.h"

enum {
    EVENTS = 64,          /* taken at once */
    PASSES_A_LOOK = 64,   /* of polling hot links, until epoll is asked */
    PASSES_COLD = 32,     /* the same when there is no hot link */
    PASSES_A_YIELD = 16,  /* that a pass counts for when other ranks have had the core meanwhile */
    POLLED_LINKS = 2,     /* more reads in vain cost more than epoll, which knows all */
    SILENT_POLLS = 20000, /* after which a link is not hot any more */
    NS_A_MS = 1000000,
};

struct mur_tcp mur_tcp;

/* Owners by descriptor, so that an event of a descriptor which was closed meanwhile finds none. */
static struct owner {
    enum mur_tcp_what what;
    void *owner;
} * owners;
static int owner_room;

void mur_tcp_watch(int fd, uint32_t events, enum mur_tcp_what what, void *owner, bool is_new)
{
    struct epoll_event event = {.events = events, .data.fd = fd};

    if (fd >= owner_room) {
        int room = 2 * fd + 64;
        struct owner *before = owners, *grown = calloc((size_t)room, sizeof *grown);

        if (!grown)
            mur_boot_abort(1, "no memory for a connection");
        if (before)
            memcpy(grown, before, (size_t)owner_room * sizeof *grown);
        owners = grown; /* at any time a forked child finds a whole table */
        owner_room = room;
        free(before);
    }
    owners[fd] = (struct owner){.what = what, .owner = owner};
    mur_tcp.descriptors += is_new;
    if (is_new && (what == MUR_TCP_LISTENER || what == MUR_TCP_GREETING))
        mur_boot_own_socket(fd);
    if (epoll_ctl(mur_tcp.epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event)) {
        char text[200];

        snprintf(text, sizeof text, "rank %d on %s cannot watch a connection: %s", mur_process.rank, mur_process.host,
                 strerror(errno));
        mur_boot_abort(1, text);
    }
}

void mur_tcp_unwatch(int fd)
{
    owners[fd].owner = NULL;
    mur_tcp.descriptors--;
    epoll_ctl(mur_tcp.epoll, EPOLL_CTL_DEL, fd, NULL);
}

void mur_tcp_close(int fd)
{
    owners[fd].owner = NULL;
    mur_tcp.descriptors--;
    close(fd);
}

static void close_all(void)
{
    for (int fd = 0; fd < owner_room; fd++)
        if (owners[fd].owner && owners[fd].what != MUR_TCP_CONTROL && owners[fd].what != MUR_TCP_TALK)
            close(fd);
    close(mur_tcp.epoll);
}

/* ---- progress ---- */

static int poll_link(struct mur_link *link)
{
    int frames;
    uint64_t before = mur_link_heard(link);
    bool has_heard;

    frames = mur_in_read(link);
    if (link->state != MUR_LINK_UP)
        return frames + 1; /* somebody may wait for its end */
    has_heard = mur_link_heard(link) != before;
    if (has_heard)
        mur_link_heat(link);
    return frames + has_heard; /* an acknowledgement may have made room */
}

static void ready_link(struct mur_link *link, uint32_t events, int *moved)
{
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        *moved += poll_link(link);
    if (link->state == MUR_LINK_UP && events & EPOLLOUT) {
        mur_out_write(link);
        ++*moved;
    }
}

static int take_events(int timeout)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(mur_tcp.epoll, events, EVENTS, timeout), moved = 0;

    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd;
        struct owner owner = owners[fd];

        if (!owner.owner)
            continue; /* closed meanwhile */
        switch (owner.what) {
        case MUR_TCP_LISTENER:
            mur_greet_accept(fd);
            moved++;
            break;
        case MUR_TCP_CONTROL:
            mur_link_answers();
            moved++;
            break;
        case MUR_TCP_LINK:
            ready_link(owner.owner, events[i].events, &moved);
            break;
        case MUR_TCP_GREETING:
            mur_greet_ready(owner.owner, events[i].events);
            moved++; /* somebody may wait for this very call */
            break;
        case MUR_TCP_TALK:
            moved++;
            break;
        default: /* the doorbell, which the sleeper empties */
            break;
        }
    }
    return moved;
}

/* ---- timers ---- */

void mur_tcp_set_timer(uint64_t due)
{
    if (!mur_engine.due || due * NS_A_MS < mur_engine.due)
        mur_engine.due = due ? due * NS_A_MS : 1;
}

static int tick(void)
{
    uint64_t now = mur_tcp_now(), due;
    int acted;

    if (now * NS_A_MS < mur_engine.due)
        return 0;
    acted = mur_greets_tick(now) + mur_links_tick(now);
    mur_engine.due = 0;
    if ((due = mur_links_due()) != UINT64_MAX)
        mur_tcp_set_timer(due);
    if ((due = mur_greets_due()) != UINT64_MAX)
        mur_tcp_set_timer(due);
    return acted;
}

/* ---- polling ---- */

static void cool_silent(struct mur_link *link)
{
    if (++link->idle_polls > SILENT_POLLS)
        mur_link_cool(link);
}

static int poll_hot(void)
{
    int moved = 0;

    for (int i = mur_tcp.hot_count - 1; i >= 0; i--) {
        struct mur_link *link;
        int frames;

        if (i >= mur_tcp.hot_count)
            continue;
        link = mur_tcp.hot[i];
        frames = poll_link(link);
        moved += frames;
        if (!frames)
            cool_silent(link);
    }
    return moved;
}

/* All links that have anything. */
static int poll_all(void)
{
    int moved;

    mur_tcp_notice_restart();
    moved = take_events(0);

    for (int i = mur_tcp.hot_count - 1; i >= 0; i--)
        cool_silent(mur_tcp.hot[i]);
    return moved;
}

/* Whether epoll is to be asked in this pass. */
static bool is_look_due(void)
{
    mur_tcp.passes += mur_engine.has_yielded ? PASSES_A_YIELD : 1;
    mur_engine.has_yielded = false;
    if (mur_tcp.looks) {
        mur_tcp.looks--;
        return true;
    }
    return mur_tcp.passes >= (mur_tcp.hot_count ? PASSES_A_LOOK : PASSES_COLD) || mur_tcp.hot_count > POLLED_LINKS;
}

static int tcp_progress(void)
{
    int moved = 0;

    if (mur_engine.has_unsent) {
        mur_out_flush_all();
        moved++;
    }
    if (!is_look_due())
        return moved + poll_hot();
    mur_tcp.passes = 0;
    moved += poll_all();
    if (mur_engine.due)
        moved += tick();
    return moved;
}

/* ---- the end ---- */

static bool finish(void)
{
    struct mur_link *link, *next;
    bool is_over = true;

    mur_tcp.is_finishing = true;
    for (link = LIST_FIRST(&mur_tcp.links); link; link = next) {
        next = LIST_NEXT(link, in_links);
        if (mur_link_is_over(link))
            continue;
        if (!link->has_said_bye)
            mur_link_say_bye(link);
        mur_link_end_if_said(link);
        is_over &= mur_link_is_settled(link);
    }
    if (is_over)
        mur_tcp.is_finishing = false;
    return is_over;
}

static bool tcp_settle(bool is_last)
{
    if (is_last)
        return finish();
    mur_out_flush_all();
    return !mur_engine.has_early || !mur_links_are_early();
}

/* A peer that has missed the BYE and calls for it, or that still sends something, is to know at once that nobody
 * answers. */
static void leave(void)
{
    struct mur_link *link, *next;

    mur_greets_stop();
    for (link = LIST_FIRST(&mur_tcp.links); link; link = next) {
        next = LIST_NEXT(link, in_links);
        mur_link_leave(link);
    }
}

static bool tcp_has_left(struct mur_peer *peer)
{
    return peer->link && mur_link_is_left(peer->link);
}

static void come_back(void)
{
    struct mur_link *link;

    mur_greets_start();
    LIST_FOREACH(link, &mur_tcp.links, in_links)
    if (link->state != MUR_LINK_LOST)
        link->has_said_bye = false;
}

static void tcp_notify(enum mur_transport_event event)
{
    switch (event) {
    case MUR_TRANSPORT_SETTINGS: /* frames are always large enough */
        mur_tcp_transport.eager_max = (size_t)mur_settings.tcp_eager_max;
        break;
    case MUR_TRANSPORT_LEAVING:
        leave();
        break;
    case MUR_TRANSPORT_BACK:
        come_back();
        break;
    case MUR_TRANSPORT_FORKED:
        close_all();
        break;
    }
}

/* The next frame may be anywhere in what is read next. */
static int64_t tcp_take(struct mur_peer *peer, const struct mur_frame *wanted, void *buffer, int looks)
{
    (void)peer;
    (void)wanted;
    (void)buffer;
    (void)looks;
    return -1;
}

/* ---- sleeping ---- */

/* Level-triggered: whatever is there already ends the sleep at once. It is handled by the next progress, which asks
 * epoll. */
static bool tcp_prepare_sleep(const struct mur_peer *refused)
{
    (void)refused;
    mur_tcp.passes = PASSES_A_LOOK;
    return !mur_engine.has_unsent;
}

/* Rounded up, so that what is due then is due when this returns. */
static int timeout_until(uint64_t until)
{
    uint64_t now, left;

    if (until == UINT64_MAX)
        return -1;
    now = mur_clock_ns();
    left = until > now ? (until - now + NS_A_MS - 1) / NS_A_MS : 0;
    return left < INT_MAX ? (int)left : INT_MAX;
}

static void tcp_sleep(uint64_t until)
{
    struct epoll_event event;

    epoll_wait(mur_tcp.epoll, &event, 1, timeout_until(until));
}

/* ---- opening ---- */

static int no_address(void)
{
    return mur_error(MPI_ERR_OTHER,
                     "host %s has no network address that may be used; MUR_TCP_INCLUDE and MUR_TCP_EXCLUDE choose "
                     "among the interfaces that `ip address` shows",
                     mur_process.host);
}

int mur_tcp_publish(void)
{
    struct mur_address addresses[MUR_ADDRESSES_MAX];
    size_t count = mur_addresses_own(addresses, MUR_ADDRESSES_MAX, mur_tcp.port), used;
    char key[MUR_ADDRESS_KEY_MAX], value[MUR_VALUE_MAX - sizeof key], address[64];

    if (!count)
        return no_address();
    used = (size_t)snprintf(value, sizeof value, "%s", mur_process.host);
    for (size_t i = 0; i < count && used + sizeof address < sizeof value; i++)
        used += (size_t)snprintf(value + used, sizeof value - used, " %s", mur_address_text(&addresses[i], address));
    mur_boot_address_key(key, mur_process.rank);
    return mur_boot_put(key, value);
}

int mur_tcp_listen(void)
{
    mur_files_reserve(); /* for those here, too */
    mur_tcp.listener_count = mur_addresses_listen(mur_tcp.listeners, &mur_tcp.port);
    for (int i = 0; i < mur_tcp.listener_count; i++)
        mur_socket_begin(mur_tcp.listeners[i]);
    if (mur_tcp.listener_count)
        return MPI_SUCCESS;
    if (errno == EADDRNOTAVAIL)
        return no_address();
    return mur_error(MPI_ERR_OTHER,
                     "cannot listen for connections on %s: %s; MUR_TCP_PORTS=first:last sets the range of ports",
                     mur_process.host, strerror(errno));
}

/* Opening has failed, and may be tried again. */
static void close_sockets(void)
{
    while (mur_tcp.listener_count)
        close(mur_tcp.listeners[--mur_tcp.listener_count]);
    if (mur_tcp.epoll >= 0)
        close(mur_tcp.epoll);
    mur_tcp.epoll = 0;
}

/* `has_far`: some peers of this world are reached by this transport, and the launcher is asked for their addresses. */
static int open_sockets(bool has_far)
{
    int rc = mur_tcp_listen(), doorbell = -1;

    if (rc)
        return rc;
    mur_tcp.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (mur_tcp.epoll >= 0)
        doorbell = mur_node_doorbell();
    if (doorbell < 0) {
        rc = mur_error(MPI_ERR_OTHER, "cannot open a socket or an epoll descriptor: %s%s", strerror(errno),
                       errno == EMFILE ? " (ulimit -Hn)" : "");
        close_sockets();
        return rc;
    }
    for (int i = 0; i < mur_tcp.listener_count; i++)
        mur_tcp_watch(mur_tcp.listeners[i], EPOLLIN, MUR_TCP_LISTENER, &mur_tcp, true);
    mur_tcp_watch(doorbell, EPOLLIN, MUR_TCP_DOORBELL, &mur_tcp, true);
    if (mur_process.control_fd >= 0 && has_far)
        mur_tcp_watch(mur_process.control_fd, EPOLLIN, MUR_TCP_CONTROL, &mur_tcp, true);
    return MPI_SUCCESS;
}

/* The same for all processes of one machine that reach each other by its loopback device. */
static uint64_t machine_number(void)
{
    char text[512] = "", name[128] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    uint64_t number = UINT64_C(14695981039346656037); /* FNV-1a */

    if (file) {
        if (!fgets(text, sizeof text, file))
            text[0] = '\0';
        fclose(file);
    }
    if (readlink("/proc/self/ns/net", name, sizeof name - 1) < 0)
        name[0] = '\0';
    strncat(text, mur_process.host, sizeof text - strlen(text) - 1);
    strncat(text, name, sizeof text - strlen(text) - 1);
    for (const char *at = text; *at; at++)
        number = (number ^ (unsigned char)*at) * UINT64_C(1099511628211);
    return number;
}

/* Who this process is to others. The job's number says nothing of the secret that it is made of. */
static void make_identity(void)
{
    struct mur_identity *own = &mur_tcp.own;
    unsigned char mac[MUR_MAC_BYTES];

    mur_secret_mac(mac, "job", 3, mur_process.job->secret);
    memcpy(&own->job, mac, sizeof own->job);
    own->machine = machine_number();
    own->rank = mur_process.rank;
    own->address_count = (int)mur_addresses_own(own->addresses, MUR_ADDRESSES_MAX, mur_tcp.port);
    mur_secret_random(own->secret, sizeof own->secret);
    snprintf(own->host, sizeof own->host, "%s", mur_process.host);
}

static int tcp_open(struct mur_peer *peers, int count)
{
    char complaint[400];
    bool has_far = false;
    int rc;

    if (!mur_transport_is_wanted("tcp"))
        return mur_error(MPI_ERR_OTHER,
                         "processes on other hosts, or of other jobs, are to be reached, but MUR_TRANSPORT has no tcp");
    if (!mur_sealer_load(complaint, sizeof complaint))
        return mur_error(MPI_ERR_OTHER, "%s", complaint);
    mur_tcp.peers = peers;
    mur_tcp.peer_count = count;
    mur_look.network_at = (uintptr_t)&mur_tcp_transport;
    mur_look.link_queued = offsetof(struct mur_link, queued);
    LIST_INIT(&mur_tcp.links);
    TAILQ_INIT(&mur_tcp.greetings);
    TAILQ_INIT(&mur_tcp.silent);
    for (int i = 0; i < count; i++)
        if (!peers[i].transport) {
            peers[i].transport = &mur_tcp_transport;
            has_far = true;
        }
    mur_tcp_transport.frame_max = MUR_TCP_FRAME_MAX;
    mur_tcp_transport.piece_max = MUR_TCP_FRAME_MAX / 2;
    mur_tcp_transport.eager_max = (size_t)mur_settings.tcp_eager_max;
    rc = open_sockets(has_far);
    if (rc)
        return rc;
    make_identity();
    return has_far ? mur_tcp_publish() : MPI_SUCCESS;
}

void mur_port_hear_launcher(void)
{
    int fd = mur_process.control_fd;

    if (fd >= 0 && mur_tcp.epoll && (fd >= owner_room || !owners[fd].owner))
        mur_tcp_watch(fd, EPOLLIN, MUR_TCP_CONTROL, &mur_tcp, true);
}

bool mur_tcp_is_first(const struct mur_peer *peer)
{
    return peer->foreign ? mur_identity_precedes(&mur_tcp.own, &peer->foreign->identity)
                         : mur_process.rank < peer->process;
}

struct mur_transport mur_tcp_transport = {
    .name = "tcp",
    .straight_max = MUR_TCP_STRAIGHT_MAX,
    .open = tcp_open,
    .notify = tcp_notify,
    .send = mur_out_send,
    .send_packed = mur_out_send_packed,
    .send_straight = mur_out_send_straight,
    .settle = tcp_settle,
    .progress = tcp_progress,
    .take = tcp_take,
    .has_left = tcp_has_left,
    .prepare_sleep = tcp_prepare_sleep,
    .sleep = tcp_sleep,
};
