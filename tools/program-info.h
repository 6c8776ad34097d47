/* SPDX-License-Identifier: BSD-3-Clause */
/* What murmur-info says about a program. */
#ifndef MUR_TOOLS_PROGRAM_INFO_H
#define MUR_TOOLS_PROGRAM_INFO_H

/* Prints which MPI the program was built for and whether it runs on Murmur. Returns 0 if it does, 1 if not, 2 if it
 * cannot be read. */
int program_info(const char *name);

#endif
