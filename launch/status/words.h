/* SPDX-License-Identifier: BSD-3-Clause */
/* Words for what ranks do: each follows "rank 3 is", or stands alone in a table. */
#ifndef MUR_LAUNCH_STATUS_WORDS_H
#define MUR_LAUNCH_STATUS_WORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "launch/status/sample.h"

/* A stream into memory that the caller frees once it is closed; ends the process where there is none. */
FILE *mur_text_open(char **text, size_t *bytes);

/* "MPI_Recv", or NULL. */
const char *mur_words_call(const struct mur_rank_state *state);

/* "in MPI_Recv, for a message from 5, tag 9, on MPI_COMM_WORLD". */
void mur_words_state(FILE *out, const struct mur_rank_state *state);

/* The same of a rank that waits, without what it waits for: "in MPI_Recv on MPI_COMM_WORLD". */
void mur_words_short(FILE *out, const struct mur_rank_state *state);

/* ", 12 s": how long it has waited. Of a rank that computes only the time since its latest wait is known. */
void mur_words_since(FILE *out, const struct mur_rank_state *state);

/* Of one thing that is waited for: "a message from 5, tag 9, on MPI_COMM_WORLD". */
void mur_words_wait(FILE *out, const struct mur_look_wait *wait);

/* "MPI_COMM_WORLD", or what there is to say of a communicator without a name. */
void mur_words_comm(FILE *out, const struct mur_look_wait *wait);

/* "0-3,7" for those of `count` ranks that are set; of very many the first. */
void mur_words_ranks(FILE *out, const bool *is_set, int count);

/* "12 s", "3 min", from milliseconds. */
void mur_words_time(FILE *out, int64_t ms);

#endif
