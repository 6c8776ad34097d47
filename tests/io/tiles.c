/* SPDX-License-Identifier: BSD-3-Clause */
/* Filetypes whose tiles reach into each other, of which one tile is used: so do libraries of arrays combine the
 * variables of many requests, a struct of subarrays and runs behind them, whose extent is that of the subarrays. Random
 * arrays, columns of which belong to the ranks, are written and read by all together or by each alone, from a random
 * position of the tile on too; the file is compared with what plain calls make of it. MUR_TEST_SEED repeats a seed. */
#include <fcntl.h>
#include <unistd.h>

#include "random.h"
#include "scratch.h"
#include "test.h"

enum { ARRAYS = 4, ROWS = 9, COLUMNS = 40, ROUNDS = 40, GAP = 0x5a5a5a5a };

static int rank, size;
static char name[300];

/* Arrays one after the other in the file, in ints; of each, this rank has columns. */
static struct array {
    int rows, columns, place;
    int first[65]; /* column of each rank, and the end */
} arrays[ARRAYS];
static int count, all;

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void draw(void)
{
    count = 2 + random_below(ARRAYS - 1);
    all = random_below(20);
    for (int i = 0; i < count; i++) {
        struct array *array = &arrays[i];

        *array = (struct array){.rows = 1 + random_below(ROWS), .columns = size + random_below(COLUMNS), .place = all};
        for (int r = 1; r < size; r++)
            array->first[r] = random_below(array->columns + 1);
        array->first[size] = array->columns;
        qsort(array->first, (size_t)size + 1, sizeof array->first[0], ascending);
        all += array->rows * array->columns + random_below(30);
    }
}

static int width_of(const struct array *array)
{
    return array->first[rank + 1] - array->first[rank];
}

/* The last is not a subarray, so that the extent says nothing about it. */
static MPI_Datatype columns_of(int i)
{
    const struct array *array = &arrays[i];
    int sizes[2] = {array->rows, array->columns}, own[2] = {array->rows, width_of(array)};
    int starts[2] = {0, array->first[rank]}, lengths[ROWS], places[ROWS];
    MPI_Datatype type;

    if (own[1] > 0 && i < count - 1) {
        MPI_Type_create_subarray(2, sizes, own, starts, MPI_ORDER_C, MPI_INT, &type);
        return type;
    }
    for (int row = 0; row < array->rows; row++) {
        lengths[row] = own[1];
        places[row] = row * array->columns + starts[1];
    }
    MPI_Type_indexed(array->rows, lengths, places, MPI_INT, &type);
    return type;
}

static MPI_Datatype tile_of_all(void)
{
    MPI_Datatype types[ARRAYS], tile;
    MPI_Aint places[ARRAYS];
    int lengths[ARRAYS];

    for (int i = 0; i < count; i++) {
        lengths[i] = 1;
        places[i] = (MPI_Aint)sizeof(int) * arrays[i].place;
        types[i] = columns_of(i);
    }
    MPI_Type_create_struct(count, lengths, places, types, &tile);
    for (int i = 0; i < count; i++)
        MPI_Type_free(&types[i]);
    if (random_below(4) == 0) {
        MPI_Datatype narrow;

        MPI_Type_create_resized(tile, 0, 4 * random_below(3), &narrow);
        MPI_Type_free(&tile);
        tile = narrow;
    }
    MPI_Type_commit(&tile);
    return tile;
}

/* In the order of the tile, this rank's elements; each holds its place in the file. */
static int fill(int *data)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        for (int row = 0; row < arrays[i].rows; row++)
            for (int column = 0; column < width_of(&arrays[i]); column++)
                data[n++] = arrays[i].place + row * arrays[i].columns + arrays[i].first[rank] + column;
    return n;
}

static void make_file(void)
{
    int *data = malloc((size_t)all * sizeof *data), fd;

    if (rank == 0) {
        for (int i = 0; i < all; i++)
            data[i] = GAP;
        fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        CHECK(write(fd, data, (size_t)all * sizeof *data) == (ssize_t)((size_t)all * sizeof *data));
        close(fd);
    }
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Written by any rank, or still the gap's. */
static void check_file(const char *written)
{
    int *data = malloc((size_t)all * sizeof *data), fd;

    if (rank == 0) {
        fd = open(name, O_RDONLY);
        CHECK(read(fd, data, (size_t)all * sizeof *data) == (ssize_t)((size_t)all * sizeof *data));
        close(fd);
        for (int i = 0; i < all; i++)
            CHECK(data[i] == (written[i] ? i : GAP));
    }
    free(data);
}

static void run_round(void)
{
    int is_collective = random_below(3) > 0, *data = malloc((size_t)all * sizeof *data),
        *back = malloc((size_t)all * 4);
    int mine, from, moved, differs = random_below(1 << 20);
    char *written = calloc((size_t)all, 1);
    MPI_Datatype tile = tile_of_all();
    MPI_Status status;
    MPI_File file;

    mine = fill(data);
    from = mine && differs % 3 == 0 ? (differs + rank) % mine : 0;
    make_file();
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CHECK(MPI_File_set_view(file, 0, MPI_INT, tile, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK((is_collective ? MPI_File_write_at_all(file, from, data + from, mine - from, MPI_INT, &status)
                         : MPI_File_write_at(file, from, data + from, mine - from, MPI_INT, &status)) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = from; i < mine; i++)
        written[data[i]] = 1;
    MPI_Allreduce(MPI_IN_PLACE, written, all, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    check_file(written);
    CHECK((is_collective ? MPI_File_read_at_all(file, from, back, mine - from, MPI_INT, &status)
                         : MPI_File_read_at(file, from, back, mine - from, MPI_INT, &status)) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &moved);
    CHECK(moved == mine - from);
    for (int i = from; i < mine; i++)
        CHECK(back[i - from] == data[i]);
    MPI_File_close(&file);
    MPI_Type_free(&tile);
    free(written);
    free(data);
    free(back);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(name, sizeof name, "io-tiles");
    random_start();
    for (int i = 0; i < ROUNDS; i++) {
        draw();
        run_round();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
    MPI_Finalize();
    return 0;
}
