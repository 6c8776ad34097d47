/* SPDX-License-Identifier: BSD-3-Clause */
/* Two jobs that are connected for two seconds: connected FILE, and connected FILE client; the first writes its port
 * there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void exchange_port(const char *path, const char *mode, char *port)
{
    FILE *file = fopen(path, mode);

    if (!file || (*mode == 'w' ? fputs(port, file) < 0 : !fgets(port, MPI_MAX_PORT_NAME, file)) || fclose(file))
        MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", path[4096];
    MPI_Comm other;

    MPI_Init(&argc, &argv);
    if (argc > 2) {
        exchange_port(argv[1], "r", port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    } else {
        MPI_Open_port(MPI_INFO_NULL, port);
        snprintf(path, sizeof path, "%s.new", argv[1]);
        exchange_port(path, "w", port);
        rename(path, argv[1]); /* so that nobody reads half of it */
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    }
    puts("connected");
    fflush(stdout);
    sleep(2);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
