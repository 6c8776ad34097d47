/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of other jobs that have ended while communicators still connect them with this one.
 *
 * A world loses no process and lives on: its launcher ends it. But jobs that met may end one without the other. The
 * network finds that the link to a process has broken and that nobody answers where it was (tcp/link.c); from then on
 * the process is lost. All who share a communicator with it are told, since most of them wait for somebody who waits
 * for it. What was under way with it fails, and so does what is started with it later; of a communicator that it
 * belongs to, collectives and receives from any source fail, too. Everything else goes on. */
#ifndef MUR_PT2PT_LOST_H
#define MUR_PT2PT_LOST_H

#include "object/comm.h"
#include "transport/foreign.h"
#include "transport/transport.h"

void mur_lost_setup(void);

static inline bool mur_is_lost(const struct mur_peer *peer)
{
    return __builtin_expect(peer->foreign && peer->foreign->is_lost, 0);
}

/* The error of an operation that needs it. */
int mur_lost_error(const struct mur_peer *peer);

/* MPI_SUCCESS where a message with that context may still come from the rank of a communicator that has lost some. */
int mur_lost_check(const struct mur_comm *comm, uint32_t context, int source);

/* Such a communicator is about to be freed: throws away the messages on it that nobody will receive. */
void mur_lost_forget(const struct mur_comm *comm);

#endif
