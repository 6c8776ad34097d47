/* SPDX-License-Identifier: BSD-3-Clause */
/* Large blocks in memory that other processes cannot reach (secret memory; argument: secret), at senders, at receivers
 * and at both, or where the system begins to refuse copies between processes in the middle of the job (argument:
 * denied): they arrive all the same, another way. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

enum { BLOCK = 100000, ROUNDS = 4, RANKS_MOST = 8 }; /* ints */

static int rank, size;
static size_t bytes;

/* Both calls fail from now on, as a filter of a container may let them. */
static void deny_copies(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* NULL: the system has no secret memory, or not so much of it. */
static int *secret_memory(void)
{
#ifdef SYS_memfd_secret
    int fd = (int)syscall(SYS_memfd_secret, 0);
#else
    int fd = (int)syscall(447, 0);
#endif
    void *memory;

    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        return NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

static int value(int from, int to, int i, int round)
{
    return from * 1000003 + to * 10007 + i * 31 + round;
}

static void fill(int *out, int *in, int round)
{
    for (int to = 0; to < size; to++)
        for (int i = 0; i < BLOCK; i++) {
            out[to * BLOCK + i] = value(rank, to, i, round);
            in[to * BLOCK + i] = -1;
        }
}

static void expect(const int *in, int from, int to, int round)
{
    for (int i = 0; i < BLOCK; i++)
        CHECK(in[i] == value(from, to, i, round));
}

/* Every collective whose blocks go from buffer to buffer. */
static void exchange(int *out, int *in, int round)
{
    MPI_Request request;

    fill(out, in, round);
    MPI_Alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        expect(in + from * BLOCK, from, rank, round);
    fill(out, in, round + 1);
    MPI_Ialltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int from = 0; from < size; from++)
        expect(in + from * BLOCK, from, rank, round + 1);
    fill(out, in, round);
    MPI_Allgather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        expect(in + from * BLOCK, from, 0, round);
    fill(out, in, round);
    MPI_Gather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, round % size, MPI_COMM_WORLD);
    for (int from = 0; from < size && rank == round % size; from++)
        expect(in + from * BLOCK, from, 0, round);
    fill(out, in, round);
    MPI_Scatter(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, round % size, MPI_COMM_WORLD);
    expect(in, round % size, rank, round);
    fill(out, in, round);
    MPI_Bcast(rank ? in : out, BLOCK, MPI_INT, 0, MPI_COMM_WORLD);
    expect(rank ? in : out, 0, 0, round);
}

int main(int argc, char **argv)
{
    int *out[2], *in[2], is_denied = argc > 1 && !strcmp(argv[1], "denied"), is_there;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS_MOST);
    bytes = (size_t)size * BLOCK * sizeof(int);
    out[0] = malloc(bytes);
    in[0] = malloc(bytes);
    CHECK(out[0] && in[0]);
    exchange(out[0], in[0], 0); /* all know each other, and have copied */
    out[1] = is_denied ? out[0] : secret_memory();
    in[1] = is_denied ? in[0] : secret_memory();
    is_there = out[1] && in[1];
    MPI_Allreduce(MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (is_denied)
        deny_copies();
    for (int round = 1; is_there && round <= ROUNDS; round++) {
        MPI_Comm comm;

        exchange(out[round & 1], in[round / 2 & 1], round);
        /* some buffers of some ranks */
        exchange(out[(round ^ rank) & 1], in[rank & 1], round);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* knows of no refusal yet */
        fill(out[rank & 1], in[1], round);
        MPI_Alltoall(out[rank & 1], BLOCK, MPI_INT, in[1], BLOCK, MPI_INT, comm);
        for (int from = 0; from < size; from++)
            expect(in[1] + from * BLOCK, from, rank, round);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return is_there ? 0 : TEST_SKIP;
}
