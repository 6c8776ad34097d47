/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: rank 1 loops on one kind of call that completes at once, of its own window, its own file, or a test of a
 * request that is not active, until rank 0 has had a message received by it and has put into its window. Rank 0 tells
 * so by a signal, so that nothing but those calls can serve it: a call that never does makes the test time out. */
#include <signal.h>
#include <unistd.h>

#include "test.h"

static MPI_Win win, own_win;
static MPI_File file;
static MPI_Request inactive;
static long *memory;
static long word;
static int rank, size;
static volatile sig_atomic_t is_over;

static void note(int signal)
{
    (void)signal;
    is_over = 1;
}

/* ---- the calls; those for which all ranks are locked come after the others ---- */

static void lock_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Win_unlock(rank, win);
}

static void lock_get_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Get(&word, 1, MPI_LONG, rank, 1, 1, MPI_LONG, win);
    MPI_Win_unlock(rank, win);
}

/* What is not quick is counted while the lock is held. */
static void lock_and_maximum(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Accumulate((long[]){1, 2}, 2, MPI_LONG, rank, 1, 2, MPI_LONG, MPI_MAX, win);
    MPI_Win_unlock(rank, win);
}

static void lock_and_maxima(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < 3; i++)
        MPI_Accumulate((long[]){1, 2}, 2, MPI_LONG, rank, 1, 2, MPI_LONG, MPI_MAX, win);
    MPI_Win_unlock(rank, win);
}

static void lock_all(void)
{
    MPI_Win_lock_all(0, own_win);
    MPI_Win_unlock_all(own_win);
}

static void fence(void)
{
    MPI_Win_fence(0, own_win);
}

static void get_group(void)
{
    MPI_Group group;

    MPI_Win_get_group(win, &group);
    MPI_Group_free(&group);
}

static void test_null(void)
{
    MPI_Request null = MPI_REQUEST_NULL;
    int flag;

    MPI_Test(&null, &flag, MPI_STATUS_IGNORE);
}

static void test_inactive(void)
{
    int flag;

    MPI_Test(&inactive, &flag, MPI_STATUS_IGNORE);
}

static void test_any(void)
{
    int flag, index;

    MPI_Testany(1, &inactive, &index, &flag, MPI_STATUS_IGNORE);
}

static void test_all(void)
{
    int flag;

    MPI_Testall(1, &inactive, &flag, MPI_STATUSES_IGNORE);
}

static void test_some(void)
{
    int count, index;

    MPI_Testsome(1, &inactive, &count, &index, MPI_STATUSES_IGNORE);
}

static void get_status(void)
{
    int flag;

    MPI_Request_get_status(inactive, &flag, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void write_file(void)
{
    MPI_File_write_at(file, 0, &word, 1, MPI_LONG, MPI_STATUS_IGNORE);
}

static void read_file(void)
{
    MPI_File_read_at_all(file, 0, &word, 1, MPI_LONG, MPI_STATUS_IGNORE);
}

static void ask_file(void)
{
    MPI_Offset bytes;

    MPI_File_get_size(file, &bytes);
}

static void send_to_self(void)
{
    MPI_Sendrecv(&word, 1, MPI_LONG, 0, 4, &word, 1, MPI_LONG, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void put(void)
{
    MPI_Put(&word, 1, MPI_LONG, rank, 1, 1, MPI_LONG, win);
}

static void get(void)
{
    MPI_Get(&word, 1, MPI_LONG, rank, 1, 1, MPI_LONG, win);
}

static void put_flush(void)
{
    put();
    MPI_Win_flush(rank, win);
}

static void flush(void)
{
    MPI_Win_flush_local(rank, win);
}

static void flush_all(void)
{
    MPI_Win_flush_local_all(win);
}

static void sync_window(void)
{
    MPI_Win_sync(win);
}

static void accumulate(void)
{
    MPI_Accumulate(&word, 1, MPI_LONG, rank, 1, 1, MPI_LONG, MPI_SUM, win);
}

static void accumulate_two(void)
{
    long two[2] = {1, 2};

    MPI_Accumulate(two, 2, MPI_LONG, rank, 1, 2, MPI_LONG, MPI_MAX, win);
}

static void fetch(void)
{
    MPI_Fetch_and_op(&word, &word, MPI_LONG, rank, 1, MPI_SUM, win);
}

static void swap(void)
{
    long zero = 0, result;

    MPI_Compare_and_swap(&zero, &zero, &result, MPI_LONG, rank, 1, win);
}

static void put_request(void)
{
    MPI_Request request;

    MPI_Rput(&word, 1, MPI_LONG, rank, 1, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
    void (*call)(void);
    int needs_lock_all;
} calls[] = {
    {lock_unlock, 0},
    {lock_and_maximum, 0},
    {lock_and_maxima, 0},
    {lock_get_unlock, 0},
    {lock_all, 0},
    {fence, 0},
    {get_group, 0},
    {test_null, 0},
    {test_inactive, 0},
    {test_any, 0},
    {test_all, 0},
    {test_some, 0},
    {get_status, 0},
    {probe, 0},
    {write_file, 0},
    {read_file, 0},
    {ask_file, 0},
    {send_to_self, 0},
    {put, 1},
    {get, 1},
    {put_flush, 1},
    {flush, 1},
    {flush_all, 1},
    {sync_window, 1},
    {accumulate, 1},
    {accumulate_two, 1},
    {fetch, 1},
    {swap, 1},
    {put_request, 1},
};

/* Rank 1: nothing else may make progress meanwhile. */
static void loop(int which)
{
    MPI_Request request;
    int got = 0;

    MPI_Irecv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
    if (calls[which].needs_lock_all)
        MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!is_over)
        calls[which].call();
    is_over = 0;
    if (calls[which].needs_lock_all)
        MPI_Win_unlock_all(win);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == which + 1);
}

static void disturb(int which, pid_t looping)
{
    int number = which + 1;
    long value = 100 + which;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(1, win);
    kill(looping, SIGUSR1);
}

int main(int argc, char **argv)
{
    char name[] = "/tmp/murmur-progress-XXXXXX";
    long *own;
    int pid = (int)getpid(), buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size > 1);
    signal(SIGUSR1, note);
    MPI_Bcast(&pid, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Win_allocate(4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_allocate(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_SELF, &own, &own_win);
    CHECK(mkstemp(name) >= 0);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, &word, 1, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_Recv_init(&buffer, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &inactive);
    for (int which = 0; which < (int)(sizeof calls / sizeof calls[0]); which++) {
        if (rank == 1)
            loop(which);
        else if (rank == 0)
            disturb(which, pid);
        else
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(rank != 1 || memory[0] == 100 + which);
    }
    MPI_Request_free(&inactive);
    MPI_File_close(&file);
    MPI_Win_free(&own_win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
