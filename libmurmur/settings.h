/* SPDX-License-Identifier: BSD-3-Clause */
/* What the environment says about the checkpoints that a program takes itself. docs/libmurmur.md has the table. */
#ifndef MUR_LIBMURMUR_SETTINGS_H
#define MUR_LIBMURMUR_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "libmurmur/flaw.h"

enum mur_redundancy { MUR_REDUNDANCY_NONE, MUR_REDUNDANCY_PARTNER, MUR_REDUNDANCY_XOR };
enum { MUR_RESTART_NONE = -2, MUR_RESTART_LATEST = -1 };

struct mur_ckpt_settings {
    const char *prefix, *local; /* NULL: not there */
    double interval;            /* seconds; 0: none are due by themselves */
    int64_t restart;            /* MUR_RESTART_..., or a version */
    enum mur_redundancy redundancy;
    int group; /* ranks that share a parity, at most */
    int flush; /* every so manieth snapshot goes to the prefix, where there is a local directory */
    int keep;
    int signal; /* asks for a snapshot; 0: none does */
};

bool mur_ckpt_settings_read(struct mur_ckpt_settings *settings, struct mur_flaw *flaw);

#endif
