/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that cache a file each for itself: this program's own calls of the file system keep a cache for each rank, as a
 * client of NFS does. Written bytes stay in it until they are synced or a lock is given back; what was read, and the
 * size, are not looked at again until a lock is taken. A write into a page that is there makes all of the page go out,
 * unless bytes of the file are locked: so it may undo what others have written there. Each rank must find what it has
 * written itself, alone or together with others, whoever it was that wrote it to the file; and after MPI_File_sync what
 * all have written.
 *
 *     io-caches [SEED] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "draw.h"
#include "test.h"

enum { BYTES = 96 << 10, PAGE = 4096, PAGES = BYTES / PAGE, ROUNDS = 150, BLOCK = 24 };

static int rank, size;

/* ---- the cache ---- */

static struct {
    int fd; /* of the file that is cached; 0: none */
    char data[BYTES], is_dirty[BYTES];
    char is_there[PAGES]; /* has been read */
    long size;            /* as known; -1: it is not */
} cache = {.size = -1};
static int syncs, locks;
static int is_locked; /* some bytes are */

static void look(void)
{
    struct stat status;

    if (cache.size >= 0)
        return;
    CHECK(syscall(SYS_newfstatat, cache.fd, "", &status, AT_EMPTY_PATH) == 0);
    cache.size = status.st_size;
}

static void write_out(void)
{
    for (int i = 0, end; i < BYTES; i = end + 1) {
        for (end = i; end < BYTES && cache.is_dirty[end]; end++)
            cache.is_dirty[end] = 0;
        if (end > i)
            CHECK(syscall(SYS_pwrite64, cache.fd, cache.data + i, end - i, (off_t)i) == end - i);
    }
}

static void forget(void)
{
    write_out();
    memset(cache.is_there, 0, sizeof cache.is_there);
    cache.size = -1;
}

ssize_t pwrite(int fd, const void *memory, size_t bytes, off_t offset)
{
    if (fd != cache.fd)
        return syscall(SYS_pwrite64, fd, memory, bytes, offset);
    CHECK(offset >= 0 && offset + (off_t)bytes <= BYTES);
    look();
    memcpy(cache.data + offset, memory, bytes);
    memset(cache.is_dirty + offset, 1, bytes);
    if (offset + (off_t)bytes > cache.size)
        cache.size = offset + (off_t)bytes;
    for (off_t page = offset / PAGE; page * PAGE < offset + (off_t)bytes; page++)
        if (cache.is_there[page] && !is_locked)
            memset(cache.is_dirty + page * PAGE, 1, PAGE);
    return (ssize_t)bytes;
}

static void fetch(int page)
{
    char old[PAGE] = {0};

    if (cache.is_there[page])
        return;
    CHECK(syscall(SYS_pread64, cache.fd, old, PAGE, (off_t)page * PAGE) >= 0);
    for (int i = 0; i < PAGE; i++)
        if (!cache.is_dirty[page * PAGE + i])
            cache.data[page * PAGE + i] = old[i];
    cache.is_there[page] = 1;
}

ssize_t pread(int fd, void *memory, size_t bytes, off_t offset)
{
    if (fd != cache.fd)
        return syscall(SYS_pread64, fd, memory, bytes, offset);
    look();
    if (offset >= cache.size)
        return 0;
    if (offset + (off_t)bytes > cache.size)
        bytes = (size_t)(cache.size - offset);
    for (off_t page = offset / PAGE; page * PAGE < offset + (off_t)bytes; page++)
        fetch((int)page);
    memcpy(memory, cache.data + offset, bytes);
    return (ssize_t)bytes;
}

int fsync(int fd)
{
    syncs += fd == cache.fd;
    if (fd == cache.fd)
        write_out();
    return 0;
}

int fstat(int fd, struct stat *status)
{
    int rc = (int)syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH);

    if (fd == cache.fd && rc == 0) {
        look();
        status->st_size = cache.size;
    }
    return rc;
}

int ftruncate(int fd, off_t bytes)
{
    if (fd == cache.fd)
        forget();
    return (int)syscall(SYS_ftruncate, fd, bytes);
}

int fcntl(int fd, int command, ...)
{
    va_list list;
    void *argument;

    va_start(list, command);
    argument = va_arg(list, void *);
    va_end(list);
    if (fd == cache.fd &&
        (command == F_OFD_SETLKW || command == F_SETLKW || command == F_OFD_SETLK || command == F_SETLK)) {
        int rc;

        write_out(); /* before a lock is given back; and what is there is read anew once one is taken */
        rc = (int)syscall(SYS_fcntl, fd, command, argument);
        forget();
        is_locked = rc == 0 && ((struct flock *)argument)->l_type != F_UNLCK;
        locks++;
        return rc;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int close(int fd)
{
    if (fd == cache.fd) {
        forget();
        cache.fd = 0;
    }
    return (int)syscall(SYS_close, fd);
}

/* ---- the test ---- */

static uint64_t seed;

static unsigned below(unsigned limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % limit;
}

/* Blocks of the ranks in turns, or a part of the file each. */
static void set_view(MPI_File file, int interleaved)
{
    MPI_Datatype run, turns;

    MPI_Type_contiguous(interleaved ? BLOCK : 1, MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, interleaved ? BLOCK * size : 1, &turns);
    MPI_Type_commit(&turns);
    MPI_Type_free(&run);
    CHECK(MPI_File_set_view(file, (interleaved ? BLOCK : BYTES / size) * rank, MPI_BYTE, turns, "native",
                            MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&turns);
}

static int place_at(int owner, int interleaved, int i)
{
    return interleaved ? (i / BLOCK * size + owner) * BLOCK + i % BLOCK : BYTES / size * owner + i;
}

static int place_of(int interleaved, int i)
{
    return place_at(rank, interleaved, i);
}

/* Of its view, a rank writes and reads what nobody else does: all in all its own bytes of the file. `own` has the file
 * as it knows it. */
static void one_access(MPI_File file, int interleaved, int is_write, int is_collective, char *own)
{
    static char data[BYTES];
    int room = BYTES / size / BLOCK * BLOCK, first = (int)below((unsigned)room),
        count = (int)below((unsigned)(room - first)), got;
    MPI_Status status;

    for (int i = 0; i < count && is_write; i++)
        own[place_of(interleaved, first + i)] = data[i] = (char)below(256);
    CHECK((is_write ? (is_collective ? MPI_File_write_at_all : MPI_File_write_at)(file, first, data, count, MPI_BYTE,
                                                                                  &status)
                    : (is_collective ? MPI_File_read_at_all : MPI_File_read_at)(file, first, data, count, MPI_BYTE,
                                                                                &status)) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK(got == count);
    for (int i = 0; i < count && !is_write; i++)
        CHECK(data[i] == own[place_of(interleaved, first + i)]);
}

/* What the ranks know of their own bytes of this view, at all ranks. */
static void tell_all(int interleaved, char *own)
{
    static char mine[BYTES], all[BYTES];

    memset(mine, 0, sizeof mine);
    for (int i = 0; i < BYTES / size / BLOCK * BLOCK; i++)
        mine[place_of(interleaved, i)] = own[place_of(interleaved, i)];
    MPI_Allreduce(mine, all, BYTES, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    for (int owner = 0; owner < size; owner++)
        for (int i = 0; i < BYTES / size / BLOCK * BLOCK; i++)
            own[place_at(owner, interleaved, i)] = all[place_at(owner, interleaved, i)];
}

/* All find all, and the size; then the file is cut, which all see, and made as long as it was. */
static void compare(MPI_File file, const char *own)
{
    static char found[BYTES];
    MPI_Offset bytes;
    MPI_Status status;

    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    CHECK(MPI_File_read_at(file, 0, found, BYTES, MPI_BYTE, &status) == MPI_SUCCESS);
    CHECK(memcmp(found, own, BYTES) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_set_size(file, 1000) == MPI_SUCCESS);
    CHECK(MPI_File_get_size(file, &bytes) == MPI_SUCCESS && bytes == 1000);
    CHECK(MPI_File_set_size(file, BYTES) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, 0, found, BYTES, MPI_BYTE, &status) == MPI_SUCCESS);
    CHECK(memcmp(found, own, 1000) == 0 && found[1000] == 0 && memcmp(found + 1000, found + 1001, BYTES - 1001) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static char own[BYTES];
    uint64_t common = argc > 1 ? strtoull(argv[1], NULL, 10) : draw_seed();
    struct stat status;
    MPI_File file;
    int fd;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&common, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seed %llu\n", (unsigned long long)common);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "nfs:caches.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(stat("caches.tmp", &status) == 0);
    for (fd = 3; fd < 1000 && cache.fd == 0; fd++) {
        struct stat other;

        if (syscall(SYS_newfstatat, fd, "", &other, AT_EMPTY_PATH) == 0 && other.st_ino == status.st_ino &&
            other.st_dev == status.st_dev)
            cache.fd = fd;
    }
    CHECK(cache.fd);
    CHECK(MPI_File_set_size(file, 0) == MPI_SUCCESS && MPI_File_set_size(file, BYTES) == MPI_SUCCESS);
    for (int round = 0; round < ROUNDS; round++) {
        int interleaved, steps;

        seed = common + (uint64_t)round; /* the same steps at all ranks */
        interleaved = (int)below(2);
        steps = 1 + (int)below(6);
        set_view(file, interleaved);
        for (int i = 0; i < steps; i++) {
            int is_write, is_collective;

            seed = common + (uint64_t)(round * 100 + i);
            is_write = (int)below(3) > 0;
            is_collective = (int)below(3) > 0;
            seed += (uint64_t)rank << 32;
            one_access(file, interleaved, is_write, is_collective, own);
        }
        CHECK(MPI_File_sync(file) == MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_File_sync(file) == MPI_SUCCESS);
        tell_all(interleaved, own);
        if (round % 10 == 9) {
            compare(file, own);
            memset(own + 1000, 0, BYTES - 1000);
        }
    }
    CHECK(syncs > 0 && locks > 0);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
