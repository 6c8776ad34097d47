/* SPDX-License-Identifier: BSD-3-Clause */
/* What failed checks have to say. */
#include "mpi/check.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "mpi/entry.h"

int mur_fault_phase(void)
{
    if (mur_process.is_forked)
        return mur_error(MPI_ERR_OTHER,
                         "called in process %d, which was forked from rank %d after that had begun to use MPI: only "
                         "the rank itself can; a forked child may execute another program",
                         (int)getpid(), mur_process.rank);
    if (mur_process.phase == MUR_PHASE_BEFORE_INIT)
        return mur_error(MPI_ERR_OTHER,
                         "called before MPI was initialised: call MPI_Init, MPI_Init_thread or MPI_Session_init first");
    return mur_error(MPI_ERR_OTHER, "called after MPI_Finalize: make this call before it");
}

static const struct {
    uint32_t kind;
    int error_class;
    enum mur_show show;
    const char *noun;
} handle_kinds[] = {
    {MUR_KIND_COMM, MPI_ERR_COMM, MUR_SHOW_COMM, "a communicator"},
    {MUR_KIND_GROUP, MPI_ERR_GROUP, MUR_SHOW_GROUP, "a group"},
    {MUR_KIND_TYPE, MPI_ERR_TYPE, MUR_SHOW_TYPE, "a datatype"},
    {MUR_KIND_OP, MPI_ERR_OP, MUR_SHOW_OP, "an operation"},
    {MUR_KIND_INFO, MPI_ERR_INFO, MUR_SHOW_INFO, "an info object"},
    {MUR_KIND_ERRHANDLER, MPI_ERR_ERRHANDLER, MUR_SHOW_ERRHANDLER, "an error handler"},
    {MUR_KIND_FILE, MPI_ERR_FILE, MUR_SHOW_FILE, "a file"},
    {MUR_KIND_WIN, MPI_ERR_WIN, MUR_SHOW_WIN, "a window"},
    {MUR_KIND_SESSION, MPI_ERR_SESSION, MUR_SHOW_SESSION, "a session"},
};

int mur_fault_handle(const char *name, const void *handle, uint32_t kind)
{
    size_t row = 0;
    const char *constant;

    while (handle_kinds[row].kind != kind)
        row++;
    if (!handle)
        return mur_error(handle_kinds[row].error_class, "%s is 0, a handle that was never set; it must be %s", name,
                         handle_kinds[row].noun);
    constant = mur_constant_name(handle_kinds[row].show, (intptr_t)handle);
    if (constant)
        return mur_error(handle_kinds[row].error_class, "%s is %s, but must be %s", name, constant,
                         handle_kinds[row].noun);
    return mur_error(handle_kinds[row].error_class, "%s is %p, which is not a live handle of %s: freed, or never one",
                     name, handle, handle_kinds[row].noun);
}

int mur_fault_type(const char *name, const void *handle)
{
    const struct mur_type *type = mur_object_find(handle, MUR_KIND_TYPE);

    if (!type)
        return mur_fault_handle(name, handle, MUR_KIND_TYPE);
    if (!type->is_supported)
        return mur_error(MPI_ERR_TYPE, "%s is %s, a datatype that this platform does not have", name, type->name);
    return mur_error(MPI_ERR_TYPE, "%s is a datatype that is not committed: call MPI_Type_commit first", name);
}

int mur_fault_count(const char *name, MPI_Count count)
{
    return mur_error(MPI_ERR_COUNT, "%s is %lld, but must be 0 or more", name, (long long)count);
}

int mur_fault_length(const char *name, int length)
{
    return mur_error(MPI_ERR_ARG, "%s is %d, but must be 0 or more", name, length);
}

int mur_fault_peer(const char *name, int rank, const struct mur_comm *comm)
{
    if (rank == MPI_ANY_SOURCE)
        return mur_error(MPI_ERR_RANK, "%s is MPI_ANY_SOURCE, which only receives and probes take", name);
    return mur_error(MPI_ERR_RANK, "%s is %d, but must be a rank of the communicator (0 to %d) or MPI_PROC_NULL", name,
                     rank, comm->size - 1);
}

int mur_fault_source(const char *name, int rank, const struct mur_comm *comm)
{
    return mur_error(MPI_ERR_RANK,
                     "%s is %d, but must be a rank of the communicator (0 to %d), MPI_ANY_SOURCE or MPI_PROC_NULL",
                     name, rank, comm->size - 1);
}

int mur_fault_root(const char *name, int rank, const struct mur_comm *comm)
{
    return mur_error(MPI_ERR_ROOT, "%s is %d, but must be a rank of the communicator (0 to %d)", name, rank,
                     comm->size - 1);
}

int mur_fault_tag(const char *name, int tag)
{
    if (tag == MPI_ANY_TAG)
        return mur_error(MPI_ERR_TAG, "%s is MPI_ANY_TAG, which only receives and probes take", name);
    return mur_error(MPI_ERR_TAG, "%s is %d, but must be from 0 to %d", name, tag, INT_MAX);
}

int mur_fault_anytag(const char *name, int tag)
{
    return mur_error(MPI_ERR_TAG, "%s is %d, but must be from 0 to %d, or MPI_ANY_TAG", name, tag, INT_MAX);
}

int mur_fault_null(const char *name)
{
    return mur_error(MPI_ERR_ARG, "%s is NULL, but must be an address", name);
}

int mur_fault_address(const char *name, const void *address)
{
    if (!address)
        return mur_fault_null(name);
    return mur_error(MPI_ERR_ARG, "%s is %p, which is no address of memory", name, address);
}

int mur_fault_too_large(const char *name, MPI_Count value)
{
    return mur_error(MPI_ERR_VALUE_TOO_LARGE, "%s is %lld, which an int cannot hold: call the _c form", name,
                     (long long)value);
}

int mur_check_counts(const char *name, struct mur_counts counts, MPI_Count length)
{
    if (length > 0 && !mur_is_memory(counts.array))
        return mur_fault_address(name, counts.array);
    for (MPI_Count i = 0; i < length; i++) {
        MPI_Count count = mur_counts_at(counts, i);

        if (count < 0)
            return mur_error(MPI_ERR_COUNT, "%s[%lld] is %lld, but must be 0 or more", name, (long long)i,
                             (long long)count);
    }
    return MPI_SUCCESS;
}

int mur_check_types(const char *name, const MPI_Datatype types[], struct mur_counts counts, MPI_Count length)
{
    if (length > 0 && !mur_is_memory(types))
        return mur_fault_address(name, types);
    for (MPI_Count i = 0; i < length; i++) {
        const struct mur_type *type = mur_type_find(types[i]);
        char element[64];

        if ((type && type->is_supported && type->is_committed) || !mur_counts_at(counts, i))
            continue;
        snprintf(element, sizeof element, "%s[%lld]", name, (long long)i);
        return mur_fault_type(element, types[i]);
    }
    return MPI_SUCCESS;
}
