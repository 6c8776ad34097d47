/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of datatypes: the predefined ones are made from the table of basic types, the derived ones come from a
 * pool (object/type_create.c fills them in) and hold a reference to each type they were made from. */
#include "object/type.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "datatype/basic.h"
#include "datatype/layout.h"
#include "object/attribute.h"
#include "object/type_predefined.h"

static struct mur_pool types = MUR_POOL(MUR_KIND_TYPE, struct mur_type, "type");
static struct mur_type predefined[MUR_BASICS];

struct mur_type *mur_type_new(void)
{
    struct mur_type *type = mur_pool_get(&types);

    if (type) {
        memset((char *)type + sizeof type->object, 0, sizeof *type - sizeof type->object);
        type->is_supported = true;
    }
    return type;
}

void mur_type_release_slow(struct mur_type *type)
{
    for (MPI_Count i = 0; i < type->recipe.type_count; i++)
        mur_type_release(type->recipe.types[i]);
    if (type->expansion)
        mur_type_release(type->expansion);
    mur_layout_release(type->layout);
    free(type->recipe.storage);
    mur_pool_put(&types, type);
}

/* The true bounds of a basic type end with its last byte of data; the extent has C's padding. */
static int predefine(enum mur_basic basic)
{
    const struct mur_basic_row *row = &mur_basics[basic];
    struct mur_type *type = &predefined[basic];

    type->object.kind = MUR_KIND_TYPE;
    type->object.references = 1;
    type->object.predefined = (uint32_t)(uintptr_t)row->handle;
    type->is_supported = row->is_supported;
    type->size = row->size;
    type->extent = row->extent;
    type->true_extent = row->index_size ? row->index_offset + row->index_size : row->extent;
    type->alignment = row->alignment;
    type->basic = basic;
    type->basic_count = 1;
    type->recipe.combiner = MPI_COMBINER_NAMED;
    memcpy(type->name, row->name, strlen(row->name) + 1);
    mur_predefined[type->object.predefined] = &type->object;
    return row->is_supported ? mur_type_commit(type) : MPI_SUCCESS;
}

int mur_type_setup(void)
{
    for (int basic = MUR_BASIC_MIXED + 1; basic < MUR_BASICS; basic++) {
        int rc = predefine(basic);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Named and unnamed ones (object/type_predefined.h); after an error the others' turn comes all the same. */
int mur_type_delete_predefined_attributes(void)
{
    int rc = mur_type_delete_unnamed_attributes();

    for (int basic = MUR_BASIC_MIXED + 1; basic < MUR_BASICS; basic++) {
        int one = mur_attributes_delete(&predefined[basic].attributes, &predefined[basic]);

        rc = rc ? rc : one;
    }
    return rc;
}

int mur_type_commit(struct mur_type *type)
{
    int rc;

    if (type->is_committed)
        return MPI_SUCCESS;
    if (!type->is_supported)
        return mur_error(MPI_ERR_TYPE, "the datatype %s is not supported on this platform", type->name);
    rc = mur_layout_compile(type);
    if (rc)
        return rc;
    type->is_dense = mur_layout_is_dense(type);
    type->is_committed = true;
    return MPI_SUCCESS;
}
