/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that are kept, in SQLite, and the journal of their changes, from which watches are fed.
 *
 * Each change has a number, the resourceVersion: one counter for all objects. The journal keeps the last changes only;
 * a watch that asks for older ones is told that they are gone. What mur_base_put and mur_base_remove have returned from
 * survives a crash of the process. */
#ifndef MUR_MPIJOB_BASE_H
#define MUR_MPIJOB_BASE_H

#include "mpijob/api/api.h"

void mur_base_open(const char *path); /* ends the program if that does not work */
void mur_base_close(void);

long long mur_base_version(void); /* of the last change */
long long mur_base_oldest(void);  /* changes after this one are in the journal */

/* Trees that the caller frees. */
struct mur_value *mur_base_get(const struct mur_resource *resource, const char *space, const char *name);
/* A list; of all namespaces if space is empty. */
struct mur_value *mur_base_list(const struct mur_resource *resource, const char *space);
struct mur_value *mur_base_dependents(const char *uid); /* a list of objects of any kind that this object owns */
bool mur_base_has_uid(const char *uid);
bool mur_base_is_empty(const char *space); /* nothing is in this namespace */

/* Both give the object its resourceVersion, and return 0, or -1 if the database cannot be written, which they say. */
int mur_base_put(const struct mur_resource *resource, struct mur_value *object, bool is_new);
int mur_base_remove(const struct mur_resource *resource, struct mur_value *object);

/* A change: the object before and after it as texts, empty where there was none. */
struct mur_api_change {
    long long version;
    const char *type, *before, *after;
};
/* The next changes of a kind after *version, which moves on, until `take` returns false. */
void mur_base_changes(const struct mur_resource *resource, const char *space, long long *version,
                      bool (*take)(void *whom, const struct mur_api_change *change), void *whom);

#endif
