/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of foreign processes in this process's table of peers (transport/foreign.h has the idea). */
#ifndef MUR_ENGINE_FOREIGN_H
#define MUR_ENGINE_FOREIGN_H

#include "transport/foreign.h"

/* Makes this process one that can be called from other jobs. */
int mur_network_open(void);

/* The identity of a process; for its own, the network must be open, and of others of this world no addresses are known.
 */
void mur_foreign_identify(int process, struct mur_identity *identity);

/* The number of the process of that identity, a new one where it is not known yet. It is held for the caller. */
int mur_foreign_meet(const struct mur_identity *identity, int *process);

/* An order of processes that all agree on. */
bool mur_foreign_precedes(int a, int b);

/* Groups hold the numbers of their processes, and so do messages that are kept; communicators connect theirs. None of
 * these does anything for a process of this world. */
void mur_foreign_hold(const int *processes, int count, int by);
void mur_foreign_connect(const int *processes, int count, int by);

/* Waits until this process has parted from all of these that it is not connected with any more. */
void mur_foreign_part(const int *processes, int count);

#endif
