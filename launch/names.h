/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of services that ranks publish, look up and take back (boot/names.h has the questions and answers). */
#ifndef MUR_LAUNCH_NAMES_H
#define MUR_LAUNCH_NAMES_H

#include <stdbool.h>

#include "launch/kvs.h"

bool mur_names_is_question(const char *key);
bool mur_names_is_answer(const char *key);

/* Acts on a question about the names in `names`, and puts the answer into `answers`. */
void mur_names_act(struct mur_kvs *names, struct mur_kvs *answers, const char *key, const char *question);

#endif
