/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing through random views, with every form of access, against a copy of the file in memory to which
 * each rank's elements are put one by one; the file is compared byte by byte, and read back through other views. */
#include <fcntl.h>
#include <unistd.h>

#include "random.h"
#include "scratch.h"

enum { LARGEST = 1 << 16 };

static int rank, size;
static char name[300];

/* A view: for this rank a random subset of the file, disjoint from all others': element e of the stream is byte
 * range[e] of the file, in units of `unit` bytes. */
struct view {
    MPI_Datatype etype, filetype;
    MPI_Offset displacement;
    int unit, count;
    MPI_Offset *place; /* of each etype of the first `count` */
};

static struct view make_view(int kind, int r)
{
    struct view v = {.unit = 1 << random_below(4), .displacement = random_below(100)};
    int block = 1 + random_below(5), tiles = 3, extent;
    int lengths[3], displacements[3], at = 0;

    v.etype = v.unit == 1 ? MPI_BYTE : v.unit == 2 ? MPI_SHORT : v.unit == 4 ? MPI_INT : MPI_DOUBLE;
    if (kind == 0) { /* blocks of all ranks in turn */
        MPI_Datatype inner;

        MPI_Type_contiguous(block, v.etype, &inner);
        MPI_Type_create_resized(inner, 0, (MPI_Aint)block * v.unit * size, &v.filetype);
        MPI_Type_free(&inner);
        v.displacement += (MPI_Offset)r * block * v.unit;
        lengths[0] = block;
        displacements[0] = 0;
        extent = block * size;
        at = 1;
    } else if (kind == 1) { /* irregular: three blocks a tile, each rank its own part of the tile */
        MPI_Datatype inner;

        for (int i = 0; i < 3; i++) {
            lengths[i] = random_below(4);
            displacements[i] = i * 4 * size + 4 * r;
        }
        lengths[0]++;
        MPI_Type_indexed(3, lengths, displacements, v.etype, &inner);
        extent = 12 * size;
        MPI_Type_create_resized(inner, 0, (MPI_Aint)extent * v.unit, &v.filetype);
        MPI_Type_free(&inner);
        at = 3;
    } else { /* a column block of a matrix */
        int sizes[2] = {5, 6 * size}, subsizes[2] = {5, 6}, starts[2] = {0, 6 * r};

        MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, v.etype, &v.filetype);
        extent = 5 * 6 * size;
    }
    MPI_Type_commit(&v.filetype);
    v.place = malloc(LARGEST * sizeof *v.place);
    CHECK(v.place);
    for (int tile = 0; tile < tiles; tile++) {
        MPI_Offset base = v.displacement + (MPI_Offset)tile * extent * v.unit;

        for (int b = 0; b < at; b++)
            for (int i = 0; i < lengths[b]; i++)
                v.place[v.count++] = base + (MPI_Offset)(displacements[b] + i) * v.unit;
        for (int row = 0; kind == 2 && row < 5; row++)
            for (int i = 0; i < 6; i++)
                v.place[v.count++] = base + (MPI_Offset)(row * 6 * size + 6 * r + i) * v.unit;
    }
    return v;
}

static unsigned char byte_at(int round, int r, int element, int i)
{
    return (unsigned char)(round * 17 + r * 5 + element * 3 + i + 1);
}

/* Writes or reads elements [first, first+count) of the view in one of the four forms. */
static void access_file(MPI_File file, int form, int first, void *data, int count, MPI_Datatype etype, int is_write,
                        MPI_Status *status)
{
    if (form < 2)
        MPI_File_seek(file, first, MPI_SEEK_SET);
    if (is_write) {
        if (form == 0)
            MPI_File_write(file, data, count, etype, status);
        else if (form == 1)
            MPI_File_write_all(file, data, count, etype, status);
        else if (form == 2)
            MPI_File_write_at(file, first, data, count, etype, status);
        else
            MPI_File_write_at_all_c(file, first, data, count, etype, status);
    } else {
        if (form == 0)
            MPI_File_read(file, data, count, etype, status);
        else if (form == 1)
            MPI_File_read_all(file, data, count, etype, status);
        else if (form == 2)
            MPI_File_read_at(file, first, data, count, etype, status);
        else
            MPI_File_read_at_all_c(file, first, data, count, etype, status);
    }
}

static void round_of_access(int round)
{
    unsigned char *expected = calloc(1, LARGEST), *found = calloc(1, LARGEST), *data = malloc(LARGEST);
    int kind = random_below(3), form = random_below(4);
    unsigned saved = random_state;
    MPI_Offset end = 0, file_size, offset;
    struct view mine = {0};
    MPI_Status status;
    MPI_File file;
    int fd, count;

    CHECK(expected && found && data);
    for (int r = 0; r < size; r++) { /* every rank draws every view, from the same numbers */
        struct view v;

        random_state = saved;
        v = make_view(kind, r);
        for (int e = 0; e < v.count; e++)
            for (int i = 0; i < v.unit; i++) {
                expected[v.place[e] + i] = byte_at(round, r, e, i);
                end = v.place[e] + i + 1 > end ? v.place[e] + i + 1 : end;
            }
        if (r == rank) {
            mine = v;
        } else {
            MPI_Type_free(&v.filetype);
            free(v.place);
        }
    }
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, mine.displacement, mine.etype, mine.filetype, "native", MPI_INFO_NULL);
    for (int e = 0; e < mine.count; e++)
        for (int i = 0; i < mine.unit; i++)
            data[e * mine.unit + i] = byte_at(round, rank, e, i);
    count = mine.count / 2; /* in two parts, the second first */
    access_file(file, form, count, data + count * mine.unit, mine.count - count, mine.etype, 1, &status);
    access_file(file, form, 0, data, count, mine.etype, 1, &status);
    MPI_Get_count(&status, mine.etype, &fd);
    CHECK(fd == count);
    if (form < 2) {
        MPI_File_get_position(file, &offset);
        CHECK(offset == count);
    }
    for (int e = 0; e < mine.count; e += 1 + mine.count / 7) {
        MPI_File_get_byte_offset(file, e, &offset);
        CHECK(offset == mine.place[e]);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &file_size);
    CHECK(file_size == end);
    fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, found, LARGEST, 0) == end && memcmp(found, expected, (size_t)end) == 0);
    close(fd);

    memset(data, 0, LARGEST); /* read back through the view, by another form */
    access_file(file, (form + 1) % 4, 0, data, mine.count, mine.etype, 0, &status);
    for (int e = 0; e < mine.count; e++)
        for (int i = 0; i < mine.unit; i++)
            CHECK(data[e * mine.unit + i] == byte_at(round, rank, e, i));
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL); /* past the end: a short read */
    MPI_File_read_at(file, end - 1, data, 10, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == 1 && data[0] == expected[end - 1]);
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    MPI_Type_free(&mine.filetype);
    free(mine.place);
    free(expected);
    free(found);
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(name, sizeof name, "views");
    for (int round = 0; round < 40; round++)
        round_of_access(round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Finalize();
    return 0;
}
