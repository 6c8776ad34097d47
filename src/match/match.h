/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching: finding the posted receive for a message, and the waiting message for a receive (MPI-5.0 §3.5).
 *
 * Two hash tables, posted and unexpected, keyed by (context, source, tag); the entries of one key stay in order.
 * A posted receive with a wildcard lies under its own key, wildcards included; an arriving message looks up the at
 * most four keys that could match it and takes the receive that was posted first. A waiting message lies under its
 * exact key, and under the three wildcard keys too once a receive or probe with that wildcard has been seen. So the
 * cost does not depend on how many receives or messages wait. */
#ifndef MUR_MATCH_MATCH_H
#define MUR_MATCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "engine/engine.h"

#define MUR_ANY_SOURCE (-1) /* the ABI's values; checked against mpi.h in match.c */
#define MUR_ANY_TAG    (-2)

struct mur_match_key {
    uint32_t context;
    int32_t source, tag;
};

/* Membership in a table; embedded in a receive request (once) and in a waiting message (four times). */
struct mur_match_node {
    struct mur_match_node *next, *previous;
    uint64_t order; /* of posting */
    struct mur_match_key key;
    uint32_t hash;
};

/* A message that arrived before its receive; also what an MPI_Message handle names once it has been matched. */
struct mur_message {
    struct mur_object object;
    struct mur_match_node node[4]; /* by wildcard class, see match.c */
    struct mur_peer *peer;
    struct mur_frame frame;
    void *data;            /* frame.bytes of them: inline_data or from malloc */
    struct mur_comm *comm; /* once matched by a probe; a reference */
    unsigned char inline_data[72];
};

int mur_match_setup(void);
void mur_match_teardown(void);

/* Posts a receive's node, whose key is filled in. */
void mur_match_post(struct mur_match_node *node);

/* Takes a posted receive away (it was cancelled). */
void mur_match_withdraw(struct mur_match_node *node);

/* Takes the first posted receive that matches; NULL when there is none. */
struct mur_match_node *mur_match_arrival(uint32_t context, int32_t source, int32_t tag);

/* Whether any receive is posted. */
bool mur_match_has_posted(void);

/* Keeps a message that no receive was posted for; copies its data. NULL when memory is exhausted. */
struct mur_message *mur_match_keep(struct mur_peer *peer, const struct mur_frame *frame, const void *data);

/* The first waiting message that matches, wildcards allowed; NULL when there is none. It stays where it is. */
struct mur_message *mur_match_find(const struct mur_match_key *key);
bool mur_match_has_messages(void);

/* The waiting message of exactly this key, and from this peer, of which `is_it` says true. */
struct mur_message *mur_match_find_sent(const struct mur_match_key *key, const struct mur_peer *peer,
                                        bool (*is_it)(const struct mur_message *message, uint64_t id), uint64_t id);

/* How many messages of a context wait. Looks at all that wait. */
uint32_t mur_match_count(uint32_t context);

/* Some of the messages that wait, at most so many; returns how many there are. Looks at all that wait. */
int mur_match_list(const struct mur_message **messages, int most);

/* Any waiting message of these contexts; NULL: none. Looks at all that wait. */
struct mur_message *mur_match_any(uint32_t first_context, uint32_t contexts);

/* Takes a waiting message out of the tables; the caller owns it and puts it back with mur_match_message_free. */
void mur_match_take(struct mur_message *message);
void mur_match_message_free(struct mur_message *message);

#endif
