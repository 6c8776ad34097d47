/* SPDX-License-Identifier: BSD-3-Clause */
/* Context ids: which are in use by this process. The members of a new communicator agree on one that is free at all
 * of them (comm/create.c), so ids can be used again and never run out. Each stands for four contexts: for users'
 * messages, for the library's collectives, and two for partitioned communication. */
#ifndef MUR_OBJECT_CONTEXT_H
#define MUR_OBJECT_CONTEXT_H

#include <stdint.h>

enum {
    MUR_CONTEXT_STRIDE = 4,     /* contexts of a communicator */
    MUR_CONTEXT_COLLECTIVE = 1, /* added to its first: the library's messages */
    MUR_CONTEXT_PARTITIONS = 2, /* agreeing about partitioned messages, */
    MUR_CONTEXT_PARTITION = 3,  /* and their partitions */
    MUR_CONTEXT_WORLD = 0,
    MUR_CONTEXT_SELF = MUR_CONTEXT_STRIDE,
    MUR_CONTEXT_WORDS = 64,                     /* of the bitmap */
    MUR_CONTEXT_LIMIT = MUR_CONTEXT_WORDS * 64, /* communicators a process can have at a time */
};

/* Writes the bitmap of free ids: bit i % 64 of word i / 64 is set when the contexts from
 * MUR_CONTEXT_STRIDE * i on are free. */
void mur_context_free_bits(uint64_t bits[MUR_CONTEXT_WORDS]);

/* Takes the lowest id that is set in the bitmap; 0 (the world's) when none is. */
uint32_t mur_context_take(const uint64_t bits[MUR_CONTEXT_WORDS]);

void mur_context_free(uint32_t context);

#endif
