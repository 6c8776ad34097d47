/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed arrays of one to three dimensions, in both orders, with every distribution, some ranks having nothing:
 * written in every form, compared element by element with what a plain formula says, and read back as subarrays that
 * the ranks divide otherwise, also by views of no data at all. */
#include <fcntl.h>
#include <unistd.h>

#include "forms.h"
#include "random.h"
#include "scratch.h"

enum { DIMENSIONS = 3, LONGEST = 30 };

static int rank, size;
static char name[300];

struct array {
    int dimensions, order, total;
    int sizes[DIMENSIONS], distributions[DIMENSIONS], arguments[DIMENSIONS], grid[DIMENSIONS];
};

static void draw(struct array *array)
{
    static const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};

    if (rank == 0) {
        *array = (struct array){.dimensions = 1 + random_below(DIMENSIONS), .total = 1};
        array->order = random_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        for (int d = 0; d < array->dimensions; d++) {
            array->sizes[d] = 1 + random_below(LONGEST);
            array->total *= array->sizes[d];
            array->distributions[d] = kinds[random_below(d ? 3 : 2)];
            array->grid[d] = array->distributions[d] == MPI_DISTRIBUTE_NONE ? 1 : 0;
        }
        MPI_Dims_create(size, array->dimensions, array->grid);
        for (int d = 0; d < array->dimensions; d++) {
            int least = (array->sizes[d] + array->grid[d] - 1) / array->grid[d];

            array->arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
            if (array->distributions[d] == MPI_DISTRIBUTE_BLOCK && random_below(2))
                array->arguments[d] = least + random_below(3);
            if (array->distributions[d] == MPI_DISTRIBUTE_CYCLIC && random_below(2))
                array->arguments[d] = 1 + random_below(5);
        }
    }
    MPI_Bcast(array, (int)sizeof *array, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Where along one dimension of the grid an index belongs. */
static int owner_along(const struct array *array, int d, int index)
{
    int argument = array->arguments[d];

    if (array->distributions[d] == MPI_DISTRIBUTE_NONE)
        return 0;
    if (array->distributions[d] == MPI_DISTRIBUTE_CYCLIC)
        return index / (argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument) % array->grid[d];
    if (argument == MPI_DISTRIBUTE_DFLT_DARG)
        argument = (array->sizes[d] + array->grid[d] - 1) / array->grid[d];
    return index / argument;
}

/* The grid is in C's order, the array in its own. */
static int owner(const struct array *array, int element)
{
    int index[DIMENSIONS], result = 0;

    for (int i = 0; i < array->dimensions; i++) {
        int d = array->order == MPI_ORDER_C ? array->dimensions - 1 - i : i;

        index[d] = element % array->sizes[d];
        element /= array->sizes[d];
    }
    for (int d = 0; d < array->dimensions; d++)
        result = result * array->grid[d] + owner_along(array, d, index[d]);
    return result;
}

static int value_of(int round, int element)
{
    return round * 1000003 + element * 17 + 1;
}

static enum form draw_form(void)
{
    int form = random_below(FORMS);

    MPI_Bcast(&form, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return (enum form)form;
}

static void write_array(MPI_File file, const struct array *array, int round, MPI_Offset head)
{
    int *data = malloc((size_t)array->total * sizeof *data), count = 0, bytes;
    MPI_Datatype type;

    CHECK(data);
    for (int i = 0; i < array->total; i++)
        if (owner(array, i) == rank)
            data[count++] = value_of(round, i);
    MPI_Type_create_darray(size, rank, array->dimensions, array->sizes, array->distributions, array->arguments,
                           array->grid, array->order, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 4 * count);
    CHECK(MPI_File_set_view(file, head, MPI_INT, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(form_write(file, draw_form(), 0, data, count, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Type_free(&type);
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_file(const struct array *array, int round, MPI_Offset head)
{
    int *raw = malloc((size_t)array->total * sizeof *raw), fd = open(name, O_RDONLY);

    CHECK(raw && fd >= 0);
    CHECK(pread(fd, raw, (size_t)array->total * 4, head) == array->total * 4);
    for (int i = 0; i < array->total; i++)
        CHECK(raw[i] == value_of(round, i));
    close(fd);
    free(raw);
}

/* Each rank some rows of the slowest dimension, the last ones maybe none. */
static void read_rows(MPI_File file, const struct array *array, int round, MPI_Offset head)
{
    int slowest = array->order == MPI_ORDER_C ? 0 : array->dimensions - 1, parts[DIMENSIONS], starts[DIMENSIONS] = {0};
    int rows = array->sizes[slowest], each = (rows + size - 1) / size, first = rank * each < rows ? rank * each : rows;
    int own = rows - first < each ? rows - first : each, row = array->total / rows, count = own * row, got;
    int *found = calloc((size_t)count + 1, sizeof *found);
    MPI_Datatype type;
    MPI_Status status;

    CHECK(found);
    memcpy(parts, array->sizes, sizeof parts);
    parts[slowest] = own;
    starts[slowest] = first;
    if (own)
        MPI_Type_create_subarray(array->dimensions, array->sizes, parts, starts, array->order, MPI_INT, &type);
    else
        MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(file, head, MPI_INT, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(form_read(file, draw_form(), 0, found, count, MPI_INT, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK(got == count);
    for (int i = 0; i < count; i++)
        CHECK(found[i] == value_of(round, first * row + i));
    MPI_Type_free(&type);
    free(found);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct array array;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(name, sizeof name, "arrays");
    random_start();
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    for (int round = 0; round < 80; round++) {
        MPI_Offset head = 0;

        if (rank == 0)
            head = random_below(3) ? random_below(10000) : ((MPI_Offset)5 << 30) + random_below(10000);
        MPI_Bcast(&head, 1, MPI_OFFSET, 0, MPI_COMM_WORLD);
        draw(&array);
        if (round % 7 == 0)
            CHECK(MPI_File_set_atomicity(file, round % 2) == MPI_SUCCESS);
        write_array(file, &array, round, head);
        check_file(&array, round, head);
        read_rows(file, &array, round, head);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
