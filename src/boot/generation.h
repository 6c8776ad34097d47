/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of its rank's MPI programs this process is, and the node memory of all ranks' programs with that number
 * (boot/job.h tells what a generation is). */
#ifndef MUR_BOOT_GENERATION_H
#define MUR_BOOT_GENERATION_H

#include <stdint.h>

/* Takes the next number of this rank, mur_process.generation, and tells the agent that the program is in MPI.
 * `inherited` is the descriptor of the inherited node memory. Sets mur_process.node_fd to the memory of this
 * generation. Fails when another program of the rank is in MPI. */
int mur_generation_begin(int inherited);

/* The program has finalized: the rank's next one may begin. mur_generation_resume takes that back. */
void mur_generation_end(void);
int mur_generation_resume(void);

#endif
