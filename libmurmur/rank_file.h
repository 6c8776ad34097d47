/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of one rank in a snapshot: a head, a row for each region, the bytes of the regions, and a hash of all that
 * (XXH3, 64 bits). A snapshot in the directory that all hosts share has arrays in files of their own (array_file.h);
 * one on the hosts' own disks has each rank's blocks here. */
#ifndef MUR_LIBMURMUR_RANK_FILE_H
#define MUR_LIBMURMUR_RANK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "libmurmur/flaw.h"

struct mur_rank_file {
    int64_t version;
    int rank, ranks;
    bool has_arrays;
};

/* Writes it, from the regions to the disk. */
bool mur_rank_file_write(const char *path, const struct mur_rank_file *file, struct mur_flaw *flaw);

/* Whether it is whole, as its hash says. Fills *file. */
bool mur_rank_file_check(const char *path, struct mur_rank_file *file, struct mur_flaw *flaw);

/* Whether a file that was checked has what is registered here: `shared_only` for a rank that was not there. */
bool mur_rank_file_fits(const char *path, bool shared_only, struct mur_flaw *flaw);

/* Fills the regions from a file that was checked and fits: all, or the shared ones only. */
bool mur_rank_file_load(const char *path, bool shared_only, struct mur_flaw *flaw);

#endif
