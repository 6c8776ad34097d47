/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot as a whole: the folder PREFIX/N and its file `manifest`. */
#ifndef MUR_LAUNCH_CHECKPOINT_MANIFEST_H
#define MUR_LAUNCH_CHECKPOINT_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/checkpoint/pack.h"

struct mur_saved_part { /* of one node */
    char *host;
    uint64_t image_sum, image_bytes, notes_sum;
};

struct mur_manifest {
    int number;
    int ranks, nodes;
    char *build; /* of this mpiexec: version and checksum */
    uint64_t job_sum;
    struct mur_saved_part *parts; /* [nodes] */
};

/* Which mpiexec this is. False: *text tells why it cannot be said. */
bool mur_manifest_build(char build[80], char text[MUR_PACK_TEXT]);

/* Numbers of the snapshots that are whole in the folder, in ascending order; returns how many. */
int mur_snapshots_list(const char *prefix, int **numbers);

char *mur_snapshot_folder(const char *prefix, int number);
char *mur_snapshot_partial(const char *prefix, int number);

/* Writes the manifest into PREFIX/N.partial and gives that its name. False with what is wrong. */
bool mur_manifest_commit(const char *prefix, const struct mur_manifest *manifest, char text[MUR_PACK_TEXT]);

bool mur_manifest_read(const char *folder, struct mur_manifest *manifest, char text[MUR_PACK_TEXT]);

/* Removes all snapshots but the last `keep`, and what was left of unfinished ones. */
void mur_snapshots_prune(const char *prefix, int keep);

#endif
