/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "engine/claim.h"

#include <sched.h>

#include "base/cpu.h"

enum { SPINS = 1000 };

void mur_claim_wait(const struct mur_claim *claim, uint32_t units)
{
    for (int spins = 0; mur_claim_done(claim) < units; spins++)
        if (spins < SPINS)
            mur_cpu_relax();
        else
            sched_yield();
}
