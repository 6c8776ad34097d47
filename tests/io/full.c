/* SPDX-License-Identifier: BSD-3-Clause */
/* Helper of full.sh and killed.sh: writes a matrix of so many MiB together into the file that it is told, a row of
 * blocks of each rank in turn, again and again until it is killed if it shall; prints what each rank heard. */
#include "test.h"

int main(int argc, char **argv)
{
    int rank, size, count, class = 0, repeats;
    MPI_Datatype run, blocks;
    MPI_File file;
    char *data;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 4);
    count = atoi(argv[2]) * (1 << 20) / size / 1000 * 1000;
    repeats = atoi(argv[3]);
    data = malloc((size_t)count);
    CHECK(data);
    memset(data, 'a' + rank, (size_t)count);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_Type_contiguous(1000, MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, 1000 * size, &blocks);
    MPI_Type_commit(&blocks);
    MPI_Type_free(&run);
    MPI_File_set_view(file, rank * 1000, MPI_BYTE, blocks, "native", MPI_INFO_NULL);
    for (int i = 0; i < repeats; i++) {
        MPI_Error_class(MPI_File_write_at_all(file, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE), &class);
        if (rank == 0 && i == 0 && repeats > 1) {
            printf("writing\n");
            fflush(stdout);
        }
    }
    printf("%s\n", class == MPI_SUCCESS        ? "written"
                   : class == MPI_ERR_NO_SPACE ? "no space"
                   : class == MPI_ERR_QUOTA    ? "quota"
                                               : "another error");
    MPI_Type_free(&blocks);
    free(data);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
