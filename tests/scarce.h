/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is refused, for tests: this program's own malloc, calloc and realloc, which the library uses, too, fail
 * once, at the allocation that is asked for. Not to be used where a sanitizer has its own. */
#ifndef MUR_TEST_SCARCE_H
#define MUR_TEST_SCARCE_H

#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static struct {
    int is_on, left; /* requests that still succeed */
    int refused;
} scarcity;

static int is_refused(void)
{
    if (!scarcity.is_on || scarcity.left-- != 0)
        return 0;
    scarcity.refused++;
    return 1;
}

void *malloc(size_t bytes)
{
    return is_refused() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return is_refused() ? NULL : __libc_realloc(memory, bytes);
}

/* From now on; `which` is counted from 0. */
static inline void scarcity_begin(int which)
{
    scarcity.left = which;
    scarcity.is_on = 1;
}

/* Whether it has come to that. */
static inline int scarcity_end(void)
{
    scarcity.is_on = 0;
    return scarcity.refused;
}

#endif
