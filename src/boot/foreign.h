/* SPDX-License-Identifier: BSD-3-Clause */
/* Being started by another's launcher (MPICH's Hydra, Slurm, Open MPI's prterun...): through PMI this process learns
 * its rank and where the others are, and the ranks of a node make the memory that our own agent would have made. */
#ifndef MUR_BOOT_FOREIGN_H
#define MUR_BOOT_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "boot/names.h"

struct mur_pmi;

/* Looks for such a launcher. *is_found is false where there is none: the process is alone. */
int mur_foreign_join(bool *is_found);

/* All ranks have put what they put at start: from now on values can be asked for. */
int mur_foreign_settle(void);

/* Names of services are the launcher's, and mean something to all jobs that it serves. */
int mur_foreign_name(enum mur_name_act act, const char *service, char *port, enum mur_name_result *result);

bool mur_foreign_is_there(void);
struct mur_pmi *mur_foreign_pmi(void); /* the way to it */
int mur_foreign_put(const char *key, const char *value);
int mur_foreign_ask(const char *key);
bool mur_foreign_answer(char *key, char *value, size_t room);
void mur_foreign_finished(bool is_finished); /* whether this process may end now as it likes */
void mur_foreign_abort(int code, const char *text);
void mur_foreign_forked(void);  /* in a child that this process has forked: the connection is the parent's alone */
int mur_foreign_universe(void); /* 0: not told */

#endif
