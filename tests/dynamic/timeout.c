/* SPDX-License-Identifier: BSD-3-Clause */
/* Nobody accepts: MPI_Comm_connect gives up with an error when it was told to, by an info key or a setting, and the
 * next one is accepted, as if the first had not called. A wrong key and a closed port are errors at once. */
#include "test.h"

static char port[MPI_MAX_PORT_NAME];

static int class_of_connect(const char *timeout)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm inter;
    int code, class;

    if (timeout) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "timeout", timeout);
    }
    code = MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter);
    if (timeout)
        MPI_Info_free(&info);
    if (!code)
        MPI_Comm_disconnect(&inter);
    MPI_Error_class(code, &class);
    return class;
}

static void call(void)
{
    double start = MPI_Wtime();

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of_connect("1") == MPI_ERR_PORT);
    CHECK(MPI_Wtime() - start >= 0.9);
    CHECK(class_of_connect("soon") == MPI_ERR_INFO_VALUE);
    CHECK(class_of_connect("0") == MPI_ERR_INFO_VALUE);
    CHECK(class_of_connect(NULL) == MPI_ERR_PORT); /* MUR_CONNECT_TIMEOUT is a second, too */
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of_connect("60") == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of_connect("60") == MPI_ERR_PORT); /* it is closed */
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1)
        call();
    if (rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Comm_disconnect(&inter);
        MPI_Close_port(port);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
