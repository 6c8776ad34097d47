/* SPDX-License-Identifier: BSD-3-Clause */
/* The types made so far are in one list, found by how they were asked for: the same question has the same answer. */
#include "object/type_predefined.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "datatype/basic.h"
#include "object/attribute.h"
#include "object/type_create.h"

enum { UNNAMED_MAX = 4096 };

static struct mur_type *unnamed[UNNAMED_MAX];
static int unnamed_count;

/* Makes a type that shares layout and meaning with `expansion`, whose reference goes over. */
static int keep(struct mur_type *type, struct mur_type *expansion)
{
    int rc;

    mur_type_copy_shape(type, expansion);
    type->expansion = expansion;
    type->depth = expansion->depth + 1;
    type->is_permanent = true;
    rc = mur_type_commit(type);
    if (rc || unnamed_count == UNNAMED_MAX) {
        mur_type_release(type);
        return rc ? rc : mur_error(MPI_ERR_OTHER, "there are %d unnamed predefined datatypes already", UNNAMED_MAX);
    }
    unnamed[unnamed_count++] = type;
    return MPI_SUCCESS;
}

int mur_type_delete_unnamed_attributes(void)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < unnamed_count; i++) {
        int one = mur_attributes_delete(&unnamed[i]->attributes, unnamed[i]);

        rc = rc ? rc : one;
    }
    return rc;
}

static struct mur_type *find_f90(int combiner, int p, int r)
{
    for (int i = 0; i < unnamed_count; i++) {
        const struct mur_type_recipe *recipe = &unnamed[i]->recipe;
        int first = combiner == MPI_COMBINER_F90_INTEGER ? r : p;

        if (recipe->combiner == combiner && recipe->integers[0] == first &&
            (combiner == MPI_COMBINER_F90_INTEGER || recipe->integers[1] == r))
            return unnamed[i];
    }
    return NULL;
}

/* Decimal digits and range of the numbers of these sizes. */
struct precision {
    int p, r;
    MPI_Datatype real, complex;
};
static const struct precision reals[] = {
    {6, 37, MPI_REAL4, MPI_COMPLEX8}, {15, 307, MPI_REAL8, MPI_COMPLEX16}, {33, 4931, MPI_REAL16, MPI_COMPLEX32}};
static const struct {
    int r;
    MPI_Datatype type;
} integers[] = {{2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}, {38, MPI_INTEGER16}};

/* NULL: there is no such type. */
static struct mur_type *least_f90(int combiner, int p, int r)
{
    if (combiner == MPI_COMBINER_F90_INTEGER) {
        for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
            if (r <= integers[i].r && mur_type_find(integers[i].type)->is_supported)
                return mur_type_find(integers[i].type);
        return NULL;
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        struct mur_type *type = mur_type_find(combiner == MPI_COMBINER_F90_REAL ? reals[i].real : reals[i].complex);

        if ((p == MPI_UNDEFINED || p <= reals[i].p) && (r == MPI_UNDEFINED || r <= reals[i].r) && type->is_supported)
            return type;
    }
    return NULL;
}

int mur_type_f90(int combiner, int p, int r, struct mur_type **type_p)
{
    bool is_integer = combiner == MPI_COMBINER_F90_INTEGER;
    struct mur_type *type = find_f90(combiner, p, r), *basic;
    int rc;

    if (type) {
        *type_p = type;
        return MPI_SUCCESS;
    }
    if ((is_integer || p == MPI_UNDEFINED) && r == MPI_UNDEFINED)
        return mur_error(MPI_ERR_ARG, is_integer ? "r is MPI_UNDEFINED" : "p and r are both MPI_UNDEFINED");
    basic = least_f90(combiner, p, r);
    if (!basic)
        return mur_error(MPI_ERR_ARG, "no type of this platform has a precision of %d digits and a range of 10^%d",
                         is_integer || p == MPI_UNDEFINED ? 0 : p, r == MPI_UNDEFINED ? 0 : r);
    type = mur_type_recipe_start(combiner, false, 0, 0, 2, 0);
    if (!type)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a datatype");
    if (!is_integer)
        mur_type_recipe_integer(type, p);
    mur_type_recipe_integer(type, r);
    rc = keep(type, basic);
    if (!rc)
        *type_p = type;
    return rc;
}

/* ---- pairs ---- */

static const MPI_Datatype named_pairs[][3] = {
    {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
    {MPI_LONG, MPI_INT, MPI_LONG_INT},        {MPI_INT, MPI_INT, MPI_2INT},
    {MPI_SHORT, MPI_INT, MPI_SHORT_INT},      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
    {MPI_REAL, MPI_REAL, MPI_2REAL},          {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
    {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
};

static bool is_integer(const struct mur_type *type)
{
    enum mur_class class = mur_basics[type->basic].class;

    return type->object.predefined && type->is_supported &&
           (class == MUR_CLASS_C_INTEGER || class == MUR_CLASS_FORTRAN_INTEGER || class == MUR_CLASS_ANY_INTEGER);
}

/* Numbers that have an order; of derived types, none. */
static bool can_compare(const struct mur_type *type)
{
    bool is_floating = mur_basics[type->basic].class == MUR_CLASS_FLOATING;

    return is_integer(type) || (type->object.predefined && type->is_supported && is_floating);
}

static struct mur_type *find_pair(const struct mur_type *value, const struct mur_type *index)
{
    for (size_t i = 0; i < sizeof named_pairs / sizeof named_pairs[0]; i++)
        if (mur_type_find(named_pairs[i][0]) == value && mur_type_find(named_pairs[i][1]) == index)
            return mur_type_find(named_pairs[i][2]);
    for (int i = 0; i < unnamed_count; i++)
        if (unnamed[i]->recipe.combiner == MPI_COMBINER_VALUE_INDEX && unnamed[i]->recipe.types[0] == value &&
            unnamed[i]->recipe.types[1] == index)
            return unnamed[i];
    return NULL;
}

/* As C lays out struct { value; index; }. */
static MPI_Count index_offset(const struct mur_type *value, const struct mur_type *index)
{
    return (value->extent + index->alignment - 1) / index->alignment * index->alignment;
}

int mur_type_value_index(struct mur_type *value, struct mur_type *index, struct mur_type **type_p)
{
    const MPI_Count lengths[2] = {1, 1}, places[2] = {0, index_offset(value, index)};
    struct mur_type *const parts[2] = {value, index};
    struct mur_type *type, *layout;
    int rc;

    *type_p = can_compare(value) && can_compare(index) ? find_pair(value, index) : NULL;
    if (*type_p || !can_compare(value) || !is_integer(index))
        return MPI_SUCCESS;
    rc = mur_type_create_struct(2, lengths, places, parts, false, &layout);
    if (rc)
        return rc;
    type = mur_type_recipe_start(MPI_COMBINER_VALUE_INDEX, false, 0, 0, 0, 2);
    if (!type) {
        mur_type_release(layout);
        return mur_error(MPI_ERR_NO_MEM, "no memory for a datatype");
    }
    mur_type_recipe_type(type, value);
    mur_type_recipe_type(type, index);
    rc = keep(type, layout);
    if (rc)
        return rc;
    type->basic = MUR_BASIC_MIXED; /* also of two numbers of one kind: a pair is not two of them */
    *type_p = type;
    return MPI_SUCCESS;
}

/* -1, 0, 1 as a is less than, equal to, greater than b; for numbers of one machine type. */
#define COMPARE(type)                                                                                                  \
    do {                                                                                                               \
        type x, y;                                                                                                     \
        memcpy(&x, a, sizeof x);                                                                                       \
        memcpy(&y, b, sizeof y);                                                                                       \
        return x < y ? -1 : x > y;                                                                                     \
    } while (0)

static int compare(enum mur_machine machine, const void *a, const void *b)
{
    switch (machine) {
    case MUR_MACHINE_INT8:
        COMPARE(int8_t);
    case MUR_MACHINE_INT16:
        COMPARE(int16_t);
    case MUR_MACHINE_INT32:
        COMPARE(int32_t);
    case MUR_MACHINE_INT64:
        COMPARE(int64_t);
    case MUR_MACHINE_UINT8:
        COMPARE(uint8_t);
    case MUR_MACHINE_UINT16:
        COMPARE(uint16_t);
    case MUR_MACHINE_UINT32:
        COMPARE(uint32_t);
    case MUR_MACHINE_UINT64:
        COMPARE(uint64_t);
    case MUR_MACHINE_FLOAT:
        COMPARE(float);
    case MUR_MACHINE_DOUBLE:
        COMPARE(double);
    case MUR_MACHINE_LONG_DOUBLE:
        COMPARE(long double);
#ifdef __SIZEOF_INT128__
    case MUR_MACHINE_INT128:
        COMPARE(__int128);
#endif
#if MUR_HAVE_FLOAT128
    case MUR_MACHINE_FLOAT128:
        COMPARE(mur_float128);
#endif
    default:
        return 0;
    }
}

void mur_type_reduce_pairs(const struct mur_type *pair, bool is_max, const void *in_, void *inout_, MPI_Count count)
{
    const struct mur_type *value = pair->recipe.types[0], *index = pair->recipe.types[1];
    MPI_Count offset = index_offset(value, index);
    const char *in = in_;
    char *inout = inout_;

    for (MPI_Count i = 0; i < count; i++, in += pair->extent, inout += pair->extent) {
        int order = compare(mur_basics[value->basic].machine, in, inout);

        if (is_max ? order > 0 : order < 0) {
            memcpy(inout, in, (size_t)value->size);
            memcpy(inout + offset, in + offset, (size_t)index->size);
        } else if (order == 0 && compare(mur_basics[index->basic].machine, in + offset, inout + offset) < 0) {
            memcpy(inout + offset, in + offset, (size_t)index->size);
        }
    }
}
