/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that cannot be opened, deleted or resized: a directory, a pipe to which nobody else comes, names that are too
 * long or lead nowhere, a device. Every rank hears of it at once, with the class, the system's text and the name. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static int rank;

static void expect(int code, int class, int number, const char *name)
{
    char text[MPI_MAX_ERROR_STRING];
    int found, length;

    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &length);
    if (found != class || !strstr(text, strerror(number)) || !strstr(text, name))
        printf("rank %d: class %d, expected %d, in: %s\n", rank, found, class, text);
    CHECK(found == class && strstr(text, strerror(number)) && strstr(text, name));
}

static void refuse(const char *name, int amode, int class, int number, const char *shown)
{
    MPI_File file = MPI_FILE_NULL;

    expect(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file), class, number, shown);
    CHECK(file == MPI_FILE_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank, the last, has no descriptor left. */
static void refuse_descriptors(int size)
{
    struct rlimit before, few;

    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = before;
    few.rlim_cur = 3;
    if (rank == size - 1)
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    refuse("kinds.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_ERR_IO, EMFILE, "kinds.tmp");
    if (rank == size - 1)
        CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

int main(int argc, char **argv)
{
    static const int amodes[] = {MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR};
    char name[5000];
    MPI_File file;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        CHECK(mkdir("kinds.dir", 0777) == 0 || errno == EEXIST);
        CHECK(mkfifo("kinds.pipe", 0666) == 0 || errno == EEXIST);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        refuse("kinds.dir", amodes[i], MPI_ERR_BAD_FILE, EISDIR, "kinds.dir");
        if (amodes[i] == MPI_MODE_WRONLY)
            refuse("kinds.pipe", amodes[i], MPI_ERR_IO, ENXIO, "kinds.pipe");
        else
            refuse("kinds.pipe", amodes[i], MPI_ERR_UNSUPPORTED_OPERATION, ESPIPE, "kinds.pipe");
        refuse("kinds.none/file", amodes[i], MPI_ERR_NO_SUCH_FILE, ENOENT, "kinds.none/file");
        refuse("/dev/null/file", amodes[i], MPI_ERR_BAD_FILE, ENOTDIR, "/dev/null/file");
        for (int length = 300; length < 5000; length += 4699) {
            memset(name, 'x', sizeof name);
            name[length - 1] = 'y';
            name[length] = '\0';
            refuse(name, amodes[i], MPI_ERR_BAD_FILE, ENAMETOOLONG, "xy");
        }
    }
    refuse_descriptors(size);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    expect(MPI_File_set_size(file, 1), MPI_ERR_IO, EINVAL, "/dev/null");
    expect(MPI_File_preallocate(file, 1), MPI_ERR_IO, ENODEV, "/dev/null");
    CHECK(MPI_File_sync(file) == MPI_SUCCESS);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "kinds.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    if (rank == 0)
        CHECK(unlink("kinds.tmp") == 0);
    expect(MPI_File_close(&file), MPI_ERR_NO_SUCH_FILE, ENOENT, "kinds.tmp");
    if (rank == 0)
        CHECK(rmdir("kinds.dir") == 0 && unlink("kinds.pipe") == 0);
    MPI_Finalize();
    return 0;
}
