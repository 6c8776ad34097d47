/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration; and packing, which takes pieces of whole elements, so that a region of gigabytes needs no second one.
 */
#include "libmurmur/data_region.h"

#include <stdlib.h>
#include <string.h>

#include "libmurmur/murmur.h"

enum { PIECE_BYTES = 4 << 20 };

struct mur_data_regions mur_data_regions;

static int refuse(int error_class, const char *call, const char *why)
{
    struct mur_flaw flaw = {0};

    mur_flaw_set(&flaw, "%s: %s", call, why);
    return mur_flaw_raise(&flaw, MPI_COMM_SELF, error_class);
}

static int add(const char *call, struct mur_data_region *region, MPI_Datatype datatype)
{
    struct mur_data_region *grown;
    MPI_Count lower, true_lower, true_extent;

    if (region->count < 0)
        return refuse(MPI_ERR_COUNT, call, "the count is negative");
    if (!region->address && region->count > 0)
        return refuse(MPI_ERR_BUFFER, call, "the address is null");
    for (int i = 0; i < mur_data_regions.count; i++)
        if (region->count > 0 && mur_data_regions.at[i].address == region->address)
            return refuse(MPI_ERR_BUFFER, call, "this address is registered already");
    grown = realloc(mur_data_regions.at, (size_t)(mur_data_regions.count + 1) * sizeof *grown);
    if (!grown)
        return refuse(MPI_ERR_NO_MEM, call, "there is no memory for it");
    mur_data_regions.at = grown;
    if (MPI_Type_size_c(datatype, &region->element_bytes) != MPI_SUCCESS ||
        MPI_Type_get_extent_c(datatype, &lower, &region->extent) != MPI_SUCCESS ||
        MPI_Type_get_true_extent_c(datatype, &true_lower, &true_extent) != MPI_SUCCESS ||
        MPI_Type_dup(datatype, &region->datatype) != MPI_SUCCESS)
        return MPI_ERR_TYPE;
    region->is_dense = true_lower == 0 && true_extent == region->element_bytes && region->extent == true_extent;
    grown[mur_data_regions.count++] = *region;
    return MPI_SUCCESS;
}

int MPIX_Ckpt_register(void *address, MPI_Count count, MPI_Datatype datatype)
{
    struct mur_data_region region = {.kind = MUR_REGION_PRIVATE, .address = address, .count = count};

    return add("MPIX_Ckpt_register", &region, datatype);
}

int MPIX_Ckpt_register_shared(void *address, MPI_Count count, MPI_Datatype datatype)
{
    struct mur_data_region region = {.kind = MUR_REGION_SHARED, .address = address, .count = count};

    return add("MPIX_Ckpt_register_shared", &region, datatype);
}

int MPIX_Ckpt_register_array(void *address, MPI_Datatype element, int ndims, const MPI_Count sizes[],
                             const MPI_Count subsizes[], const MPI_Count starts[], int order)
{
    static const char call[] = "MPIX_Ckpt_register_array";
    struct mur_data_region region = {
        .kind = MUR_REGION_ARRAY, .address = address, .count = 1, .ndims = ndims, .order = order};

    if (ndims < 1 || ndims > MUR_REGION_DIMS_MAX)
        return refuse(MPI_ERR_DIMS, call, "an array has 1 to 8 dimensions");
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return refuse(MPI_ERR_ARG, call, "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
    for (int i = 0; i < ndims; i++) {
        if (sizes[i] < 1 || subsizes[i] < 0 || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            return refuse(MPI_ERR_ARG, call, "a block does not lie in its array");
        region.sizes[i] = sizes[i];
        region.subsizes[i] = subsizes[i];
        region.starts[i] = starts[i];
        region.count *= subsizes[i];
    }
    return add(call, &region, element);
}

int MPIX_Ckpt_deregister(void *address)
{
    int i = 0;

    while (i < mur_data_regions.count && mur_data_regions.at[i].address != address)
        i++;
    if (i == mur_data_regions.count)
        return refuse(MPI_ERR_BUFFER, "MPIX_Ckpt_deregister", "nothing is registered at this address");
    MPI_Type_free(&mur_data_regions.at[i].datatype);
    mur_data_regions.count--;
    memmove(&mur_data_regions.at[i], &mur_data_regions.at[i + 1],
            (size_t)(mur_data_regions.count - i) * sizeof *mur_data_regions.at);
    return MPI_SUCCESS;
}

/* Elements in one piece: at least one. */
static MPI_Count step_of(const struct mur_data_region *region)
{
    MPI_Count fit = region->element_bytes ? PIECE_BYTES / region->element_bytes : region->count;

    return fit > 1 ? fit : 1;
}

static bool pass(const struct mur_data_region *region, bool is_read, mur_data_region_flow *flow, void *owner,
                 struct mur_flaw *flaw)
{
    const MPI_Count step = step_of(region);
    const size_t room = (size_t)(step * region->element_bytes);
    char *packed = region->is_dense ? NULL : malloc(room ? room : 1);
    bool is_passed = region->is_dense || packed || mur_flaw_set(flaw, "there is no memory for %zu bytes", room);

    for (MPI_Count done = 0; is_passed && done < region->count; done += step) {
        const MPI_Count count = step < region->count - done ? step : region->count - done;
        const size_t bytes = (size_t)(count * region->element_bytes);
        char *elements = region->address + done * region->extent;
        MPI_Count position = 0;

        if (region->is_dense) {
            is_passed = flow(owner, elements, bytes, flaw);
        } else if (is_read) {
            is_passed = mur_flaw_of_mpi(flaw, "packing",
                                        MPI_Pack_c(elements, count, region->datatype, packed, (MPI_Count)bytes,
                                                   &position, MPI_COMM_SELF)) &&
                        flow(owner, packed, bytes, flaw);
        } else {
            is_passed = flow(owner, packed, bytes, flaw) &&
                        mur_flaw_of_mpi(flaw, "unpacking",
                                        MPI_Unpack_c(packed, (MPI_Count)bytes, &position, elements, count,
                                                     region->datatype, MPI_COMM_SELF));
        }
    }
    free(packed);
    return is_passed;
}

bool mur_data_region_read(const struct mur_data_region *region, mur_data_region_flow *flow, void *owner,
                          struct mur_flaw *flaw)
{
    return pass(region, true, flow, owner, flaw);
}

bool mur_data_region_write(const struct mur_data_region *region, mur_data_region_flow *flow, void *owner,
                           struct mur_flaw *flaw)
{
    return pass(region, false, flow, owner, flaw);
}
