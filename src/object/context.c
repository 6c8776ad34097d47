/* SPDX-License-Identifier: BSD-3-Clause */
/* The bitmap of context ids. */
#include "object/context.h"

enum { WINDOW = MUR_CONTEXT_WORDS * 64 };

/* Set: in use. */
static uint64_t used[MUR_CONTEXT_LIMIT / 64];

void mur_context_free_bits(int window, uint64_t bits[MUR_CONTEXT_WORDS])
{
    for (int i = 0; i < MUR_CONTEXT_WORDS; i++)
        bits[i] = ~used[window * MUR_CONTEXT_WORDS + i];
}

bool mur_context_take(int window, int i, uint32_t *context)
{
    uint32_t id = (uint32_t)(window * WINDOW + i);
    uint64_t bit = UINT64_C(1) << id % 64;

    if (used[id / 64] & bit)
        return false;
    used[id / 64] |= bit;
    *context = MUR_CONTEXT_STRIDE * id;
    return true;
}

void mur_context_free(uint32_t context)
{
    uint32_t id = context / MUR_CONTEXT_STRIDE;

    used[id / 64] &= ~(UINT64_C(1) << id % 64);
}
