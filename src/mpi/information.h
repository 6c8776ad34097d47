/* SPDX-License-Identifier: BSD-3-Clause */
/* What this library is, how it is set, what it counts, and what was found on this machine. */
#ifndef MUR_MPI_INFORMATION_H
#define MUR_MPI_INFORMATION_H

#include <stdio.h>

/* As a text for people. */
void mur_information_print(FILE *out);

/* As one JSON object. Counters have their values in this process. */
void mur_information_print_json(FILE *out);

/* The counters and what they mean, as a text. */
void mur_information_print_counters(FILE *out);

#endif
