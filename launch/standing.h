/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the rank that has ended while another one, in MPI, waits for it. */
#ifndef MUR_LAUNCH_STANDING_H
#define MUR_LAUNCH_STANDING_H

#include <stdbool.h>

#include "launch/frame.h"
#include "launch/jobspec.h"

struct mur_standings {
    struct mur_standing *hosts; /* what each host has told last; NULL: nothing yet */
};

/* Takes a MUR_FRAME_STANDING. True: a rank is missing, and *failure says which. */
bool mur_standings_take(struct mur_standings *standings, const struct mur_jobspec *job,
                        const struct mur_tree_frame *frame, struct mur_tree_frame *failure);

#endif
