/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection breaks after rank 0 has said that it leaves MPI, before rank 1 has heard it. Rank 0 stays alive, outside
 * of MPI, until rank 1 has left MPI, too: rank 1 must not wait for it. With the argument "session", both then open a
 * session and talk again, on the streams that they had. With the argument "another", nothing breaks, but rank 1 keeps a
 * session of its own, for which rank 0 must not wait when it finalizes its last one. */
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "test.h"

enum { PATIENCE_S = 30 };

static bool is_mute; /* what this process writes to connections is lost */

static bool is_connection(int fd)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;

    return getpeername(fd, (struct sockaddr *)&address, &bytes) == 0 &&
           (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

/* The library's calls come here. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    size_t bytes = 0;

    if (!is_mute || !is_connection(fd))
        return syscall(SYS_sendmsg, fd, message, flags);
    for (size_t i = 0; i < message->msg_iovlen; i++)
        bytes += message->msg_iov[i].iov_len;
    return (ssize_t)bytes;
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    if (is_mute && is_connection(fd))
        return (ssize_t)bytes;
    return syscall(SYS_sendto, fd, data, bytes, flags, NULL, 0);
}

/* A connection whose end is lost is reset. */
int close(int fd)
{
    const struct linger none = {.l_onoff = 1};

    if (is_mute && is_connection(fd))
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    return (int)syscall(SYS_close, fd);
}

static void talk(MPI_Comm comm, int rank)
{
    int value = -1;

    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(&i, 1, MPI_INT, 1, i, comm);
        else
            MPI_Recv(&value, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
        CHECK(rank == 0 || value == i);
        if (rank == 1)
            MPI_Send(&i, 1, MPI_INT, 0, i, comm);
        else
            MPI_Recv(&value, 1, MPI_INT, 1, i, comm, MPI_STATUS_IGNORE);
        CHECK(rank == 1 || value == i);
    }
}

static MPI_Comm open_session(const char *set, MPI_Session *session)
{
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
    MPI_Group_from_session_pset(*session, set, &group);
    MPI_Comm_create_from_group(group, "last word", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static int talk_in_session(void)
{
    MPI_Session session;
    MPI_Comm comm = open_session("mpi://WORLD", &session);
    int rank;

    MPI_Comm_rank(comm, &rank);
    talk(comm, rank);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return rank;
}

/* One says outside of MPI that it has left. */
static void tell(const char *path)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fclose(file) == 0);
}

static void hear(const char *path)
{
    struct stat state;
    int left = PATIENCE_S * 100;

    while (stat(path, &state) && left-- > 0)
        usleep(10000);
    CHECK(left >= 0);
    unlink(path);
}

static void keep_another(const char *path)
{
    double limit = MPI_Wtime() + PATIENCE_S;
    MPI_Session own;
    MPI_Comm self = open_session("mpi://SELF", &own);
    struct stat state;
    int flag;

    talk_in_session();
    while (stat(path, &state) && MPI_Wtime() < limit)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, self, &flag, MPI_STATUS_IGNORE);
    CHECK(stat(path, &state) == 0);
    unlink(path);
    talk_in_session();
    MPI_Comm_free(&self);
    MPI_Session_finalize(&own);
}

static void use_sessions(const char *path)
{
    if (strcmp(getenv("PMI_RANK"), "1") == 0) {
        keep_another(path);
        return;
    }
    talk_in_session();
    tell(path);
    talk_in_session();
}

int main(int argc, char **argv)
{
    char path[64];
    int rank, parent = (int)getppid();

    snprintf(path, sizeof path, "/tmp/murmur-last-word-%d", parent); /* the agent's number: one host */
    if (argc > 1 && strcmp(argv[1], "another") == 0) {
        use_sessions(path);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    talk(MPI_COMM_WORLD, rank);
    is_mute = rank == 0;
    MPI_Finalize();
    is_mute = false;
    if (rank == 0)
        hear(path);
    else
        tell(path);
    if (argc > 1 && strcmp(argv[1], "session") == 0)
        talk_in_session();
    return 0;
}
