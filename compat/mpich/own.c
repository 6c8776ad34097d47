/* SPDX-License-Identifier: BSD-3-Clause */
/* What only MPICH's library has: variables, and a callback that is a function there. */
#include "door.h"

uintptr_t mur_first_object;

void mur_find_first_object(void)
{
    size_t bytes;

    __atomic_store_n(&mur_first_object, murmur_door.first_object(&bytes), __ATOMIC_RELAXED);
}

int mur_unweighted, mur_weights_empty;

#pragma GCC visibility push(default)

int *const unweighted __asm__("MPI_UNWEIGHTED") = &mur_unweighted;
int *const weights_empty __asm__("MPI_WEIGHTS_EMPTY") = &mur_weights_empty;
void *const all_handles __asm__("MPI_T_PVAR_ALL_HANDLES") = MPI_T_PVAR_ALL_HANDLES;

/* MPI_DUP_FN, MPI_COMM_DUP_FN and so on: handles are ints, so one function serves all. */
int MPIR_Dup_fn(int handle, int keyval, void *extra_state, void *value, void *copy, int *flag)
{
    (void)handle;
    (void)keyval;
    (void)extra_state;
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

/* Whether buffers may lie in a GPU's memory. */
int MPIX_GPU_query_support(int gpu_type, int *is_supported)
{
    (void)gpu_type;
    *is_supported = 0;
    return MPI_SUCCESS;
}

int MPIX_Query_cuda_support(void)
{
    return 0;
}

int MPIX_Query_hip_support(void)
{
    return 0;
}

int MPIX_Query_ze_support(void)
{
    return 0;
}

#pragma GCC visibility pop
