/* SPDX-License-Identifier: BSD-3-Clause */
/* A process's mailbox: a few lines of shared memory, on which others of its node put what it may do for them while it
 * waits. One of them has it at a time, and the state says for what: a small operation that the process does alone
 * (assist.c), or a large one that both do (joint.c). */
#ifndef MUR_RMA_MAILBOX_H
#define MUR_RMA_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/claim.h"
#include "node/region.h"

/* Free is 0: the engine looks for anything else. */
enum {
    MUR_MAILBOX_FREE,
    MUR_MAILBOX_TAKEN,
    MUR_MAILBOX_POSTED,
    MUR_MAILBOX_CLAIMED,
    MUR_MAILBOX_DONE,
    MUR_MAILBOX_FAILED,
    MUR_MAILBOX_JOINT
};

enum { MUR_MAILBOX_DATA = 16384 };

/* What the two who perform a joint operation have to know. */
struct mur_rma_joint_task {
    struct mur_region_address origin, result;
    uint64_t place, bytes;
    uint32_t piece, pieces; /* bytes of each but the last; how many */
    uint32_t context;
    uint32_t kind, reduction, basic; /* enum mur_rma_kind, enum mur_reduction, the type of the elements */
};

struct mur_rma_joint {
    struct mur_claim claim __attribute__((aligned(64))); /* in pieces; the target counts what it has done */
    struct mur_rma_joint_task task __attribute__((aligned(64)));
};

/* An assist that is small fits in the first line. */
struct mur_rma_mailbox {
    _Atomic uint32_t state __attribute__((aligned(64)));
    uint32_t context, bytes;
    uint16_t kind, reduction; /* enum mur_rma_kind, enum mur_reduction */
    uint64_t place;
    uint32_t basic; /* type of the elements */
    uint32_t unused;
    unsigned char data[MUR_MAILBOX_DATA]; /* brought, then fetched; of a swap, two values of a few bytes */
    struct mur_rma_joint joint;
};

/* Does a piece, if there is one left that this process can do. */
bool mur_rma_joint_serve(struct mur_rma_joint *joint);

#endif
