/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects there are: of each kind and name one, with a resourceVersion that grows with each change of any of them.
 */
#ifndef MUR_MPIJOB_STORE_H
#define MUR_MPIJOB_STORE_H

#include "mpijob/document/document.h"

struct mur_store {
    struct mur_value *objects; /* a list */
    long long version, serial;
};

void mur_store_start(struct mur_store *store);
void mur_store_end(struct mur_store *store);
struct mur_value *mur_store_find(const struct mur_store *store, const char *kind, const char *name);
/* Takes the object over; an object of the same kind and name must not be there. */
struct mur_value *mur_store_create(struct mur_store *store, struct mur_value *object, double now);
/* Takes over an object that has been made elsewhere, in place of one of the same kind and name. */
void mur_store_put(struct mur_store *store, struct mur_value *object);
void mur_store_changed(struct mur_store *store, struct mur_value *object); /* somebody has changed it in place */
void mur_store_remove(struct mur_store *store, const char *kind, const char *name);

/* Times as the API writes them, in UTC and whole seconds; 0 is no time. */
struct mur_value *mur_time_node(double seconds);
double mur_time_read(const char *text);
struct mur_value *mur_uid_node(void); /* a fresh random one */

#endif
