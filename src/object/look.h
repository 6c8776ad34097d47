/* SPDX-License-Identifier: BSD-3-Clause */
/* Describing requests and communicators that a rank waits for (engine/rest.h). */
#ifndef MUR_OBJECT_LOOK_H
#define MUR_OBJECT_LOOK_H

#include "engine/rest.h"
#include "object/comm.h"
#include "object/request.h"

/* One more thing that is waited for, on this communicator. Never NULL. */
struct mur_look_wait *mur_look_add_comm(enum mur_wait_kind kind, const struct mur_comm *comm);

/* Of it: that it needs this rank of the communicator, or MPI_ANY_SOURCE. */
void mur_look_set_peer(struct mur_look_wait *wait, const struct mur_comm *comm, int rank);

/* The tag of a message, which may be MPI_ANY_TAG. */
static inline int mur_look_tag(int tag)
{
    return tag == MPI_ANY_TAG ? MUR_LOOK_ANY : tag;
}

/* What has to come before these are complete. */
struct mur_request_list {
    const MPI_Request *items;
    int count;
    bool is_any; /* one of them is enough */
};
mur_describer mur_describe_request;  /* a struct mur_request */
mur_describer mur_describe_requests; /* a struct mur_request_list */
mur_describer mur_describe_traffic;  /* a struct mur_comm: all that is under way on it */

/* The sends that have not been taken yet. */
void mur_look_sends(void);

/* Set by those who perform collectives: describes the operation behind a request; false: it is none of theirs. */
enum { MUR_LOOK_PERFORMERS = 3 };
extern bool (*mur_look_performers[MUR_LOOK_PERFORMERS])(const struct mur_request *request);

#endif
