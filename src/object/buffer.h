/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that are no memory: MPI_BOTTOM where the type does not say where the data are, and the constants that some
 * calls take instead of an address (MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC), which are small numbers in the ABI. */
#ifndef MUR_OBJECT_BUFFER_H
#define MUR_OBJECT_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "object/type.h"

/* Nothing is ever mapped in the first page. */
static inline bool mur_is_memory(const void *address)
{
    return __builtin_expect((uintptr_t)address >= 4096, 1);
}

/* For an address that is none: an error, unless there are no data, or the type has them elsewhere. No type: bytes. */
int mur_buffer_fault(const char *name, const void *buffer, MPI_Count count, const struct mur_type *type)
    __attribute__((cold));

static inline int mur_buffer_check(const char *name, const void *buffer, MPI_Count count, const struct mur_type *type)
{
    return mur_is_memory(buffer) ? MPI_SUCCESS : mur_buffer_fault(name, buffer, count, type);
}

#endif
