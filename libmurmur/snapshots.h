/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory of snapshots: app-N is snapshot N, and app-N.partial is one that is being written. A snapshot gets its
 * name when all of it is on the disk, so whatever has the name is whole. */
#ifndef MUR_LIBMURMUR_SNAPSHOTS_H
#define MUR_LIBMURMUR_SNAPSHOTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmurmur/flaw.h"

/* A path as printf writes it; empty, and so one that nothing has, if it is too long. */
void mur_snapshots_print(char path[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The path of a file of a snapshot; of the directory itself if `file` is empty. */
void mur_snapshots_path(char path[PATH_MAX], const char *directory, int64_t version, bool is_partial, const char *file);

/* The numbers of the snapshots there, the newest first, to be freed; NULL and 0: there are none. */
int64_t *mur_snapshots_list(const char *directory, int *count);

/* Makes a directory, and what lies above it, where they are not there yet. Several processes may. */
bool mur_snapshots_make(const char *path, struct mur_flaw *flaw);

/* These are for one process of those that share the directory. */
bool mur_snapshots_finish(const char *directory, int64_t version, struct mur_flaw *flaw);
void mur_snapshots_discard(const char *directory, int64_t version);
/* All but the newest, and what was never finished and is older: another rank may have begun the next one. */
void mur_snapshots_prune(const char *directory, int keep);

#endif
