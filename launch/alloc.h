/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the launcher: these return memory or end the process with a message.
 *
 * The launcher allocates little and early, and lives as long as its job; it frees nothing that lasts. */
#ifndef MUR_LAUNCH_ALLOC_H
#define MUR_LAUNCH_ALLOC_H

#include <stddef.h>

void *mur_alloc(size_t count, size_t size);                     /* zeroed */
void *mur_alloc_again(void *memory, size_t count, size_t size); /* as realloc; what grew is not zeroed */
char *mur_alloc_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
