/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank runs out of memory in the middle of a collective access: all ranks hear of it, none waits, and the next
 * access succeeds. This program's own malloc and realloc fail at one rank from some large request on. */
#define _GNU_SOURCE
#include "test.h"

enum { COUNT = 30000, LARGE = 50000 };

extern void *__libc_malloc(size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static int rank, size;
static struct {
    int is_on, left; /* large requests that still succeed */
    int refused;
} fault;

static int is_refused(size_t bytes)
{
    if (!fault.is_on || bytes < LARGE || fault.left-- > 0)
        return 0;
    fault.refused++;
    return 1;
}

void *malloc(size_t bytes)
{
    return is_refused(bytes) ? NULL : __libc_malloc(bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return is_refused(bytes) ? NULL : __libc_realloc(memory, bytes);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static int access_all(MPI_File file, int is_write, int is_later, int *data)
{
    MPI_Request request;
    int code;

    if (!is_later)
        return is_write ? MPI_File_write_at_all(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE)
                        : MPI_File_read_at_all(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    code = is_write ? MPI_File_iwrite_at_all(file, 0, data, COUNT, MPI_INT, &request)
                    : MPI_File_iread_at_all(file, 0, data, COUNT, MPI_INT, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A new file each time, whose memory is still to be allocated. */
static int one_case(int victim, int left, int is_write, int is_later)
{
    int *data = malloc(COUNT * sizeof *data), *found = calloc(COUNT, sizeof *found), code, refused, failed, worst;
    MPI_Datatype type;
    MPI_File file;

    CHECK(data && found);
    for (int i = 0; i < COUNT; i++)
        data[i] = i * size + rank;
    CHECK(MPI_File_open(MPI_COMM_WORLD, "memory.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
          MPI_SUCCESS);
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    fault.refused = 0;
    fault.left = left;
    fault.is_on = rank == victim;
    code = access_all(file, is_write, is_later, is_write ? data : found);
    fault.is_on = 0;
    MPI_Allreduce(&fault.refused, &refused, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    failed = class_of(code);
    MPI_Allreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(failed == worst); /* alike at all ranks */
    CHECK(failed == MPI_SUCCESS || (failed == MPI_ERR_NO_MEM && refused));
    CHECK(access_all(file, 1, 0, data) == MPI_SUCCESS && access_all(file, 0, is_later, found) == MPI_SUCCESS);
    CHECK(memcmp(data, found, COUNT * sizeof *data) == 0);
    MPI_File_close(&file);
    free(data);
    free(found);
    return refused;
}

int main(int argc, char **argv)
{
    int refused = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int form = 0; form < 4; form++)
        for (int victim = 0; victim < size; victim++)
            for (int left = 0; left < 24; left++) {
                if (!one_case(victim, left, form % 2, form / 2))
                    break; /* there are no more */
                refused++;
            }
    if (getenv("MUR_IO_SHARED"))
        CHECK(refused > 3 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete("memory.tmp", MPI_INFO_NULL);
    MPI_Finalize();
    return 0;
}
