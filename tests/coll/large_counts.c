/* SPDX-License-Identifier: BSD-3-Clause */
/* The large-count forms of the nonblocking collectives give what the plain blocking ones give. */
#include "random.h"

enum { COUNT = 37 };

static int rank, size;
static int in[64 * COUNT], plain[64 * COUNT], large[64 * COUNT];
static MPI_Count counts[64];
static MPI_Aint places[64];
static int small_counts[64], small_places[64];

static void compare(const char *name)
{
    if (memcmp(plain, large, sizeof plain)) {
        fprintf(stderr, "%s\n", name);
        CHECK(!"both forms give the same");
    }
}

static void start(void)
{
    for (int i = 0; i < 64 * COUNT; i++) {
        in[i] = rank * 1000 + random_below(1000);
        plain[i] = large[i] = -1;
    }
}

#define BOTH(blocking, nonblocking)                                                                                    \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        start();                                                                                                       \
        blocking;                                                                                                      \
        nonblocking;                                                                                                   \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                         \
        compare(#blocking);                                                                                            \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int root;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    random_start();
    root = random_below(size);
    for (int i = 0; i < size; i++) {
        small_counts[i] = i % 5;
        small_places[i] = i * 5;
        counts[i] = small_counts[i];
        places[i] = small_places[i];
    }
    BOTH((memcpy(plain, in, sizeof in), MPI_Bcast(plain, COUNT, MPI_INT, root, comm)),
         (memcpy(large, in, sizeof in), MPI_Ibcast_c(large, COUNT, MPI_INT, root, comm, &request)));
    BOTH(MPI_Gather(in, COUNT, MPI_INT, plain, COUNT, MPI_INT, root, comm),
         MPI_Igather_c(in, COUNT, MPI_INT, large, COUNT, MPI_INT, root, comm, &request));
    BOTH(MPI_Gatherv(in, small_counts[rank], MPI_INT, plain, small_counts, small_places, MPI_INT, root, comm),
         MPI_Igatherv_c(in, counts[rank], MPI_INT, large, counts, places, MPI_INT, root, comm, &request));
    BOTH(MPI_Scatter(in, COUNT, MPI_INT, plain, COUNT, MPI_INT, root, comm),
         MPI_Iscatter_c(in, COUNT, MPI_INT, large, COUNT, MPI_INT, root, comm, &request));
    BOTH(MPI_Scatterv(in, small_counts, small_places, MPI_INT, plain, small_counts[rank], MPI_INT, root, comm),
         MPI_Iscatterv_c(in, counts, places, MPI_INT, large, counts[rank], MPI_INT, root, comm, &request));
    BOTH(MPI_Allgather(in, COUNT, MPI_INT, plain, COUNT, MPI_INT, comm),
         MPI_Iallgather_c(in, COUNT, MPI_INT, large, COUNT, MPI_INT, comm, &request));
    BOTH(MPI_Reduce(in, plain, COUNT, MPI_INT, MPI_SUM, root, comm),
         MPI_Ireduce_c(in, large, COUNT, MPI_INT, MPI_SUM, root, comm, &request));
    BOTH(MPI_Allreduce(in, plain, COUNT, MPI_INT, MPI_MAX, comm),
         MPI_Iallreduce_c(in, large, COUNT, MPI_INT, MPI_MAX, comm, &request));
    BOTH(MPI_Reduce_scatter(in, plain, small_counts, MPI_INT, MPI_SUM, comm),
         MPI_Ireduce_scatter_c(in, large, counts, MPI_INT, MPI_SUM, comm, &request));
    BOTH(MPI_Reduce_scatter_block(in, plain, COUNT, MPI_INT, MPI_SUM, comm),
         MPI_Ireduce_scatter_block_c(in, large, COUNT, MPI_INT, MPI_SUM, comm, &request));
    BOTH(MPI_Scan(in, plain, COUNT, MPI_INT, MPI_SUM, comm),
         MPI_Iscan_c(in, large, COUNT, MPI_INT, MPI_SUM, comm, &request));
    BOTH(MPI_Exscan(in, plain, COUNT, MPI_INT, MPI_SUM, comm),
         MPI_Iexscan_c(in, large, COUNT, MPI_INT, MPI_SUM, comm, &request));
    MPI_Finalize();
    return 0;
}
