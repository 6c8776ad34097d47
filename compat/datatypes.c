/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes whose constructors take constants in arrays, their contents, and the markers MPI_LB and MPI_UB, which MPI-3
 * removed: a struct with them is one without them that is resized. */
#include <stdlib.h>

#include "door.h"

/* ---- MPI_Type_create_darray */

#define MUR_DARRAY(Name, Count)                                                                                        \
    MUR_DOOR(int, Name, int size, int rank, int ndims, const Count gsizes[], const int distribs[], const int dargs[],  \
             const int psizes[], int order, their_type oldtype, their_type *newtype)                                   \
    {                                                                                                                  \
        struct mur_door_list list;                                                                                     \
        int *values = distribs && dargs ? mur_list_room(&list, 2 * (MPI_Count)ndims, sizeof *values) : NULL;           \
        MPI_Datatype handle;                                                                                           \
        int code;                                                                                                      \
                                                                                                                       \
        for (int i = 0; values && i < ndims; i++) {                                                                    \
            values[i] = distribution_in(distribs[i]);                                                                  \
            values[ndims + i] = darg_in(dargs[i]);                                                                     \
        }                                                                                                              \
        code = murmur_door.Name(size, rank, ndims, gsizes, values, values && ndims > 0 ? values + ndims : values,      \
                                psizes, order_in(order), type_in(oldtype), newtype ? &handle : NULL);                  \
        if (!code)                                                                                                     \
            *newtype = type_out(handle);                                                                               \
        if (values)                                                                                                    \
            mur_list_free(&list);                                                                                      \
        return error_out(code);                                                                                        \
    }
MUR_DARRAY(Type_create_darray, int)
MUR_DARRAY(Type_create_darray_c, MPI_Count)

/* ---- MPI_Type_create_struct and MPI_Type_struct */

struct members {
    struct mur_door_list lengths_list, displacements_list, types_list;
    MPI_Count *lengths, *displacements;
    MPI_Datatype *types;
    MPI_Count count; /* without markers */
    MPI_Count lower, upper;
    bool has_lower, has_upper;
};

/* Sorts the markers out. Of several the lowest lower and the highest upper bound counts. */
static void add_member(struct members *members, MPI_Count length, MPI_Count displacement, their_type type)
{
    if (type == THEIR_LB && (!members->has_lower || displacement < members->lower)) {
        members->lower = displacement;
        members->has_lower = true;
    } else if (type == THEIR_UB && (!members->has_upper || displacement > members->upper)) {
        members->upper = displacement;
        members->has_upper = true;
    } else if (type != THEIR_LB && type != THEIR_UB) {
        members->lengths[members->count] = length;
        members->displacements[members->count] = displacement;
        members->types[members->count++] = type_in(type);
    }
}

/* The struct's own bounds hold where there is no marker. */
static int resize(const struct members *members, MPI_Datatype *datatype)
{
    MPI_Count lower, extent;
    MPI_Datatype resized;
    int code = murmur_door.Type_get_extent_c(*datatype, &lower, &extent);
    MPI_Count upper = members->has_upper ? members->upper : lower + extent;

    if (members->has_lower)
        lower = members->lower;
    if (!code)
        code = murmur_door.Type_create_resized_c(*datatype, lower, upper - lower, &resized);
    if (!code) {
        murmur_door.Type_free(datatype);
        *datatype = resized;
    }
    return code;
}

static int create_marked(struct members *members, MPI_Count count, const MPI_Count *lengths,
                         const MPI_Count *displacements, const their_type *types, MPI_Datatype *handle)
{
    int code;

    for (MPI_Count i = 0; i < count; i++)
        add_member(members, lengths[i], displacements[i], types[i]);
    code = murmur_door.Type_create_struct_c(members->count, members->lengths, members->displacements, members->types,
                                            handle);
    return code ? code : resize(members, handle);
}

static int create_with_markers(MPI_Count count, const MPI_Count *lengths, const MPI_Count *displacements,
                               const their_type *types, their_type *newtype)
{
    struct members members = {.count = 0};
    MPI_Datatype handle;
    int code = MPI_ERR_NO_MEM;

    members.lengths = mur_list_room(&members.lengths_list, count, sizeof(MPI_Count));
    members.displacements = mur_list_room(&members.displacements_list, count, sizeof(MPI_Count));
    members.types = mur_list_room(&members.types_list, count, sizeof(MPI_Datatype));
    if (members.lengths && members.displacements && members.types)
        code = create_marked(&members, count, lengths, displacements, types, &handle);
    mur_list_free(&members.lengths_list);
    mur_list_free(&members.displacements_list);
    mur_list_free(&members.types_list);
    if (code == MPI_ERR_NO_MEM)
        return mur_door_raise(code);
    if (!code)
        *newtype = type_out(handle);
    return error_out(code);
}

static bool has_markers(MPI_Count count, const their_type *types)
{
    for (MPI_Count i = 0; types && i < count; i++)
        if (types[i] == THEIR_LB || types[i] == THEIR_UB)
            return true;
    return false;
}

MUR_DOOR(int, Type_create_struct_c, MPI_Count count, const MPI_Count lengths[], const MPI_Count displacements[],
         const their_type types[], their_type *newtype)
{
    struct mur_door_list list;
    MPI_Datatype handle, *values;
    int code;

    if (has_markers(count, types) && lengths && displacements && newtype)
        return create_with_markers(count, lengths, displacements, types, newtype);
    values = mur_types_in(&list, types, count);
    code = murmur_door.Type_create_struct_c(count, lengths, displacements, values, newtype ? &handle : NULL);
    if (!code)
        *newtype = type_out(handle);
    mur_list_free(&list);
    return error_out(code);
}

/* With markers the lists are made large ones, since the bounds of the parts are. */
static int create_small_with_markers(int count, const int lengths[], const MPI_Aint displacements[],
                                     const their_type types[], their_type *newtype)
{
    struct mur_door_list list;
    MPI_Count *large = mur_list_room(&list, count, sizeof *large);
    int code;

    if (!large)
        return mur_door_raise(MPI_ERR_NO_MEM);
    for (int i = 0; i < count; i++)
        large[i] = lengths[i];
    _Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are taken as they are");
    code = create_with_markers(count, large, (const MPI_Count *)displacements, types, newtype);
    mur_list_free(&list);
    return code;
}

MUR_DOOR(int, Type_create_struct, int count, const int lengths[], const MPI_Aint displacements[],
         const their_type types[], their_type *newtype)
{
    struct mur_door_list list;
    MPI_Datatype handle, *values;
    int code;

    if (has_markers(count, types) && lengths && displacements && newtype)
        return create_small_with_markers(count, lengths, displacements, types, newtype);
    values = mur_types_in(&list, types, count);
    code = murmur_door.Type_create_struct(count, lengths, displacements, values, newtype ? &handle : NULL);
    if (!code)
        *newtype = type_out(handle);
    mur_list_free(&list);
    return error_out(code);
}

/* ---- Contents */

/* Where the constants are among the integers: the order, and of a distributed array two lists. */
static void integers_out(int *integers, int combiner, bool is_large)
{
    int dimensions, *distribs, *dargs;

    if (combiner == MPI_COMBINER_SUBARRAY) {
        int *order = &integers[is_large ? 1 : 1 + 3 * integers[0]];

        *order = order_out(*order);
    } else if (combiner == MPI_COMBINER_DARRAY) {
        dimensions = integers[2];
        distribs = &integers[is_large ? 3 : 3 + dimensions];
        dargs = distribs + dimensions;
        for (int i = 0; i < dimensions; i++) {
            distribs[i] = distribution_out(distribs[i]);
            dargs[i] = darg_out(dargs[i]);
        }
        dargs[2 * dimensions] = order_out(dargs[2 * dimensions]);
    }
}

static void contents_out(MPI_Datatype datatype, int *integers, const MPI_Datatype *values, their_type *types,
                         bool is_large)
{
    MPI_Count integer_count, address_count, large_count, type_count;
    int combiner;

    murmur_door.Type_get_envelope_c(datatype, &integer_count, &address_count, &large_count, &type_count, &combiner);
    integers_out(integers, combiner, is_large && large_count > 0);
    for (MPI_Count i = 0; i < type_count; i++)
        types[i] = type_out(values[i]);
}

MUR_DOOR(int, Type_get_contents, their_type datatype, int max_integers, int max_addresses, int max_datatypes,
         int integers[], MPI_Aint addresses[], their_type types[])
{
    struct mur_door_list list;
    MPI_Datatype *values = mur_list_room(&list, max_datatypes, sizeof *values);
    int code = murmur_door.Type_get_contents(type_in(datatype), max_integers, max_addresses, max_datatypes, integers,
                                             addresses, types ? values : NULL);

    if (!code)
        contents_out(type_in(datatype), integers, values, types, false);
    mur_list_free(&list);
    return error_out(code);
}

MUR_DOOR(int, Type_get_contents_c, their_type datatype, MPI_Count max_integers, MPI_Count max_addresses,
         MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[], MPI_Aint addresses[],
         MPI_Count large_counts[], their_type types[])
{
    struct mur_door_list list;
    MPI_Datatype *values = mur_list_room(&list, max_datatypes, sizeof *values);
    int code = murmur_door.Type_get_contents_c(type_in(datatype), max_integers, max_addresses, max_large_counts,
                                               max_datatypes, integers, addresses, large_counts, types ? values : NULL);

    if (!code)
        contents_out(type_in(datatype), integers, values, types, true);
    mur_list_free(&list);
    return error_out(code);
}
