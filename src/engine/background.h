/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress without calls of the program's. */
#ifndef MUR_ENGINE_BACKGROUND_H
#define MUR_ENGINE_BACKGROUND_H

#include <stdbool.h>

/* Starts the thread, if it is asked for; the caller does not hold the engine's lock. Ends it; the caller holds it. */
int mur_background_start(void);
void mur_background_stop(void);

/* Whether the caller is that thread. */
bool mur_background_is_here(void);

#endif
