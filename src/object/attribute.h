/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: values that users hang on communicators, datatypes and windows, by keys that they create (MPI-5.0 §7.7).
 * An object has a list of them, NULL when it has none; the latest set comes first. Callbacks run without the engine's
 * lock, and may call MPI. */
#ifndef MUR_OBJECT_ATTRIBUTE_H
#define MUR_OBJECT_ATTRIBUTE_H

#include "base/pool.h"
#include "mpi.h"

struct mur_attribute;

/* The callbacks of a key. All have the same arguments but for the type of the handle; NULL does nothing, and the
 * ABI's constant 1 for a copy callback copies the value. */
union mur_copy_function {
    MPI_Comm_copy_attr_function *comm;
    MPI_Type_copy_attr_function *type;
    MPI_Win_copy_attr_function *win;
};
union mur_delete_function {
    MPI_Comm_delete_attr_function *comm;
    MPI_Type_delete_attr_function *type;
    MPI_Win_delete_attr_function *win;
};

/* A key for objects of this kind (MUR_KIND_COMM, _TYPE or _WIN). */
int mur_attribute_keyval_create(uint32_t kind, union mur_copy_function copy, union mur_delete_function delete,
                                void *extra_state, int *keyval);

/* The key's extra state is memory of malloc, which is freed with the key. */
void mur_attribute_keyval_own_state(int keyval);

/* The key lives on until the last attribute with it is gone. Sets *keyval to MPI_KEYVAL_INVALID. */
int mur_attribute_keyval_free(uint32_t kind, int *keyval);

/* `object` is the one that the list belongs to. Errors of callbacks are returned as they are. */
int mur_attribute_set(struct mur_attribute **list, void *object, int keyval, void *value);
int mur_attribute_get(struct mur_attribute *const *list, void *object, int keyval, void **value, int *flag);
int mur_attribute_delete(struct mur_attribute **list, void *object, int keyval);

/* Asks the copy callbacks of all attributes of `object` whether a duplicate gets them; `copies`, empty, is its list.
 * After an error the copies made so far are there, to be deleted with the duplicate. */
int mur_attributes_copy(struct mur_attribute *const *list, void *object, struct mur_attribute **copies);

/* Deletes all, the latest first. After an error of a callback those not deleted yet are still there. */
int mur_attributes_delete(struct mur_attribute **list, void *object);

#endif
