/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that hangs in the way that its argument names, for the tests of mpiexec -status (status.sh). */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, buffer[1 << 20];

static void receive(int source, int tag)
{
    MPI_Recv(buffer, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute(void)
{
    for (volatile unsigned i = 0;; i++)
        continue;
}

/* Each receives from the next. */
static void ring(void)
{
    receive((rank + 1) % size, 7);
}

/* The same of the even ranks and the odd ones: two circles. */
static void rings(void)
{
    receive((rank + 2) % size, 7);
}

/* Each sends so much to the next that it has to be received. */
static void sends(void)
{
    MPI_Send(buffer, sizeof buffer / sizeof buffer[0], MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
}

/* The last rank does not come to the fourth barrier. */
static void barrier(void)
{
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        compute();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The last rank receives from rank 0 what is never sent, while the others are in a barrier. */
static void odd(void)
{
    if (rank == size - 1)
        receive(0, 9);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two communicators of all, in different orders. */
static void communicators(void)
{
    MPI_Comm first, second;

    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Comm_set_name(first, "first");
    MPI_Comm_set_name(second, "second");
    MPI_Barrier(rank == 0 ? first : second);
}

/* A broadcast and a reduction: who calls which first is not the same everywhere. */
static void order(void)
{
    MPI_Comm other;
    int sum;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_name(other, "other");
    if (rank == size - 1)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other);
    else
        MPI_Allgather(&rank, 1, MPI_INT, buffer, 1, MPI_INT, MPI_COMM_WORLD);
}

/* Rank 0 holds the lock of rank 1's part, and does not give it back; `computes`: while it computes. */
static void hold_lock(int computes)
{
    MPI_Win window;
    int *base;

    MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_set_name(window, "shelf");
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && computes)
        compute();
    if (rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void lock(void)
{
    hold_lock(0);
}

static void lock_computing(void)
{
    hold_lock(1);
}

/* Two ranks lock each their own part, and then want the other's. */
static void locks(void)
{
    MPI_Win windows[2];
    int *base;

    for (int i = 0; i < 2; i++)
        MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &windows[i]);
    if (rank < 2)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[rank]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[!rank]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The last rank stops itself; the others wait for it in a barrier. */
static void stopped(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        raise(SIGSTOP);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 wants a lock of a file that the last rank has without MPI; its name is in the environment. */
static void file_lock(void)
{
    const char *name = getenv("STUCK_FILE");
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    MPI_File file;

    if (rank == size - 1) {
        int fd = open(name, O_RDWR | O_CREAT, 0600);

        if (fd < 0 || fcntl(fd, F_SETLKW, &whole))
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_set_atomicity(file, 1);
        MPI_File_write_at(file, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 has sent with another tag than the one that rank 0 receives. */
static void tag(void)
{
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    if (rank == 0)
        receive(1, 5);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 starts an access epoch that rank 1 does not expose its memory for. */
static void epoch(void)
{
    MPI_Group all, one;
    MPI_Win window;
    int *base, target = 1;

    MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &target, &one);
    if (rank == 0)
        MPI_Win_start(one, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A probe for a message that nobody sends. */
static void probe(void)
{
    if (rank == 0)
        MPI_Probe(size - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 asks again and again. */
static void poll(void)
{
    int flag = 0;

    while (rank == 0 && !flag)
        MPI_Iprobe(size - 1, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Several requests, of which one would do, or all are needed. */
static void requests(int one_is_enough)
{
    MPI_Request wanted[3];
    int index;

    for (int i = 0; i < 3; i++)
        MPI_Irecv(&buffer[i], 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &wanted[i]);
    if (one_is_enough)
        MPI_Waitany(3, wanted, &index, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(3, wanted, MPI_STATUSES_IGNORE);
}

static void any(void)
{
    requests(1);
}

static void all(void)
{
    requests(0);
}

/* A nonblocking collective that the last rank never starts. */
static void nonblocking(void)
{
    MPI_Request request;

    if (rank == size - 1)
        receive(0, 9);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 0 waits for a message of a spawned job, which waits for one of rank 0. */
static void spawn(char *program)
{
    MPI_Comm children;
    char *arguments[] = {"child", NULL};

    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_name(children, "children");
    if (rank == 0)
        MPI_Recv(buffer, 1, MPI_INT, 0, 2, children, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void child(void)
{
    MPI_Comm parent;

    MPI_Comm_get_parent(&parent);
    MPI_Recv(buffer, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
}

/* Some ranks do not open the file that the others open together. */
static void file_open(void)
{
    MPI_File file;

    if (rank)
        MPI_File_open(MPI_COMM_WORLD, getenv("STUCK_FILE"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    receive(size - 1, 1);
}

/* The last rank does not take part in a collective write. */
static void file_write(void)
{
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, getenv("STUCK_FILE"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    if (rank == size - 1)
        receive(0, 9);
    MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
}

/* One rank splits off a communicator, the others do not. */
static void split(void)
{
    MPI_Comm part;

    if (rank)
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
    receive(size - 1, 1);
}

/* Each receives from itself, or from anybody. */
static void self(void)
{
    receive(rank, 1);
}

static void any_source(void)
{
    receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
}

/* Rank 0 leaves while rank 1 has not taken its message, and waits for another one of it. */
static void ending(void)
{
    MPI_Request request;

    if (rank == 1)
        receive(0, 7);
    if (rank)
        return;
    MPI_Isend(buffer, sizeof buffer / sizeof buffer[0], MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

/* The last rank has left. */
static void finalize(void)
{
    if (rank < size - 1)
        receive(size - 1, 1);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"ring", ring},
    {"rings", rings},
    {"sends", sends},
    {"barrier", barrier},
    {"odd", odd},
    {"communicators", communicators},
    {"order", order},
    {"lock", lock},
    {"lock_computing", lock_computing},
    {"locks", locks},
    {"stopped", stopped},
    {"file_lock", file_lock},
    {"tag", tag},
    {"epoch", epoch},
    {"probe", probe},
    {"poll", poll},
    {"any", any},
    {"all", all},
    {"nonblocking", nonblocking},
    {"child", child},
    {"file_open", file_open},
    {"file_write", file_write},
    {"split", split},
    {"finalize", finalize},
    {"self", self},
    {"any_source", any_source},
    {"ending", ending},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 2 && strcmp(argv[1], "spawn") == 0)
        spawn(argv[0]);
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    MPI_Finalize();
    return 0;
}
