/* SPDX-License-Identifier: BSD-3-Clause */
/* What the world and all sessions of a process share (MPI-5.0 §11.2, §11.3): the library itself, started by the first
 * of them. When the last is over, everything that others still need has been done and the launcher has been told;
 * the rest stays, since another session may follow. */
#ifndef MUR_MPI_INSTANCE_H
#define MUR_MPI_INSTANCE_H

#include <stdbool.h>

/* One more user, who needs this thread level; safe from any thread, without the engine's lock. */
int mur_instance_acquire(int required_thread_level);

/* One less. May be called with or without the engine's lock. */
void mur_instance_release(bool is_world);

#endif
