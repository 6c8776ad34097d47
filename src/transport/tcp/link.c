/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a link.
 *
 *   ASKED    the launcher has been asked for the peer's addresses; it answers when the peer has started
 *   CALLING  a greeting with one of the addresses is under way; when it fails, the next one is tried
 *   WAITING  all have failed: after a pause they are tried again, until the time limit (MUR_TCP_TIMEOUT)
 *   UP       connected; a connection that breaks leads back to CALLING
 *   ENDED    both sides have said BYE, or the peer has, and is not there any more
 *   LOST     of a foreign peer: it has ended without that, or does not answer until the time limit
 *
 * In each of the first three the peer may call, which makes the link UP. When both call at once, the lower process's
 * call is the one; it says CROSSED to the other (greet.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/settings.h"
#include "boot/job.h"
#include "boot/process.h"
#include "transport/port.h"
#include "transport/tcp/sealed.h"
#include "transport/tcp/tcp.h"

enum {
    CALL_MS = 2000, /* for an address to answer, at first: then the next is tried */
    CALL_MAX_MS = 60000,
    PAUSE_MIN_MS = 10, /* after all addresses have failed; doubles each time */
    PAUSE_MAX_MS = 1000,
    REFUSED_MS = 200,   /* who refuses calls for so long has ended: a process listens as long as it lives */
    CROSSED_MS = 3000,  /* how long the peer's call may take, which it says is under way */
    STAY_MS = 100,      /* a call that is about to leave MPI stays for connections, */
    STAY_ALL_MS = 1000, /* and all calls together */
};

uint64_t mur_tcp_now(void)
{
    return mur_clock_ns() / 1000000u;
}

/* ---- finding the peer ---- */

static void ask(struct mur_link *link)
{
    char key[MUR_ADDRESS_KEY_MAX];

    mur_boot_address_key(key, link->peer->process);
    link->state = MUR_LINK_ASKED;
    if (mur_boot_ask(key)) {
        char text[256];

        snprintf(text, sizeof text, "rank %d on %s cannot ask the launcher for the address of rank %d",
                 mur_process.rank, mur_process.host, link->peer->process);
        mur_boot_abort(1, text);
    }
    if (mur_process.control_fd < 0)
        mur_link_answers(); /* the answer is here already */
}

static bool is_same_host(const struct mur_peer *peer)
{
    if (peer->foreign)
        return peer->foreign->identity.machine == mur_tcp.own.machine;
    return mur_process.job->node_of[peer->process] == mur_process.job->node;
}

static void call_next(struct mur_link *link);

/* Of a foreign peer all is known. */
static void find(struct mur_link *link)
{
    const struct mur_foreign *foreign = link->peer->foreign;

    if (!foreign) {
        ask(link);
        return;
    }
    snprintf(link->host, sizeof link->host, "%s", foreign->identity.host);
    memcpy(link->addresses, foreign->identity.addresses, sizeof link->addresses);
    link->address_count =
        mur_addresses_order(link->addresses, foreign->identity.address_count, is_same_host(link->peer));
    call_next(link);
}

static struct mur_link *make(struct mur_peer *peer)
{
    struct mur_link *link = calloc(1, sizeof *link);

    if (!link)
        mur_boot_abort(1, "no memory for a connection");
    link->state = MUR_LINK_ENDED;
    link->peer = peer;
    link->fd = -1;
    peer->link = link;
    LIST_INSERT_HEAD(&mur_tcp.links, link, in_links);
    return link;
}

struct mur_link *mur_link_find(struct mur_peer *peer)
{
    return peer->link ? peer->link : make(peer);
}

struct mur_link *mur_link_of(struct mur_peer *peer)
{
    struct mur_link *link = peer->link;

    if (__builtin_expect(link && link->state != MUR_LINK_ENDED, 1))
        return link;
    link = mur_link_find(peer);
    link->lost_since = mur_tcp_now();
    link->has_said_bye = link->has_heard_bye = false;
    find(link);
    return link;
}

/* What a process has published: its host's name and its addresses. */
static bool read_addresses(struct mur_link *link, char *text)
{
    char *rest, *word = strtok_r(text, " ", &rest);

    if (!word)
        return false;
    snprintf(link->host, sizeof link->host, "%s", word);
    while ((word = strtok_r(NULL, " ", &rest)) && link->address_count < MUR_ADDRESSES_MAX)
        if (!mur_address_read(word, &link->addresses[link->address_count++]))
            return false;
    return link->address_count > 0;
}

void mur_link_answers(void)
{
    char key[MUR_VALUE_MAX], value[MUR_VALUE_MAX];
    int process;

    while (mur_boot_answer(key, value)) {
        struct mur_link *link;

        mur_tcp_notice_restart(); /* what is answered is a question that came behind it */

        process = mur_boot_address_rank(key);
        if (process < 0 || process >= mur_tcp.peer_count || !(link = mur_tcp.peers[process].link))
            continue;
        if (!read_addresses(link, value))
            mur_boot_abort(1, "the launcher's answer to the question for a rank's address makes no sense");
        link->address_count = mur_addresses_order(link->addresses, link->address_count, is_same_host(link->peer));
        if (link->state == MUR_LINK_ASKED)
            call_next(link);
    }
    mur_tcp_notice_restart();
}

/* ---- calling ---- */

static const char *fault_text(int error)
{
    switch (error) {
    case 0:
        return "not tried";
    case EBADMSG:
        return "what came was altered on its way";
    case EACCES:
        return "who answers does not know the secret, or it was altered on its way";
    case EPROTONOSUPPORT:
        return "MUR_TCP_SEAL is not the same there";
    default:
        return strerror(error);
    }
}

/* What was tried, and why it failed. */
static void describe_tries(const struct mur_link *link, char *text, size_t room)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < link->address_count && used < room; i++) {
        char address[64];

        used += (size_t)snprintf(text + used, room - used, "%s%s: %s", i ? ", " : "",
                                 mur_address_text(&link->addresses[i], address), fault_text(link->faults[i]));
    }
}

static __attribute__((noreturn, cold)) void give_up(const struct mur_link *link)
{
    char tries[1200], text[1700], who[64];

    describe_tries(link, tries, sizeof tries);
    snprintf(
        text, sizeof text,
        "rank %d on %s cannot reach %s on %s for %ld s now; tried %s. Check that the hosts can reach each other "
        "by these addresses (a firewall?), choose interfaces with MUR_TCP_INCLUDE or MUR_TCP_EXCLUDE, or allow more "
        "time with MUR_TCP_TIMEOUT",
        mur_process.rank, mur_process.host, mur_foreign_peer_text(link->peer, who), link->host,
        mur_settings.tcp_timeout, tries);
    mur_boot_abort(1, text);
}

/* Whoever has heard BYE and is refused now talks to a process that has ended: it had heard ours. */
static bool has_ended_since(const struct mur_link *link)
{
    return link->has_heard_bye && (mur_tcp.is_finishing || link->peer->foreign);
}

/* No communicator has this process and the foreign peer any more, so nothing is lost with the link. */
static bool is_needless(const struct mur_link *link)
{
    return link->peer->foreign && !link->peer->foreign->connected;
}

/* Ends the connection, or the attempt to make one. */
static void disconnect(struct mur_link *link)
{
    if (link->fd >= 0) {
        mur_link_cool(link);
        mur_tcp_close(link->fd);
        link->fd = -1;
    }
    mur_sealed_end(link);
    if (link->greeting)
        mur_greet_drop(link->greeting);
    mur_splice_drop(link);
    mur_splice_trim();
}

static void free_segments(struct mur_link *link)
{
    while (link->first) {
        struct mur_out_segment *segment = link->first;

        link->first = segment->next;
        free(segment);
    }
}

/* Forgets both streams: they begin anew with the next connection, on both sides. */
static void forget(struct mur_link *link)
{
    disconnect(link);
    free_segments(link);
    free(link->partial);
    free(link->bounce);
    *link = (struct mur_link){.state = MUR_LINK_ENDED,
                              .peer = link->peer,
                              .fd = -1,
                              .connections = link->connections,
                              .in_links = link->in_links,
                              .is_unsent = link->is_unsent,
                              .next_unsent = link->next_unsent};
}

/* Both sides have said BYE, or the peer has and needs no connection any more. It may have missed ours, with a
 * connection that broke, and call for it; or it has left MPI only until it opens the next session. So the streams stay
 * as they are, with what is not acknowledged: if the peer calls it gets the rest, and new frames of either side go on
 * behind it. A foreign peer needs no BYE: it knows that nothing connects the two any more. */
static void end(struct mur_link *link)
{
    if (link->peer->foreign) {
        forget(link);
        return;
    }
    disconnect(link);
    mur_out_rewind(link);
    link->state = MUR_LINK_ENDED;
    link->watched = 0;
    link->address_count = link->address = link->tries = 0;
}

bool mur_link_is_over(const struct mur_link *link)
{
    return !link || link->state == MUR_LINK_ENDED || link->state == MUR_LINK_LOST;
}

void mur_port_lose(struct mur_peer *peer)
{
    struct mur_link *link = mur_link_find(peer);

    peer->foreign->is_lost = true;
    forget(link);
    link->state = MUR_LINK_LOST;
}

/* What was sent and not acknowledged is sent again when the two are connected. A link that has ended asks when there is
 * something to say. */
void mur_link_restart(struct mur_link *link)
{
    if (link->peer->foreign)
        return;
    disconnect(link);
    mur_out_rewind(link);
    link->watched = 0;
    link->broken = 0;
    link->address_count = link->address = link->tries = 0;
    link->altered_since = 0;
    if (mur_link_is_over(link))
        return;
    link->lost_since = mur_tcp_now();
    find(link);
}

/* Nobody ends this job because a process of another one has ended; those who need that process will fail. */
static void lose(struct mur_link *link, const char *what)
{
    struct mur_peer *peer = link->peer;
    struct mur_foreign *foreign = peer->foreign;
    char tries[240];

    describe_tries(link, tries, sizeof tries);
    snprintf(foreign->fate, sizeof foreign->fate, "%s (tried %s)", what, tries);
    mur_port_lose(peer);
    mur_engine.peer_lost(peer);
}

/* Nobody is at any of the peer's addresses that are known. */
static bool all_refuse(const struct mur_link *link)
{
    for (int i = 0; i < link->address_count; i++)
        if (link->faults[i] != ECONNREFUSED)
            return false;
    return true;
}

static void wait_to_call(struct mur_link *link, uint64_t pause)
{
    link->state = MUR_LINK_WAITING;
    link->due = mur_tcp_now() + pause;
    mur_tcp_set_timer(link->due);
}

/* A peer that computes answers when it calls MPI again, which may be long after. So the patience grows; and as long as
 * it can be connected to, it is not out of reach: if it has died, the launcher ends the job. */
static uint64_t patience(const struct mur_link *link)
{
    return link->tries < 5 ? (uint64_t)CALL_MS << link->tries : CALL_MAX_MS;
}

static bool is_busy(const struct mur_link *link)
{
    for (int i = 0; i < link->address_count; i++)
        if (link->faults[i] == EBUSY)
            return true;
    return false;
}

/* This process has come to its end, and nobody takes calls at the peer's addresses any more. It has ended, too, or left
 * MPI, after it heard our BYE: its own was lost with a connection. */
static bool has_ended_unheard(const struct mur_link *link)
{
    return mur_tcp.is_finishing && link->has_said_bye && all_refuse(link);
}

/* The peer is not out of reach: it is there and does not answer yet, or it was there and has left MPI, perhaps until it
 * opens a session. Whatever listens at its addresses after it has ended does not matter. */
static bool is_in_reach(const struct mur_link *link)
{
    return is_busy(link) || (!link->peer->foreign && link->connections && (link->has_heard_bye || all_refuse(link)));
}

/* Starts with the address whose turn it is; after the last a pause follows. */
static void call_next(struct mur_link *link)
{
    uint64_t without;

    while (link->address < link->address_count) {
        link->state = MUR_LINK_CALLING;
        if (mur_greet_call(link, &link->addresses[link->address], patience(link)))
            return;
        link->faults[link->address++] = errno;
    }
    link->address = 0;
    if (is_in_reach(link))
        link->lost_since = mur_tcp_now();
    if (is_needless(link) || has_ended_unheard(link)) {
        end(link);
        return;
    }
    without = mur_tcp_now() - link->lost_since;
    if (link->peer->foreign && link->address_count && all_refuse(link) && without >= REFUSED_MS) {
        lose(link, "it has ended");
        return;
    }
    if (without > 1000u * (uint64_t)mur_settings.tcp_timeout) {
        if (!link->peer->foreign)
            give_up(link);
        lose(link, "it cannot be reached; MUR_TCP_TIMEOUT allows more time");
        return;
    }
    wait_to_call(link, link->tries < 8 ? (uint64_t)PAUSE_MIN_MS << link->tries : PAUSE_MAX_MS);
    link->tries++;
}

void mur_link_call_failed(struct mur_link *link, int error)
{
    link->greeting = NULL;
    if (link->state != MUR_LINK_CALLING)
        return;
    if (has_ended_since(link)) {
        end(link);
        return;
    }
    if (error == 0) { /* the peer says that it calls itself */
        wait_to_call(link, CROSSED_MS);
        return;
    }
    link->faults[link->address++] = error;
    call_next(link);
}

/* ---- connected ---- */

void mur_link_join(struct mur_link *link, int fd, uint64_t peer_received, const struct mur_handshake *greeting,
                   bool is_caller)
{
    mur_sealed_end(link);
    if (link->greeting)
        mur_greet_drop(link->greeting);
    if (link->fd >= 0) {
        mur_link_cool(link);
        mur_socket_forget_unsent(link->fd);
        mur_tcp_close(link->fd);
    }
    if ((peer_received < link->acked || peer_received > link->queued) && is_needless(link)) {
        close(fd);
        forget(link);
        return;
    }
    if (peer_received < link->acked || peer_received > link->queued) {
        char text[400], who[64];

        snprintf(text, sizeof text,
                 "rank %d on %s: %s on %s says that it has received %llu bytes, of %llu to %llu that it may have",
                 mur_process.rank, mur_process.host, mur_foreign_peer_text(link->peer, who), link->host,
                 (unsigned long long)peer_received, (unsigned long long)link->acked, (unsigned long long)link->queued);
        mur_boot_abort(1, text);
    }
    if (link->peer->foreign)
        mur_socket_keep_alive(fd);
    mur_socket_joined(fd, link->host, sizeof link->host);
    mur_sealed_start(link, greeting, is_caller);
    link->fd = fd;
    link->connections++;
    link->state = MUR_LINK_UP;
    link->is_given_up = false;
    link->tries = 0;
    link->address = 0;
    link->watched = EPOLLIN;
    mur_in_limit_stall(link);
    mur_tcp_watch(fd, EPOLLIN, MUR_TCP_LINK, link, false);
    mur_out_arrived(link, peer_received);
    mur_out_rewind(link);
    link->told = link->received;
    mur_link_heat(link);
    mur_out_write(link);
}

/* Whether the peer, which has said BYE, lacks nothing but the answer to that. Other frames that it has not received may
 * be for its next session. */
static bool has_quiet_rest(const struct mur_link *link)
{
    return link->acked >= link->quiet_start && link->queued <= link->quiet_end;
}

void mur_link_broken(struct mur_link *link, int error)
{
    if (link->state != MUR_LINK_UP)
        return;
    if (link->is_reading) { /* more frames are here, which belong to this connection */
        link->broken = error;
        link->is_full = true;
        return;
    }
    link->broken = 0;
    mur_link_cool(link);
    if (!link->has_heard_bye)
        mur_socket_forget_unsent(link->fd);
    mur_tcp_close(link->fd);
    mur_sealed_end(link);
    link->fd = -1;
    link->watched = 0;
    if (link->has_heard_bye && (link->has_said_bye || (!link->peer->foreign && has_quiet_rest(link)))) {
        end(link);
        return;
    }
    if (is_needless(link)) {
        forget(link);
        return;
    }
    link->lost_since = mur_tcp_now();
    link->address = 0;
    for (int i = 0; i < link->address_count; i++)
        link->faults[i] = error;
    mur_out_rewind(link);
    if (link->address_count)
        wait_to_call(link, mur_tcp_is_first(link->peer) ? 0 : PAUSE_MIN_MS); /* rarely both at once */
    else
        find(link);
}

/* One connection may meet somebody who alters what it brings, or a network card that does; the next one goes on. But it
 * must bring something, in time. */
void mur_link_altered(struct mur_link *link)
{
    uint64_t now = mur_tcp_now();
    char text[500], who[64];

    mur_counters.altered++;
    if (!link->altered_since)
        link->altered_since = now;
    mur_link_broken(link, EBADMSG);
    if (now - link->altered_since <= 1000u * (uint64_t)mur_settings.tcp_timeout)
        return;
    if (link->peer->foreign) {
        lose(link, "all that it sends is altered on its way");
        return;
    }
    snprintf(text, sizeof text,
             "rank %d on %s: all that %s on %s sends has been altered, repeated or left out on its way for %ld s now; "
             "somebody between the hosts does that, or a network card (MUR_TCP_INCLUDE chooses another one)",
             mur_process.rank, mur_process.host, mur_foreign_peer_text(link->peer, who), link->host,
             mur_settings.tcp_timeout);
    mur_boot_abort(1, text);
}

/* ---- the end ---- */

void mur_link_say_bye(struct mur_link *link)
{
    link->owes_bye = false;
    link->has_said_bye = true;
    link->told = link->received;
    mur_out_own(link, MUR_TCP_BYE, link->received);
    link->bye_end = link->queued;
}

/* Whether this process may leave MPI: it has nothing that the peer lacks. It need not wait for the peer's BYE, which
 * may come much later: from a process that computes, or keeps another session. */
bool mur_link_is_settled(const struct mur_link *link)
{
    return mur_link_is_over(link) || (link->has_said_bye && link->acked >= link->bye_end);
}

void mur_link_end_if_said(struct mur_link *link)
{
    if (link->state == MUR_LINK_UP && link->has_said_bye && link->has_heard_bye && link->sent == link->queued)
        end(link);
}

/* What we send straight from users' memory is to arrive first. */
void mur_link_answer_bye(struct mur_link *link)
{
    if (!link->owes_bye)
        return;
    for (const struct mur_out_segment *segment = link->first; segment; segment = segment->next)
        if (segment->sent)
            return;
    mur_link_say_bye(link);
}

bool mur_port_part(struct mur_peer *peer)
{
    struct mur_link *link = peer->link;

    if (mur_link_is_over(link))
        return true;
    if (!link->has_said_bye)
        mur_link_say_bye(link);
    mur_link_end_if_said(link);
    return link->state == MUR_LINK_ENDED;
}

void mur_port_forget(struct mur_peer *peer)
{
    struct mur_link *link = peer->link;

    if (!link)
        return;
    mur_out_flush_all(); /* takes it out of the list of those that keep frames back */
    LIST_REMOVE(link, in_links);
    free_segments(link);
    free(link);
    peer->link = NULL;
}

/* A peer that still sends is refused when it calls again. */
void mur_link_leave(struct mur_link *link)
{
    if (link->state == MUR_LINK_UP && !link->peer->foreign)
        end(link);
}

/* A process of the job listens before it tells its addresses, and until it leaves. It leaves when its BYE has been
 * heard on all links, and that stands behind all that it sent. One that has died is the launcher's business. */
bool mur_link_is_left(const struct mur_link *link)
{
    return link->state == MUR_LINK_WAITING && !link->peer->foreign && link->address_count && all_refuse(link);
}

/* ---- time ---- */

static uint64_t stall_due(const struct mur_link *link)
{
    return mur_in_is_partial(link) ? link->stall_due : UINT64_MAX;
}

static uint64_t probe_due(const struct mur_link *link)
{
    return link->seal ? link->seal->probe_due : UINT64_MAX;
}

/* When the link has to be looked at; UINT64_MAX: never. */
static uint64_t due_of(const struct mur_link *link)
{
    if (link->state == MUR_LINK_WAITING)
        return link->due;
    if (link->state != MUR_LINK_UP)
        return UINT64_MAX;
    return stall_due(link) < probe_due(link) ? stall_due(link) : probe_due(link);
}

int mur_links_tick(uint64_t now)
{
    struct mur_link *link, *next;
    int acted = 0;

    for (link = LIST_FIRST(&mur_tcp.links); link; link = next) {
        next = LIST_NEXT(link, in_links);
        if (due_of(link) > now)
            continue;
        acted++;
        if (link->state == MUR_LINK_WAITING)
            call_next(link);
        else if (stall_due(link) <= now)
            mur_in_stalled(link);
        else
            mur_sealed_probe(link, now);
    }
    return acted;
}

uint64_t mur_links_due(void)
{
    uint64_t due = UINT64_MAX;
    struct mur_link *link;

    LIST_FOREACH(link, &mur_tcp.links, in_links)
    if (due_of(link) < due)
        due = due_of(link);
    return due;
}

/* ---- staying for connections ---- */

/* Whether a call should stay for this one. */
static bool is_early(const struct mur_link *link)
{
    return link->state != MUR_LINK_UP && !mur_link_is_over(link) && link->sent < link->queued && !link->is_given_up;
}

static void stop_staying(uint64_t now)
{
    if (mur_tcp.early_since)
        mur_tcp.early_so_far += now - mur_tcp.early_since;
    mur_tcp.early_since = 0;
    mur_engine.has_early = false;
}

static bool has_early(void)
{
    struct mur_link *link;

    LIST_FOREACH(link, &mur_tcp.links, in_links)
    if (is_early(link))
        return true;
    return false;
}

/* A peer that is inside MPI answers at once; one that computes may not for hours, and each is waited for once. */
bool mur_links_are_early(void)
{
    uint64_t now = mur_tcp_now(), allowed;
    struct mur_link *link;

    if (!has_early()) {
        stop_staying(now);
        return false;
    }
    if (!mur_tcp.early_since)
        mur_tcp.early_since = now;
    allowed = mur_tcp.early_so_far < STAY_ALL_MS ? STAY_ALL_MS - mur_tcp.early_so_far : 0;
    allowed = allowed < STAY_MS ? allowed : STAY_MS;
    if (now - mur_tcp.early_since < allowed) {
        mur_tcp_set_timer(mur_tcp.early_since + allowed);
        return true;
    }
    LIST_FOREACH(link, &mur_tcp.links, in_links)
    if (is_early(link))
        link->is_given_up = true;
    stop_staying(now);
    return false;
}

/* ---- hot links ---- */

/* Among those that are polled by reading, since they had frames lately. */
void mur_link_heat(struct mur_link *link)
{
    link->idle_polls = 0;
    if (link->is_hot || mur_tcp.hot_count == (int)(sizeof mur_tcp.hot / sizeof mur_tcp.hot[0]))
        return;
    link->is_hot = true;
    mur_tcp.hot[mur_tcp.hot_count++] = link;
}

void mur_link_cool(struct mur_link *link)
{
    if (!link->is_hot)
        return;
    link->is_hot = false;
    for (int i = 0; i < mur_tcp.hot_count; i++)
        if (mur_tcp.hot[i] == link)
            mur_tcp.hot[i--] = mur_tcp.hot[--mur_tcp.hot_count];
}
