/* SPDX-License-Identifier: BSD-3-Clause */
/* Helper of the scripts: writes a matrix of so many MiB into the file that it is told, a row of blocks of each rank in
 * turn, so many times, and prints what each rank heard.
 *
 *     io-full FILE MIB TIMES [all|sieve|locked|later]   all together; each rank its blocks, maybe with locks; each rank
 *                                                       one run, nonblocking
 *     io-full FILE MIB RANKS check                      reads what so many ranks have written in blocks */
#include "test.h"

enum { BLOCK = 1000 };

static int rank, size;

/* Bytes that each of so many ranks has of a matrix. */
static int part_of(const char *mib, int ranks)
{
    return (int)((long)atoi(mib) * (1 << 20) / ranks / BLOCK * BLOCK);
}

static int write_once(MPI_File file, const char *form, const char *data, int count)
{
    MPI_Request request;
    int rc;

    if (strcmp(form, "all") == 0)
        return MPI_File_write_at_all(file, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
    if (strcmp(form, "sieve") == 0 || strcmp(form, "locked") == 0)
        return MPI_File_write_at(file, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
    rc = MPI_File_iwrite_at(file, (MPI_Offset)count * rank, data, count, MPI_BYTE, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void set_view(MPI_File file, const char *form)
{
    MPI_Datatype run, blocks;
    MPI_Info info;

    MPI_Info_create(&info);
    if (strcmp(form, "locked") == 0)
        MPI_Info_set(info, "romio_ds_write", "enable");
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, (MPI_Aint)BLOCK * size, &blocks);
    MPI_Type_commit(&blocks);
    MPI_Type_free(&run);
    MPI_File_set_view(file, (MPI_Offset)rank * BLOCK, MPI_BYTE, blocks, "native", info);
    MPI_Type_free(&blocks);
    MPI_Info_free(&info);
}

static int write_matrix(MPI_File file, char **argv, const char *form)
{
    int count = part_of(argv[2], size), repeats = atoi(argv[3]), code = MPI_SUCCESS, class;
    char *data = malloc((size_t)count);

    CHECK(data);
    memset(data, 'a' + rank, (size_t)count);
    if (strcmp(form, "later") != 0)
        set_view(file, form);
    for (int i = 0; i < repeats; i++) {
        code = write_once(file, form, data, count);
        if (rank == 0 && i == 0 && repeats > 1) {
            printf("writing\n");
            fflush(stdout);
        }
    }
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;

        MPI_Error_string(code, text, &length);
        if (!strstr(text, argv[1]))
            printf("the error does not name the file: %s\n", text);
    }
    MPI_Error_class(code, &class);
    free(data);
    return class;
}

/* In contiguous parts, by another number of ranks. */
static int check_matrix(MPI_File file, char **argv)
{
    int writers = atoi(argv[3]), own = part_of(argv[2], writers) / BLOCK * writers / size;
    long first = (long)own * rank;
    char *data = malloc((size_t)own * BLOCK);
    MPI_Status status;
    int got;

    CHECK(data);
    CHECK(MPI_File_read_at_all(file, first * BLOCK, data, own * BLOCK, MPI_BYTE, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK(got == own * BLOCK);
    for (long i = 0; i < (long)own * BLOCK; i++)
        CHECK(data[i] == 'a' + (first + i / BLOCK) % writers);
    free(data);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *form;
    int class;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc >= 4);
    form = argc > 4 ? argv[4] : "all";
    MPI_Error_class(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                    &class);
    if (class == MPI_SUCCESS) {
        class = strcmp(form, "check") == 0 ? check_matrix(file, argv) : write_matrix(file, argv, form);
        MPI_File_close(&file);
    }
    printf("%s\n", class == MPI_SUCCESS         ? "written"
                   : class == MPI_ERR_NO_SPACE  ? "no space"
                   : class == MPI_ERR_QUOTA     ? "quota"
                   : class == MPI_ERR_READ_ONLY ? "read only"
                   : class == MPI_ERR_ACCESS    ? "no access"
                                                : "another error");
    MPI_Finalize();
    return 0;
}
