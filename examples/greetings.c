/* Greetings: every rank sends one line to rank 0, which prints them in the order of ranks. The first program to try:
 * it shows that ranks start, know who they are, and can talk. Run: mpiexec -n 4 greetings */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char line[200], host[MPI_MAX_PROCESSOR_NAME];
    int rank, size, length;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    snprintf(line, sizeof line, "Greetings from rank %d of %d on %.100s", rank, size, host);

    if (rank != 0) {
        MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else {
        puts(line);
        for (int source = 1; source < size; source++) {
            MPI_Recv(line, sizeof line, MPI_CHAR, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            puts(line);
        }
    }
    MPI_Finalize();
    return 0;
}
