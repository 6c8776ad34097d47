/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the tests of files put theirs. */
#ifndef MUR_TEST_IO_SCRATCH_H
#define MUR_TEST_IO_SCRATCH_H

#include <unistd.h>

#include "test.h"

/* A path that is the same at all ranks, and of this run alone; to be called by all of them after MPI_Init. */
static inline void scratch_name(char *name, size_t bytes, const char *test)
{
    const char *folder = getenv("TMPDIR");
    int pid = (int)getpid();

    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, bytes, "%s/murmur-%s-%d", folder ? folder : "/tmp", test, pid);
}

#endif
