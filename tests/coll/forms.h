/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective in three forms, for tests: the second half of the nonblocking and of the persistent one. */
#ifndef MUR_TEST_FORMS_H
#define MUR_TEST_FORMS_H

#include "test.h"

/* Takes what the call that made the request returned; returns that, or what the whole operation comes to. */
static inline int complete(int code, MPI_Request *request, int is_persistent)
{
    if (code)
        return code;
    if (is_persistent)
        MPI_Start(request);
    code = MPI_Wait(request, MPI_STATUS_IGNORE);
    if (is_persistent)
        MPI_Request_free(request);
    return code;
}

#endif
