/* SPDX-License-Identifier: BSD-3-Clause */
/* Strangers connect to a rank, many of them, and say nothing: a rank that sleeps wakes to be rid of them; they do not
 * end the greeting of one who knows the secret, and do not slow down a rank that polls; one who calls a port and then
 * stalls does not keep others from it; the rank listens only where MUR_TCP_INCLUDE says, and takes no call of one who
 * cannot be a rank; and a port may be closed while somebody who calls it is about to prove that he may. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/handshake.h"
#include "boot/job.h"
#include "boot/process.h"
#include "transport/tcp/tcp.h"

#include "test.h"

enum { SILENT = 600, PASSES = 20000, PATIENCE_S = 30, GREETING_S = 60 };

static int epoll_calls;

/* The library's calls come here. */
int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout)
{
    epoll_calls++;
    return (int)syscall(SYS_epoll_pwait, epoll, events, room, timeout, NULL, 8);
}

static void pass(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

struct port {
    char name[MPI_MAX_PORT_NAME];
    unsigned char secret[MUR_MAC_BYTES];
    int number, tcp;
};

static void open_port(struct port *port)
{
    char *end;

    CHECK(MPI_Open_port(MPI_INFO_NULL, port->name) == MPI_SUCCESS);
    CHECK(strncmp(port->name, "murmur:", 7) == 0);
    port->number = (int)strtol(port->name + 7, &end, 10);
    CHECK(mur_secret_read(end + 1, port->secret, sizeof port->secret));
    end = strchr(port->name, ','); /* behind the first address, if there are several */
    if (end)
        *end = '\0';
    port->tcp = atoi(strrchr(port->name, ':') + 1);
    if (end)
        *end = ',';
}

static int call(const struct port *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port->tcp), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

/* Calls MPI until the rank has sent so much to the stranger, or has closed the connection: then false. */
static bool hear(int fd, void *message, size_t bytes)
{
    double limit = MPI_Wtime() + PATIENCE_S;

    while (MPI_Wtime() < limit) {
        ssize_t got = recv(fd, message, bytes, MSG_DONTWAIT | MSG_PEEK);

        if (got == (ssize_t)bytes)
            return recv(fd, message, bytes, 0) == got;
        if (got == 0 || (got < 0 && errno != EAGAIN))
            return false;
        pass();
    }
    CHECK(!"the rank answers");
    return false;
}

static void check_listeners(void)
{
    struct sockaddr_storage name;
    int found = 0;

    for (int fd = 0; fd < 1024; fd++) {
        socklen_t length = sizeof name, size = sizeof(int);
        int listens = 0;

        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens ||
            getsockname(fd, (struct sockaddr *)&name, &length))
            continue;
        if (name.ss_family == AF_INET)
            CHECK(((struct sockaddr_in *)&name)->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
        else if (name.ss_family == AF_INET6)
            CHECK(IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&name)->sin6_addr));
        found += name.ss_family != AF_UNIX;
    }
    CHECK(found > 0);
}

/* As far as the challenge. */
static int begin_greeting(const struct port *port, struct mur_handshake *caller, struct mur_challenge *challenge)
{
    int fd = call(port);

    mur_handshake_call(caller, port->secret, MUR_PURPOSE_PORT, 1, 0, port->number);
    CHECK(send(fd, &caller->hello, sizeof caller->hello, 0) == sizeof caller->hello);
    CHECK(hear(fd, challenge, sizeof *challenge));
    return fd;
}

static void prove(int fd, struct mur_handshake *caller, const struct mur_challenge *challenge)
{
    struct mur_proof proof;

    CHECK(mur_handshake_prove(caller, challenge, 0, &proof));
    CHECK(send(fd, &proof, sizeof proof, MSG_NOSIGNAL) == sizeof proof);
}

/* The time at which a rank that sleeps will wake (mur_engine.due, 0: none) is that of the stranger's end. */
static void set_time_for_silent_one(const struct port *port)
{
    double limit = MPI_Wtime() + PATIENCE_S;
    int fd = call(port);

    CHECK(mur_engine.due == 0);
    while (mur_tcp.silent_count == 0) {
        CHECK(MPI_Wtime() < limit);
        pass();
    }
    CHECK(mur_engine.due > 0 && mur_engine.due / 1000000 <= mur_tcp_now() + 1000 * GREETING_S);
    close(fd);
}

static void bear_flood(const struct port *port)
{
    struct mur_handshake caller;
    struct mur_challenge challenge;
    struct mur_welcome welcome;
    int silent[SILENT], fd = begin_greeting(port, &caller, &challenge);
    char any;

    for (int i = 0; i < SILENT; i++) {
        silent[i] = call(port);
        pass();
    }
    CHECK(!hear(silent[SILENT / 4], &any, 1)); /* it had to go */
    prove(fd, &caller, &challenge);
    CHECK(hear(fd, &welcome, sizeof welcome) && mur_handshake_is_welcome(&caller, 0, &welcome));
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    close(fd);
}

/* Asking epoll in every pass would be a system call in every one. */
static void poll_beside_silent_one(const struct port *port)
{
    int fd = call(port);

    for (int i = 0; i < PASSES; i++)
        pass();
    epoll_calls = 0;
    for (int i = 0; i < PASSES; i++)
        pass();
    CHECK(epoll_calls > 0 && epoll_calls < PASSES / 4 * 3);
    close(fd);
}

/* The stranger is the first at the port; rank 1 comes after it. */
static void accept_behind_staller(const struct port *port, int rank)
{
    char name[MPI_MAX_PORT_NAME] = "";
    struct mur_handshake caller;
    struct mur_challenge challenge;
    struct mur_welcome welcome;
    MPI_Comm inter;
    MPI_Info info;
    int fd = -1;

    if (rank == 0) {
        strcpy(name, port->name);
        fd = begin_greeting(port, &caller, &challenge);
        prove(fd, &caller, &challenge);
        CHECK(hear(fd, &welcome, sizeof welcome));
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "40");
    if (rank == 0)
        CHECK(MPI_Comm_accept(name, info, 0, MPI_COMM_SELF, &inter) == MPI_SUCCESS);
    else
        CHECK(MPI_Comm_connect(name, info, 0, MPI_COMM_SELF, &inter) == MPI_SUCCESS);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&info);
    if (rank == 0)
        close(fd);
}

/* Whether a call from this rank of the job to that one, who knows the job's secret, is taken as far as the challenge.
 */
static bool is_taken(const struct port *port, int purpose, int from, int to)
{
    struct mur_handshake caller;
    struct mur_challenge challenge;
    int fd = call(port);
    bool is;

    mur_handshake_call(&caller, purpose == MUR_PURPOSE_PORT ? port->secret : mur_process.job->secret, (uint32_t)purpose,
                       1, from, to);
    CHECK(send(fd, &caller.hello, sizeof caller.hello, 0) == sizeof caller.hello);
    is = hear(fd, &challenge, sizeof challenge);
    close(fd);
    return is;
}

/* Who says that it is no rank of the job that may call this one is not asked for a proof. */
static void know_callers(const struct port *port)
{
    CHECK(is_taken(port, MUR_PURPOSE_RANKS, 1, 0));
    CHECK(!is_taken(port, MUR_PURPOSE_RANKS, 1, 1));
    CHECK(!is_taken(port, MUR_PURPOSE_RANKS, 0, 0));
    CHECK(!is_taken(port, MUR_PURPOSE_RANKS, -1, 0));
    CHECK(!is_taken(port, MUR_PURPOSE_RANKS, 2, 0));
    CHECK(!is_taken(port, 99, 1, 0));
    CHECK(!is_taken(port, MUR_PURPOSE_FOREIGN, 1, 0));
    CHECK(!is_taken(port, MUR_PURPOSE_PORT, 0, port->number + 1));
}

static void close_port_meanwhile(const struct port *port)
{
    struct mur_handshake caller;
    struct mur_challenge challenge;
    struct mur_welcome welcome;
    int fd = begin_greeting(port, &caller, &challenge);

    CHECK(MPI_Close_port(port->name) == MPI_SUCCESS);
    prove(fd, &caller, &challenge);
    CHECK(!hear(fd, &welcome, sizeof welcome));
    close(fd);
}

int main(int argc, char **argv)
{
    struct port port;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        open_port(&port);
        check_listeners();
        set_time_for_silent_one(&port);
        bear_flood(&port);
        poll_beside_silent_one(&port);
        know_callers(&port);
    }
    accept_behind_staller(&port, rank);
    if (rank == 0)
        close_port_meanwhile(&port);
    MPI_Finalize();
    return 0;
}
