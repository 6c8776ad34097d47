/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of the fault tests: rank 1 fails in the way and at the moment that the arguments say, while the others
 * wait for it. Run: victim HOW WHEN, where HOW is segv, kill, exit0, exit3, quit3 (_exit), abort, error, exec, raise
 * and WHEN is before (MPI_Init), start, barrier, transfer, collective, finalize (in a callback of it), after, session.
 * With "fine" nobody fails. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "test.h"

static void fail(const char *how)
{
    int value = 0;

    fflush(NULL);
    if (strcmp(how, "segv") == 0) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    } else if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(how, "exit0") == 0) {
        _exit(0);
    } else if (strcmp(how, "exit3") == 0) {
        exit(3);
    } else if (strcmp(how, "quit3") == 0) {
        _exit(3);
    } else if (strcmp(how, "raise") == 0) {
        abort();
    } else if (strcmp(how, "exec") == 0) {
        execl("/no/such/program", "program", (char *)NULL);
        _exit(127);
    } else if (strcmp(how, "fine") == 0) {
        return;
    } else if (strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    } else {
        MPI_Send(&value, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD); /* no such rank: a fatal error */
    }
}

static void *fail_in_thread(void *how)
{
    usleep(50000);
    fail(how);
    return NULL;
}

static int fail_in_callback(MPI_Comm comm, int key, void *value, void *how)
{
    (void)comm, (void)key, (void)value;
    fail(how);
    return MPI_SUCCESS;
}

static void fail_in_finalize(char *how)
{
    int key;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fail_in_callback, &key, how);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, how);
}

/* The rank that fails is known by its environment where MPI does not run. */
static int is_victim(void)
{
    const char *rank = getenv("PMI_RANK");

    return rank && strcmp(rank, "1") == 0;
}

static void use_session(const char *how)
{
    MPI_Session session;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (is_victim())
        fail(how);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "segv", *when = argc > 2 ? argv[2] : "start";
    int rank, size, provided, bytes = 64 << 20;
    char *data = calloc(1, (size_t)bytes);
    pthread_t thread;

    if (strcmp(when, "before") == 0 && is_victim())
        fail(how);
    if (strcmp(when, "session") == 0)
        use_session(how);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(when, "start") == 0 && rank == 1)
        fail(how);
    if (strcmp(when, "barrier") == 0) {
        for (int i = 0; i < 20; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            fail(how);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(when, "transfer") == 0) {
        if (rank == 1)
            pthread_create(&thread, NULL, fail_in_thread, (void *)(size_t)how);
        for (int i = 0; i < 100000; i++) {
            if (rank == 0)
                MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            else if (rank == 1)
                MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (strcmp(when, "collective") == 0) {
        if (rank == 1)
            pthread_create(&thread, NULL, fail_in_thread, (void *)(size_t)how);
        for (int i = 0; i < 1000000; i++)
            MPI_Allreduce(MPI_IN_PLACE, data, 1 << 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (strcmp(when, "finalize") == 0 && rank == 1)
        fail_in_finalize((char *)how);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (strcmp(when, "after") == 0) {
        if (rank == 1)
            fail(how);
        if (strcmp(how, "fine") != 0)
            sleep(60);
    }
    return 0;
}
