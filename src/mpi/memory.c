/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem and MPI_Free_mem (MPI-5.0 §9.2). What has been allocated is kept in a small hash table, so that freeing
 * anything else is an error and no crash. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/bodies.h"
#include "object/info.h"

enum { BUCKETS = 256, ALIGNMENT = 64 /* a cache line; more than any predefined type needs */ };

struct allocation {
    struct allocation *next;
    void *memory;
};
static struct allocation *buckets[BUCKETS];

static struct allocation **bucket_of(const void *memory)
{
    return &buckets[((uintptr_t)memory / ALIGNMENT * 2654435761u >> 8) % BUCKETS];
}

/* What the user asks for, where that is a power of two; more does no harm. */
static size_t alignment_of(const struct mur_info *info)
{
    const char *value = mur_info_get(info, "mpi_minimum_memory_alignment");
    unsigned long long wanted = value ? strtoull(value, NULL, 10) : 0;

    return wanted > ALIGNMENT && wanted <= (1u << 30) && !(wanted & (wanted - 1)) ? (size_t)wanted : ALIGNMENT;
}

int mur_mpi_alloc_mem(MPI_Aint size, struct mur_info *info, void *baseptr)
{
    struct allocation *allocation, **bucket;
    void *memory;

    if (size < 0)
        return mur_error(MPI_ERR_ARG, "size is %lld, but must be 0 or more", (long long)size);
    allocation = malloc(sizeof *allocation);
    if (!allocation || posix_memalign(&memory, alignment_of(info), size ? (size_t)size : 1)) {
        free(allocation);
        return mur_error(MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)size);
    }
    bucket = bucket_of(memory);
    *allocation = (struct allocation){.next = *bucket, .memory = memory};
    *bucket = allocation;
    memcpy(baseptr, &memory, sizeof memory);
    return MPI_SUCCESS;
}

int mur_mpi_free_mem(void *base)
{
    struct allocation **link = bucket_of(base), *found;

    if (!base) /* as free() takes it */
        return MPI_SUCCESS;
    while (*link && (*link)->memory != base)
        link = &(*link)->next;
    found = *link;
    if (!found)
        return mur_error(MPI_ERR_BASE, "base is %p, which MPI_Alloc_mem has not given out, or which was freed already",
                         base);
    *link = found->next;
    free(found);
    free(base);
    return MPI_SUCCESS;
}
