/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the tool information interface share. */
#ifndef MUR_TEST_TOOL_H
#define MUR_TEST_TOOL_H

#include "test.h"

/* Initialises the interface; a tool of one thread. */
static inline void tool_start(void)
{
    int provided = -1;

    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
}

/* A started handle of the variable with this name; `object` is the address of a handle, or NULL. */
static inline MPI_T_pvar_handle tool_meter(MPI_T_pvar_session session, const char *name, int var_class, void *object)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = 0, continuous;

    CHECK(MPI_T_pvar_get_index(name, var_class, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, object, &handle, &count) == MPI_SUCCESS && count >= 1);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &continuous, NULL);
    if (!continuous)
        CHECK(MPI_T_pvar_start(session, handle) == MPI_SUCCESS);
    return handle;
}

static inline unsigned long long tool_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = ~0ull;

    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

static inline MPI_T_cvar_handle tool_control(const char *name)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int index = -1, count = 0;

    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS && count == 1);
    return handle;
}

#endif
