/* SPDX-License-Identifier: BSD-3-Clause */
/* A child that a rank forks may not use MPI: its calls fail with a text that says why, and neither they nor its exit
 * disturb its parent or the other ranks. It has none of the parent's connections. A child may execute another program.
 * With the argument "returns" errors are returned from the start on, else they end the child. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { LARGE = 1 << 20 };

static int rank, size;
static int returns;

/* In a child: ends it. */
#define NEED(condition) ((condition) ? (void)0 : (fprintf(stderr, "%d: not so: %s\n", __LINE__, #condition), _exit(99)))

/* Forks a child that does this, with its stderr in `text`; returns its exit code. */
static int child(void (*act)(void), char *text, size_t room)
{
    int ends[2], status;
    size_t length = 0;
    ssize_t got;
    pid_t pid;

    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        act();
        exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], text + length, room - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void does_nothing(void)
{
}

static void calls_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void calls_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void looks(void)
{
    int is_initialized = 0, is_finalized = 0;

    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    NEED(is_initialized && is_finalized);
}

static void is_refused(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    NEED(code != MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    NEED(strstr(text, "forked") != NULL);
}

static void calls_all(void)
{
    MPI_Request request;
    MPI_Session session;
    MPI_Comm comm;
    int value = 1, sum, provided;

    is_refused(MPI_Send(&value, 1, MPI_INT, 1 - rank % 2, 0, MPI_COMM_WORLD));
    is_refused(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    is_refused(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request));
    is_refused(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    is_refused(MPI_Barrier(MPI_COMM_WORLD));
    is_refused(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    is_refused(MPI_Init(NULL, NULL));
    is_refused(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    is_refused(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    is_refused(MPI_Abort(MPI_COMM_WORLD, 3));
    is_refused(MPI_Finalize());
    NEED(MPI_Wtime() > 0);
}

/* The descriptors that the program was started with, but for the launcher's control socket. */
static char is_inherited[1024];

static void note_inherited(void)
{
    const char *control = getenv("MUR_CONTROL_FD");

    for (int fd = 0; fd < 1024; fd++)
        is_inherited[fd] = fcntl(fd, F_GETFD) >= 0 && !(control && atoi(control) == fd);
}

/* No sockets and the like. */
static void has_no_connections(void)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;

    NEED(directory);
    while ((entry = readdir(directory))) {
        char to[256] = "";
        int fd = atoi(entry->d_name);

        if (readlinkat(dirfd(directory), entry->d_name, to, sizeof to - 1) > 0 && fd < 1024 && !is_inherited[fd])
            NEED(strncmp(to, "socket:", 7) != 0 && !strstr(to, "eventpoll") && !strstr(to, "memfd"));
    }
    closedir(directory);
}

static void executes(void)
{
    execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
}

/* All pairs of neighbours, small and large. */
static void exchange(void)
{
    static char out[LARGE], in[LARGE];

    for (int bytes = 1; bytes <= LARGE; bytes *= 32) {
        memset(out, rank + bytes % 7, (size_t)bytes);
        MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 1, in, bytes, MPI_BYTE, (rank - 1 + size) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < bytes; i++)
            CHECK(in[i] == (char)((rank - 1 + size) % size + bytes % 7));
    }
}

/* The others wait in a barrier that the child of rank 0 calls; they must wait for rank 0 itself. */
static void barrier(void)
{
    static volatile int flag;
    char text[4096];
    int value = 0;
    MPI_Request request;

    if (rank == 0) {
        CHECK(child(calls_barrier, text, sizeof text) == (returns ? 0 : 1));
        CHECK(returns || strstr(text, "forked"));
        usleep(20000); /* so that ranks which do not wait are seen not to */
        flag = 1;
        for (int i = 1; i < size; i++)
            MPI_Send((const int *)&flag, 1, MPI_INT, i, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank) { /* what rank 0 sent before the barrier is here, or comes; if it has not left rank 0, it was too early */
        MPI_Irecv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(value == 1);
    }
}

int main(int argc, char **argv)
{
    char text[4096];
    int ends[2];

    returns = argc > 1;
    if (returns)
        setenv("MUR_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    note_inherited();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exchange();
    for (int i = 0; i < 3; i++) {
        CHECK(child(does_nothing, text, sizeof text) == 0);
        exchange();
    }
    barrier();
    CHECK(child(looks, text, sizeof text) == 0);
    if (!getenv("PMIX_NAMESPACE")) /* that library has some of its own */
        CHECK(child(has_no_connections, text, sizeof text) == 0);
    CHECK(child(calls_abort, text, sizeof text) == (returns ? 0 : 1));
    CHECK(child(executes, text, sizeof text) == 5);
    if (returns)
        CHECK(child(calls_all, text, sizeof text) == 0);
    exchange();
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    if (fork() == 0) { /* lives until its parent has ended */
        close(ends[1]);
        while (read(ends[0], text, 1) != 0)
            continue;
        exit(0);
    }
    close(ends[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    CHECK(child(does_nothing, text, sizeof text) == 0);
    return 0;
}
