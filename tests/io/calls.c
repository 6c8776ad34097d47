/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function that reads or writes at an offset or at the individual file pointer, in both forms: each pair writes
 * and reads back its own piece of a file, and a short read at the file's end tells its length. */
#include <unistd.h>

#include "test.h"

enum { COUNT = 1000 };

typedef int at_function(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *);
typedef int at_function_c(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Status *);
typedef int own_function(MPI_File, void *, int, MPI_Datatype, MPI_Status *);
typedef int own_function_c(MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Status *);
typedef int iat_function(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Request *);
typedef int iat_function_c(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Request *);
typedef int iown_function(MPI_File, void *, int, MPI_Datatype, MPI_Request *);
typedef int iown_function_c(MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Request *);
typedef int begin_at_function(MPI_File, MPI_Offset, void *, int, MPI_Datatype);
typedef int begin_at_function_c(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype);
typedef int begin_function(MPI_File, void *, int, MPI_Datatype);
typedef int begin_function_c(MPI_File, void *, MPI_Count, MPI_Datatype);
typedef int end_function(MPI_File, void *, MPI_Status *);

/* A writing function takes a pointer to const: the call is the same. */
#define AS(type, function) ((type *)(function))

static at_function *const at[][2] = {{AS(at_function, MPI_File_write_at), MPI_File_read_at},
                                     {AS(at_function, MPI_File_write_at_all), MPI_File_read_at_all}};
static at_function_c *const at_c[][2] = {{AS(at_function_c, MPI_File_write_at_c), MPI_File_read_at_c},
                                         {AS(at_function_c, MPI_File_write_at_all_c), MPI_File_read_at_all_c}};
static own_function *const own[][2] = {{AS(own_function, MPI_File_write), MPI_File_read},
                                       {AS(own_function, MPI_File_write_all), MPI_File_read_all}};
static own_function_c *const own_c[][2] = {{AS(own_function_c, MPI_File_write_c), MPI_File_read_c},
                                           {AS(own_function_c, MPI_File_write_all_c), MPI_File_read_all_c}};
static iat_function *const iat[][2] = {{AS(iat_function, MPI_File_iwrite_at), MPI_File_iread_at},
                                       {AS(iat_function, MPI_File_iwrite_at_all), MPI_File_iread_at_all}};
static iat_function_c *const iat_c[][2] = {{AS(iat_function_c, MPI_File_iwrite_at_c), MPI_File_iread_at_c},
                                           {AS(iat_function_c, MPI_File_iwrite_at_all_c), MPI_File_iread_at_all_c}};
static iown_function *const iown[][2] = {{AS(iown_function, MPI_File_iwrite), MPI_File_iread},
                                         {AS(iown_function, MPI_File_iwrite_all), MPI_File_iread_all}};
static iown_function_c *const iown_c[][2] = {{AS(iown_function_c, MPI_File_iwrite_c), MPI_File_iread_c},
                                             {AS(iown_function_c, MPI_File_iwrite_all_c), MPI_File_iread_all_c}};
static begin_at_function *const begin_at[] = {AS(begin_at_function, MPI_File_write_at_all_begin),
                                              MPI_File_read_at_all_begin};
static begin_at_function_c *const begin_at_c[] = {AS(begin_at_function_c, MPI_File_write_at_all_begin_c),
                                                  MPI_File_read_at_all_begin_c};
static begin_function *const begin[] = {AS(begin_function, MPI_File_write_all_begin), MPI_File_read_all_begin};
static begin_function_c *const begin_c[] = {AS(begin_function_c, MPI_File_write_all_begin_c),
                                            MPI_File_read_all_begin_c};
static end_function *const end_at[] = {AS(end_function, MPI_File_write_at_all_end), MPI_File_read_at_all_end};
static end_function *const end[] = {AS(end_function, MPI_File_write_all_end), MPI_File_read_all_end};

/* Calls number 0..FORMS-1; `is_read` chooses of each pair. */
enum { FORMS = 20 };

static void call(int form, int is_read, MPI_File file, MPI_Offset offset, int *data, MPI_Status *status)
{
    int kind = form / 2, which = form % 2;
    MPI_Request request = MPI_REQUEST_NULL;
    int rc;

    MPI_File_seek(file, offset, MPI_SEEK_SET);
    switch (kind) {
    case 0:
        rc = at[which][is_read](file, offset, data, COUNT, MPI_INT, status);
        break;
    case 1:
        rc = at_c[which][is_read](file, offset, data, COUNT, MPI_INT, status);
        break;
    case 2:
        rc = own[which][is_read](file, data, COUNT, MPI_INT, status);
        break;
    case 3:
        rc = own_c[which][is_read](file, data, COUNT, MPI_INT, status);
        break;
    case 4:
        rc = iat[which][is_read](file, offset, data, COUNT, MPI_INT, &request);
        break;
    case 5:
        rc = iat_c[which][is_read](file, offset, data, COUNT, MPI_INT, &request);
        break;
    case 6:
        rc = iown[which][is_read](file, data, COUNT, MPI_INT, &request);
        break;
    case 7:
        rc = iown_c[which][is_read](file, data, COUNT, MPI_INT, &request);
        break;
    case 8:
        rc = which ? begin_at_c[is_read](file, offset, data, COUNT, MPI_INT)
                   : begin_at[is_read](file, offset, data, COUNT, MPI_INT);
        CHECK(rc == MPI_SUCCESS);
        rc = end_at[is_read](file, data, status);
        break;
    default:
        rc = which ? begin_c[is_read](file, data, COUNT, MPI_INT) : begin[is_read](file, data, COUNT, MPI_INT);
        CHECK(rc == MPI_SUCCESS);
        rc = end[is_read](file, data, status);
        break;
    }
    CHECK(rc == MPI_SUCCESS);
    if (request != MPI_REQUEST_NULL)
        CHECK(MPI_Wait(&request, status) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int rank, size, out[COUNT], in[COUNT], count;
    MPI_Status status;
    MPI_Offset place;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "calls.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_size(file, 0);
    CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int form = 0; form < FORMS; form++) {
        MPI_Offset mine = (MPI_Offset)(form * size + rank) * COUNT, last = (MPI_Offset)(form + 1) * size * COUNT;

        for (int i = 0; i < COUNT; i++)
            out[i] = form * 1000000 + rank * COUNT + i;
        call(form, 0, file, mine, out, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == COUNT);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        memset(in, 0xff, sizeof in);
        call(form, 1, file, mine, in, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == COUNT && memcmp(in, out, sizeof in) == 0);
        if (form / 2 % 4 >= 2 || form >= 18) { /* at the individual pointer, which has moved */
            MPI_File_get_position(file, &place);
            CHECK(place == mine + COUNT || form / 2 == 8);
        }
        memset(in, 0xff, sizeof in);
        call(form, 1, file, last - 10 * (rank + 1), in, &status); /* the file ends meanwhile */
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 10 * (rank + 1) && in[count] == -1);
        CHECK(in[count - 1] == form * 1000000 + size * COUNT - 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
