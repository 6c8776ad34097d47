/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's lock: held while a thread is inside MPI, but not while it waits, and not while it runs a callback of the
 * user's. Without MPI_THREAD_MULTIPLE it costs a look at a flag. */
#ifndef MUR_ENGINE_LOCK_H
#define MUR_ENGINE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct mur_lock {
    bool is_used;               /* set once, at initialisation with MPI_THREAD_MULTIPLE */
    bool has_deferred;          /* something is to be done when a call is about to return: */
    void (*run_deferred)(void); /* called without the lock */
    pthread_mutex_t mutex;
    atomic_int wanting;     /* threads that wait for the mutex: who only polls lets them go first */
    int resting;            /* threads that wait on `moved`, or sleep in the transport */
    bool has_sleeper;       /* one of them sleeps in the transport */
    bool is_sleeper_called; /* and has been woken for what another thread did */
    pthread_cond_t moved;
};
extern struct mur_lock mur_lock;

void mur_engine_lock_slow(void);
void mur_engine_unlock_slow(void);

static inline void mur_engine_lock(void)
{
    if (__builtin_expect(mur_lock.is_used, 0))
        mur_engine_lock_slow();
}

static inline void mur_engine_unlock(void)
{
    if (__builtin_expect(mur_lock.is_used, 0))
        mur_engine_unlock_slow();
}

/* The end of a call of the user's: what had to wait for a moment without restrictions is done now. */
void mur_engine_leave_slow(void);
static inline void mur_engine_leave(void)
{
    if (__builtin_expect(mur_lock.is_used | mur_lock.has_deferred, 0))
        mur_engine_leave_slow();
}

/* Gives other threads a chance to enter. */
void mur_engine_breathe_slow(void);
static inline void mur_engine_breathe(void)
{
    if (__builtin_expect(mur_lock.is_used, 0))
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

/* In a forked child, where one thread is left: nobody holds it, and nobody rests. */
void mur_engine_lock_renew(void);

/* Rests until something has changed. One thread at a time sleeps in the transport, the others wait for it. */
void mur_engine_rest(void);

#endif
