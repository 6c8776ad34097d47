/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots on the hosts' own disks (or in their memory, /dev/shm): quick, and lost with the host; therefore with a
 * copy on another host, or parities over a group of hosts. */
#ifndef MUR_LIBMURMUR_LOCAL_H
#define MUR_LIBMURMUR_LOCAL_H

#include <stdint.h>

#include "libmurmur/place.h"
#include "libmurmur/settings.h"

/* Both are collective, and succeed or fail at all ranks alike, with the same flaw. */
bool mur_local_save(const struct mur_ckpt_settings *settings, const struct mur_places *places, int64_t version,
                    MPI_Comm comm, struct mur_flaw *flaw);

/* Ranks may be on other hosts than they were: whoever finds a file passes it on to the rank that it belongs to. */
bool mur_local_restore(const struct mur_ckpt_settings *settings, const struct mur_places *places, int64_t version,
                       MPI_Comm comm, struct mur_flaw *flaw);

#endif
