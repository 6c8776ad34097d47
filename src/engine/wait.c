/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting: spin where every rank of the node can have a core of its own, yield where not, then sleep.
 *
 * A spin costs nothing when the core is ours and nobody else wants it; it costs everything when the rank that we
 * wait for needs this very core. So the spin is long where cores (affinity masks of all ranks, the control group's
 * quota) are as many as ranks, and a few polls where they are not. Yielding hands the core to the next rank that is
 * ready. When that is a program that computes, the core comes back a time slice later, and the next waits sleep at
 * once: the scheduler favours who wakes. Sleeping gives the core back for good, until a frame rings. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/cpu.h"
#include "base/settings.h"
#include "boot/process.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "node/cores.h"

enum {
    SPIN_OWN_CORE = 150, /* microseconds */
    YIELD_OWN_CORE = 0,  /* only another program could get the core, for a time slice of milliseconds */
    SPIN_SHARED_CORE = 0,
    YIELD_SHARED_CORE = 500, /* a round of all ranks of a core takes a few microseconds each */
    POLLS_SHARED_CORE = 4,   /* before the first yield */
    LONG_YIELD = 1000,       /* the core was somebody's who computes; more where the ranks are many: */
    LONG_YIELD_A_RANK = 10,
    SLEEPS_A_YIELD = 10, /* a sleep lasts this many times as long as the yield before it */
    POKES_A_YIELD = 8,
    POKES_A_LOOK = 1024, /* calls that do not wait, between two that count as a long wait */
};

static struct {
    uint64_t spin, yield; /* nanoseconds; yield counts from the end of the spin */
    uint32_t polls;       /* idle passes before the clock is read at all */
    bool is_known;
} budget;

/* Chooses the budget. Until all ranks of the node have said where they may run, it may change. */
static void choose_budget(void)
{
    bool is_final, own_core;

    own_core = mur_cores_suffice(&is_final);
    budget.spin = 1000u * (uint64_t)(own_core ? SPIN_OWN_CORE : SPIN_SHARED_CORE);
    budget.yield = 1000u * (uint64_t)(own_core ? YIELD_OWN_CORE : YIELD_SHARED_CORE);
    if (mur_settings.wait_spin >= 0)
        budget.spin = 1000u * (uint64_t)mur_settings.wait_spin;
    if (mur_settings.wait_yield >= 0)
        budget.yield = 1000u * (uint64_t)mur_settings.wait_yield;
    budget.polls = own_core || budget.spin ? 256 : POLLS_SHARED_CORE;
    budget.is_known = is_final;
}

void mur_wait_settings_changed(void)
{
    budget.is_known = false;
}

int mur_wait_polls(void)
{
    if (!budget.is_known)
        choose_budget();
    return budget.polls > POLLS_SHARED_CORE ? (int)budget.polls : 0;
}

static void yield(void)
{
    mur_counters.idle_yields++;
    mur_engine_unlock();
    sched_yield();
    mur_engine_lock();
    mur_engine.has_yielded = true;
}

static uint64_t no_yield_before; /* nanoseconds; the engine's lock guards it */

/* Yields unless this has lately handed the core to somebody who keeps it for a time slice: another program, or a rank
 * that computes. Linux (6.18) takes that slice out of the yielder's share, too, while a sleeper that wakes has a claim
 * to the core. Returns whether it has. */
static bool yield_if_short(uint64_t now)
{
    uint64_t taken;

    if (now < no_yield_before)
        return false;
    yield();
    taken = mur_clock_ns() - now;
    if (taken > 1000u * (LONG_YIELD + LONG_YIELD_A_RANK * (uint64_t)mur_process.local_size))
        no_yield_before = now + (1 + SLEEPS_A_YIELD) * taken;
    return true;
}

/* Out of line: reached after the first polls only. Either gives the lock up for a moment, after which the caller looks
 * again for what it waits for, or rests: between that look and the rest nobody else may have been in. */
static __attribute__((noinline)) void idle_long(struct mur_waiter *waiter, mur_describer *describe, const void *what)
{
    uint64_t now = mur_clock_ns(), until;

    if (!waiter->since) {
        waiter->since = now;
        if (!budget.is_known)
            choose_budget();
    }
    if (now - waiter->since < budget.spin) {
        mur_cpu_relax();
        waiter->polls -= 32; /* reads the clock again after 32 polls */
        mur_engine_breathe();
        return;
    }
    if (now - waiter->since < budget.spin + budget.yield && yield_if_short(now))
        return;
    mur_counters.idle_sleeps++;
    mur_engine.wait_is_long = true;
    until = mur_rest_begin(waiter, now, describe, what);
    mur_engine_rest(until);
    mur_engine.wait_is_long = false;
    until = mur_clock_ns();
    mur_counters.sleep_ns += until - now;
    mur_rest_end(waiter, until);
    mur_waiter_moved(waiter);
}

void mur_waiter_idle(struct mur_waiter *waiter, mur_describer *describe, const void *what)
{
    if (++waiter->polls > budget.polls) {
        idle_long(waiter, describe, what);
    } else {
        mur_engine.wait_is_long = false;
        mur_cpu_relax();
        mur_engine_breathe();
    }
}

void mur_wait_for(const volatile uint8_t *flag, mur_describer *describe, const void *what)
{
    struct mur_waiter waiter = {0};

    while (!*flag) {
        if (mur_progress()) {
            mur_waiter_moved(&waiter);
            mur_engine_breathe();
        } else if (!*flag) {
            mur_waiter_idle(&waiter, describe, what);
        }
    }
    mur_engine_flush();
}

void mur_engine_flush_slow(void)
{
    struct mur_waiter waiter = {0};

    while (!mur_engine.network->settle(false))
        if (!mur_progress())
            mur_waiter_idle(&waiter, mur_describe_ending, NULL);
}

void mur_engine_pass(void)
{
    mur_engine.calls = 0;
    mur_engine_poke();
}

bool mur_engine_poke(void)
{
    static uint32_t idle; /* the engine's lock guards it */

    if (mur_progress()) {
        idle = 0;
        return true;
    }
    mur_engine.wait_is_long = ++idle % POKES_A_LOOK == 0;
    if (idle % POKES_A_YIELD)
        return false;
    if (!budget.is_known)
        choose_budget();
    if (budget.polls == POLLS_SHARED_CORE) {
        yield();
    }
    return false;
}
