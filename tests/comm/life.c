/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators come and go by the thousand, after collectives of all forms, some freed while one is under way: nothing
 * stays of them. */
#include <unistd.h>

#include "memory_use.h"
#include "test.h"

enum { ALONE = 8000, ROUNDS = 1500, WARM = 200 };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { MORE_KIB = 1 << 20 }; /* the sanitizer keeps what was freed, or notes of it */
#else
enum { MORE_KIB = 256 }; /* 180 bytes a round */
#endif

static void use(MPI_Comm comm, int is_freed_early)
{
    int one = 1, sum = 0, sums[2] = {0}, size;
    MPI_Request requests[2];

    MPI_Comm_size(comm, &size);
    MPI_Allreduce_init(&one, &sums[0], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Iallreduce(&one, &sums[1], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    if (is_freed_early) {
        MPI_Comm_free(&comm);
    } else {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size);
        MPI_Barrier(comm);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(sums[0] == size && sums[1] == size);
    MPI_Request_free(&requests[0]);
    if (!is_freed_early)
        MPI_Comm_free(&comm);
}

static void once(int round, int rank)
{
    MPI_Request request;
    MPI_Comm comm;

    if (round % 3 == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else if (round % 3 == 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    } else {
        MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    use(comm, round % 2);
}

int main(int argc, char **argv)
{
    int rank, size, rounds;
    long kib = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = size == 1 ? ALONE : ROUNDS;
    for (int round = 0; round < WARM + rounds; round++) {
        if (round == WARM)
            kib = memory_of(getpid());
        once(round, rank);
    }
    if (memory_of(getpid()) > kib + MORE_KIB) {
        fprintf(stderr, "%ld KiB more\n", memory_of(getpid()) - kib);
        CHECK(!"nothing stays");
    }
    MPI_Finalize();
    return 0;
}
