/* SPDX-License-Identifier: BSD-3-Clause */
/* How a datatype was made (MPI-5.0 §5.1.13), and the predefined types that are found by their properties. */
#include <string.h>

#include "base/error.h"
#include "datatype/basic.h"
#include "mpi/bodies.h"
#include "object/type_predefined.h"

int mur_mpi_type_get_envelope_c(struct mur_type *datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
                                MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{
    const struct mur_type_recipe *recipe = &datatype->recipe;

    *num_integers = recipe->integer_count;
    *num_addresses = recipe->address_count;
    *num_large_counts = recipe->large_count;
    *num_datatypes = recipe->type_count;
    *combiner = recipe->combiner;
    return MPI_SUCCESS;
}

static int check_small(const struct mur_type *type)
{
    if (!type->recipe.large_count)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_TYPE, "the datatype was made by a large-count (_c) constructor: use the _c form of this "
                                   "call, too");
}

int mur_mpi_type_get_envelope(struct mur_type *datatype, int *num_integers, int *num_addresses, int *num_datatypes,
                              int *combiner)
{
    const struct mur_type_recipe *recipe = &datatype->recipe;
    int rc = check_small(datatype);

    if (rc)
        return rc;
    *num_integers = (int)recipe->integer_count;
    *num_addresses = (int)recipe->address_count;
    *num_datatypes = (int)recipe->type_count;
    *combiner = recipe->combiner;
    return MPI_SUCCESS;
}

static int check_max(const char *name, MPI_Count max, MPI_Count needed)
{
    if (max >= needed)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_ARG, "%s is %lld, but the datatype has %lld of them; see MPI_Type_get_envelope", name,
                     (long long)max, (long long)needed);
}

/* Derived components are handed out with a reference, which the caller frees. */
int mur_mpi_type_get_contents_c(struct mur_type *datatype, MPI_Count max_integers, MPI_Count max_addresses,
                                MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                                MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                                MPI_Datatype array_of_datatypes[])
{
    const struct mur_type_recipe *recipe = &datatype->recipe;
    int rc;

    if (recipe->combiner == MPI_COMBINER_NAMED)
        return mur_error(MPI_ERR_TYPE, "the datatype %s is predefined and has no contents", datatype->name);
    if ((rc = check_max("max_integers", max_integers, recipe->integer_count)) ||
        (rc = check_max("max_addresses", max_addresses, recipe->address_count)) ||
        (rc = check_max("max_large_counts", max_large_counts, recipe->large_count)) ||
        (rc = check_max("max_datatypes", max_datatypes, recipe->type_count)))
        return rc;
    for (MPI_Count i = 0; i < recipe->integer_count; i++)
        array_of_integers[i] = recipe->integers[i];
    for (MPI_Count i = 0; i < recipe->address_count; i++)
        array_of_addresses[i] = recipe->addresses[i];
    for (MPI_Count i = 0; i < recipe->large_count; i++)
        array_of_large_counts[i] = recipe->larges[i];
    for (MPI_Count i = 0; i < recipe->type_count; i++) {
        mur_type_retain(recipe->types[i]);
        array_of_datatypes[i] = mur_type_hand_out(recipe->types[i]);
    }
    return MPI_SUCCESS;
}

int mur_mpi_type_get_contents(struct mur_type *datatype, int max_integers, int max_addresses, int max_datatypes,
                              int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    int rc = check_small(datatype);

    return rc ? rc
              : mur_mpi_type_get_contents_c(datatype, max_integers, max_addresses, 0, max_datatypes, array_of_integers,
                                            array_of_addresses, NULL, array_of_datatypes);
}

static int give(int rc, struct mur_type *type, MPI_Datatype *newtype)
{
    if (!rc)
        *newtype = type ? mur_object_handle(type) : MPI_DATATYPE_NULL;
    return rc;
}

int mur_mpi_type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    struct mur_type *type = NULL;
    int rc = mur_type_f90(MPI_COMBINER_F90_REAL, p, r, &type);

    return give(rc, type, newtype);
}

int mur_mpi_type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    struct mur_type *type = NULL;
    int rc = mur_type_f90(MPI_COMBINER_F90_COMPLEX, p, r, &type);

    return give(rc, type, newtype);
}

int mur_mpi_type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    struct mur_type *type = NULL;
    int rc = mur_type_f90(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, r, &type);

    return give(rc, type, newtype);
}

int mur_mpi_type_get_value_index(struct mur_type *value_type, struct mur_type *index_type, MPI_Datatype *pair_type)
{
    struct mur_type *type = NULL;
    int rc = mur_type_value_index(value_type, index_type, &type);

    return give(rc, type, pair_type);
}

int mur_mpi_type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    static const struct {
        int class;
        MPI_Datatype types[5];
    } classes[] = {
        {MPI_TYPECLASS_INTEGER, {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16}},
        {MPI_TYPECLASS_REAL, {MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16}},
        {MPI_TYPECLASS_COMPLEX, {MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32}},
        {MPIX_TYPECLASS_LOGICAL, {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16}},
    };

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (classes[i].class != typeclass)
            continue;
        for (int k = 0; k < 5 && classes[i].types[k]; k++) {
            const struct mur_type *type = mur_type_find(classes[i].types[k]);

            if (type && type->is_supported && type->size == size) {
                *datatype = classes[i].types[k];
                return MPI_SUCCESS;
            }
        }
        return mur_error(MPI_ERR_ARG, "no type of this class has %d bytes on this platform", size);
    }
    return mur_error(MPI_ERR_ARG, "typeclass is %d, but must be MPI_TYPECLASS_INTEGER, _REAL or _COMPLEX", typeclass);
}
