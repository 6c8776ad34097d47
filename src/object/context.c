/* SPDX-License-Identifier: BSD-3-Clause */
/* The bitmap of context ids. */
#include "object/context.h"

#include <string.h>

/* Set: in use. The first two belong to the predefined communicators. */
static uint64_t used[MUR_CONTEXT_WORDS] = {3};

void mur_context_free_bits(uint64_t bits[MUR_CONTEXT_WORDS])
{
    for (int i = 0; i < MUR_CONTEXT_WORDS; i++)
        bits[i] = ~used[i];
}

uint32_t mur_context_take(const uint64_t bits[MUR_CONTEXT_WORDS])
{
    for (uint32_t word = 0; word < MUR_CONTEXT_WORDS; word++)
        if (bits[word]) {
            uint32_t bit = (uint32_t)__builtin_ctzll(bits[word]);

            used[word] |= UINT64_C(1) << bit;
            return MUR_CONTEXT_STRIDE * (64 * word + bit);
        }
    return 0;
}

void mur_context_free(uint32_t context)
{
    uint32_t id = context / MUR_CONTEXT_STRIDE;

    used[id / 64] &= ~(UINT64_C(1) << id % 64);
}
