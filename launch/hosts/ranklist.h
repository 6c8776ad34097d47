/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks as users write them: "0,3-5", "7-" for all from 7 on, "all" or "-1" for all. */
#ifndef MUR_LAUNCH_RANKLIST_H
#define MUR_LAUNCH_RANKLIST_H

#include <stdbool.h>

bool mur_ranklist_is_good(const char *list);
bool mur_ranklist_has(const char *list, int rank); /* of one that is good */

#endif
