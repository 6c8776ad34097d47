/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that write one node's part of a snapshot, and bring it back. Each is the agent's child, and speaks with
 * it over a SOCK_SEQPACKET pair. */
#ifndef MUR_LAUNCH_CHECKPOINT_SAVER_H
#define MUR_LAUNCH_CHECKPOINT_SAVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/checkpoint/criu.h"
#include "launch/checkpoint/notes.h"

enum mur_saver_kind {
    MUR_SAVER_FROZEN = 1, /* the tree stands still until an answer comes, one byte, 0: go on */
    MUR_SAVER_DONE,
    MUR_SAVER_FAILED, /* `text` says why */
};

struct mur_saver_message {
    uint32_t kind;
    uint64_t sum, bytes; /* of node-I.image */
    char text[1500];
};

struct mur_save {
    int line;
    int init; /* number 1 of the tree's namespaces, as the agent sees it */
    int node;
    const char *folder;                /* PREFIX/N.partial */
    const struct mur_words *externals; /* "unix[inode]": sockets that lead out of the tree */
};

struct mur_bring_back {
    int line;
    int node;
    const char *folder; /* PREFIX/N */
    uint64_t sum;       /* of node-I.image */
    const struct mur_notes *notes;
    const struct mur_words *inherited; /* "fd[N]:socket:[inode]": what takes their places */
};

/* A process of the agent's that does it. -1 with errno. */
pid_t mur_saver_start(const struct mur_save *save);

/* Number 1 of new namespaces, in which CRIU restores the tree. -1 with errno. */
pid_t mur_restorer_start(const struct mur_bring_back *back);

/* The folder of CRIU's files, while they are not packed, and the file they are packed to. */
char *mur_saver_folder(const char *folder, int node);
char *mur_saver_image(const char *folder, int node);
char *mur_saver_notes(const char *folder, int node); /* and of the agent's */

/* What CRIU prints goes to the file `complaints` there. */
int mur_saver_open_complaints(const char *folder);

/* Adds the option of the hook; where /proc is that of the caller's own namespace. */
void mur_hook_add(struct mur_words *words);

/* Runs CRIU with these words, and asks the agent over `line` when its hook tells that the tree stands still (hook.c).
 * How it ended, as waitpid tells it; -1: it could not be started. */
int mur_hook_serve(const struct mur_words *words, const char *folder, int line);

#endif
