/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank runs out of memory while all open a file, give hints, set a view, or access it: all ranks hear of it, none
 * waits, and the next time it succeeds. This program's own malloc and realloc fail at one rank from some large request
 * on, and its calloc from any; with hints, also malloc for a value. */
#define _GNU_SOURCE
#include "test.h"

#define KEY   "cb_buffer_size"
#define VALUE "123456789"
enum { COUNT = 30000, LARGE = 50000, OF_FILE = 128 };

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static int rank, size;
static struct {
    int is_on, left;               /* large requests that still succeed */
    int is_calloc_on, is_small_on; /* also of `left` requests */
    size_t most;                   /* bytes of the requests of calloc that fail */
    int refused;
} fault;

static int is_refused(size_t bytes)
{
    if (!fault.is_on || bytes < LARGE || fault.left-- > 0)
        return 0;
    fault.refused++;
    return 1;
}

static int is_counted_out(int is_on)
{
    if (!is_on || fault.left-- > 0)
        return 0;
    fault.refused++;
    return 1;
}

void *malloc(size_t bytes)
{
    return is_refused(bytes) || is_counted_out(fault.is_small_on && bytes == sizeof KEY + sizeof VALUE)
               ? NULL
               : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return is_counted_out(fault.is_calloc_on && count * bytes <= fault.most) ? NULL : __libc_calloc(count, bytes);
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

/* What one rank cannot do for want of memory fails at all. Returns its class; *refused: whether memory was. */
static int alike(int code, int *refused)
{
    int mine[3] = {class_of(code), -class_of(code), fault.refused}, most[3];

    fault.is_calloc_on = fault.is_small_on = 0;
    MPI_Allreduce(mine, most, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most[0] == -most[1]);
    CHECK(most[0] == MPI_SUCCESS || (most[0] == MPI_ERR_NO_MEM && most[2]));
    *refused = most[2];
    return most[0];
}

static void refuse(int victim, int left, int is_small)
{
    fault.refused = 0;
    fault.left = left;
    fault.most = SIZE_MAX;
    fault.is_calloc_on = rank == victim && !is_small;
    fault.is_small_on = rank == victim && is_small;
}

static MPI_File open_again(int amode)
{
    MPI_File file;

    CHECK(MPI_File_open(MPI_COMM_WORLD, "memory.tmp", amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    return file;
}

static int open_without(int victim, int left)
{
    MPI_File file = MPI_FILE_NULL;
    int refused, code;

    refuse(victim, left, 0);
    fault.most = OF_FILE; /* and not the communicator's */
    code = MPI_File_open(MPI_COMM_WORLD, "memory.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL,
                         &file);
    if (alike(code, &refused) == MPI_SUCCESS)
        MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    return refused;
}

/* A key and a value that together have a length of their own. */
static int hint_without(int victim, int left)
{
    MPI_File file = open_again(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Info info;
    int refused;

    MPI_Info_create(&info);
    MPI_Info_set(info, KEY, VALUE);
    MPI_Info_set(info, "romio_ds_write", "disable");
    refuse(victim, left, 1);
    alike(MPI_File_set_info(file, info), &refused);
    CHECK(MPI_File_set_info(file, info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_close(&file);
    return refused;
}

static int view_without(int victim, int left)
{
    MPI_File file = open_again(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype type;
    int refused;

    MPI_Type_vector(3, 1, size, MPI_INT, &type);
    MPI_Type_commit(&type);
    refuse(victim, left, 0);
    alike(MPI_File_set_view(file, 4 * rank, MPI_INT, type, "external32", MPI_INFO_NULL), &refused);
    CHECK(MPI_File_set_view(file, 4 * rank, MPI_INT, type, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&type);
    MPI_File_close(&file);
    return refused;
}

/* Who has no memory for the request hears of it at once, the others when they wait. */
static int start_without(int victim, int left)
{
    MPI_File file = open_again(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Request request = MPI_REQUEST_NULL;
    int refused, code, data[4] = {rank};

    refuse(victim, left, 0);
    code = MPI_File_iwrite_at_all(file, 16 * rank, data, 4, MPI_INT, &request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    alike(code, &refused);
    refuse(victim, left, 0);
    code = MPI_File_write_at_all_begin(file, 16 * rank, data, 4, MPI_INT);
    if (code == MPI_SUCCESS)
        code = MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    alike(code, &refused);
    CHECK(MPI_File_write_at_all(file, 16 * rank, data, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_File_close(&file);
    return refused;
}

/* Each rank in turn, at each of its requests in turn. Returns how many there were. */
static int refuse_each(int (*without)(int victim, int left))
{
    int refused = 0;

    for (int victim = 0; victim < size; victim++)
        for (int left = 0; left < 24 && without(victim, left); left++)
            refused++;
    return refused;
}

/* The file is gone before it could be deleted: all hear of it. */
static void delete_twice(void)
{
    MPI_File file = open_again(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete("memory.tmp", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_close(&file)) == MPI_ERR_NO_SUCH_FILE);
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
    CHECK(refuse_each(open_without) && refuse_each(hint_without) && refuse_each(start_without));
    refuse_each(view_without);
    delete_twice();
    MPI_Finalize();
    return 0;
}
