/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that restarts: steps that depend on all that came before, over an array in blocks of rows, a number that
 * all share, and data of each rank's own (unless told otherwise), with gaps.
 *
 *   steps STEPS [die=STEP:RANK] [save=EVERY] [private]
 *
 * Rank 0 prints "from STEP" and, at the end, "sum HASH", which depends on everything and not on the number of ranks. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmurmur/murmur.h"
#include "test.h"

enum { ROWS = 37, COLUMNS = 1000, OWN = 1500 };

static int rank, ranks, first, rows;
static double *block;

static void divide(void)
{
    first = ROWS * rank / ranks;
    rows = ROWS * (rank + 1) / ranks - first;
    block = malloc((size_t)rows * COLUMNS * sizeof *block + 1);
    for (int i = 0; i < rows * COLUMNS; i++)
        block[i] = first * COLUMNS + i;
}

static void advance(int step, uint64_t *shared)
{
    for (int i = 0; i < rows * COLUMNS; i++)
        block[i] = block[i] * 0.5 + (double)((first * COLUMNS + i) % (step + 3)) + (double)(*shared % 7);
    *shared = *shared * 6364136223846793005u + (uint64_t)step;
}

static uint64_t sum_of(uint64_t shared)
{
    uint64_t sum = 0, bits;

    for (int i = 0; i < rows * COLUMNS; i++) {
        memcpy(&bits, &block[i], sizeof bits);
        sum += bits * (uint64_t)(2 * (first * COLUMNS + i) + 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum ^ shared;
}

static void register_all(int *step, uint64_t *shared, int *own, int has_private)
{
    const MPI_Count sizes[] = {ROWS, COLUMNS}, subsizes[] = {rows, COLUMNS}, starts[] = {first, 0};
    MPI_Datatype gaps;

    CHECK(MPIX_Ckpt_register_shared(step, 1, MPI_INT) == MPI_SUCCESS);
    CHECK(MPIX_Ckpt_register_array(block, MPI_DOUBLE, 2, sizes, subsizes, starts, MPI_ORDER_C) == MPI_SUCCESS);
    CHECK(MPIX_Ckpt_register_shared(shared, 1, MPI_UINT64_T) == MPI_SUCCESS);
    if (!has_private)
        return;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps); /* of three integers the outer two, then one of the next's */
    MPI_Type_commit(&gaps);
    CHECK(MPIX_Ckpt_register(own, OWN / 3, gaps) == MPI_SUCCESS);
    MPI_Type_free(&gaps);
}

int main(int argc, char **argv)
{
    int steps = atoi(argv[1]), die_step = -1, die_rank = 0, save = 0, has_private = 0, step = 0, is_restarted;
    static int own[OWN];
    uint64_t shared = 17;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 2; i < argc; i++) {
        sscanf(argv[i], "die=%d:%d", &die_step, &die_rank);
        sscanf(argv[i], "save=%d", &save);
        has_private |= strcmp(argv[i], "private") == 0;
    }
    divide();
    register_all(&step, &shared, own, has_private);
    CHECK(MPIX_Ckpt_point(MPI_COMM_WORLD, &is_restarted) == MPI_SUCCESS);
    if (rank == 0)
        printf("from %d\n", is_restarted ? step : -1), fflush(stdout);
    for (int i = 0; has_private && i < OWN; i += 3)
        CHECK(own[i] == step * 1000 + (step ? rank : 0) && own[i + 1] == 0);
    while (step < steps) {
        advance(step++, &shared);
        for (int i = 0; has_private && i < OWN; i += 3)
            own[i] = own[i + 2] = step * 1000 + rank;
        if (save && step % save == 0)
            CHECK(MPIX_Ckpt_save(MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPIX_Ckpt_point(MPI_COMM_WORLD, &is_restarted) == MPI_SUCCESS && !is_restarted);
        if (step == die_step && rank == die_rank)
            raise(SIGKILL);
    }
    shared = sum_of(shared);
    if (rank == 0)
        printf("sum %016llx\n", (unsigned long long)shared);
    free(block);
    MPI_Finalize();
    return 0;
}
