/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of what this rank waits for.
 *
 * Most rests are short, and nobody will ever ask what they were for. So a rest writes down only that it is one, and
 * since when; it is cut short once, when the wait is MUR_LOOK_WAIT_MS old, and the next rest of the same wait describes
 * it. A wait in which things still move is described again, at most as often.
 *
 * Of several threads that rest at a time, the first is shown. */
#include "engine/rest.h"

#include <string.h>

#include "base/clock.h"
#include "base/counters.h"
#include "engine/engine.h"
#include "engine/lock.h"

#define LONG_NS (UINT64_C(1000000) * MUR_LOOK_WAIT_MS)

void (*mur_rest_messages)(void);
void (*mur_rest_sends)(void);
void (*mur_rest_holds)(void);

static uint64_t began; /* the wait that is shown, or was last */

struct mur_look_wait *mur_rest_add(enum mur_wait_kind kind)
{
    static struct mur_look_wait nowhere;
    struct mur_look_wait *wait = mur_look.wait_count < MUR_LOOK_WAITS ? &mur_look.waits[mur_look.wait_count] : &nowhere;

    mur_look.wait_count++;
    *wait = (struct mur_look_wait){.kind = kind,
                                   .peer = MUR_LOOK_NONE,
                                   .process = MUR_LOOK_NONE,
                                   .tag = MUR_LOOK_NONE,
                                   .bytes = MUR_LOOK_NONE,
                                   .round = MUR_LOOK_NONE,
                                   .holder = MUR_LOOK_NONE};
    return wait;
}

int mur_rest_process(int process)
{
    return process < mur_engine.peer_count ? process : MUR_LOOK_FOREIGN;
}

void mur_rest_miss(struct mur_look_wait *wait, int process)
{
    if (wait->missing_count < MUR_LOOK_MISSING)
        wait->missing[wait->missing_count] = mur_rest_process(process);
    wait->missing_count++;
}

void mur_rest_name(struct mur_look_wait *wait, const char *name)
{
    size_t length = strnlen(name, MUR_LOOK_NAME - 1);

    memcpy(wait->name, name, length);
    wait->name[length] = '\0';
}

void mur_rest_setup(void)
{
    mur_look.counter_bytes = sizeof mur_counters;
    mur_look.counters_at = (uintptr_t)&mur_counters;
    mur_look.began = mur_clock_ns();
    mur_look.call_at = (uintptr_t)&mur_lock.call;
}

/* The stores between the two versions are seen as a whole or not at all: the release of the second pairs with the
 * reader's second look, and the fence keeps them behind the first. */
static void write_description(uint64_t now, mur_describer *describe, const void *what)
{
    uint32_t version = atomic_load_explicit(&mur_look.version, memory_order_relaxed);

    atomic_store_explicit(&mur_look.version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    mur_look.is_any = mur_look.wait_count = mur_look.message_count = mur_look.hold_count = 0;
    describe(what);
    if (mur_rest_messages)
        mur_rest_messages();
    if (mur_rest_holds)
        mur_rest_holds();
    mur_look.described = now;
    atomic_store_explicit(&mur_look.version, version + 2, memory_order_release);
}

/* The wait that mur_look shows; NULL: none. The engine's lock guards it. */
static const struct mur_waiter *shown;

static void show(uint64_t since, uint64_t now)
{
    mur_look.call = mur_engine_call();
    mur_look.slept = now;
    atomic_store_explicit(&mur_look.since, since, memory_order_relaxed);
    atomic_store_explicit(&mur_look.until, 0, memory_order_relaxed);
}

uint64_t mur_rest_begin(struct mur_waiter *waiter, uint64_t now, mur_describer *describe, const void *what)
{
    uint64_t due;

    if (shown && shown != waiter)
        return UINT64_MAX;
    shown = waiter;
    if (!waiter->has_rested)
        began = waiter->since;
    waiter->has_rested = true;
    show(began, now);
    due = (mur_look.described > began ? mur_look.described : began) + LONG_NS;
    if (now < due && !mur_lock.has_sleeper) /* beside a sleeper a rest cannot be cut short */
        return due;
    write_description(now, describe, what);
    return UINT64_MAX;
}

void mur_rest_end(const struct mur_waiter *waiter, uint64_t now)
{
    if (shown != waiter)
        return;
    shown = NULL;
    atomic_store_explicit(&mur_look.until, now, memory_order_relaxed);
}

void mur_rest_in_system(mur_describer *describe, const void *what)
{
    uint64_t now = mur_clock_ns();

    if (shown)
        return;
    show(now, now);
    write_description(now, describe, what);
}

void mur_rest_in_system_over(void)
{
    uint64_t now = mur_clock_ns();

    if (shown)
        return;
    mur_counters.sleep_ns += now - mur_look.slept;
    atomic_store_explicit(&mur_look.until, now, memory_order_relaxed);
}
