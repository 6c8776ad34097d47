/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes (MPI-5.0 §5.1). Arrays are widened to MPI_Count here, so that each constructor exists once. The
 * width of the caller's arrays tells a large-count call from a small one; where that does not, the entry point does. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/bodies.h"
#include "base/counts.h"
#include "object/attribute.h"
#include "object/type_create.h"

static bool are_large(struct mur_counts counts)
{
    return counts.width > (int)sizeof(int);
}

/* The array as MPI_Count: the caller's own where it is that, else a copy in *copy, which the caller frees. */
static int widen(struct mur_counts counts, MPI_Count length, MPI_Count **copy, const MPI_Count **wide)
{
    *copy = NULL;
    *wide = counts.array;
    if (are_large(counts) || length == 0)
        return MPI_SUCCESS;
    *copy = malloc((size_t)length * sizeof **copy);
    if (!*copy)
        return mur_error(MPI_ERR_NO_MEM, "no memory for %lld counts", (long long)length);
    for (MPI_Count i = 0; i < length; i++)
        (*copy)[i] = mur_counts_at(counts, i);
    *wide = *copy;
    return MPI_SUCCESS;
}

static int hand_out(int rc, struct mur_type *type, MPI_Datatype *handle)
{
    *handle = rc ? MPI_DATATYPE_NULL : mur_type_hand_out(type);
    return rc;
}

int mur_mpi_type_contiguous(MPI_Count count, struct mur_type *oldtype, MPI_Datatype *newtype, bool is_large)
{
    struct mur_type *type = NULL;
    int rc = mur_type_create_contiguous(count, oldtype, is_large, &type);

    return hand_out(rc, type, newtype);
}

int mur_mpi_type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, struct mur_type *oldtype,
                        MPI_Datatype *newtype, bool is_large)
{
    struct mur_type *type = NULL;
    int rc = mur_type_create_vector(count, blocklength, stride, oldtype, is_large, &type);

    return hand_out(rc, type, newtype);
}

int mur_mpi_type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, struct mur_type *oldtype,
                                MPI_Datatype *newtype, bool is_large)
{
    struct mur_type *type = NULL;
    int rc = mur_type_create_hvector(count, blocklength, stride, oldtype, is_large, &type);

    return hand_out(rc, type, newtype);
}

/* mur_type_create_indexed or mur_type_create_hindexed. */
typedef int indexed_constructor(MPI_Count count, const MPI_Count *blocklengths, const MPI_Count *displacements,
                                struct mur_type *old, bool large, struct mur_type **type_p);

static int indexed(indexed_constructor *constructor, MPI_Count count, struct mur_counts blocklengths,
                   struct mur_counts displacements, struct mur_type *oldtype, MPI_Datatype *newtype)
{
    MPI_Count *lengths_copy, *places_copy = NULL;
    const MPI_Count *lengths, *places;
    struct mur_type *type = NULL;
    int rc = widen(blocklengths, count, &lengths_copy, &lengths);

    if (!rc)
        rc = widen(displacements, count, &places_copy, &places);
    if (!rc)
        rc = constructor(count, lengths, places, oldtype, are_large(blocklengths), &type);
    free(places_copy);
    free(lengths_copy);
    return hand_out(rc, type, newtype);
}

int mur_mpi_type_indexed(MPI_Count count, struct mur_counts array_of_blocklengths,
                         struct mur_counts array_of_displacements, struct mur_type *oldtype, MPI_Datatype *newtype)
{
    return indexed(mur_type_create_indexed, count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}

int mur_mpi_type_create_hindexed(MPI_Count count, struct mur_counts array_of_blocklengths,
                                 struct mur_counts array_of_displacements, struct mur_type *oldtype,
                                 MPI_Datatype *newtype)
{
    return indexed(mur_type_create_hindexed, count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}

int mur_mpi_type_create_indexed_block(MPI_Count count, MPI_Count blocklength, struct mur_counts array_of_displacements,
                                      struct mur_type *oldtype, MPI_Datatype *newtype)
{
    MPI_Count *copy;
    const MPI_Count *displacements;
    struct mur_type *type = NULL;
    int rc = widen(array_of_displacements, count, &copy, &displacements);

    if (!rc)
        rc = mur_type_create_indexed_block(count, blocklength, displacements, oldtype,
                                           are_large(array_of_displacements), &type);
    free(copy);
    return hand_out(rc, type, newtype);
}

int mur_mpi_type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, struct mur_counts array_of_displacements,
                                       struct mur_type *oldtype, MPI_Datatype *newtype, bool is_large)
{
    struct mur_type *type = NULL;
    int rc = mur_type_create_hindexed_block(count, blocklength, array_of_displacements.array, oldtype, is_large, &type);

    return hand_out(rc, type, newtype);
}

/* The components of a struct; the caller frees the array. */
static int find_components(MPI_Count count, const MPI_Datatype *handles, struct mur_type ***types_p)
{
    struct mur_type **types = malloc(((size_t)count + 1) * sizeof *types);

    if (!types)
        return mur_error(MPI_ERR_NO_MEM, "no memory for %lld datatypes", (long long)count);
    for (MPI_Count i = 0; i < count; i++) {
        types[i] = mur_type_find(handles[i]);
        if (!types[i]) {
            free(types);
            return mur_error(MPI_ERR_TYPE, "datatype %lld is %s, but must be a live datatype", (long long)i,
                             handles[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "not a datatype's handle");
        }
    }
    *types_p = types;
    return MPI_SUCCESS;
}

int mur_mpi_type_create_struct(MPI_Count count, struct mur_counts array_of_blocklengths,
                               struct mur_counts array_of_displacements, const MPI_Datatype array_of_types[],
                               MPI_Datatype *newtype)
{
    MPI_Count *copy = NULL;
    const MPI_Count *blocklengths;
    struct mur_type **components = NULL, *type = NULL;
    int rc = find_components(count, array_of_types, &components);

    if (rc)
        return rc;
    rc = widen(array_of_blocklengths, count, &copy, &blocklengths);
    if (!rc)
        rc = mur_type_create_struct(count, blocklengths, array_of_displacements.array, components,
                                    are_large(array_of_blocklengths), &type);
    free(copy);
    free(components);
    return hand_out(rc, type, newtype);
}

int mur_mpi_type_create_resized(struct mur_type *oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype,
                                bool is_large)
{
    struct mur_type *type = NULL;
    int rc = mur_type_create_resized(oldtype, lb, extent, is_large, &type);

    return hand_out(rc, type, newtype);
}

int mur_mpi_type_create_subarray(int ndims, struct mur_counts array_of_sizes, struct mur_counts array_of_subsizes,
                                 struct mur_counts array_of_starts, int order, struct mur_type *oldtype,
                                 MPI_Datatype *newtype)
{
    MPI_Count *sizes_copy, *subsizes_copy = NULL, *starts_copy = NULL;
    const MPI_Count *sizes, *subsizes, *starts;
    struct mur_type *type = NULL;
    int rc = widen(array_of_sizes, ndims, &sizes_copy, &sizes);

    if (!rc)
        rc = widen(array_of_subsizes, ndims, &subsizes_copy, &subsizes);
    if (!rc)
        rc = widen(array_of_starts, ndims, &starts_copy, &starts);
    if (!rc)
        rc = mur_type_create_subarray(ndims, sizes, subsizes, starts, order, oldtype, are_large(array_of_sizes), &type);
    free(starts_copy);
    free(subsizes_copy);
    free(sizes_copy);
    return hand_out(rc, type, newtype);
}

int mur_mpi_type_create_darray(int size, int rank, int ndims, struct mur_counts array_of_gsizes,
                               const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
                               int order, struct mur_type *oldtype, MPI_Datatype *newtype)
{
    MPI_Count *copy;
    const MPI_Count *gsizes;
    struct mur_type *type = NULL;
    int rc = widen(array_of_gsizes, ndims, &copy, &gsizes);

    if (!rc)
        rc = mur_type_create_darray(size, rank, ndims, gsizes, array_of_distribs, array_of_dargs, array_of_psizes,
                                    order, oldtype, are_large(array_of_gsizes), &type);
    free(copy);
    return hand_out(rc, type, newtype);
}

int mur_mpi_type_dup(struct mur_type *oldtype, MPI_Datatype *newtype)
{
    struct mur_type *type = NULL;
    int rc = mur_type_create_dup(oldtype, &type);

    if (!rc && (rc = mur_attributes_copy(&oldtype->attributes, oldtype, &type->attributes))) {
        mur_attributes_delete(&type->attributes, type);
        mur_type_release(type);
    }
    return hand_out(rc, type, newtype);
}

static int find_type(const MPI_Datatype *handle, struct mur_type **type_p)
{
    *type_p = mur_type_find(*handle);
    if (*type_p)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_TYPE, "%s, but must be a live datatype",
                     *handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                  : "the handle is not a datatype's");
}

int mur_mpi_type_commit(MPI_Datatype *handle)
{
    struct mur_type *type;
    int rc = find_type(handle, &type);

    return rc ? rc : mur_type_commit(type);
}

/* What MPI_Type_get_contents gives is another handle of the same type: the attributes go with the last one. */
int mur_mpi_type_free(MPI_Datatype *handle)
{
    struct mur_type *type;
    int rc = find_type(handle, &type);

    if (rc)
        return rc;
    if (type->object.predefined || type->is_permanent)
        return mur_error(MPI_ERR_TYPE, "the datatype %s is predefined and cannot be freed", type->name);
    if (!type->handles)
        return mur_error(MPI_ERR_TYPE, "the datatype has been freed already; only what was made of it still needs it");
    if (type->handles == 1 && (rc = mur_attributes_delete(&type->attributes, type)))
        return rc;
    type->handles--;
    mur_type_release(type);
    *handle = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int mur_mpi_type_size(struct mur_type *datatype, MPI_Count *size)
{
    *size = datatype->size;
    return MPI_SUCCESS;
}

int mur_mpi_type_size_x(struct mur_type *datatype, MPI_Count *size)
{
    return mur_mpi_type_size(datatype, size);
}

int mur_mpi_type_get_extent(struct mur_type *datatype, MPI_Count *lb, MPI_Count *extent)
{
    *lb = datatype->lb;
    *extent = datatype->extent;
    return MPI_SUCCESS;
}

int mur_mpi_type_get_extent_x(struct mur_type *datatype, MPI_Count *lb, MPI_Count *extent)
{
    return mur_mpi_type_get_extent(datatype, lb, extent);
}

int mur_mpi_type_get_true_extent(struct mur_type *datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    *true_lb = datatype->true_lb;
    *true_extent = datatype->true_extent;
    return MPI_SUCCESS;
}

int mur_mpi_type_get_true_extent_x(struct mur_type *datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return mur_mpi_type_get_true_extent(datatype, true_lb, true_extent);
}

int mur_mpi_type_get_name(struct mur_type *datatype, char *type_name, int *resultlen)
{
    const char *name = datatype ? datatype->name : "MPI_DATATYPE_NULL";
    size_t length = strlen(name);

    memcpy(type_name, name, length + 1);
    *resultlen = (int)length;
    return MPI_SUCCESS;
}

int mur_mpi_type_set_name(struct mur_type *datatype, const char *type_name)
{
    size_t length = strnlen(type_name, sizeof datatype->name - 1);

    memcpy(datatype->name, type_name, length);
    datatype->name[length] = '\0';
    return MPI_SUCCESS;
}
