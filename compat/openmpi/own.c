/* SPDX-License-Identifier: BSD-3-Clause */
/* What only Open MPI's library has: its predefined objects, and callbacks that are functions there. */
#include "door.h"

uintptr_t mur_first_object = (uintptr_t)1 << 63;
size_t mur_objects_bytes;

void mur_find_objects(void)
{
    size_t bytes;
    uintptr_t first = murmur_door.first_object(&bytes);

    __atomic_store_n(&mur_first_object, first, __ATOMIC_RELAXED);
    __atomic_store_n(&mur_objects_bytes, bytes, __ATOMIC_RELAXED);
}

struct mur_place mur_places[MUR_PLACES];

__attribute__((constructor)) static void fill_places(void)
{
    for (size_t i = 0; i < sizeof mur_symbols / sizeof mur_symbols[0]; i++) {
        uintptr_t theirs = (uintptr_t)mur_symbols[i].address;
        unsigned place = place_of(theirs);

        while (mur_places[place].theirs)
            place = (place + 1) % MUR_PLACES;
        /* What the standard has nothing for is no handle. */
        mur_places[place] =
            (struct mur_place){theirs, mur_symbols[i].ours ? mur_symbols[i].ours : theirs | (uintptr_t)1 << 62};
    }
}

/* The headers of C++ call it after MPI_Op_create. */
__attribute__((visibility("default"))) void ompi_op_set_cxx_callback(their_op op, void (*function)(void))
{
    mur_op_of_cxx(op, function);
}

const char *split_level(int split_type)
{
    static const char *const levels[] = {
        NULL,                /* MPI_COMM_TYPE_SHARED */
        "hwloc://PU",        /* HWTHREAD */
        "hwloc://Core",      /* CORE */
        "hwloc://L1Cache",   /* L1CACHE */
        "hwloc://L2Cache",   /* L2CACHE */
        "hwloc://L3Cache",   /* L3CACHE */
        "hwloc://Package",   /* SOCKET */
        "hwloc://NUMANode",  /* NUMA */
        "mpi_shared_memory", /* BOARD */
        "mpi_shared_memory", /* HOST */
    };

    return split_type >= 0 && split_type < (int)(sizeof levels / sizeof levels[0]) ? levels[split_type] : NULL;
}

#pragma GCC visibility push(default)

/* The predefined callbacks of attributes; handles are pointers, so one form serves all. */
#define MUR_CALLBACKS(KIND)                                                                                            \
    int OMPI_C_MPI_##KIND##_NULL_DELETE_FN(void *handle, int keyval, void *value, void *extra_state)                   \
    {                                                                                                                  \
        (void)handle, (void)keyval, (void)value, (void)extra_state;                                                    \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    int OMPI_C_MPI_##KIND##_NULL_COPY_FN(void *handle, int keyval, void *extra_state, void *value, void *copy,         \
                                         int *flag)                                                                    \
    {                                                                                                                  \
        (void)handle, (void)keyval, (void)extra_state, (void)value, (void)copy;                                        \
        *flag = 0;                                                                                                     \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    int OMPI_C_MPI_##KIND##_DUP_FN(void *handle, int keyval, void *extra_state, void *value, void *copy, int *flag)    \
    {                                                                                                                  \
        (void)handle, (void)keyval, (void)extra_state;                                                                 \
        *(void **)copy = value;                                                                                        \
        *flag = 1;                                                                                                     \
        return MPI_SUCCESS;                                                                                            \
    }
MUR_CALLBACKS(COMM)
MUR_CALLBACKS(TYPE)
MUR_CALLBACKS(WIN)

/* Of the attributes of MPI-1. */
int OMPI_C_MPI_NULL_DELETE_FN(void *handle, int keyval, void *value, void *extra_state)
    __attribute__((alias("OMPI_C_MPI_COMM_NULL_DELETE_FN")));
int OMPI_C_MPI_NULL_COPY_FN(void *handle, int keyval, void *extra_state, void *value, void *copy, int *flag)
    __attribute__((alias("OMPI_C_MPI_COMM_NULL_COPY_FN")));
int OMPI_C_MPI_DUP_FN(void *handle, int keyval, void *extra_state, void *value, void *copy, int *flag)
    __attribute__((alias("OMPI_C_MPI_COMM_DUP_FN")));

/* Whether buffers may lie in a GPU's memory. */
int MPIX_Query_cuda_support(void)
{
    return 0;
}

int MPIX_Query_rocm_support(void)
{
    return 0;
}

#pragma GCC visibility pop
