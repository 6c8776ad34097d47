/* SPDX-License-Identifier: BSD-3-Clause */
/* What this library is and how it is set. */
#ifndef MUR_MPI_INFORMATION_H
#define MUR_MPI_INFORMATION_H

#include <stdio.h>

/* Prints version, transports, cores and the table of settings with the values in force. */
void mur_information_print(FILE *out);

#endif
