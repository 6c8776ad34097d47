/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication: equal and unequal numbers of partitions on the two sides, any order of readiness, partial
 * arrival, also of partitions without data, many starts, derived types, empty and null ones, too much and too little
 * room, and requests freed before they were ever used. */
#include "test.h"

static int rank, peer;

static void exchange(int send_partitions, int receive_partitions, int total, int starts, MPI_Datatype type)
{
    int *out = malloc(((size_t)total * 2 + 1) * sizeof *out), *in = malloc(((size_t)total * 2 + 1) * sizeof *in);
    MPI_Count send_count = send_partitions ? total / send_partitions : 0;
    MPI_Count receive_count = receive_partitions ? total / receive_partitions : 0, extent, lb;
    MPI_Request requests[2];
    int step;

    MPI_Type_get_extent_c(type, &lb, &extent);
    step = (int)(extent / (MPI_Count)sizeof(int));
    MPI_Psend_init(out, send_partitions, send_count, type, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, receive_partitions, receive_count, type, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int start = 0; start < starts; start++) {
        MPI_Status statuses[2];
        MPI_Count count;

        for (int i = 0; i < total; i++) {
            out[i * step] = rank * 100000 + start * 1000 + i;
            in[i * step] = -1;
        }
        MPI_Startall(2, requests);
        for (int i = 0; i < send_partitions; i++)
            MPI_Pready((i * 7 + start) % send_partitions, requests[0]); /* 7 is prime to the numbers used here */
        for (int i = 0; i < receive_partitions; i++) {
            int flag = 0;

            while (!flag)
                MPI_Parrived(requests[1], receive_partitions - 1 - i, &flag);
            for (MPI_Count k = 0; k < receive_count; k++) {
                int at = (int)((receive_partitions - 1 - i) * receive_count + k);

                CHECK(in[at * step] == peer * 100000 + start * 1000 + at);
            }
        }
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count_c(&statuses[1], type, &count);
        CHECK(count == receive_count * receive_partitions && statuses[1].MPI_SOURCE == peer);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(out);
    free(in);
}

/* One partition arrives while the others are not ready. */
static void partial(void)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, flag = 0, later[2] = {1, 3};
    MPI_Request requests[2];

    MPI_Psend_init(out, 4, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 4, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Parrived(requests[1], 0, &flag);
    CHECK(flag); /* inactive */
    MPI_Startall(2, requests);
    MPI_Pready(2, requests[0]);
    for (flag = 0; !flag;)
        MPI_Parrived(requests[1], 2, &flag);
    CHECK(in[2] == 3);
    MPI_Parrived(requests[1], 1, &flag);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pready_range(0, 0, requests[0]);
    MPI_Pready_list(2, later, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 1 && in[1] == 2 && in[3] == 4);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static int has_arrived(int partition, MPI_Request request)
{
    int flag = 0;

    for (int i = 0; i < 100; i++)
        MPI_Parrived(request, partition, &flag);
    return flag;
}

/* What brings no data arrives no sooner than what does: not before the send has started, and been made ready. `count`
 * is of the receiver's partitions; the sender's have none. */
static void empty(int sent, int received, int count)
{
    int value = 0, room[64], flag;
    MPI_Request requests[2];

    MPI_Psend_init(&value, sent, 0, MPI_INT, peer, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(room, received, count, MPI_INT, peer, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int start = 0; start < 2; start++) {
        MPI_Start(&requests[1]);
        for (int i = 0; i < received; i++)
            CHECK(!has_arrived(i, requests[1]));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(!has_arrived(received - 1, requests[1]));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pready_range(0, sent - 2, requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(!has_arrived(received - 1, requests[1]));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pready(sent - 1, requests[0]);
        for (int i = 0; i < received; i++)
            for (flag = 0; !flag;)
                MPI_Parrived(requests[1], i, &flag);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* The send has `sent` partitions of `each` ints, the receive room for `room` of one int. */
static void unequal(int sent, int each, int room, MPI_Datatype type)
{
    int *out = malloc((size_t)(sent * each) * sizeof *out), *in = malloc((size_t)room * 2 * sizeof *in);
    MPI_Count extent, lb;
    MPI_Request requests[2];
    int step;

    MPI_Type_get_extent_c(type, &lb, &extent);
    step = (int)(extent / (MPI_Count)sizeof(int));
    MPI_Psend_init(out, sent, each, MPI_INT, peer, 13, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, room, 1, type, peer, 13, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int start = 0; start < 3; start++) {
        MPI_Status status;
        int code, error_class, count, flag = 0;

        for (int i = 0; i < sent * each; i++)
            out[i] = peer + start + i;
        for (int i = 0; i < room; i++)
            in[i * step] = -1;
        MPI_Startall(2, requests);
        MPI_Pready_range(0, sent - 1, requests[0]);
        CHECK(MPI_Parrived(requests[1], room - 1, &flag) == MPI_SUCCESS);
        CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
        code = MPI_Wait(&requests[1], &status);
        MPI_Error_class(code, &error_class);
        CHECK(error_class == (sent * each > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        MPI_Get_count(&status, type, &count);
        CHECK(error_class || count == sent * each);
        for (int i = 0; i < room; i++)
            CHECK(in[i * step] == (error_class || i >= sent * each ? -1 : rank + start + i));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(out);
    free(in);
}

static void too_much_or_too_little(MPI_Datatype pair)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unequal(1, 1, 2, MPI_INT);
    unequal(3, 5, 40, MPI_INT);
    unequal(3, 5, 40, pair);
    unequal(2, 100000, 300000, pair);
    unequal(2, 1, 1, MPI_INT);
    unequal(2, 1, 1, pair);
    unequal(3, 300000, 600000, MPI_INT); /* a rendezvous, which would wait for ever */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void unused_and_null(void)
{
    MPI_Request requests[2];
    int value = 0;

    MPI_Psend_init(&value, 1, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&value, 1, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Request_free(&requests[1]);
    MPI_Request_free(&requests[0]);
    MPI_Psend_init(&value, 3, 1, MPI_INT, MPI_PROC_NULL, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&value, 3, 1, MPI_INT, MPI_PROC_NULL, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 2, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

int main(int argc, char **argv)
{
    MPI_Datatype pair;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = size - 1 - rank;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &pair); /* an int and a hole */
    MPI_Type_commit(&pair);
    exchange(1, 1, 100, 3, MPI_INT);
    exchange(6, 6, 600, 10, MPI_INT);
    exchange(2, 3, 600, 10, MPI_INT);
    exchange(16, 5, 400000 / 80 * 80, 3, MPI_INT);
    exchange(3, 2, 600, 5, pair);
    exchange(4, 4, 0, 2, MPI_INT);
    partial();
    empty(4, 4, 0);
    empty(3, 2, 0);
    empty(2, 7, 0);
    empty(3, 4, 5);
    unused_and_null();
    too_much_or_too_little(pair);
    exchange(5, 10, 100, 2, MPI_INT);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
