/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of file accesses: many under way at once, also collective ones, waited for in any order and together with
 * messages; freed, and then closed over; tested; not cancelled; an error reaches the file's own handler. */
#include "test.h"

enum { COUNT = 5000, MANY = 6 };

static int rank, size, calls;
static MPI_File file, seen;

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void handler(MPI_File *handle, int *code, ...)
{
    CHECK(*code != MPI_SUCCESS);
    seen = *handle;
    calls++;
}

static void interleave(MPI_Datatype *type)
{
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, type);
    MPI_Type_commit(type);
    MPI_File_set_view(file, 4 * rank, MPI_INT, *type, "native", MPI_INFO_NULL);
}

static void many(void)
{
    static int out[MANY][COUNT], in[MANY][COUNT];
    MPI_Request requests[MANY + 2];
    MPI_Status statuses[MANY + 2];
    int mail = rank, post = -1, count, flag = 0;

    for (int k = 0; k < MANY; k++) {
        for (int i = 0; i < COUNT; i++)
            out[k][i] = (k * size + rank) * COUNT + i;
        if (k % 3 == 2)
            MPI_File_iwrite_at(file, k * COUNT, out[k], COUNT, MPI_INT, &requests[k]);
        else
            MPI_File_iwrite_at_all(file, k * COUNT, out[k], COUNT, MPI_INT, &requests[k]);
    }
    for (int k = MANY - 1; k >= 0; k--) {
        CHECK(MPI_Wait(&requests[k], &statuses[k]) == MPI_SUCCESS);
        MPI_Get_count(&statuses[k], MPI_INT, &count);
        CHECK(count == COUNT);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < MANY; k++)
        if (k % 2)
            MPI_File_iread_at_all(file, k * COUNT, in[k], COUNT, MPI_INT, &requests[k]);
        else
            MPI_File_iread_at(file, k * COUNT, in[k], COUNT, MPI_INT, &requests[k]);
    MPI_Irecv(&post, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[MANY]);
    MPI_Isend(&mail, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[MANY + 1]);
    while (!flag)
        CHECK(MPI_Testall(MANY + 2, requests, &flag, statuses) == MPI_SUCCESS);
    CHECK(post == (rank + 1) % size && memcmp(in, out, sizeof in) == 0);
    for (int k = 0; k < MANY; k++) {
        MPI_Get_count(&statuses[k], MPI_INT, &count);
        CHECK(count == COUNT);
    }
}

static void misuse(void)
{
    int data[4] = {1, 2, 3, 4};
    MPI_Errhandler errhandler;
    MPI_Request request;
    MPI_Info info;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_File_iread_at_all(file, 0, data, 1, MPI_INT, &request);
    MPI_File_create_errhandler(handler, &errhandler);
    MPI_File_set_errhandler(file, errhandler);
    CHECK(class_of(MPI_Cancel(&request)) == MPI_ERR_REQUEST);
    calls = 0;
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && calls == 0);
    CHECK(class_of(MPI_File_iread_at(file, -1, data, 1, MPI_INT, &request)) == MPI_ERR_ARG && calls == 1);
    /* one rank is wrong: all hear of it, when they wait, through the file's handler */
    CHECK(MPI_File_iwrite_at_all(file, rank == size - 1 ? -1 : 0, data, 1, MPI_INT, &request) == MPI_SUCCESS);
    CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
    CHECK(calls == 2 && seen == file);
    CHECK(class_of(MPI_File_write_at_all(file, rank == 0 ? -1 : 0, data, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
          MPI_ERR_ARG);
    CHECK(calls == 3);
    MPI_Errhandler_free(&errhandler);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    MPI_File_get_info(file, &info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR, *data = malloc(COUNT * sizeof *data), found = 0;
    MPI_Request request;
    MPI_Datatype type;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(data);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "requests.tmp", amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_size(file, 0);
    interleave(&type);
    many();
    misuse();
    for (int i = 0; i < COUNT; i++)
        data[i] = 12345 + rank;
    MPI_File_iwrite_at(file, 0, data, COUNT, MPI_INT, &request);
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
    MPI_File_close(&file);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "requests.tmp", MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_read_at(file, 4 * (COUNT - 1) * size + 4 * rank, &found, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(found == 12345 + rank);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    free(data);
    MPI_Finalize();
    return 0;
}
