/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks answer each other with small messages, each of which must bring its number; before that, both send many in
 * one direction, which leaves records of all kinds in the rings. MUR_TEST_MESSAGES says how many: `make positions`
 * sends 2^31 and more, so that what counts messages or half lines in 32 bits goes round. */
#include "test.h"

enum { BURST = 1000 };

static int me;

static void burst(int sender)
{
    static int64_t numbers[BURST];
    MPI_Request requests[BURST];

    for (int i = 0; i < BURST; i++)
        if (me == sender) {
            numbers[i] = i;
            MPI_Isend(&numbers[i], 1, MPI_INT64_T, 1 - me, 1, MPI_COMM_WORLD, &requests[i]);
        } else {
            numbers[i] = -1;
            MPI_Irecv(&numbers[i], 1, MPI_INT64_T, 1 - me, 1, MPI_COMM_WORLD, &requests[i]);
        }
    MPI_Waitall(BURST, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < BURST; i++)
        CHECK(numbers[i] == i);
}

int main(int argc, char **argv)
{
    const char *text = getenv("MUR_TEST_MESSAGES");
    int64_t count = text ? atoll(text) : 200000;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    burst(0);
    burst(1);
    for (int64_t i = 0; i < count; i++) {
        int64_t number = i;

        if (i % 2 == me) {
            MPI_Send(&number, 1, MPI_INT64_T, 1 - me, 0, MPI_COMM_WORLD);
            continue;
        }
        number = -1;
        MPI_Recv(&number, 1, MPI_INT64_T, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (number != i) {
            fprintf(stderr, "message %lld brought %lld\n", (long long)i, (long long)number);
            CHECK(number == i);
        }
    }
    burst(0);
    MPI_Finalize();
    return 0;
}
