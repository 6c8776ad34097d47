/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank that waits in a call on a window waits for, and which locks it holds meanwhile (engine/rest.h). */
#include "object/look.h"
#include "rma/rma.h"

void mur_rma_describe(const void *what)
{
    const struct mur_rma_wait *wait = what;
    const struct mur_win *win = wait->win;
    struct mur_look_wait *look = mur_look_add_comm(wait->kind, win->comm);

    if (wait->kind == MUR_WAIT_LOCK && wait->holder != MUR_LOOK_NONE) {
        look->peer = wait->rank;
        look->process = mur_rest_process(win->comm->processes[wait->rank]);
        look->holder = wait->holder;
        mur_rest_miss(look, win->comm->processes[wait->holder]);
    } else if (wait->kind == MUR_WAIT_LOCK) { /* whoever holds it, it is not the target that has to do something */
        look->peer = wait->rank;
        look->process = mur_rest_process(win->comm->processes[wait->rank]);
    } else if (wait->rank != MUR_RMA_ALL) {
        mur_look_set_peer(look, win->comm, wait->rank);
    }
}

void mur_rma_describe_holds(void)
{
    for (const struct mur_win *win = mur_win_next(NULL); win; win = mur_win_next(win))
        for (int rank = 0; rank < win->size; rank++) {
            uint32_t place = mur_look.hold_count;

            if (win->targets[rank].held != MUR_HELD_SHARED && win->targets[rank].held != MUR_HELD_EXCLUSIVE)
                continue;
            mur_look.hold_count++;
            if (place < MUR_LOOK_HOLDS)
                mur_look.holds[place] =
                    (struct mur_look_hold){.context = win->comm->context,
                                           .rank = rank,
                                           .is_exclusive = win->targets[rank].held == MUR_HELD_EXCLUSIVE};
        }
}
