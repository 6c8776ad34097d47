/* SPDX-License-Identifier: BSD-3-Clause */
/* Far apart: offsets beyond 4 GiB in a file with holes, alone and together; and what is read for a few blocks of a
 * large file is not much more than these (the program's own pread counts). Hints can be read back. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static int rank, size;
static long long bytes_read;

ssize_t pread(int fd, void *memory, size_t bytes, off_t offset)
{
    bytes_read += (long long)bytes;
    return syscall(SYS_pread64, fd, memory, bytes, offset);
}

/* Blocks of 4 KiB, `stride` apart, in turns of the ranks, from 6 GiB on. */
static void far_blocks(MPI_File file, MPI_Offset stride, int count, double allowed)
{
    enum { BLOCK = 4096 };
    const MPI_Offset start = 6LL << 30;
    char *out = malloc((size_t)count * BLOCK), *in = malloc((size_t)count * BLOCK);
    long long all;
    MPI_Datatype block, type;
    MPI_Status status;
    int moved;

    CHECK(out && in);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, stride * size, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&block);
    for (int i = 0; i < count * BLOCK; i++)
        out[i] = (char)(i * 13 + rank);
    CHECK(MPI_File_set_view(file, start + rank * stride, MPI_BYTE, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_at_all(file, 0, out, count * BLOCK, MPI_BYTE, &status) == MPI_SUCCESS);
    MPI_File_sync(file);
    for (int together = 0; together < 2; together++) {
        memset(in, 0, (size_t)count * BLOCK);
        bytes_read = 0;
        if (together)
            CHECK(MPI_File_read_at_all(file, 0, in, count * BLOCK, MPI_BYTE, &status) == MPI_SUCCESS);
        else
            CHECK(MPI_File_read_at(file, 0, in, count * BLOCK, MPI_BYTE, &status) == MPI_SUCCESS);
        MPI_Get_count(&status, MPI_BYTE, &moved);
        CHECK(moved == count * BLOCK && memcmp(in, out, (size_t)moved) == 0);
        MPI_Allreduce(&bytes_read, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (together)
            CHECK((double)all <= allowed * size * count * BLOCK);
    }
    MPI_Type_free(&type);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_hint(MPI_Info info, const char *key, const char *wanted)
{
    char value[100];
    int length = sizeof value, is_there;

    MPI_Info_get_string(info, key, &length, value, &is_there);
    CHECK(is_there && strcmp(value, wanted) == 0);
}

/* Those of rank 0 are in force; what is unknown or means nothing is ignored. */
static void hints(void)
{
    MPI_File file;
    MPI_Info info;
    char value[10];
    int length = sizeof value, is_there;

    if (rank == 0)
        unlink("sparse.tmp");
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", rank ? "77777" : "123456");
    MPI_Info_set(info, "romio_ds_read", "disable");
    MPI_Info_set(info, "romio_cb_read", "sometimes");
    MPI_Info_set(info, "cb_nodes", "100000");
    MPI_Info_set(info, "access_style", "read_once,sequential");
    MPI_Info_set(info, "striping_factor", "4");
    MPI_Info_set(info, "collective_buffering", "false");
    MPI_Info_set(info, "no_such_hint", "1");
    MPI_Info_set(info, "file_perm", "0640");
    CHECK(MPI_File_open(MPI_COMM_WORLD, "sparse.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_get_info(file, &info);
    check_hint(info, "cb_buffer_size", "123456");
    check_hint(info, "romio_ds_read", "disable");
    check_hint(info, "romio_cb_read", "disable");
    check_hint(info, "romio_cb_write", "disable");
    check_hint(info, "access_style", "read_once,sequential");
    check_hint(info, "striping_factor", "4");
    snprintf(value, sizeof value, "%d", size);
    check_hint(info, "cb_nodes", value);
    MPI_Info_get_string(info, "no_such_hint", &length, value, &is_there);
    CHECK(!is_there);
    MPI_Info_free(&info);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    MPI_File_get_info(file, &info);
    check_hint(info, "romio_cb_read", "enable");
    check_hint(info, "cb_buffer_size", "123456");
    MPI_Info_free(&info);
    MPI_File_close(&file);
    if (rank == 0) {
        struct stat status;

        CHECK(stat("sparse.tmp", &status) == 0 && (status.st_mode & 0777 & ~0640u) == 0);
        CHECK(MPI_File_delete("sparse.tmp", MPI_INFO_NULL) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Offset file_size;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hints();
    CHECK(MPI_File_open(MPI_COMM_WORLD, "sparse.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_size(file, 0);
    far_blocks(file, 8192, 60, 2.2);     /* reading what is between is right */
    far_blocks(file, 20000, 60, 2.2);    /* here it is not worth it, */
    far_blocks(file, 100000, 60, 2.2);   /* and here */
    far_blocks(file, 50 << 20, 20, 1.1); /* nor would be collective buffers */
    MPI_File_get_size(file, &file_size);
    CHECK(file_size == (6LL << 30) + (20LL * size - 1) * (50 << 20) + 4096);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
