/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input, which goes to rank 0.
 *
 * A file, pipe or socket is simply inherited by rank 0: byte-exact, at full speed, and what it does not read stays for
 * whoever comes next. A terminal cannot be: rank 0 is in a process group of its own and would be stopped for reading,
 * so the agent, which is in mpiexec's group, reads it and feeds a pipe; and only while that group is in the
 * foreground, so that a job in the background runs on and takes nothing from the shell. */
#ifndef MUR_LAUNCH_INPUT_H
#define MUR_LAUNCH_INPUT_H

#include <stddef.h>

#include "loop.h"

struct mur_input {
    struct mur_loop *loop;
    int rank_fd;            /* what rank 0 gets as stdin */
    struct mur_watch from;  /* the terminal; active while something may be read */
    struct mur_watch to;    /* the pipe to rank 0; active while it is full */
    struct mur_timer retry; /* looks whether we are in the foreground again */
    char data[4096];        /* read but not yet passed on: [start, end) */
    size_t start, end;
};

void mur_input_open(struct mur_input *input, struct mur_loop *loop);
void mur_input_start(struct mur_input *input); /* rank 0 has its end: ours of it is closed, and the flow begins */

#endif
