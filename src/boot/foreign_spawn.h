/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting further jobs by another's launcher, which started this one: it knows where there is room, and tends the new
 * processes like these. The new job finds the port of who spawned it among the launcher's values. */
#ifndef MUR_BOOT_FOREIGN_SPAWN_H
#define MUR_BOOT_FOREIGN_SPAWN_H

#include "boot/spawn.h"

struct mur_foreign_command {
    const char *program;
    char *const *arguments; /* without the program's name, NULL-terminated; or NULL */
    int ranks;
    const char *wdir, *path, *host, *hostfile; /* NULL: not told */
    const char *environment;                   /* NAME=value in lines, or NULL */
    const char *errhandler;                    /* the initial one's name, or NULL */
};

/* Starts it. A launcher does not tell when the processes end, so the spawn counts as ended when they have not come for
 * mur_settings.spawn_timeout seconds. */
int mur_foreign_spawn(struct mur_spawn *spawn, const char *port, const struct mur_foreign_command *commands, int count);

/* The port of who spawned this job, which the caller frees; NULL: nobody did. */
int mur_foreign_parent(char **port);

#endif
