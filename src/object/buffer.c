/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a buffer that is no memory. */
#include "object/buffer.h"

#include "base/error.h"

static const char *name_of(const void *address)
{
    return address == MPI_IN_PLACE ? "MPI_IN_PLACE" : address == MPI_BUFFER_AUTOMATIC ? "MPI_BUFFER_AUTOMATIC" : NULL;
}

int mur_buffer_fault(const char *name, const void *buffer, MPI_Count count, const struct mur_type *type)
{
    const char *constant = name_of(buffer);
    bool has_data = count > 0 && (!type || type->size > 0);

    if (!has_data || (!constant && type && mur_is_memory((const char *)buffer + type->true_lb)))
        return MPI_SUCCESS;
    if (constant)
        return mur_error(MPI_ERR_BUFFER, "%s is %s, which this call does not take there", name, constant);
    if (!buffer)
        return mur_error(MPI_ERR_BUFFER, "%s is NULL, but there are data: a count of %lld", name, (long long)count);
    return mur_error(MPI_ERR_BUFFER, "%s is %p, which is no address of memory", name, buffer);
}
