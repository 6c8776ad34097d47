/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of other jobs: spawned, connected by a port, or met over a socket.
 *
 * To this process a process is a number, an index into the table of peers. Those of its own world are numbered by their
 * ranks; a foreign one gets the next number that is free when this process first hears of it, so another process may
 * know it by another number. Between processes only identities are told, which mean the same to all: a number for the
 * job, and the rank in its MPI_COMM_WORLD; and with them all that is needed to call the process.
 *
 * A number stays taken while a group holds it, or messages of the process are kept. Two processes are connected as long
 * as a communicator has them both; when the last one is disconnected they part: each tells the other BYE, and the link
 * between them is gone. */
#ifndef MUR_TRANSPORT_FOREIGN_H
#define MUR_TRANSPORT_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address.h"
#include "base/secret.h"

enum { MUR_FOREIGN_MAX = 65536 }; /* known at a time */

struct mur_identity {
    uint64_t job;
    uint64_t machine; /* the same for all who can call each other by loopback */
    int32_t rank;
    int32_t address_count;               /* 0: it cannot be called */
    unsigned char secret[MUR_MAC_BYTES]; /* that those who call it must know */
    char host[64];
    struct mur_address addresses[MUR_ADDRESSES_MAX];
};

struct mur_foreign {
    struct mur_identity identity;
    int held;       /* by groups */
    int connected;  /* by communicators */
    bool is_lost;   /* it has ended without parting, or cannot be reached any more (pt2pt/lost.h) */
    char fate[320]; /* why it is lost */
};

struct mur_peer;

/* Whether what came over a connection can be an identity. */
bool mur_foreign_identity_is_sound(const struct mur_identity *identity);

/* The foreign peer of that identity; NULL: unknown. */
struct mur_peer *mur_foreign_find(uint64_t job, int rank);

/* As "rank 3" or "rank 3 of another job". */
const char *mur_foreign_peer_text(const struct mur_peer *peer, char text[64]);

static inline bool mur_identity_precedes(const struct mur_identity *a, const struct mur_identity *b)
{
    return a->job != b->job ? a->job < b->job : a->rank < b->rank;
}

#endif
