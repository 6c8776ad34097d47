/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: a matrix of doubles, block-cyclic over a grid of the ranks, written and read by all together; contiguous
 * pieces of the ranks; strided access by each rank alone; and beside it what one process gets with plain large writes
 * and reads. GB/s of the file, the best of several repetitions.
 *
 *     io [N] [ROW]... [KEY=VALUE]...     a matrix of N by N (2048); rows, such as cyclic-read; hints
 *
 * The file is in $TMPDIR, else in /dev/shm. */
#include <fcntl.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { BLOCK = 64, PIECE = 4 << 20 };

static int rank, size, side, rounds;
static char name[300];
static size_t all_bytes, own_bytes;
static double *memory;
static MPI_Info hints;

static void report(const char *what, double seconds)
{
    char row[64];

    snprintf(row, sizeof row, "io-%s-%d", what, side);
    if (rank == 0)
        bench_print(row, (double)all_bytes / seconds / 1e9, "GB/s");
}

/* One clock for all ranks: MPI_Wtime may begin elsewhere in each. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* From the first rank's start to the last one's end. Each rank's own time will not do where ranks share a core: one
 * that is let onto it late starts late, and together they would seem to move more than the machine can. */
static double since(double start)
{
    double own[2] = {-start, now()}, all[2];

    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[0] + all[1];
}

static void check(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "io: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* One process that has the whole matrix in its memory, a few large calls. */
static void plain(int is_write)
{
    char *matrix = rank ? NULL : bench_memory(all_bytes);
    double best = 1e9;

    for (int i = 0; i < rounds; i++) {
        double start;
        int fd = rank ? -1 : open(name, O_RDWR | O_CREAT, 0600);

        MPI_Barrier(MPI_COMM_WORLD);
        start = rank ? INFINITY : now(); /* of the others nobody asks */
        for (size_t at = 0; rank == 0 && at < all_bytes; at += PIECE) {
            ssize_t moved =
                is_write ? pwrite(fd, matrix + at, PIECE, (off_t)at) : pread(fd, matrix + at, PIECE, (off_t)at);

            check(moved == PIECE ? MPI_SUCCESS : MPI_ERR_IO, "plain access");
        }
        start = since(start);
        best = start < best ? start : best;
        if (fd >= 0)
            close(fd);
    }
    free(matrix);
    report(is_write ? "plain-write" : "plain-read", best);
}

enum { WRITE = 1, TOGETHER = 2 };

static int access_view(MPI_File file, int how, int count, MPI_Status *status)
{
    if (how & WRITE)
        return how & TOGETHER ? MPI_File_write_all(file, memory, count, MPI_DOUBLE, status)
                              : MPI_File_write(file, memory, count, MPI_DOUBLE, status);
    return how & TOGETHER ? MPI_File_read_all(file, memory, count, MPI_DOUBLE, status)
                          : MPI_File_read(file, memory, count, MPI_DOUBLE, status);
}

/* Through a view, all together or alone; the best of the rounds from `first` on. The file exists already: its pages are
 * there, whoever comes first. */
static double through_view(const char *what, MPI_Offset displacement, MPI_Datatype filetype, int how, int first)
{
    int count = (int)(own_bytes / sizeof(double));
    double best = 1e9;
    MPI_File file;

    check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file), "open");
    check(MPI_File_set_view(file, displacement, MPI_DOUBLE, filetype, "native", MPI_INFO_NULL), "set_view");
    for (int i = first; i < rounds; i++) {
        MPI_Status status;
        double start;
        int code;

        for (int k = 0; k < count && how & WRITE; k += 512)
            memory[k] = rank + (double)k + i;
        MPI_File_seek(file, 0, MPI_SEEK_SET);
        MPI_Barrier(MPI_COMM_WORLD);
        start = now();
        code = access_view(file, how, count, &status);
        start = since(start);
        check(code, what);
        best = start < best ? start : best;
    }
    for (int k = 0; k < count && !(how & WRITE); k += 512) /* what was written is there */
        check(memory[k] == rank + (double)k + rounds - 1 ? MPI_SUCCESS : MPI_ERR_IO, "comparing");
    MPI_File_close(&file);
    return best;
}

static MPI_Datatype block_cyclic(void)
{
    int sizes[2] = {side, side}, distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    int blocks[2] = {BLOCK, BLOCK}, grid[2] = {0, 0};
    MPI_Datatype type;

    MPI_Dims_create(size, 2, grid);
    MPI_Type_create_darray(size, rank, 2, sizes, distributions, blocks, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Every size-th run of eight doubles. */
static MPI_Datatype strided(void)
{
    MPI_Datatype run, type;

    MPI_Type_contiguous(8, MPI_DOUBLE, &run);
    MPI_Type_create_resized(run, 0, size * 64, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&run);
    return type;
}

static int chosen; /* rows by the user */
static char **choice;

static int is_wanted(const char *row)
{
    for (int i = 0; i < chosen; i++)
        if (strcmp(choice[i], row) == 0)
            return 1;
    return !chosen;
}

/* Writing and reading what was written. */
static void both(const char *what, MPI_Offset displacement, MPI_Datatype filetype, int how)
{
    char write[32], read[32];
    double seconds;

    snprintf(write, sizeof write, "%s-write", what);
    snprintf(read, sizeof read, "%s-read", what);
    if (!is_wanted(write) && !is_wanted(read))
        return;
    seconds = through_view(write, displacement, filetype, how | WRITE, is_wanted(write) ? 0 : rounds - 1);
    if (is_wanted(write))
        report(write, seconds);
    if (is_wanted(read))
        report(read, through_view(read, displacement, filetype, how, 0));
}

/* [N] [ROW]... [KEY=VALUE]... */
static void read_arguments(int count, char **arguments)
{
    side = count > 0 && atoi(arguments[0]) > 0 ? atoi(arguments[0]) : 2048;
    choice = arguments + (count > 0 && atoi(arguments[0]) > 0);
    count -= (int)(choice - arguments);
    while (chosen < count && !strchr(choice[chosen], '='))
        chosen++;
    MPI_Info_create(&hints);
    for (int i = chosen; i < count; i++) {
        char *value = strchr(choice[i], '=');

        check(value ? MPI_SUCCESS : MPI_ERR_INFO, choice[i]);
        *value = '\0';
        MPI_Info_set(hints, choice[i], value + 1);
    }
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    MPI_Datatype cyclic, runs;
    int pid = (int)getpid();

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    read_arguments(argc - 1, argv + 1);
    rounds = side > 4096 ? 3 : REPETITIONS;
    snprintf(name, sizeof name, "%s/murmur-bench-io-%d", folder ? folder : "/dev/shm", pid);
    all_bytes = (size_t)side * (size_t)side * sizeof(double);
    own_bytes = all_bytes / (size_t)size;
    memory = bench_memory(own_bytes);
    cyclic = block_cyclic();
    runs = strided();
    plain(1); /* which makes the file */
    if (is_wanted("plain-read"))
        plain(0);
    both("cyclic", 0, cyclic, TOGETHER);
    both("contiguous", (MPI_Offset)own_bytes * rank, MPI_DOUBLE, TOGETHER);
    both("strided", rank * 64, runs, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
    MPI_Info_free(&hints);
    MPI_Type_free(&cyclic);
    MPI_Type_free(&runs);
    free(memory);
    MPI_Finalize();
    return 0;
}
