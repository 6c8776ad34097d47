/* SPDX-License-Identifier: BSD-3-Clause */
/* What an agent knows of its ranks when its tree is frozen, and must know after a restart: the file node-I.ranks. */
#ifndef MUR_LAUNCH_CHECKPOINT_NOTES_H
#define MUR_LAUNCH_CHECKPOINT_NOTES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Inodes of a rank's ends of what connects it with the agent, as CRIU's image names them. */
struct mur_rank_inodes {
    uint64_t in, out, err, control, pmi; /* in: 0, it reads nothing of the agent's */
};

struct mur_rank_note {
    int32_t runs; /* 0: it has ended */
    int32_t is_in_mpi;
    uint32_t programs;
    struct mur_rank_inodes inodes;
};

struct mur_memory_note { /* a generation's node memory (boot/job.h) */
    uint32_t generation;
    int32_t pid, fd; /* where a process of the tree has it open */
};

struct mur_file_note { /* that processes have open for writing */
    char *path;
    uint64_t bytes;
};

struct mur_notes {
    uint64_t line;   /* the root process's end */
    char *processor; /* what the processor can do, as /proc/cpuinfo names it */
    struct mur_rank_note *ranks;
    int rank_count;
    struct mur_memory_note *memories;
    int memory_count;
    struct mur_file_note *files;
    int file_count;
};

void mur_notes_add_memory(struct mur_notes *notes, uint32_t generation, pid_t pid, int fd);
void mur_notes_add_file(struct mur_notes *notes, const char *path, uint64_t bytes);
bool mur_notes_write(const struct mur_notes *notes, const char *path);
bool mur_notes_read(struct mur_notes *notes, const char *path);

/* The words behind "flags" in /proc/cpuinfo, with a blank before and behind each; "" where there are none. */
char *mur_notes_processor(void);
/* The first word of `needed` that `here` lacks; NULL: none. */
char *mur_notes_lacking(const char *needed, const char *here);

#endif
