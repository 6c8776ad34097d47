/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends are cancelled whose receivers have left MPI, or leave it without another call: waiting for them ends, though
 * those processes live on, and the next session works, with whatever is late. The other ranks leave first ("after"), or
 * when rank 0 waits already ("before"). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

enum { SENDS = 6, LARGE = 300000 };

/* What ranks tell each other outside of MPI. */
struct board {
    _Atomic int ready, left, sent, waited;
};

static struct board *board;
static int rank, size;
static char out[LARGE];

/* While others may need this rank's progress. */
static void await_inside(const _Atomic int *count, int wanted)
{
    int flag;

    while (atomic_load(count) < wanted)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void make_board(void)
{
    char path[] = "/tmp/murmur-cancel-left-XXXXXX";
    int fd = rank ? -1 : mkstemp(path);

    CHECK(rank || (fd >= 0 && ftruncate(fd, sizeof *board) == 0));
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank)
        fd = open(path, O_RDWR);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(board != MAP_FAILED);
    close(fd);
    atomic_fetch_add(&board->ready, 1);
    await_inside(&board->ready, size);
    if (!rank)
        unlink(path);
}

static void await(const _Atomic int *count, int wanted)
{
    while (atomic_load(count) < wanted)
        usleep(1000);
}

static void cancel(int receiver, int how_many, MPI_Request *requests)
{
    static const int bytes[] = {0, 8, 100, 5000, 70000, LARGE};

    for (int i = 0; i < how_many; i++) {
        MPI_Issend(out, bytes[i % 6], MPI_BYTE, receiver, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Cancel(&requests[i]);
        MPI_Cancel(&requests[i]);
    }
}

static void sender(int is_after)
{
    MPI_Request *requests = malloc((size_t)(size * SENDS) * sizeof(MPI_Request));
    MPI_Status status;
    int count = (size - 1) * SENDS, flag;

    if (is_after)
        await_inside(&board->left, size - 1);
    for (int i = 1; i < size; i++)
        cancel(i, SENDS, requests + (i - 1) * SENDS);
    atomic_store(&board->sent, 1);
    for (int i = 0; i < count; i++) {
        MPI_Wait(&requests[i], &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
    }
    atomic_store(&board->waited, 1);
    free(requests);
    MPI_Finalize();
}

/* Sends are announced to it that it never looks at. The sleep lets rank 0 fall asleep in MPI_Wait; shorter or longer,
 * the result is the same. */
static void receiver(int is_after)
{
    if (!is_after) {
        await(&board->sent, 1);
        usleep(20000);
    }
    MPI_Finalize();
    atomic_fetch_add(&board->left, 1);
    await(&board->waited, 1);
}

static void next_session(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, got = -1;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "next", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    for (int i = 0; i < 100; i++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE);
        CHECK(got == left);
    }
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    int is_after = argc > 1 && !strcmp(argv[1], "after");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_board();
    if (rank)
        receiver(is_after);
    else
        sender(is_after);
    next_session();
    return 0;
}
