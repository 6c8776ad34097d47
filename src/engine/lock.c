/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow halves of the lock, and how threads rest.
 *
 * A thread with nothing to do becomes the sleeper, which blocks in the transport with the lock released, or, where
 * there is one already, waits on a condition. Whoever makes something move wakes all of them; so does a sleeper that
 * wakes, since the next one to rest must take its place. */
#include "engine/lock.h"

#include <sched.h>

#include "engine/engine.h"

struct mur_lock mur_lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

void mur_engine_lock_renew(void)
{
    mur_lock = (struct mur_lock){
        .is_used = mur_lock.is_used, .mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
}

void mur_engine_lock_slow(void)
{
    if (pthread_mutex_trylock(&mur_lock.mutex) == 0)
        return;
    atomic_fetch_add_explicit(&mur_lock.wanting, 1, memory_order_relaxed);
    pthread_mutex_lock(&mur_lock.mutex);
    atomic_fetch_sub_explicit(&mur_lock.wanting, 1, memory_order_relaxed);
}

void mur_engine_unlock_slow(void)
{
    pthread_mutex_unlock(&mur_lock.mutex);
}

void mur_engine_leave_slow(void)
{
    void (*run)(void) = mur_lock.has_deferred ? mur_lock.run_deferred : NULL;

    mur_engine_unlock();
    if (run)
        run();
}

void mur_engine_breathe_slow(void)
{
    pthread_mutex_unlock(&mur_lock.mutex);
    if (atomic_load_explicit(&mur_lock.wanting, memory_order_relaxed))
        sched_yield();
    mur_engine_lock_slow();
}

void mur_engine_give_way(void)
{
    mur_engine_unlock();
    sched_yield();
    mur_engine_lock();
}

/* The one that sleeps for all. */
static const struct mur_transport *sleeper(void)
{
    return mur_engine.network ? mur_engine.network : mur_engine.transport;
}

void mur_engine_notify_slow(void)
{
    pthread_cond_broadcast(&mur_lock.moved);
    if (mur_lock.has_sleeper) {
        mur_lock.is_sleeper_called = true;
        sleeper()->wake();
    }
}

/* Nothing has come, and nothing that tasks look at in shared memory: they are asked once more, since who wrote there
 * before the transport was prepared did not have to wake this process. */
static bool is_idle(void)
{
    if (!mur_engine.transport->prepare_sleep(mur_engine.backlogged) ||
        (mur_engine.network && !mur_engine.network->prepare_sleep(mur_engine.backlogged)))
        return false;
    if (!mur_tasks_run())
        return true;
    mur_engine_notify();
    return false;
}

static void sleep_in_transport(void)
{
    const struct mur_transport *by = sleeper(); /* the network may be opened by another thread, which then wakes this */
    bool may_block = is_idle(), is_brief = mur_engine.silent_operations > 0;

    mur_engine_unlock();
    if (may_block)
        by->sleep(is_brief);
    mur_engine_lock();
    mur_engine.transport->end_sleep();
    if (mur_engine.network)
        mur_engine.network->end_sleep();
}

/* With a sleeper there. The transport must be prepared once more, for what this thread has polled since; that takes
 * back a call to the sleeper, which is then repeated. */
static void wait_for_sleeper(void)
{
    if (!is_idle())
        return;
    if (mur_lock.is_sleeper_called)
        sleeper()->wake();
    pthread_cond_wait(&mur_lock.moved, &mur_lock.mutex);
}

void mur_engine_rest(void)
{
    mur_lock.resting++;
    if (mur_lock.has_sleeper) {
        wait_for_sleeper();
    } else {
        mur_lock.has_sleeper = true;
        sleep_in_transport();
        mur_lock.has_sleeper = mur_lock.is_sleeper_called = false;
        if (mur_lock.resting > 1)
            pthread_cond_broadcast(&mur_lock.moved);
    }
    mur_lock.resting--;
}
