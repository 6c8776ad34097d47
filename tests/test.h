/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests share: checks that say where and what failed. A rank whose check fails ends the job. */
#ifndef MUR_TEST_H
#define MUR_TEST_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEST_SKIP = 77 }; /* the exit code of a program that cannot test here */

/* The same, with a word. */
static inline int test_skip(const char *why)
{
    printf("skipped: %s\n", why);
    return TEST_SKIP;
}

/* Ends the whole job, so that the other ranks do not wait for ever. */
static inline void test_fail(const char *file, int line, const char *text)
{
    int rank = -1, is_running = 0, is_over = 0;

    MPI_Initialized(&is_running);
    MPI_Finalized(&is_over);
    if (is_running && !is_over)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: failed: %s\n", file, line, rank, text);
    fflush(stderr);
    if (is_running && !is_over)
        MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, #condition))

#endif
