/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program has registered, in the order in which it did. */
#ifndef MUR_LIBMURMUR_DATA_REGION_H
#define MUR_LIBMURMUR_DATA_REGION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "libmurmur/flaw.h"

enum mur_data_region_kind { MUR_REGION_PRIVATE = 1, MUR_REGION_SHARED, MUR_REGION_ARRAY };
enum { MUR_REGION_DIMS_MAX = 8 };

struct mur_data_region {
    enum mur_data_region_kind kind;
    char *address;
    MPI_Count count;       /* elements at this rank */
    MPI_Datatype datatype; /* of an element; a copy */
    MPI_Count element_bytes, extent;
    bool is_dense; /* an element is its bytes, one after the other */
    int ndims, order;
    MPI_Count sizes[MUR_REGION_DIMS_MAX], subsizes[MUR_REGION_DIMS_MAX], starts[MUR_REGION_DIMS_MAX]; /* of arrays */
};

struct mur_data_regions {
    struct mur_data_region *at;
    int count;
};
extern struct mur_data_regions mur_data_regions;

/* Where packed bytes go to, or come from. False: it has set the flaw. */
typedef bool mur_data_region_flow(void *owner, void *data, size_t bytes, struct mur_flaw *flaw);

static inline MPI_Count mur_data_region_bytes(const struct mur_data_region *region)
{
    return region->count * region->element_bytes;
}

/* Passes on the region's bytes as the file has them, piece by piece; or fills it from them. */
bool mur_data_region_read(const struct mur_data_region *region, mur_data_region_flow *flow, void *owner,
                          struct mur_flaw *flaw);
bool mur_data_region_write(const struct mur_data_region *region, mur_data_region_flow *flow, void *owner,
                           struct mur_flaw *flaw);

#endif
