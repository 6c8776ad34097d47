/* SPDX-License-Identifier: BSD-3-Clause */
/* One of several MPI programs that a rank's script runs in turn: turn NUMBER FILE. The number is part of all that the
 * ranks tell each other, so whatever comes from another program is noticed. Which kinds of operations come, and in what
 * order, all ranks draw from the seed and the number. */
#include "random.h"

enum { LARGE = 1 << 18 };

static int number, rank, size;

static int mark(int from, int i)
{
    return number * 1000003 + from * 1009 + i;
}

static void broadcast(void)
{
    int root = random_below(size), value = rank == root ? mark(root, 1) : -1;

    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == mark(root, 1));
}

static void reduce(void)
{
    int value = mark(rank, 0), sum, expected = 0;

    for (int i = 0; i < size; i++)
        expected += mark(i, 0);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == expected);
}

static void exchange(int count)
{
    int *out = malloc((size_t)count * sizeof *out), *in = malloc((size_t)count * sizeof *in);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;

    for (int i = 0; i < count; i++)
        out[i] = mark(rank, i);
    MPI_Sendrecv(out, count, MPI_INT, to, 3, in, count, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        CHECK(in[i] == mark(from, i));
    free(out);
    free(in);
}

static void exchange_small(void)
{
    exchange(1 + random_below(50));
}

static void exchange_large(void)
{
    exchange(LARGE);
}

static void windows(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, *memory, value = mark(rank, 7);
    MPI_Win window;

    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    *memory = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(*memory == mark(from, 7));
    MPI_Win_free(&window);
}

static void communicators(void)
{
    int value = mark(rank, 5), least, expected = mark(rank % 2, 5);
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Allreduce(&value, &least, 1, MPI_INT, MPI_MIN, half);
    CHECK(least == expected);
    MPI_Comm_free(&half);
}

static void all_to_all(void)
{
    int *out = malloc((size_t)size * sizeof *out), *in = malloc((size_t)size * sizeof *in);
    MPI_Request request;

    for (int i = 0; i < size; i++)
        out[i] = mark(rank, i);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == mark(i, rank));
    free(out);
    free(in);
}

static const char *file_name;

static void file(void)
{
    int value = mark(rank, 9), next = -1;
    MPI_File handle;

    MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle);
    MPI_File_write_at_all(handle, (MPI_Offset)(rank * (int)sizeof value), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(handle);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(handle, (MPI_Offset)((rank + 1) % size * (int)sizeof value), &next, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    CHECK(next == mark((rank + 1) % size, 9));
    MPI_File_close(&handle);
}

/* The last act: rank 0 leaves a message that its neighbour may receive after rank 0's next program has begun. */
static void leave(void)
{
    int value = mark(0, 11);

    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1 % size, 4, MPI_COMM_WORLD);
    if (rank == 1 % size) {
        MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == mark(0, 11));
    }
}

static void (*const kinds[])(void) = {broadcast, reduce,        exchange_small, exchange_large,
                                      windows,   communicators, all_to_all,     file};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 3);
    number = atoi(argv[1]);
    file_name = argv[2];
    random_state = draw_seed() + (unsigned)number;
    for (int i = random_below(4); i >= 0; i--)
        kinds[random_below(KINDS)]();
    if (size > 1 && random_below(2))
        leave();
    MPI_Finalize();
    return 0;
}
