/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm of congestion control connections use: between ranks of one host "reno", which has no pace; between
 * hosts ("system") that of any new socket. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>

#include "connections.h"
#include "test.h"

static int connections;

static void algorithm_of(int fd, char name[16])
{
    socklen_t length = 15;

    memset(name, 0, 16);
    getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length);
}

static void look_at(int fd, const char *wanted)
{
    char name[16];

    if (!is_connection(fd))
        return;
    connections++;
    algorithm_of(fd, name);
    if (strcmp(name, wanted) != 0)
        fprintf(stderr, "a connection uses '%s', not '%s'\n", name, wanted);
    CHECK(!strcmp(name, wanted));
}

int main(int argc, char **argv)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), rank, value = 0;
    char wanted[16] = "reno";

    if (argc > 1 && !strcmp(argv[1], "system"))
        algorithm_of(fd, wanted);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (fd = 3; fd < CONNECTION_FDS; fd++)
        look_at(fd, wanted);
    MPI_Allreduce(&connections, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* some ranks of a host have none */
    CHECK(value > 0);
    MPI_Finalize();
    return 0;
}
