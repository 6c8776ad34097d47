/* SPDX-License-Identifier: BSD-3-Clause */
/* Two jobs meet again and again by a port whose name goes through a file, talk, and part: nothing may be left over.
 *   two_jobs server|client FILE ROUNDS */
#include <sys/stat.h>
#include <unistd.h>

#include "dynamic/talk.h"

static void write_port(const char *path, const char *port)
{
    char other[512];
    FILE *file;

    snprintf(other, sizeof other, "%s.new", path);
    file = fopen(other, "w");
    CHECK(file && fputs(port, file) >= 0 && fclose(file) == 0 && rename(other, path) == 0);
}

static void read_port(const char *path, char *port)
{
    FILE *file;

    while (!(file = fopen(path, "r")))
        usleep(10000);
    CHECK(fgets(port, MPI_MAX_PORT_NAME, file));
    fclose(file);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int is_server, rank, size, before = 0;

    MPI_Init(&argc, &argv);
    CHECK(argc == 4);
    is_server = strcmp(argv[1], "server") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1 && is_server) {
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
        write_port(argv[2], port);
    } else if (rank == size - 1) {
        read_port(argv[2], port);
    }
    for (int round = 0; round < atoi(argv[3]); round++) {
        MPI_Comm inter;

        if (is_server)
            MPI_Comm_accept(port, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter);
        talk_pairs(inter, 1);
        if (round < 3) {
            talk_pairs(inter, 300000);
            talk_collectives(inter, is_server);
            talk_merged(inter, is_server);
        }
        if (round == 5)
            MPI_Comm_free(&inter); /* stay connected for a while */
        else
            MPI_Comm_disconnect(&inter);
        CHECK(round == 5 || inter == MPI_COMM_NULL);
        if (round == 6)
            before = count_descriptors();
    }
    if (atoi(argv[3]) > 7)
        CHECK(count_descriptors() <= before);
    if (rank == size - 1 && is_server)
        CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    MPI_Finalize();
    return 0;
}
