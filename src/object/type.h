/* SPDX-License-Identifier: BSD-3-Clause */
/* A datatype: size, bounds, how it was made, and, once committed, the layout that pack and unpack walk. */
#ifndef MUR_OBJECT_TYPE_H
#define MUR_OBJECT_TYPE_H

#include "base/pool.h"
#include "mpi.h"

struct mur_attribute;
struct mur_layout;

/* The arguments that made a derived type, as MPI_Type_get_contents returns them (MPI-5.0 §5.1.13). */
struct mur_type_recipe {
    int combiner;
    bool is_large; /* made by a _c constructor: counts, displacements and strides are in `larges` */
    MPI_Count integer_count, address_count, large_count, type_count;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *larges;
    struct mur_type **types; /* a reference each */
    void *storage;           /* the one block that holds all four arrays; owned */
};

struct mur_type {
    struct mur_object object;
    bool is_committed;
    bool is_dense;     /* any count of elements is one gapless run of bytes that starts at the buffer's address; known
                        * once committed */
    bool is_supported; /* false for an ABI type that this platform has not; its size is then MPI_UNDEFINED */
    bool is_marked;    /* the bounds were set by MPI_Type_create_resized (or an array constructor) somewhere inside */
    bool is_permanent; /* predefined without a name (object/type_predefined.h) */
    bool is_compiled;  /* layout and origin are known */
    MPI_Count size;    /* bytes of data in one element */
    MPI_Count lb, extent;
    MPI_Count true_lb, true_extent;
    int alignment;         /* of the strictest basic type within */
    int depth;             /* of nesting; 0 for predefined types */
    int basic;             /* enum mur_basic, for predefined types and for derived ones that hold one basic type only */
    MPI_Count basic_count; /* basic elements in one element of this type */
    MPI_Count origin;      /* where the layout starts, from the element's address */
    struct mur_layout *layout;  /* a reference; made by commit, NULL for a type without data */
    struct mur_type *expansion; /* a reference: the same type out of simpler ones (subarray, darray), or NULL */
    struct mur_type_recipe recipe;
    struct mur_attribute *attributes; /* (object/attribute.h) */
    int handles;                      /* that users hold and will free; none once only other objects need the type */
    char name[MPI_MAX_OBJECT_NAME];
};

static inline struct mur_type *mur_type_find(MPI_Datatype handle)
{
    return mur_object_find(handle, MUR_KIND_TYPE);
}

/* A handle for the user; the reference passes to the handle. */
static inline MPI_Datatype mur_type_hand_out(struct mur_type *type)
{
    type->handles++;
    return mur_object_handle(type);
}

static inline void mur_type_retain(struct mur_type *type)
{
    if (!type->object.predefined && !type->is_permanent)
        type->object.references++;
}

/* Drops a reference; the last one frees the type. Predefined types are never freed. */
void mur_type_release_slow(struct mur_type *type);
static inline void mur_type_release(struct mur_type *type)
{
    if (!type->object.predefined && !type->is_permanent && --type->object.references == 0)
        mur_type_release_slow(type);
}

/* Deletes the attributes of all predefined types. */
int mur_type_delete_predefined_attributes(void);

/* Makes the predefined types. */
int mur_type_setup(void);

/* A new type with one reference, all zero but for the header; NULL when memory is exhausted. */
struct mur_type *mur_type_new(void);

/* Makes the type fit for communication. */
int mur_type_commit(struct mur_type *type);

#endif
