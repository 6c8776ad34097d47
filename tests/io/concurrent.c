/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that write at the same time. Sieved writes and plain ones into each other's holes all survive. In atomic mode
 * overlapping accesses, strided and collective ones, too, appear one after the other; also by two openings of a file.
 */
#include <unistd.h>

#include "random.h"

enum { CELLS = 4000, ROUNDS = 15 };

static int rank, size;

static MPI_File open_file(MPI_Comm comm, const char *choice)
{
    MPI_File file;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", choice);
    MPI_Info_set(info, "ind_wr_buffer_size", "5000");
    CHECK(MPI_File_open(comm, "concurrent.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS);
    MPI_Info_free(&info);
    return file;
}

/* Every rank has each size-th cell. The last rank writes its cells one by one with plain calls, the others sieve. */
static void holes(void)
{
    MPI_File file = open_file(MPI_COMM_WORLD, "enable");
    int data[CELLS], found[CELLS];
    MPI_Datatype type;

    MPI_File_set_size(file, 0);
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_commit(&type);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CELLS; i++)
            data[i] = (round * size + rank) * CELLS + i + 1;
        if (rank == size - 1 && size > 1) {
            MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
            for (int i = 0; i < CELLS; i++)
                CHECK(MPI_File_write_at(file, (MPI_Offset)i * size + rank, &data[i], 1, MPI_INT, MPI_STATUS_IGNORE) ==
                      MPI_SUCCESS);
        } else {
            MPI_File_set_view(file, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
            for (int i = 0; i < CELLS; i += CELLS / 4)
                CHECK(MPI_File_write_at(file, i, data + i, CELLS / 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
        MPI_File_sync(file);
        MPI_File_set_view(file, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
        CHECK(MPI_File_read_at(file, 0, found, CELLS, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(memcmp(found, data, sizeof data) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&type);
    MPI_File_close(&file);
}

/* All write the same cells, with a hole after each; then all cells are of one rank. */
static void serial(MPI_File file, MPI_Datatype type, int form)
{
    int data[CELLS], found[CELLS];
    MPI_Request request;

    MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CELLS; i++)
            data[i] = round * size + rank;
        if (form == 0) {
            MPI_File_write_at(file, 0, data, CELLS, MPI_INT, MPI_STATUS_IGNORE);
        } else if (form == 1) {
            MPI_File_write_at_all(file, 0, data, CELLS, MPI_INT, MPI_STATUS_IGNORE);
        } else {
            MPI_File_iwrite_at(file, 0, data, CELLS, MPI_INT, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        /* while others may still write */
        CHECK(MPI_File_read_at(file, 0, found, CELLS, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int i = 1; i < CELLS; i++)
            CHECK(found[i] == found[0]);
        CHECK(found[0] / size == round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void atomic(void)
{
    MPI_File together = open_file(MPI_COMM_WORLD, "automatic"), alone = open_file(MPI_COMM_SELF, "automatic");
    MPI_Datatype type;

    MPI_Type_create_resized(MPI_INT, 0, 12, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_atomicity(together, 1) == MPI_SUCCESS);
    CHECK(MPI_File_set_atomicity(alone, 1) == MPI_SUCCESS);
    for (int form = 0; form < 3; form++)
        serial(together, type, form);
    serial(alone, type, 0);
    MPI_Type_free(&type);
    MPI_File_close(&alone);
    MPI_File_close(&together);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    holes();
    atomic();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete("concurrent.tmp", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Finalize();
    return 0;
}
