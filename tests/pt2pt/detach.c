/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread detaches the buffer of buffered sends, and waits for the message in it. Meanwhile another one detaches, too:
 * one of them gets the buffer; or sends one more message: that is refused, or arrives as it was sent. */
#include <pthread.h>
#include <unistd.h>

#include "test.h"

enum { BYTES = 1 << 20, ROOM = 3 * BYTES };

static char *memory, *message;

static void *detach(void *result)
{
    void *address = message;
    int bytes;

    CHECK(MPI_Buffer_detach(&address, &bytes) == MPI_SUCCESS);
    CHECK(address == memory ? bytes == ROOM : address == NULL);
    *(void **)result = address;
    return NULL;
}

static void send_one(void)
{
    memset(message, 1, BYTES);
    CHECK(MPI_Buffer_attach(memory, ROOM) == MPI_SUCCESS);
    CHECK(MPI_Bsend(message, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void let_receive(int more)
{
    MPI_Send(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

static void receive(int tag, char expected)
{
    memset(message, 0, BYTES);
    MPI_Recv(message, BYTES, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BYTES; i++)
        CHECK(message[i] == expected);
}

/* The pauses give the threads time to be inside; without them this would test less. */
static void detach_twice(int rank)
{
    void *results[2] = {NULL, NULL};
    pthread_t threads[2];
    int more;

    if (rank == 1) {
        MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive(1, 1);
        return;
    }
    send_one();
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, detach, &results[i]) == 0);
    usleep(300000);
    let_receive(0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK((results[0] == memory) + (results[1] == memory) == 1);
}

static void send_meanwhile(int rank)
{
    void *result = NULL;
    pthread_t thread;
    int more;

    if (rank == 1) {
        MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive(1, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        if (more)
            receive(2, 2);
        return;
    }
    send_one();
    CHECK(pthread_create(&thread, NULL, detach, &result) == 0);
    usleep(300000);
    memset(message, 2, BYTES);
    more = MPI_Bsend(message, BYTES, MPI_CHAR, 1, 2, MPI_COMM_WORLD) == MPI_SUCCESS;
    let_receive(more);
    pthread_join(thread, NULL);
    CHECK(result == memory);
    memset(memory, 3, ROOM);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    memory = malloc(ROOM);
    message = malloc(BYTES);
    CHECK(memory && message);
    detach_twice(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    send_meanwhile(rank);
    free(message);
    free(memory);
    MPI_Finalize();
    return 0;
}
