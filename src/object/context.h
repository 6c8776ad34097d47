/* SPDX-License-Identifier: BSD-3-Clause */
/* Context ids: which are in use by this process. The members of a new communicator agree on one that is free at all
 * of them (comm/agree.c), so ids can be used again and never run out. Each stands for a few contexts: for users'
 * messages, for the library's collectives, and so on. Ids are looked at in windows of 4096, so that an agreement
 * passes a few hundred bytes however many there are. */
#ifndef MUR_OBJECT_CONTEXT_H
#define MUR_OBJECT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MUR_CONTEXT_STRIDE = 8,     /* contexts of a communicator */
    MUR_CONTEXT_COLLECTIVE = 1, /* added to its first: the library's messages */
    MUR_CONTEXT_PARTITIONS = 2, /* agreeing about partitioned messages, */
    MUR_CONTEXT_PARTITION = 3,  /* and their partitions */
    MUR_CONTEXT_MEMBERS = 4,    /* calls that some members make, told apart by the user's tag: MPI_Comm_create_group */
    MUR_CONTEXT_LEADERS = 5,    /* between the leaders of MPI_Intercomm_create */
    MUR_CONTEXT_WORLD = 0,
    MUR_CONTEXT_SELF = MUR_CONTEXT_STRIDE,
    MUR_CONTEXT_GROUPS = 2 * MUR_CONTEXT_STRIDE, /* making communicators of groups (comm/from_group.c) */
    MUR_CONTEXT_PORTS = 3 * MUR_CONTEXT_STRIDE,  /* between the roots of two jobs that meet (comm/meet.c) */
    MUR_CONTEXT_WORDS = 64,                      /* of the bitmap of a window */
    MUR_CONTEXT_WINDOWS = 64,
    MUR_CONTEXT_LIMIT = MUR_CONTEXT_WINDOWS * MUR_CONTEXT_WORDS * 64, /* ids a process can use at a time */
};

#define MUR_CONTEXT_NONE UINT32_MAX /* of a communicator that is being made */

/* Writes the bitmap of the free ids of a window: bit i % 64 of word i / 64 is set when the window's id i is free. */
void mur_context_free_bits(int window, uint64_t bits[MUR_CONTEXT_WORDS]);

/* Takes id i of the window, whose first context is written; false when it is in use. */
bool mur_context_take(int window, int i, uint32_t *context);

void mur_context_free(uint32_t context);

#endif
