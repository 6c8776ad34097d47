/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to the file that fail: this program's own pwrite and pread stand before the C library's, and fail or fall
 * short at the ranks and calls that a case asks for. Who accesses alone hears of it; collectively all ranks do, with
 * the error's class and text, and none waits. Interrupted and short calls are no failures. Then the file is whole. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

enum { COUNT = 12000 };

static int rank, size;
static struct {
    int number;         /* what the calls fail with; 0: not at all */
    int is_interrupted; /* every other call: EINTR */
    int most;           /* bytes a call moves; 0: all */
    int calls, after;   /* they fail from so many calls on */
} fault;

static int must_fail(size_t *bytes)
{
    fault.calls++;
    if (fault.number && fault.calls > fault.after) {
        errno = fault.number;
        return 1;
    }
    if (fault.is_interrupted && fault.calls % 2) {
        errno = EINTR;
        return 1;
    }
    if (fault.most && *bytes > (size_t)fault.most)
        *bytes = (size_t)fault.most;
    return 0;
}

ssize_t pwrite(int fd, const void *memory, size_t bytes, off_t offset)
{
    return must_fail(&bytes) ? -1 : syscall(SYS_pwrite64, fd, memory, bytes, offset);
}

ssize_t pread(int fd, void *memory, size_t bytes, off_t offset)
{
    return must_fail(&bytes) ? -1 : syscall(SYS_pread64, fd, memory, bytes, offset);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static const struct {
    int number, class;
} errors[] = {{ENOSPC, MPI_ERR_NO_SPACE}, {EDQUOT, MPI_ERR_QUOTA},    {EIO, MPI_ERR_IO},
              {EFBIG, MPI_ERR_NO_SPACE},  {EROFS, MPI_ERR_READ_ONLY}, {ESTALE, MPI_ERR_IO}};
enum { ERRORS = sizeof errors / sizeof errors[0] };

/* Views: each rank's own run; every size-th int; the same with a hole after each round. */
enum { RUNS, TURNS, HOLES, VIEWS };

static void set_view(MPI_File file, int view)
{
    MPI_Datatype type;

    MPI_Type_create_resized(MPI_INT, 0, 4 * (view == RUNS ? 1 : view == TURNS ? size : size + 1), &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(file, view == RUNS ? (MPI_Offset)rank * COUNT * 4 : rank * 4, MPI_INT, type, "native",
                            MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&type);
}

enum { ALONE, ALONE_LATER, ALL, ALL_LATER, SPLIT, FORMS };

static int access_file(MPI_File file, int form, int is_write, int *data)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    switch (form) {
    case ALONE:
        return is_write ? MPI_File_write_at(file, 0, data, COUNT, MPI_INT, &status)
                        : MPI_File_read_at(file, 0, data, COUNT, MPI_INT, &status);
    case ALONE_LATER:
        CHECK((is_write ? MPI_File_iwrite_at(file, 0, data, COUNT, MPI_INT, &request)
                        : MPI_File_iread_at(file, 0, data, COUNT, MPI_INT, &request)) == MPI_SUCCESS);
        return MPI_Wait(&request, &status);
    case ALL:
        return is_write ? MPI_File_write_at_all(file, 0, data, COUNT, MPI_INT, &status)
                        : MPI_File_read_at_all(file, 0, data, COUNT, MPI_INT, &status);
    case ALL_LATER:
        CHECK((is_write ? MPI_File_iwrite_at_all(file, 0, data, COUNT, MPI_INT, &request)
                        : MPI_File_iread_at_all(file, 0, data, COUNT, MPI_INT, &request)) == MPI_SUCCESS);
        return MPI_Wait(&request, &status);
    default:
        CHECK((is_write ? MPI_File_write_at_all_begin(file, 0, data, COUNT, MPI_INT)
                        : MPI_File_read_at_all_begin(file, 0, data, COUNT, MPI_INT)) == MPI_SUCCESS);
        return is_write ? MPI_File_write_at_all_end(file, data, &status)
                        : MPI_File_read_at_all_end(file, data, &status);
    }
}

/* Fails at every rank, or where each rank accesses the file itself, at one only. */
static void fail_case(MPI_File file, int view, int form, int is_write, int error, int *data)
{
    int at_one = view == RUNS && (error + form) % 2, victim = (error + view) % size, code, class;
    int is_victim = !at_one || rank == victim, length, has_failed, any;
    char text[MPI_MAX_ERROR_STRING];

    fault.calls = 0;
    fault.after = view == RUNS ? 0 : error % 2;
    fault.number = is_victim ? errors[error].number : 0;
    code = access_file(file, form, is_write, data);
    fault.number = 0;
    class = class_of(code);
    has_failed = is_victim && fault.calls > fault.after;
    MPI_Allreduce(&has_failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (form <= ALONE_LATER)
        CHECK(class == (has_failed ? errors[error].class : MPI_SUCCESS));
    else if (is_write)
        CHECK(class == (any ? errors[error].class : MPI_SUCCESS));
    else /* those whose data could not be read */
        CHECK(class == errors[error].class || (class == MPI_SUCCESS && (!has_failed || fault.after)));
    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, text, &length);
        CHECK(strstr(text, "failures.tmp") && strstr(text, strerror(errors[error].number)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* After all that, and with calls that are interrupted or fall short, the file is what was written. */
static void write_and_read(MPI_File file, int view, int form, int *data)
{
    int *found = malloc(COUNT * sizeof *found);

    CHECK(found);
    fault.calls = 0;
    fault.is_interrupted = form % 2;
    fault.most = form == ALONE || form == ALL ? 4099 : 0;
    for (int i = 0; i < COUNT; i++)
        data[i] = rank * COUNT + i + form;
    CHECK(access_file(file, form, 1, data) == MPI_SUCCESS);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(found, 0, COUNT * sizeof *found);
    CHECK(access_file(file, (form + 2) % FORMS, 0, found) == MPI_SUCCESS);
    CHECK(memcmp(found, data, COUNT * sizeof *found) == 0);
    fault.is_interrupted = fault.most = 0;
    free(found);
    MPI_Barrier(MPI_COMM_WORLD);
    (void)view;
}

int main(int argc, char **argv)
{
    int *data = malloc(COUNT * sizeof *data);
    MPI_Info info;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(data);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "262144");
    CHECK(MPI_File_open(MPI_COMM_WORLD, "failures.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        info, &file) == MPI_SUCCESS);
    MPI_Info_free(&info);
    for (int view = 0; view < VIEWS; view++) {
        set_view(file, view);
        for (int form = 0; form < FORMS; form++) {
            write_and_read(file, view, form, data);
            for (int error = 0; error < ERRORS; error++)
                for (int is_write = 0; is_write < 2; is_write++)
                    fail_case(file, view, form, is_write, error, data);
            write_and_read(file, view, form, data);
        }
    }
    CHECK(fault.calls > 0);
    MPI_File_close(&file);
    free(data);
    MPI_Finalize();
    return 0;
}
