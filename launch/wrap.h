/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in lines. */
#ifndef MUR_LAUNCH_WRAP_H
#define MUR_LAUNCH_WRAP_H

/* Prints text on stdout in lines of `width` columns, and a newline. The first word comes in column `at`, where the
 * caller has left off; further lines begin in column `indent`. A newline in the text begins a line. */
void mur_wrap_print(const char *text, int at, int indent, int width);

#endif
