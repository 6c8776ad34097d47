/* SPDX-License-Identifier: BSD-3-Clause */
/* Why something failed, in words, and how all ranks learn of it. */
#ifndef MUR_LIBMURMUR_FLAW_H
#define MUR_LIBMURMUR_FLAW_H

#include <mpi.h>
#include <stdbool.h>

struct mur_flaw {
    char text[600]; /* empty: none */
    bool is_known;  /* to all ranks */
};

/* Keeps the first text. Always false, for `return mur_flaw_set(...)`. */
bool mur_flaw_set(struct mur_flaw *flaw, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool mur_flaw_of_mpi(struct mur_flaw *flaw, const char *what, int code);

/* Collective: whether no rank has a flaw. If one has, all get the text of the lowest such rank, with its number. */
bool mur_flaw_agree(struct mur_flaw *flaw, MPI_Comm comm);

/* Makes an error code of the class with this text, and raises it on the communicator. */
int mur_flaw_raise(const struct mur_flaw *flaw, MPI_Comm comm, int error_class);

#endif
