/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting further jobs (MPI-5.0 §11.8): each is an mpiexec of its own, which the agent starts, or, where there is
 * none, this process. The new job finds out who spawned it from a port's name in its environment. */
#ifndef MUR_BOOT_SPAWN_H
#define MUR_BOOT_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

/* In mpiexec's environment: the port, which its ranks get as MUR_ENV_PARENT; the word that separates the programs of
 * its command line; its line to the agent that started it, for names (boot/names.h). */
#define MUR_ENV_SPAWN_PORT      "MUR_SPAWN_PORT"
#define MUR_ENV_SPAWN_SEPARATOR "MUR_SPAWN_SEPARATOR"
#define MUR_ENV_SPAWN_FD        "MUR_SPAWN_FD"
#define MUR_ENV_SPAWN_UNIVERSE  "MUR_SPAWN_UNIVERSE"
#define MUR_ENV_SPAWN_VALUES    "MUR_SPAWN_VALUES" /* instead of a port: see MUR_SPAWN_VALUE */

/* In an argument list: -host and the hosts of the job, if it has a list. */
#define MUR_SPAWN_HOSTS "\1hosts"

/* There, too, where a program of another library spawns: a key and a value follow that the new job finds by PMI. */
#define MUR_SPAWN_VALUE "\1value"

/* mpiexec's arguments, each ended by a NUL; the first two are the port, empty where another library's program spawns,
 * and the separator. */
struct mur_spawn_text {
    char *bytes;
    size_t count, room;
    bool has_failed; /* no memory */
};

void mur_spawn_add(struct mur_spawn_text *text, const char *word);

struct mur_spawn {  /* one that is under way */
    char name[160]; /* by the agent; else empty */
    bool has_ended;
    int fd; /* of ours: ends with the new mpiexec; else -1 */
};

/* Starts it. Returns an error code. */
int mur_spawn_start(struct mur_spawn *spawn, const struct mur_spawn_text *text);

/* Whether it has ended, as far as is known by now. */
bool mur_spawn_has_ended(struct mur_spawn *spawn);

/* A descriptor that can be read when there is news of it; -1: the control socket says it. */
int mur_spawn_watch(const struct mur_spawn *spawn);

/* Nobody asks for it any more. */
void mur_spawn_leave(struct mur_spawn *spawn);

#endif
