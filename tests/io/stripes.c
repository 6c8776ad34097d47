/* SPDX-License-Identifier: BSD-3-Clause */
/* A file system that spreads files over servers: this program's own fstatfs and fgetxattr tell of a Lustre with layouts
 * of all kinds, also damaged ones. The hints say what was told, whatever the user wishes, and no collective access
 * to the file crosses the end of a stripe where it could end there. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "test.h"

enum { COUNT = 1 << 20, LUSTRE = 0x0bd00bd0, PLAIN = 0x0bd10bd0, POOL = 0x0bd30bd0, LIST = 0x0bd60bd0 };

static int rank, size;
static char value[512];
static size_t value_bytes;
static long stripe; /* that writes may not cross; 0: they may */
static int crossed, writes;

int fstatfs(int fd, struct statfs *status)
{
    int rc = (int)syscall(SYS_fstatfs, fd, status);

    status->f_type = LUSTRE;
    return rc;
}

ssize_t fgetxattr(int fd, const char *name, void *memory, size_t bytes)
{
    (void)fd;
    CHECK(strcmp(name, "lustre.lov") == 0 && bytes >= value_bytes);
    memcpy(memory, value, value_bytes);
    return value_bytes ? (ssize_t)value_bytes : -1;
}

ssize_t pwrite(int fd, const void *memory, size_t bytes, off_t offset)
{
    writes++;
    crossed += stripe && bytes <= (size_t)stripe && offset / stripe != (offset + (off_t)bytes - 1) / stripe;
    return syscall(SYS_pwrite64, fd, memory, bytes, offset);
}

static void put(size_t offset, uint32_t number)
{
    memcpy(value + offset, &number, 4);
}

static void put_layout(size_t at, uint32_t kind, uint32_t unit, uint32_t count)
{
    put(at, kind);
    put(at + 24, unit);
    put(at + 28, count);
}

/* A component, of those of a list, with its layout. */
static void put_component(int index, int is_there, size_t at, uint32_t unit, uint32_t count)
{
    size_t component = 32 + (size_t)index * 48;

    put(component + 4, is_there ? 0x10 : 0);
    put(component + 24, (uint32_t)at);
    put_layout(at, POOL, unit, count);
}

static void check_hint(MPI_File file, const char *name, long expected)
{
    char text[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int flag, room = sizeof text;

    MPI_File_get_info(file, &info);
    MPI_Info_get_string(info, name, &room, text, &flag);
    MPI_Info_free(&info);
    if ((flag ? atol(text) : 0) != expected)
        fprintf(stderr, "%s is %s, not %ld\n", name, flag ? text : "not there", expected);
    CHECK((flag ? atol(text) : 0) == expected);
}

/* Every size-th int, from somewhere in a block of the file on; then what was written is there. */
static void write_and_read(MPI_File file)
{
    int *data = malloc(COUNT * sizeof *data);
    MPI_Datatype type;

    CHECK(data);
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(file, 70000 + rank * 4, MPI_INT, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        data[i] = i + rank;
    writes = crossed = 0;
    CHECK(MPI_File_write_all(file, data, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Allreduce(MPI_IN_PLACE, &writes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(writes > 0 && crossed == 0);
    memset(data, 0, COUNT * sizeof *data);
    CHECK(MPI_File_read_at_all(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        CHECK(data[i] == i + rank);
    MPI_Type_free(&type);
    free(data);
}

/* Opens with the layout that is there; 0: no stripes are told. */
static void one_case(size_t bytes, long unit, long factor)
{
    MPI_File file;
    MPI_Info info;

    value_bytes = bytes;
    stripe = unit;
    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_unit", "12288");
    MPI_Info_set(info, "striping_factor", "3");
    CHECK(MPI_File_open(MPI_COMM_WORLD, "stripes.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info,
                        &file) == MPI_SUCCESS);
    MPI_Info_free(&info);
    check_hint(file, "striping_unit", unit ? unit : 12288);
    check_hint(file, "striping_factor", factor ? factor : 3);
    write_and_read(file);
    MPI_File_close(&file);
    memset(value, 0, sizeof value);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const long units[] = {65536, 1 << 20, 4 << 20, 3 << 16, 12 << 20};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        put_layout(0, i % 2 ? POOL : PLAIN, (uint32_t)units[i], (uint32_t)i + 1);
        one_case(100, units[i], (long)i + 1);
    }
    /* The last component that is there, of three. */
    put_layout(0, LIST, 0, 0);
    put(12, 3 << 16);
    put_component(0, 1, 176, 65536, 1);
    put_component(1, 1, 240, 1 << 20, 4);
    put_component(2, 0, 304, 4 << 20, 16);
    one_case(368, 1 << 20, 4);
    /* Damaged: nothing there, cut off, of an unknown kind, stripes of no size, a layout outside of the value. */
    one_case(0, 0, 0);
    put_layout(0, PLAIN, 65536, 2);
    one_case(30, 0, 0);
    put_layout(0, 12345, 65536, 2);
    one_case(100, 0, 0);
    put_layout(0, PLAIN, 0, 2);
    one_case(100, 0, 0);
    put_layout(0, LIST, 0, 0);
    put(12, 1000 << 16);
    put_component(0, 1, 400, 65536, 1);
    one_case(300, 0, 0);
    MPI_Finalize();
    return 0;
}
