/* SPDX-License-Identifier: BSD-3-Clause */
/* After a restart from a snapshot. The sockets that this process has open are new ones, which never were connected, and
 * listen to nobody (launch/checkpoint/sockets.c); the streams of its links are what they were. The peers stood still at
 * the same cut, so each side has what the other lacks: what was under way is sent again by whoever had not seen it
 * acknowledged. Until a peer has told the launcher its new addresses, the question for them waits there. */
#include <sys/epoll.h>

#include "boot/process.h"
#include "transport/tcp/tcp.h"

static void end_greetings(struct mur_greetings *greetings)
{
    struct mur_greeting *greeting;

    while ((greeting = TAILQ_FIRST(greetings)))
        mur_greet_drop(greeting);
}

static void listen_anew(void)
{
    while (mur_tcp.listener_count)
        mur_tcp_close(mur_tcp.listeners[--mur_tcp.listener_count]);
    if (mur_tcp_listen() || mur_tcp_publish())
        mur_boot_abort(1, "this process cannot listen for connections on the host where it was restarted");
    for (int i = 0; i < mur_tcp.listener_count; i++)
        mur_tcp_watch(mur_tcp.listeners[i], EPOLLIN, MUR_TCP_LISTENER, &mur_tcp, true);
    mur_tcp.listen_due = 0;
    mur_tcp.own.address_count = (int)mur_addresses_own(mur_tcp.own.addresses, MUR_ADDRESSES_MAX, mur_tcp.port);
}

void mur_tcp_notice_restart(void)
{
    struct mur_link *link, *next;

    if (mur_tcp.restarts == mur_process.restarts)
        return;
    mur_tcp.restarts = mur_process.restarts;
    for (link = LIST_FIRST(&mur_tcp.links); link; link = next) {
        next = LIST_NEXT(link, in_links);
        mur_link_restart(link);
    }
    end_greetings(&mur_tcp.greetings);
    end_greetings(&mur_tcp.silent);
    listen_anew();
}
