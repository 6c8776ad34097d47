/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking accesses to large runs, which the kernel performs while the program goes on, where it can: several under
 * way at one time, memory with holes, the end of the file, beside sieves of other ranks. The counter file_background
 * tells whether they did. With MUR_TEST_REFUSE the kernel refuses rings to this program, and all is the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "random.h"
#include "scratch.h"
#include "test.h"

enum { PARTS = 6, LONGEST = 3 << 20, ROOM = 2 * LONGEST };

static int rank, size;
static char name[300];
static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter;

static void refuse_rings(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void open_counter(void)
{
    int provided, count, index;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK(MPI_T_pvar_get_index("file_background", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &count) == MPI_SUCCESS);
    MPI_T_pvar_start(session, counter); /* refused where it always counts */
}

static uint64_t background(void)
{
    uint64_t value = 0;

    CHECK(MPI_T_pvar_read(session, counter, &value) == MPI_SUCCESS);
    return value;
}

static int may_run(void)
{
    const char *setting = getenv("MUR_IO_URING");
    char parameters[256] = {0};
    long fd;

    if (getenv("MUR_TEST_REFUSE") || (setting && *setting == '0'))
        return 0;
    fd = syscall(SYS_io_uring_setup, 1, parameters);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

/* Memory with a hole after each run of ints, or without. */
static MPI_Datatype draw_type(MPI_Count *extent)
{
    int runs = 1 + (int)random_below(3), gap = random_below(2) ? 0 : 1 + (int)random_below(3);
    MPI_Datatype run, type;

    MPI_Type_contiguous(runs, MPI_INT, &run);
    MPI_Type_create_resized(run, 0, 4 * (runs + gap), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&run);
    *extent = 4 * (runs + gap);
    return type;
}

struct part {
    MPI_Offset offset; /* bytes */
    MPI_Datatype type;
    MPI_Count extent;
    int count, bytes;
    char *memory, *packed;
};

static void draw_part(struct part *part, MPI_Offset offset, int is_write)
{
    int each, position = 0;

    part->offset = offset;
    part->type = draw_type(&part->extent);
    MPI_Type_size(part->type, &each);
    part->count = 1 + (int)random_below(LONGEST / each / (random_below(3) ? 1 : 100));
    part->bytes = part->count * each;
    part->memory = malloc((size_t)part->count * (size_t)part->extent);
    part->packed = malloc((size_t)part->bytes);
    CHECK(part->memory && part->packed);
    for (size_t i = 0; i < (size_t)part->count * (size_t)part->extent; i++)
        part->memory[i] = is_write ? (char)random_below(256) : 0;
    if (is_write)
        MPI_Pack(part->memory, part->count, part->type, part->packed, part->bytes, &position, MPI_COMM_SELF);
}

static void drop_part(struct part *part)
{
    MPI_Type_free(&part->type);
    free(part->memory);
    free(part->packed);
}

/* What a part's read has brought is what the file has there: pread says the same. */
static void check_read(const struct part *part, int got)
{
    char *raw = calloc(1, (size_t)part->bytes), *packed = malloc((size_t)part->bytes);
    int fd = open(name, O_RDONLY), position = 0;
    ssize_t there;

    CHECK(raw && packed && fd >= 0);
    there = pread(fd, raw, (size_t)part->bytes, part->offset);
    CHECK(there == got);
    MPI_Pack(part->memory, part->count, part->type, packed, part->bytes, &position, MPI_COMM_SELF);
    CHECK(memcmp(packed, raw, (size_t)got) == 0);
    close(fd);
    free(raw);
    free(packed);
}

/* Several writes at once, each rank to a region of its own, and some small ones between that are sieved. */
static void write_parts(MPI_File file, struct part *parts, int round)
{
    MPI_Request requests[PARTS];
    MPI_Offset region = (MPI_Offset)rank * PARTS * ROOM;

    for (int i = 0; i < PARTS; i++) {
        draw_part(&parts[i], region + (MPI_Offset)i * ROOM + random_below(1000), 1);
        CHECK(MPI_File_iwrite_at(file, parts[i].offset, parts[i].memory, parts[i].count, parts[i].type, &requests[i]) ==
              MPI_SUCCESS);
        if (random_below(3) == 0)
            MPI_Test(&requests[i], &(int){0}, MPI_STATUS_IGNORE);
    }
    if (round % 2)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PARTS; i++) {
        MPI_Status status;
        MPI_Count moved;

        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        CHECK(MPI_Wait(&requests[i], &status) == MPI_SUCCESS);
        MPI_Get_elements_c(&status, MPI_BYTE, &moved);
        CHECK(moved == parts[i].bytes);
    }
}

static void read_parts(MPI_File file, const struct part *written)
{
    MPI_Request requests[PARTS];
    struct part parts[PARTS];

    for (int i = 0; i < PARTS; i++) {
        draw_part(&parts[i], written[i].offset, 0);
        CHECK(MPI_File_iread_at(file, parts[i].offset, parts[i].memory, parts[i].count, parts[i].type, &requests[i]) ==
              MPI_SUCCESS);
    }
    for (int i = 0; i < PARTS; i++) {
        MPI_Status status;
        MPI_Count got;

        CHECK(MPI_Wait(&requests[i], &status) == MPI_SUCCESS);
        MPI_Get_elements_c(&status, MPI_BYTE, &got);
        check_read(&parts[i], (int)got);
        drop_part(&parts[i]);
    }
}

static void check_written(const struct part *parts)
{
    int fd = open(name, O_RDONLY);

    CHECK(fd >= 0);
    for (int i = 0; i < PARTS; i++) {
        char *raw = malloc((size_t)parts[i].bytes);

        CHECK(raw && pread(fd, raw, (size_t)parts[i].bytes, parts[i].offset) == parts[i].bytes);
        CHECK(memcmp(raw, parts[i].packed, (size_t)parts[i].bytes) == 0);
        free(raw);
    }
    close(fd);
}

/* Rank 0 writes in the background what lies beside the stretches that the others sieve: nothing gets lost. */
static void beside_sieves(void)
{
    enum { STRETCHES = 20000, EACH = 8 };
    MPI_Offset half = (MPI_Offset)STRETCHES * EACH * size;
    char *large = malloc((size_t)half), *small = malloc(STRETCHES * EACH), *raw = malloc((size_t)(2 * half));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype eight, type;
    MPI_File file;
    int fd;

    CHECK(large && small && raw);
    memset(large, 'L', (size_t)half);
    memset(small, 'a' + rank, STRETCHES * EACH);
    MPI_Type_contiguous(EACH, MPI_BYTE, &eight);
    MPI_Type_create_resized(eight, 0, EACH * size, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_view(file, (MPI_Offset)EACH * rank, MPI_BYTE, rank ? type : MPI_BYTE, "native", MPI_INFO_NULL);
    if (rank == 0)
        CHECK(MPI_File_iwrite_at(file, half, large, (int)half, MPI_BYTE, &request) == MPI_SUCCESS);
    else
        CHECK(MPI_File_write_at(file, 0, small, STRETCHES * EACH, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody who sieves waits for rank 0 to come back */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, raw, (size_t)(2 * half), 0) == (ssize_t)(2 * half));
    for (MPI_Offset i = 0; i < 2 * half; i++)
        CHECK(i >= half ? raw[i] == 'L' : i / EACH % size == 0 || raw[i] == 'a' + i / EACH % size);
    close(fd);
    MPI_Type_free(&eight);
    MPI_Type_free(&type);
    free(large);
    free(small);
    free(raw);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int expected = may_run();
    struct part parts[PARTS];
    MPI_File file;

    if (getenv("MUR_TEST_REFUSE"))
        refuse_rings();
    open_counter();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(name, sizeof name, "background");
    random_start();
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    for (int round = 0; round < 4; round++) {
        write_parts(file, parts, round);
        MPI_Barrier(MPI_COMM_WORLD);
        check_written(parts);
        read_parts(file, parts);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < PARTS; i++)
            drop_part(&parts[i]);
    }
    MPI_File_close(&file);
    beside_sieves();
    CHECK((background() > 0) == expected);
    MPI_T_finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    MPI_Finalize();
    return 0;
}
