/* SPDX-License-Identifier: BSD-3-Clause */
/* How each rank ended, told when all is over (-exitcodes). */
#ifndef MUR_LAUNCH_EXITS_H
#define MUR_LAUNCH_EXITS_H

#include "launch/frame.h"
#include "launch/jobspec.h"

struct mur_exits {
    int *outcomes; /* of each rank: 0 not known, 1 + its exit code, or minus its signal; NULL: nobody asks */
};

void mur_exits_note(struct mur_exits *exits, const struct mur_jobspec *job, const struct mur_tree_frame *exited);
void mur_exits_print(const struct mur_exits *exits, const struct mur_jobspec *job);

#endif
