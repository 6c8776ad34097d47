/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots in a directory that all hosts share: a file for each rank, one for each array, and a manifest. */
#ifndef MUR_LIBMURMUR_GLOBAL_H
#define MUR_LIBMURMUR_GLOBAL_H

#include <stdint.h>

#include "libmurmur/settings.h"

/* Both are collective, and succeed or fail at all ranks alike, with the same flaw. */
bool mur_global_save(const struct mur_ckpt_settings *settings, int64_t version, MPI_Comm comm, struct mur_flaw *flaw);

/* On any number of ranks, if what is registered is shared and arrays only. */
bool mur_global_restore(const struct mur_ckpt_settings *settings, int64_t version, MPI_Comm comm,
                        struct mur_flaw *flaw);

#endif
