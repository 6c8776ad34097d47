/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict on what the program has called, and two helpers in C: a socket for MPI_COMM_JOIN, and MPI_FREE_MEM of an
 * address that Fortran has as an integer. */
#include "coverage.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "mpi.h"

static int is_left_out;

/* The caller is a spawned process, of which nothing is asked. */
void leave_out_(void);
void leave_out_(void)
{
    is_left_out = 1;
}

void check_coverage(void)
{
    int rank, missing = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < procedure_count && !is_left_out; i++) {
        PMPI_Allreduce(MPI_IN_PLACE, &procedures[i].successes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (procedures[i].successes || !procedures[i].is_wanted)
            continue;
        if (rank == 0)
            printf("never called with success: %s\n", procedures[i].name);
        missing++;
    }
    if (rank == 0 && !is_left_out)
        printf("%d procedures, %d missing\n", procedure_count, missing);
    if (missing)
        PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* One end of a connection between the two ranks. */
void connected_socket_(const int *rank, int *fd);
void connected_socket_(const int *rank, int *fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;

    *fd = socket(AF_INET, SOCK_STREAM, 0);
    if (*rank == 0) {
        if (bind(*fd, (struct sockaddr *)&address, length) || listen(*fd, 1) ||
            getsockname(*fd, (struct sockaddr *)&address, &length))
            exit(1);
        PMPI_Send(&address, sizeof address, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        *fd = accept(*fd, NULL, NULL);
    } else {
        PMPI_Recv(&address, sizeof address, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (connect(*fd, (struct sockaddr *)&address, length))
            exit(1);
    }
}

/* MPI_FREE_MEM of module mpi takes the memory as a choice buffer. */
void mpi_free_mem_(void *base, int *ierror);
void free_address_(const intptr_t *address, int *ierror);
void free_address_(const intptr_t *address, int *ierror)
{
    mpi_free_mem_((void *)*address, ierror);
}
