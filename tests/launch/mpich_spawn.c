/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for MPICH's mpicc: spawns a job of itself, whose processes find their parent and talk to it, and which
 * publishes the name of a service that the parent looks up. With an argument, what is spawned is no program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: failed: %s\n", __LINE__, #condition);                                            \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                                              \
        }                                                                                                              \
    } while (0)

enum { CHILDREN = 3 };

static char port[MPI_MAX_PORT_NAME] = "made-up#1$", found[MPI_MAX_PORT_NAME]; /* not every MPICH can open one */

static void be_child(MPI_Comm parent, const char *word)
{
    int rank, size, value, sum;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == CHILDREN && strcmp(word, "a word; or two") == 0);
    if (rank == 0) {
        MPI_Publish_name("spawned-service", MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 1, parent);
    }
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    value += rank;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Send(&sum, 1, MPI_INT, 0, 0, parent);
    MPI_Barrier(parent);
    if (rank == 0) {
        MPI_Unpublish_name("spawned-service", MPI_INFO_NULL, port);
    }
    MPI_Comm_disconnect(&parent);
}

static void be_parent(const char *program)
{
    char *arguments[] = {"child", "a word; or two", NULL};
    int rank, value = 40, sum = 0, codes[CHILDREN] = {-1, -1, -1}, remote;
    MPI_Comm children;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_spawn(program, arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes);
    for (int i = 0; i < CHILDREN; i++)
        CHECK(codes[i] == MPI_SUCCESS);
    MPI_Comm_remote_size(children, &remote);
    CHECK(remote == CHILDREN);
    if (rank == 0) {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, children, MPI_STATUS_IGNORE);
        MPI_Lookup_name("spawned-service", MPI_INFO_NULL, found);
        CHECK(strcmp(port, found) == 0);
    }
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    if (rank == 0)
        for (int i = 0; i < CHILDREN; i++) {
            MPI_Recv(&sum, 1, MPI_INT, i, 0, children, MPI_STATUS_IGNORE);
            CHECK(sum == 123);
        }
    MPI_Barrier(children);
    MPI_Comm_disconnect(&children);
    if (rank == 0)
        printf("children are well\n");
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(parent, argc > 2 ? argv[2] : "");
    else
        be_parent(argc > 1 ? argv[1] : argv[0]);
    MPI_Finalize();
    return 0;
}
