/* SPDX-License-Identifier: BSD-3-Clause */
/* Two jobs of one rank each, connected; then the client waits for a message of the server, which sends none.
 *   apart server|client FILE: the server writes its port there, the client then "FILE.ready" */
#include <unistd.h>

#include "test.h"

static void write_file(const char *path, const char *text)
{
    char other[512];
    FILE *file;

    snprintf(other, sizeof other, "%s.new", path);
    file = fopen(other, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0 && rename(other, path) == 0);
}

static void serve(const char *path)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    int value;

    MPI_Open_port(MPI_INFO_NULL, port);
    write_file(path, port);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Recv(&value, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    for (;;)
        pause();
}

static void wait_for_server(const char *path)
{
    char port[MPI_MAX_PORT_NAME], ready[512];
    MPI_Comm inter;
    FILE *file;
    int value = 1;

    while (!(file = fopen(path, "r")))
        usleep(10000);
    CHECK(fgets(port, sizeof port, file));
    fclose(file);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Send(&value, 1, MPI_INT, 0, 0, inter);
    snprintf(ready, sizeof ready, "%s.ready", path);
    write_file(ready, "");
    MPI_Recv(&value, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE); /* fails, and ends the job */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK(argc == 3);
    if (strcmp(argv[1], "server") == 0)
        serve(argv[2]);
    else
        wait_for_server(argv[2]);
    MPI_Finalize();
    return 0;
}
