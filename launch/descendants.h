/* SPDX-License-Identifier: BSD-3-Clause */
/* Kills whatever descends from this process, daemons included.
 *
 * A subreaper inherits the orphans among its descendants, so all of them stay in its tree: as long as waitpid knows a
 * child, something may be left, and when it knows none, nothing is. One pass can miss what is forked meanwhile; a
 * caller repeats it until no child is left. */
#ifndef MUR_LAUNCH_DESCENDANTS_H
#define MUR_LAUNCH_DESCENDANTS_H

#include <sys/types.h>

struct mur_pids {
    pid_t *items;
    int count;
};

void mur_descendants_adopt(void);                  /* become a subreaper */
void mur_descendants_find(struct mur_pids *found); /* the caller frees found->items */
/* One pass; returns how many were there. Those to keep are kept with all that descends from them. */
int mur_descendants_kill(const struct mur_pids *keep);
void mur_descendants_end(const struct mur_pids *keep, int ms); /* passes until none is left, at most `ms` long */

#endif
