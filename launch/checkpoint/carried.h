/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a tree, what they have open, and what of that cannot be carried over to a restart. */
#ifndef MUR_LAUNCH_CHECKPOINT_CARRIED_H
#define MUR_LAUNCH_CHECKPOINT_CARRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/checkpoint/notes.h"

struct mur_sockets { /* inodes of those that the ranks' library has made */
    uint64_t *items;
    int count;
};

struct mur_tree_look {
    pid_t init; /* number 1 of the tree's namespaces, as the agent sees it */
    const struct mur_sockets *own;
    struct mur_notes *notes;       /* gets the files; NULL: only refusals are looked for */
    const uint64_t *memory_inodes; /* of generations' node memory, */
    const uint32_t *generations;   /* and their numbers */
    int memory_count;
};

/* Looks through all processes. False: `text` names what one has that a restart cannot bring back. */
bool mur_tree_look(const struct mur_tree_look *look, char *text, size_t bytes);

#endif
