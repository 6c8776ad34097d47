/* SPDX-License-Identifier: BSD-3-Clause */
/* Places far out: what the file system cannot hold is an error of its own, never a success without data; what no file
 * can hold is refused by all forms of access, and moves neither pointer out of its range. */
#include <limits.h>

#include "test.h"

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

/* Beyond what any disk file system of today holds; some in memory hold it all, and then it must be there. */
static void write_far(MPI_File file)
{
    const MPI_Offset far[] = {(MPI_Offset)1 << 62, ((MPI_Offset)1 << 62) + 12345, LLONG_MAX - (1LL << 31)};
    MPI_Status status;
    char byte = 'a';
    int count;

    for (int i = 0; i < 3; i++) {
        int class = class_of(MPI_File_write_at(file, far[i], &byte, 1, MPI_BYTE, &status));
        MPI_Offset size;

        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_File_get_size(file, &size);
        CHECK(class == MPI_SUCCESS ? count == 1 && size > far[i] : class == MPI_ERR_NO_SPACE && count == 0);
        CHECK(class_of(MPI_File_read_at_all(file, far[i] + 1, &byte, 1, MPI_BYTE, &status)) == MPI_SUCCESS);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == 0);
        CHECK(class_of(MPI_File_set_size(file, 0)) == MPI_SUCCESS);
    }
}

static void refuse(MPI_File file)
{
    MPI_Offset most = LLONG_MAX / 8, place;
    MPI_Request request;
    double data[4] = {0};

    CHECK(MPI_File_set_view(file, 100, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (MPI_Offset at = most - 1; at > 0; at = at < LLONG_MAX - 2 ? LLONG_MAX - 2 : 0) {
        CHECK(class_of(MPI_File_write_at(file, at, data, 4, MPI_DOUBLE, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
        CHECK(class_of(MPI_File_read_at_all(file, at, data, 4, MPI_DOUBLE, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
        CHECK(class_of(MPI_File_iwrite_at(file, at, data, 4, MPI_DOUBLE, &request)) == MPI_ERR_ARG);
        CHECK(class_of(MPI_File_get_byte_offset(file, at, &place)) == MPI_ERR_ARG);
        CHECK(MPI_File_seek(file, at, MPI_SEEK_SET) == MPI_SUCCESS);
        CHECK(class_of(MPI_File_write(file, data, 4, MPI_DOUBLE, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
        CHECK(MPI_File_get_position(file, &place) == MPI_SUCCESS && place == at);
        CHECK(class_of(MPI_File_seek(file, LLONG_MAX, MPI_SEEK_CUR)) == MPI_ERR_ARG);
        CHECK(MPI_File_seek_shared(file, at, MPI_SEEK_SET) == MPI_SUCCESS);
        CHECK(class_of(MPI_File_write_shared(file, data, 4, MPI_DOUBLE, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
        CHECK(class_of(MPI_File_write_ordered(file, data, 4, MPI_DOUBLE, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_File_get_position_shared(file, &place) == MPI_SUCCESS && place == at);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(MPI_File_get_byte_offset(file, 5, &place) == MPI_SUCCESS && place == 140);
}

/* Tiles so far apart that only a few fit. */
static void step_far(MPI_File file)
{
    MPI_Datatype tile;
    char bytes[8] = {0};
    MPI_Offset place;

    MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)1 << 60, &tile);
    MPI_Type_commit(&tile);
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, tile, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_get_byte_offset(file, 6, &place) == MPI_SUCCESS && place == (MPI_Offset)6 << 60);
    CHECK(class_of(MPI_File_write_at_all(file, 0, bytes, 7, MPI_BYTE, MPI_STATUS_IGNORE)) != MPI_ERR_ARG);
    CHECK(class_of(MPI_File_write_at_all(file, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
    MPI_Type_free(&tile);
}

int main(int argc, char **argv)
{
    MPI_File file;

    MPI_Init(&argc, &argv);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "far.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    write_far(file);
    refuse(file);
    step_far(file);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
