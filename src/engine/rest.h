/* SPDX-License-Identifier: BSD-3-Clause */
/* Saying what a rank that rests waits for, so that it can be read from outside (boot/look.h).
 *
 * Whoever waits passes a describer to the waiting loop, and what that describes. It is called when the wait has lasted
 * for MUR_LOOK_WAIT_MS, and adds what is waited for; on the way there nothing is written that is not written anyway. */
#ifndef MUR_ENGINE_REST_H
#define MUR_ENGINE_REST_H

#include <stddef.h>

#include "boot/look.h"

/* Adds to mur_look what is waited for. It may look at anything, and changes nothing. */
typedef void mur_describer(const void *what);

/* One more thing that is waited for, of this kind and with nothing else known. What does not fit is counted, and goes
 * into a place that nobody reads: never NULL. */
struct mur_look_wait *mur_rest_add(enum mur_wait_kind kind);

/* A process that has to do something before the wait ends; a rank of the world, or a foreign one's number. */
void mur_rest_miss(struct mur_look_wait *wait, int process);

/* The process as a rank of the world, or MUR_LOOK_FOREIGN. */
int mur_rest_process(int process);

/* A name that may be too long. */
void mur_rest_name(struct mur_look_wait *wait, const char *name);

/* What adds the rest to a description: messages that wait (match), locks that are held (rma). Set at start, by the
 * parts that know them. */
extern void (*mur_rest_messages)(void);
extern void (*mur_rest_sends)(void); /* that nobody waits for any more, but this process at its end (object) */
extern void (*mur_rest_holds)(void);

/* The engine can be looked at from now on. */
void mur_rest_setup(void);

/* Around each rest of a wait. The first returns until when it may last: a wait that is not described yet has to come
 * back for that. */
struct mur_waiter;
uint64_t mur_rest_begin(struct mur_waiter *waiter, uint64_t now, mur_describer *describe, const void *what);
void mur_rest_end(const struct mur_waiter *waiter, uint64_t now);

/* Around a wait in a system call, with the engine's lock held: it is described at once. */
void mur_rest_in_system(mur_describer *describe, const void *what);
void mur_rest_in_system_over(void);

#endif
