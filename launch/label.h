/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before the lines of ranks, and the names of their files: patterns in which %r is the rank, %g the number
 * of the group of ranks (0: the only one), %p the place of the host in the job, %h its name, %t the time and %% a '%'.
 */
#ifndef MUR_LAUNCH_LABEL_H
#define MUR_LAUNCH_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/jobspec.h"

/* NULL, or the '%' of `pattern` behind which nothing known follows. */
const char *mur_pattern_check(const char *pattern);
/* Fills `text`, cut where it does not fit, and returns its length. */
size_t mur_pattern_expand(const char *pattern, const struct mur_jobspec *job, int rank, char *text, size_t size);
/* What the job wants before each line of this stream: the time, the tag, the rank, the user's own. */
size_t mur_label_make(const struct mur_jobspec *job, int rank, bool is_stderr, char *text, size_t size);
bool mur_label_is_wanted(const struct mur_jobspec *job);

#endif
