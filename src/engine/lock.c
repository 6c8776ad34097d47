/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow halves of the lock, and how threads rest.
 *
 * A thread with nothing to do becomes the sleeper, which blocks in the transport with the lock released, or, where
 * there is one already, waits on a condition. What ends their rest:
 *
 *   - A thread that makes something move, or completes a request, wakes all of them (mur_engine_notify). So does a
 * sleeper that wakes, since the next one to rest must take its place.
 *   - The sleeper has prepared the transport for what there was to wait for. Whoever adds something calls the sleeper
 *     before it gives up the lock, whether it rests itself or leaves MPI: a task, sends that found no room
 *     (mur_engine_call_sleeper), and what has to be done sooner than the sleeper wakes by itself, which is looked at
 *     whenever the lock is given up (next_look).
 *   - A call is taken back by the sleeper alone, in end_sleep. A thread that polls sees the descriptors by which the
 *     sleeper is woken, and leaves them as they are. A thread that rests beside the sleeper prepares the transport for
 *     itself, which may take back a call that has not reached the sleeper yet, and therefore repeats it.
 *   - mur_progress returns true whenever it has changed anything that some thread may wait for.
 *
 * The lock is not used until threads may be inside at the same time. Until then there is one thread at a time, which
 * only says that it is inside. Whoever makes the lock used keeps the mutex until that thread has left, or breathes. */
#define _GNU_SOURCE
#include "engine/lock.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "node/node.h"

struct mur_lock mur_lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static _Thread_local uint32_t own_call; /* of this thread, which mur_lock.call says only while the lock is not used */

enum { BRIEF = 200000 /* nanoseconds; of a sleep while operations are under way that end without waking anybody */ };

/* ---- the lock ---- */

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* Without the barrier of mur_engine_share (old kernels, filters of system calls) the lock is used from the start. */
void mur_engine_lock_setup(bool has_threads)
{
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && has_threads)
        mur_engine_share();
}

static void take_mutex(void)
{
    if (pthread_mutex_trylock(&mur_lock.mutex) != 0) {
        atomic_fetch_add_explicit(&mur_lock.wanting, 1, memory_order_relaxed);
        pthread_mutex_lock(&mur_lock.mutex);
        atomic_fetch_sub_explicit(&mur_lock.wanting, 1, memory_order_relaxed);
    }
    atomic_store_explicit(&mur_lock.holder, pthread_self(), memory_order_relaxed);
}

static void give_mutex(void)
{
    atomic_store_explicit(&mur_lock.holder, 0, memory_order_relaxed);
    pthread_mutex_unlock(&mur_lock.mutex);
}

/* A thread finds itself there if it has the mutex, and only then. */
static bool has_mutex(void)
{
    return atomic_load_explicit(&mur_lock.holder, memory_order_relaxed) == pthread_self();
}

/* The barrier on all cores of this process pairs with the order of accesses in mur_engine_enter and mur_engine_unlock:
 * whoever comes in, or leaves, either sees that the lock is used, or has been seen to do so. Only one thread can be
 * inside without the mutex: it alone says that it leaves while others wait for the mutex. */
void mur_engine_share(void)
{
    if (mur_lock_is_used())
        return; /* or about to be: the first call then waits for the mutex */
    take_mutex();
    if (!mur_lock_is_used()) {
        atomic_store(&mur_lock.is_starting, true);
        atomic_store(&mur_lock.is_used, true);
        if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
            atomic_thread_fence(memory_order_seq_cst);
        /* pairs with the releases of mur_lock.call, here and in lock.h */
        while (atomic_load_explicit(&mur_lock.call, memory_order_acquire) & MUR_INSIDE)
            sched_yield();
        atomic_store(&mur_lock.is_starting, false);
    }
    give_mutex();
}

void mur_engine_lock_renew(void)
{
    mur_lock = (struct mur_lock){
        .is_used = mur_lock_is_used(), .mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
}

/* The thread may have said that it is inside just after another has made the lock used: it is not. The acquire pairs
 * with the store in mur_engine_share: is_starting was set before. */
void mur_engine_lock_slow(void)
{
    if (__builtin_expect(atomic_load_explicit(&mur_lock.is_used, memory_order_acquire) &&
                             atomic_load_explicit(&mur_lock.is_starting, memory_order_relaxed),
                         0))
        /* pairs with the acquire in mur_engine_share, which waits for it */
        atomic_fetch_and_explicit(&mur_lock.call, ~(uint32_t)MUR_INSIDE, memory_order_release);
    take_mutex();
}

void mur_engine_enter_slow(uint32_t call)
{
    own_call = call;
    mur_engine_lock_slow();
}

uint32_t mur_engine_call(void)
{
    return mur_lock_is_used() ? own_call : atomic_load_explicit(&mur_lock.call, memory_order_relaxed) / 2;
}

void mur_engine_lock_any_time(void)
{
    if (mur_lock_is_used())
        take_mutex();
}

/* The time of mur_clock_ns by which somebody has to look, though nothing comes; 0: now; UINT64_MAX: never. */
static uint64_t next_look(void)
{
    if (mur_engine.has_unsent || mur_engine.silent_operations > 0)
        return 0;
    return mur_engine.due ? mur_engine.due : UINT64_MAX;
}

void mur_engine_call_sleeper_slow(void)
{
    if (mur_lock.is_sleeper_called)
        return;
    mur_lock.is_sleeper_called = true;
    mur_node_wake(mur_node.rank);
}

/* A thread that came in without the mutex has nothing to give up. */
void mur_engine_unlock_slow(void)
{
    if (!has_mutex())
        return;
    if (mur_lock.has_sleeper && next_look() < mur_lock.sleeps_until)
        mur_engine_call_sleeper_slow();
    give_mutex();
}

void mur_engine_unlock_any_time(void)
{
    mur_engine_unlock_slow();
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
    mur_engine_unlock();
    if (atomic_load_explicit(&mur_lock.wanting, memory_order_relaxed))
        sched_yield();
    mur_engine_lock();
}

void mur_engine_give_way(void)
{
    mur_engine_unlock();
    sched_yield();
    mur_engine_lock();
}

/* ---- resting ---- */

void mur_engine_notify_slow(void)
{
    pthread_cond_broadcast(&mur_lock.moved);
    mur_engine_call_sleeper();
}

/* Nothing has come, and nothing that tasks look at in shared memory: they are asked once more, since who wrote there
 * before the transport was prepared did not have to wake this process. */
static bool is_idle(void)
{
    if (!mur_engine.transport->prepare_sleep(mur_engine.backlogged) ||
        (mur_engine.network && !mur_engine.network->prepare_sleep(mur_engine.backlogged)))
        return false;
    if (!mur_engine_tasks_run())
        return true;
    mur_engine_notify();
    return false;
}

/* The network may be opened by another thread meanwhile, which then wakes this one. */
static void sleep_in_transport(uint64_t limit)
{
    const struct mur_transport *by = mur_engine.network ? mur_engine.network : mur_engine.transport;
    bool may_block = is_idle();
    uint64_t until = next_look();

    if (!until)
        until = mur_clock_ns() + BRIEF;
    if (until > limit)
        until = limit;
    mur_lock.sleeps_until = mur_engine.silent_operations > 0 ? 0 : until;
    mur_engine_unlock();
    if (may_block)
        by->sleep(until);
    mur_engine_lock();
    mur_node_end_sleep();
}

/* With a sleeper there. The transport must be prepared once more, for what this thread has polled since. */
static void wait_for_sleeper(void)
{
    bool may_rest = is_idle();

    if (mur_lock.is_sleeper_called)
        mur_node_wake(mur_node.rank);
    else if (next_look() < mur_lock.sleeps_until)
        mur_engine_call_sleeper_slow();
    if (!may_rest)
        return;
    atomic_store_explicit(&mur_lock.holder, 0, memory_order_relaxed);
    pthread_cond_wait(&mur_lock.moved, &mur_lock.mutex);
    atomic_store_explicit(&mur_lock.holder, pthread_self(), memory_order_relaxed);
}

void mur_engine_rest(uint64_t until)
{
    mur_lock.resting++;
    if (mur_lock.has_sleeper) {
        wait_for_sleeper();
    } else {
        mur_lock.has_sleeper = true;
        sleep_in_transport(until);
        mur_lock.has_sleeper = mur_lock.is_sleeper_called = false;
        if (mur_lock.resting > 1)
            pthread_cond_broadcast(&mur_lock.moved);
    }
    mur_lock.resting--;
}
