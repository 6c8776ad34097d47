/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that have loaded another MPI, which cannot know this mpiexec: each of them is a world of one. A program's own
 * directories, or a script that puts others first in LD_LIBRARY_PATH, lead past Murmur's libraries. The agent of rank 0
 * looks at what that rank has loaded, now and then until it begins MPI. MPICH and its kin are left out: they know the
 * PMI that mpiexec speaks (pmi.c). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/binary.h"
#include "launch/say.h"

enum { FIRST_LOOK_MS = 100, LAST_LOOK_MS = 30000, DEPTH = 8 };

/* The process that a script waits for, or 0. */
static pid_t first_child(pid_t pid)
{
    char *path = mur_alloc_text("/proc/%d/task/%d/children", pid, pid);
    FILE *file = fopen(path, "re");
    int child = 0;

    free(path);
    if (!file)
        return 0;
    if (fscanf(file, "%d", &child) != 1)
        child = 0;
    fclose(file);
    return child;
}

/* Finds the library of another MPI in what a process has mapped. */
static bool find_library(pid_t pid, char *library, size_t bytes, struct mur_binary *binary)
{
    char line[PATH_MAX + 128];
    char *path = mur_alloc_text("/proc/%d/maps", pid);
    FILE *file = fopen(path, "re");
    bool is_found = false;

    free(path);
    while (file && !is_found && fgets(line, sizeof line, file)) {
        const char *name = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (!name)
            continue;
        mur_binary_of_library(strrchr(name, '/') + 1, binary);
        is_found = (binary->family == MUR_FAMILY_OPENMPI || binary->family == MUR_FAMILY_OTHER) &&
                   strncmp(name, mur_doors_folder(), strlen(mur_doors_folder())) != 0;
        if (is_found)
            snprintf(library, bytes, "%s", name);
    }
    if (file)
        fclose(file);
    return is_found;
}

static void look(void *owner)
{
    struct mur_agent *agent = owner;
    const struct mur_agent_rank *rank = &agent->ranks[0];
    struct mur_binary binary;
    char library[PATH_MAX];
    pid_t pid = rank->pid;

    if (!pid || rank->programs || agent->is_ending)
        return;
    for (int depth = 0; pid && depth < DEPTH; depth++, pid = first_child(pid)) {
        if (!find_library(pid, library, sizeof library, &binary))
            continue;
        mur_say("%d ranks started, but each thinks that it is alone: rank %d (pid %d) has loaded %s, a library of %s, "
                "which does not know this mpiexec%s",
                agent->job->size, rank->number, pid, library,
                binary.family == MUR_FAMILY_OTHER ? binary.what : mur_family_name(binary.family),
                binary.family == MUR_FAMILY_OPENMPI ? "; mpiexec -abi openmpi makes it load Murmur's" : "");
        return;
    }
    agent->look_ms = agent->look_ms < LAST_LOOK_MS / 2 ? 2 * agent->look_ms : LAST_LOOK_MS;
    mur_timer_set(&agent->look_timer, agent->look_ms);
}

void mur_agent_look_for_alone(struct mur_agent *agent)
{
    if (agent->job->size < 2 || !agent->count || agent->ranks[0].number != 0)
        return;
    agent->look_ms = FIRST_LOOK_MS;
    agent->look_timer = (struct mur_timer){.fire = look, .owner = agent};
    mur_loop_add_timer(agent->loop, &agent->look_timer);
    mur_timer_set(&agent->look_timer, agent->look_ms);
}
