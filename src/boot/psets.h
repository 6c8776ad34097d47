/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets (MPI-5.0 §11.3.2): mpi://WORLD, mpi://SELF, and those that mpiexec has given names to. All ranks of a
 * job number them alike. */
#ifndef MUR_BOOT_PSETS_H
#define MUR_BOOT_PSETS_H

#include <stdbool.h>

struct mur_ranks { /* first to last, both included */
    int first, last;
};

struct mur_pset {
    const char *name;
    int size;
    struct mur_ranks *ranges; /* [range_count] ascending */
    int range_count;
    bool has_me;
};

/* Reads what the launcher says. */
int mur_psets_setup(void);

/* How many sets this process is in, and the n-th of those. */
int mur_psets_count(void);
const struct mur_pset *mur_pset_nth(int n);

/* Any set of the job, by name: the set, or NULL. */
const struct mur_pset *mur_pset_find(const char *name);

/* Its number among all of the job. */
int mur_pset_number(const struct mur_pset *set);
const struct mur_pset *mur_pset_numbered(int number);

#endif
