/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows come and go by the hundred, of all kinds and on all sorts of communicators, and leave nothing behind: neither
 * descriptors nor mappings nor memory. Several live at a time, and each has its own memory. Argument: rounds. */
#define _GNU_SOURCE
#include <unistd.h>

#include "descriptors.h"
#include "memory_use.h"
#include "rma/share.h"

enum { ROUNDS = 200, BYTES = 300 << 10, LIVE = 5 };

static int rank, size;

static MPI_Comm pick(int round)
{
    MPI_Comm comm;

    if (round % 3 == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (round % 3 == 1)
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    else
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
    return comm;
}

static void once(int round)
{
    MPI_Win wins[LIVE];
    char *memories[LIVE], *created = malloc(BYTES);
    MPI_Comm comm = pick(round);
    int ranks, me, value = round + 7, got = 0;

    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < 3; i++)
        MPI_Win_allocate(BYTES + i, 1, MPI_INFO_NULL, comm, &memories[i], &wins[i]);
    if (all_share(comm))
        MPI_Win_allocate_shared(BYTES / 3, 1, MPI_INFO_NULL, comm, &memories[3], &wins[3]);
    else
        MPI_Win_allocate(BYTES / 3, 1, MPI_INFO_NULL, comm, &memories[3], &wins[3]);
    memories[4] = created;
    MPI_Win_create(created, BYTES, 1, MPI_INFO_NULL, comm, &wins[4]);
    MPI_Comm_free(&comm); /* windows do not need it any more */
    for (int i = 0; i < LIVE; i++)
        memset(memories[i], i + 1, BYTES / 3);
    for (int i = 0; i < LIVE; i++) {
        MPI_Win_fence(0, wins[i]);
        MPI_Put(&value, 1, MPI_INT, (me + 1) % ranks, 64, 1, MPI_INT, wins[i]);
        MPI_Win_fence(0, wins[i]);
        MPI_Get(&got, 1, MPI_INT, (me + 1) % ranks, 64, 1, MPI_INT, wins[i]);
        MPI_Win_fence(0, wins[i]);
        CHECK(got == value);
    }
    for (int i = 0; i < LIVE; i++) {
        int n = (i * 2 + round) % LIVE; /* in another order */

        CHECK(memories[n][63] == n + 1 && memories[n][68] == n + 1 && memories[n][BYTES / 3 - 1] == n + 1);
        MPI_Win_free(&wins[n]);
    }
    free(created);
}

int main(int argc, char **argv)
{
    int files, maps, rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    long kib;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 6; i++)
        once(i);
    files = count_descriptors();
    maps = count_mappings();
    kib = shared_kib();
    for (int i = 0; i < rounds; i++)
        once(i);
    CHECK(count_descriptors() <= files + size); /* connections between hosts come when they are needed */
    CHECK(count_mappings() <= maps + 8);
    CHECK(shared_kib() <= kib + 2048);
    MPI_Finalize();
    return 0;
}
