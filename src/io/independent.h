/* SPDX-License-Identifier: BSD-3-Clause */
/* Access by one rank alone: its steps, and what they keep. */
#ifndef MUR_IO_INDEPENDENT_H
#define MUR_IO_INDEPENDENT_H

#include "io/async.h"

struct mur_access;

struct mur_independent {
    char *staging; /* owned */
    size_t staging_bytes;
    struct mur_async background; /* the piece that the kernel is moving */
};

/* One step; true: the access is complete, or has failed. */
bool mur_independent_step(struct mur_access *access);

/* Whether the kernel can do it, or a first piece of it, while the program goes on: nonblocking ones of one run. */
bool mur_independent_is_for_background(const struct mur_access *access);

/* The file keeps the staging buffer for its next access. */
void mur_independent_end(struct mur_access *access);

#endif
