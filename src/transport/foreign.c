/* SPDX-License-Identifier: BSD-3-Clause */
/* Who a process of another job is. */
#include "transport/foreign.h"

#include <stdio.h>
#include <string.h>

#include "engine/state.h"

bool mur_foreign_identity_is_sound(const struct mur_identity *identity)
{
    return identity->rank >= 0 && identity->address_count >= 0 && identity->address_count <= MUR_ADDRESSES_MAX &&
           memchr(identity->host, '\0', sizeof identity->host);
}

struct mur_peer *mur_foreign_find(uint64_t job, int rank)
{
    for (int i = mur_engine.peer_count; i < mur_engine.peer_count + mur_engine.foreign_count; i++) {
        const struct mur_foreign *foreign = mur_engine.peers[i].foreign;

        if (foreign->identity.job == job && foreign->identity.rank == rank)
            return &mur_engine.peers[i];
    }
    return NULL;
}

const char *mur_foreign_peer_text(const struct mur_peer *peer, char text[64])
{
    if (peer->foreign)
        snprintf(text, 64, "rank %d of another job", peer->foreign->identity.rank);
    else
        snprintf(text, 64, "rank %d", peer->process);
    return text;
}
