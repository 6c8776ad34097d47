/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that are used where they are there: opened at run time, so that programs that do not need them start
 * without them. */
#ifndef MUR_BASE_LIBRARY_H
#define MUR_BASE_LIBRARY_H

#include <stddef.h>

struct mur_library_function {
    const char *name;
    size_t offset; /* of the pointer to it, in the user's table */
};

/* The first of `count` names that the system can load; NULL: none, and dlerror tells why the last one cannot. */
void *mur_library_open(const char *const *names, size_t count);

/* Finds functions and writes their addresses into `table`. NULL, or the name of the first that the library lacks: then
 * the table is filled up to it. */
const char *mur_library_find(void *library, void *table, const struct mur_library_function *functions, size_t count);

#endif
