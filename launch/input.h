/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input, which goes to rank 0, to another one (-stdin RANK), to all of them or to none.
 *
 * For one rank a file, pipe or socket is simply inherited: byte-exact, at full speed, and what the rank does not read
 * stays for the next process that reads. A terminal cannot be: the rank is in a process group of its own and would be
 * stopped for reading, so the agent, which is in mpiexec's group, reads it and feeds a pipe; and only while that group
 * is in the foreground, so that a job in the background runs on and takes nothing from the shell. For all ranks the
 * agent reads whatever it is and feeds each a pipe: the slowest reader sets the pace, and one that has ended is waited
 * for no more. */
#ifndef MUR_LAUNCH_INPUT_H
#define MUR_LAUNCH_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/jobspec.h"
#include "launch/loop.h"

struct mur_input;

struct mur_reader { /* a rank that the agent feeds */
    struct mur_input *input;
    struct mur_watch to; /* its pipe; active while that is full; fd -1: it reads no more */
    size_t start;        /* of the data it has not got yet */
};

struct mur_input {
    struct mur_loop *loop;
    int rank;    /* that reads, MUR_STDIN_ALL or MUR_STDIN_NONE */
    int rank_fd; /* the end for the rank that is being started; -1: none is open */
    bool is_terminal;
    bool is_always_piped;   /* a rank gets no descriptor of ours */
    bool has_events;        /* false: a file, which can always be read but not be watched */
    struct mur_watch from;  /* our standard input; active while something may be read */
    struct mur_timer retry; /* looks whether we are in the foreground again, or goes on with a file */
    struct mur_reader *readers;
    int reader_count;
    char data[16384]; /* read, and not yet passed on to all: [start of each reader, end) */
    size_t end;
};

void mur_input_open(struct mur_input *input, struct mur_loop *loop, const struct mur_jobspec *job);
/* What this rank gets as stdin, until the next call; -1: nothing. */
int mur_input_take(struct mur_input *input, int rank);
/* An end for an agent below, whose ranks read too: the caller's to close. */
int mur_input_relay(struct mur_input *input);
void mur_input_start(struct mur_input *input); /* all ranks have their ends: ours are closed, and the flow begins */

#endif
