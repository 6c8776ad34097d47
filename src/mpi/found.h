/* SPDX-License-Identifier: BSD-3-Clause */
/* What this library finds on the machine that it runs on, as names and texts. */
#ifndef MUR_MPI_FOUND_H
#define MUR_MPI_FOUND_H

enum { MUR_FOUND_MAX = 24 };

struct mur_found {
    const char *name;
    char value[200];
};

/* Returns how many there are. */
int mur_found_list(struct mur_found found[MUR_FOUND_MAX]);

#endif
