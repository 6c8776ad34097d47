/* SPDX-License-Identifier: BSD-3-Clause */
/* A process sends synchronously to itself. Once a receive has matched, both requests are complete at their first
 * MPI_Test, whatever the size and the types, and whichever call came first. */
#include "test.h"

enum { MOST = 100000, TAG = 5 };

static int out[2 * MOST], in[2 * MOST];

/* How the receive finds the message. */
enum { PROBED, POSTED_BEFORE, POSTED_AFTER, WAYS };

static void must_be_complete(MPI_Request *request, MPI_Status *status)
{
    int flag = 0;

    MPI_Test(request, &flag, status);
    CHECK(flag && *request == MPI_REQUEST_NULL);
}

static void start(int way, int count, MPI_Datatype out_type, MPI_Datatype in_type, MPI_Request requests[2])
{
    MPI_Message message;
    int flag = 0;

    if (way == POSTED_BEFORE)
        MPI_Irecv(in, count, in_type, 0, TAG, MPI_COMM_SELF, &requests[1]);
    MPI_Issend(out, count, out_type, 0, TAG, MPI_COMM_SELF, &requests[0]);
    if (way == POSTED_AFTER)
        MPI_Irecv(in, count, in_type, 0, TAG, MPI_COMM_SELF, &requests[1]);
    if (way != PROBED)
        return;
    while (!flag)
        MPI_Improbe(0, TAG, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, count, in_type, &message, &requests[1]);
}

static void exchange(int way, int count, MPI_Datatype out_type, int out_step, MPI_Datatype in_type, int in_step,
                     int first)
{
    MPI_Request requests[2];
    MPI_Status status;
    int received;

    for (int i = 0; i < 2 * MOST; i++)
        out[i] = i, in[i] = -1;
    start(way, count, out_type, in_type, requests);
    if (first == 0)
        must_be_complete(&requests[0], MPI_STATUS_IGNORE);
    must_be_complete(&requests[1], &status);
    if (first == 1)
        must_be_complete(&requests[0], MPI_STATUS_IGNORE);
    MPI_Get_count(&status, in_type, &received);
    CHECK(received == count && status.MPI_SOURCE == 0 && status.MPI_TAG == TAG);
    for (int i = 0; i < count; i++)
        CHECK(in[i * in_step] == i * out_step);
    for (int i = count * in_step; i < 2 * MOST; i++)
        CHECK(in[i] == -1);
}

/* A receive with less room gets what it has room for. */
static void truncated(int way)
{
    MPI_Request requests[2];
    MPI_Message message = MPI_MESSAGE_NULL;
    int class, flag = 0;

    in[3] = -1;
    MPI_Issend(out, MOST, MPI_INT, 0, TAG, MPI_COMM_SELF, &requests[0]);
    if (way == PROBED) {
        while (!flag)
            MPI_Improbe(0, TAG, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(in, 3, MPI_INT, &message, &requests[1]);
    } else {
        MPI_Irecv(in, 3, MPI_INT, 0, TAG, MPI_COMM_SELF, &requests[1]);
    }
    MPI_Error_class(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    must_be_complete(&requests[0], MPI_STATUS_IGNORE);
    CHECK(in[3] == -1);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 2, 300, MOST};
    MPI_Datatype spread;

    MPI_Init(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int first = 0; first < 2; first++) {
                exchange(way, counts[i], MPI_INT, 1, MPI_INT, 1, first);
                exchange(way, counts[i], spread, 2, MPI_INT, 1, first);
                exchange(way, counts[i] / 2, MPI_INT, 1, spread, 2, first);
                exchange(way, counts[i] / 2, spread, 2, spread, 2, first);
            }
    MPI_Type_free(&spread);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    truncated(PROBED);
    truncated(POSTED_AFTER);
    MPI_Finalize();
    return 0;
}
