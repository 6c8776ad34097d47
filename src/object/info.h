/* SPDX-License-Identifier: BSD-3-Clause */
/* An info object: keys and values, in the order in which the keys were first set.
 *
 * Info functions are legal at any time and from any thread (MPI-5.0 §11.4.1), so they do not count on the engine's
 * lock: a mutex in info.c guards the pool. One object belongs to one thread at a time; that is the user's duty. */
#ifndef MUR_OBJECT_INFO_H
#define MUR_OBJECT_INFO_H

#include "base/pool.h"
#include "mpi.h"

struct mur_info_entry {
    char *key, *value; /* owned, one block that `key` points to */
};

struct mur_info {
    struct mur_object object;
    int count, capacity;
    struct mur_info_entry *entries; /* [capacity], owned */
};

extern struct mur_info mur_info_env;

static inline struct mur_info *mur_info_find(MPI_Info handle)
{
    return mur_object_find(handle, MUR_KIND_INFO);
}

int mur_info_create(struct mur_info **info_p);
void mur_info_free(struct mur_info *info);

/* A new object with the same keys and values in the same order. */
int mur_info_dup(const struct mur_info *info, struct mur_info **info_p);

/* Sets or replaces; key and value have been checked for length. */
int mur_info_set(struct mur_info *info, const char *key, const char *value);

/* The value, or NULL where the key is not set. An info of NULL (MPI_INFO_NULL) has no keys. */
const char *mur_info_get(const struct mur_info *info, const char *key);

/* False where the key was not set. */
bool mur_info_delete(struct mur_info *info, const char *key);

/* What is known about how a program was started, as MPI_INFO_ENV has it (MPI-5.0 §11.2.1). Values that are too long
 * are cut. `argv` starts with the command; `maxprocs` and `thread_level` may be NULL: not known. */
int mur_info_describe_start(struct mur_info *info, int argc, char *const *argv, const char *maxprocs,
                            const char *thread_level);

/* How many processes the command asked for that started this one, as a decimal number. */
const char *mur_info_maxprocs(void);

/* Fills MPI_INFO_ENV from this process and the thread level that it asks for. */
int mur_info_env_setup(int required_thread_level);

#endif
