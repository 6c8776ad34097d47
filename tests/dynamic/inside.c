/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of one job meet by a port that a published name tells, and pairs of ranks over sockets of their own; and what
 * is wrong is told with the right class: closed and unknown ports, names that are not or already there. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dynamic/talk.h"

static int rank, size;

static int class_of(int code)
{
    int error_class;

    MPI_Error_class(code, &error_class);
    return error_class;
}

static void test_names(void)
{
    char service[64], port[MPI_MAX_PORT_NAME] = "", *large = malloc(4000);

    snprintf(service, sizeof service, "a service: of rank %d", rank);
    CHECK(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)) == MPI_ERR_NAME);
    CHECK(MPI_Publish_name(service, MPI_INFO_NULL, "some port") == MPI_SUCCESS);
    CHECK(class_of(MPI_Publish_name(service, MPI_INFO_NULL, "another")) == MPI_ERR_SERVICE);
    CHECK(MPI_Lookup_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS && strcmp(port, "some port") == 0);
    CHECK(class_of(MPI_Unpublish_name(service, MPI_INFO_NULL, "another")) == MPI_ERR_SERVICE);
    CHECK(MPI_Unpublish_name(service, MPI_INFO_NULL, "some port") == MPI_SUCCESS);
    CHECK(class_of(MPI_Unpublish_name(service, MPI_INFO_NULL, "some port")) == MPI_ERR_SERVICE);
    CHECK(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)) == MPI_ERR_NAME);
    memset(large, 'x', 3999);
    large[3999] = '\0';
    CHECK(class_of(MPI_Lookup_name(large, MPI_INFO_NULL, port)) == MPI_ERR_NAME);
    CHECK(class_of(MPI_Publish_name(large, MPI_INFO_NULL, "port")) == MPI_ERR_SERVICE);
    CHECK(class_of(MPI_Publish_name("service", MPI_INFO_NULL, large)) == MPI_ERR_PORT);
    free(large);
}

/* A name that is unique to the round, so that nobody finds the port of the one before. */
static void test_halves(int round)
{
    char service[64], port[MPI_MAX_PORT_NAME] = "";
    int is_first = rank < (size + 1) / 2, half_rank;
    MPI_Comm half, inter;

    MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &half);
    MPI_Comm_rank(half, &half_rank);
    snprintf(service, sizeof service, "halves %d", round);
    if (is_first && half_rank == 0) {
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Publish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
    } else if (!is_first && half_rank == 0) {
        while (MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS)
            usleep(1000);
    }
    if (is_first)
        CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter) == MPI_SUCCESS);
    else
        CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter) == MPI_SUCCESS);
    talk_pairs(inter, 50000);
    talk_collectives(inter, is_first);
    CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS && inter == MPI_COMM_NULL);
    if (is_first && half_rank == 0) {
        CHECK(MPI_Unpublish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    }
    MPI_Comm_free(&half);
}

/* Everybody learns of the root's mistake. */
static void test_misuse(void)
{
    char port[MPI_MAX_PORT_NAME] = "", other[MPI_MAX_PORT_NAME];
    MPI_Comm inter = MPI_COMM_NULL;

    CHECK(class_of(MPI_Comm_connect("no port", MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
    CHECK(class_of(MPI_Comm_accept("no port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
    CHECK(class_of(MPI_Comm_connect(NULL, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
    CHECK(class_of(MPI_Comm_connect("x", MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Close_port("no port")) == MPI_ERR_PORT);
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS && strlen(port) < MPI_MAX_PORT_NAME);
    /* a secret that is not the port's */
    strcpy(other, port);
    other[12] = other[12] == '0' ? '1' : '0';
    CHECK(class_of(MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
    CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    CHECK(class_of(MPI_Close_port(port)) == MPI_ERR_PORT);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
    CHECK(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
    CHECK(class_of(MPI_Comm_join(-1, &inter)) == MPI_ERR_ARG && class_of(MPI_Comm_join(0, &inter)) == MPI_ERR_ARG);
    CHECK(inter == MPI_COMM_NULL);
}

/* A connected pair of sockets between two ranks. */
static int make_socket(int peer, int is_first)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), other;

    if (!is_first) {
        MPI_Recv(&address.sin_port, 1, MPI_UINT16_T, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
        return fd;
    }
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    getsockname(fd, (struct sockaddr *)&address, &length);
    MPI_Send(&address.sin_port, 1, MPI_UINT16_T, peer, 0, MPI_COMM_WORLD);
    other = accept(fd, NULL, NULL);
    CHECK(other >= 0);
    close(fd);
    return other;
}

static void test_join(void)
{
    int peer = rank ^ 1, fd;
    MPI_Comm inter;
    char byte = 'a';

    if (peer >= size)
        return;
    fd = make_socket(peer, rank < peer);
    CHECK(MPI_Comm_join(fd, &inter) == MPI_SUCCESS);
    talk_pairs(inter, 1000);
    talk_collectives(inter, rank < peer);
    CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
    CHECK(send(fd, &byte, 1, 0) == 1 && recv(fd, &byte, 1, 0) == 1 && byte == 'a'); /* the socket is the user's */
    close(fd);
    /* an end that says something else */
    fd = make_socket(peer, rank < peer);
    if (rank < peer) {
        char nonsense[2000] = "GET / HTTP/1.0";

        CHECK(send(fd, nonsense, sizeof nonsense, 0) == sizeof nonsense);
    } else {
        CHECK(MPI_Comm_join(fd, &inter) != MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_names();
    test_misuse();
    for (int round = 0; size > 1 && round < 5; round++)
        test_halves(round);
    if (size % 2 == 0)
        test_join();
    MPI_Finalize();
    return 0;
}
