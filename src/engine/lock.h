/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's lock: held while a thread is inside MPI, but not while it waits, and not while it runs a callback of the
 * user's. Without MPI_THREAD_MULTIPLE it costs a look at a flag. */
#ifndef MUR_ENGINE_LOCK_H
#define MUR_ENGINE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/look.h"

/* The words that every call writes and reads do not lie at the beginning of their line, where words that ranks share
 * have theirs: a processor takes a load for that of a store under way whose address ends in the same 12 bits, and waits
 * for it. (MPI_Win_lock and unlock took 22 ns instead of 16 where the linker had put the two so.) */
struct mur_lock {
    pthread_mutex_t mutex;
    void (*run_deferred)(void);   /* called without the lock, when a call is about to return */
    volatile atomic_bool is_used; /* set once, when threads may call MPI at the same time (mur_engine_share) */
    /* While the lock is not used: the number of the latest call, and whether a thread is inside (MUR_INSIDE). While it
     * is used this is what some thread has said last, which only others that look at the job read (boot/look.h). */
    volatile _Atomic uint32_t call;
    atomic_bool is_starting;   /* to be used: a thread may still be inside without it */
    bool has_deferred;         /* run_deferred is to be called */
    _Atomic(pthread_t) holder; /* of the mutex; 0: nobody */
    atomic_int wanting;        /* threads that wait for the mutex: who only polls lets them go first */
    /* how threads rest (lock.c) */
    int resting;            /* threads that wait on `moved`, or sleep in the transport */
    bool has_sleeper;       /* one of them sleeps in the transport, */
    uint64_t sleeps_until;  /* at the latest until this time of mur_clock_ns, */
    bool is_sleeper_called; /* and has been woken for what another thread did */
    pthread_cond_t moved;
} __attribute__((aligned(64)));
extern struct mur_lock mur_lock;
_Static_assert(offsetof(struct mur_lock, is_used) % 64 >= 32, "these words lie in the second half of a line");

/* The word `call`: twice the number of a call (mur_call_names), and one while a thread is inside. */
enum { MUR_INSIDE = MUR_LOOK_INSIDE };

void mur_engine_lock_slow(void);
void mur_engine_enter_slow(uint32_t call);
void mur_engine_unlock_slow(void);

static inline bool mur_lock_is_used(void)
{
    return atomic_load_explicit(&mur_lock.is_used, memory_order_relaxed);
}

/* A thread first says that it is inside, and in which call, or not any more, and then looks whether the lock is used.
 * The compiler keeps that order, since both are volatile; for the processor the other half is the barrier in
 * mur_engine_share. That the word says which call it is costs nothing: it is the store that has to be made anyway. */
static inline __attribute__((always_inline)) void mur_engine_enter(uint32_t call)
{
    atomic_store_explicit(&mur_lock.call, 2 * call | MUR_INSIDE, memory_order_relaxed);
    if (__builtin_expect(mur_lock_is_used(), 0))
        mur_engine_enter_slow(call);
}

/* The same in the middle of a call, or outside of all calls. */
static inline void mur_engine_lock(void)
{
    uint32_t call = atomic_load_explicit(&mur_lock.call, memory_order_relaxed);

    atomic_store_explicit(&mur_lock.call, call | MUR_INSIDE, memory_order_relaxed);
    if (__builtin_expect(mur_lock_is_used(), 0))
        mur_engine_lock_slow();
}

/* The release pairs with the acquire in mur_engine_share. */
static inline void mur_engine_unlock(void)
{
    uint32_t call = atomic_load_explicit(&mur_lock.call, memory_order_relaxed);

    atomic_store_explicit(&mur_lock.call, call & ~(uint32_t)MUR_INSIDE, memory_order_release);
    if (__builtin_expect(mur_lock_is_used(), 0))
        mur_engine_unlock_slow();
}

/* The same for calls that are legal at any time, in any thread: where the lock is not used they go without. */
void mur_engine_lock_any_time(void);
void mur_engine_unlock_any_time(void);

/* From now on the lock is used, for good. Waits until no thread is inside without it. The caller is not inside. */
void mur_engine_share(void);

/* Before the first call of mur_engine_enter, by a process that may have several threads later. */
void mur_engine_lock_setup(bool has_threads);

/* The end of a call of the user's: what had to wait for a moment without restrictions is done now. */
void mur_engine_leave_slow(void);
static inline __attribute__((always_inline)) void mur_engine_leave(uint32_t call)
{
    /* pairs with the acquire in mur_engine_share */
    atomic_store_explicit(&mur_lock.call, 2 * call, memory_order_release);
    if (__builtin_expect(mur_lock_is_used() | mur_lock.has_deferred, 0))
        mur_engine_leave_slow();
}

/* Gives other threads a chance to enter. */
void mur_engine_breathe_slow(void);
static inline void mur_engine_breathe(void)
{
    if (__builtin_expect(mur_lock_is_used(), 0))
        mur_engine_breathe_slow();
}

/* Lets other threads and other processes run. */
void mur_engine_give_way(void);

/* Something has changed that a resting thread may wait for. */
void mur_engine_notify_slow(void);
static inline void mur_engine_notify(void)
{
    if (__builtin_expect(mur_lock.resting > 0, 0))
        mur_engine_notify_slow();
}

/* There is something to be done, or to be looked for, that the sleeper does not know of. */
void mur_engine_call_sleeper_slow(void);
static inline void mur_engine_call_sleeper(void)
{
    if (__builtin_expect(mur_lock.has_sleeper, 0))
        mur_engine_call_sleeper_slow();
}

/* In a forked child, where one thread is left: nobody holds it, and nobody rests. */
void mur_engine_lock_renew(void);

/* Rests until something has changed, or until a time of mur_clock_ns (UINT64_MAX: any). One thread at a time sleeps in
 * the transport, the others wait for it. */
void mur_engine_rest(uint64_t until);

/* The number of the call that this thread is in (mur_call_names); 0: none. */
uint32_t mur_engine_call(void);

#endif
