/* SPDX-License-Identifier: BSD-3-Clause */
/* Random traffic between all pairs of ranks, each rank included: every mode, sizes around all thresholds, dense and
 * strided types on either side, exact and wildcard receives, posted before or after the message. Messages of a pair
 * with one tag arrive in the order in which they were sent, whole and unchanged. */
#include "random.h"

enum { ROUNDS = 12, MESSAGES = 24, TAGS = 3, LARGEST = 300000 };

static int rank, size;
static MPI_Datatype types[2]; /* a byte; a byte and a hole */
static int stride[2] = {1, 2};

struct message {
    int source, dest, tag, bytes, mode, send_type, receive_type, is_wild, number;
};

static int random_bytes(void)
{
    static const int edges[] = {0,    1,    7,    8,     39,    40,    41,    64,    72,     73,     1024,
                                8191, 8192, 8193, 16384, 32767, 32768, 32769, 65536, 100000, 262144, LARGEST};

    if (random_below(3) == 0)
        return random_below(5000);
    return edges[random_below(sizeof edges / sizeof *edges)];
}

/* The same list at all ranks. */
static void draw(struct message *list)
{
    for (int i = 0; i < MESSAGES; i++)
        list[i] = (struct message){.source = random_below(size),
                                   .dest = random_below(size),
                                   .tag = random_below(TAGS),
                                   .bytes = random_bytes(),
                                   .mode = random_below(4),
                                   .send_type = random_below(4) == 0,
                                   .receive_type = random_below(4) == 0,
                                   .is_wild = random_below(4) == 0,
                                   .number = random_below(1000000)};
}

static unsigned char byte_of(const struct message *m, int i)
{
    return (unsigned char)(m->number + i * 3 + (i >> 8));
}

static void start_send(const struct message *m, unsigned char *data, MPI_Request *request)
{
    MPI_Datatype type = types[m->send_type];

    for (int i = 0; i < m->bytes; i++)
        data[i * stride[m->send_type]] = byte_of(m, i);
    if (m->mode == 1)
        MPI_Issend(data, m->bytes, type, m->dest, m->tag, MPI_COMM_WORLD, request);
    else if (m->mode == 2)
        MPI_Isend_c(data, m->bytes, type, m->dest, m->tag, MPI_COMM_WORLD, request);
    else
        MPI_Isend(data, m->bytes, type, m->dest, m->tag, MPI_COMM_WORLD, request);
}

static void start_receive(const struct message *m, unsigned char *data, MPI_Request *request)
{
    memset(data, 0xee, 2 * LARGEST + 2);
    MPI_Irecv(data, LARGEST, types[m->receive_type], m->source, m->tag, MPI_COMM_WORLD, request);
}

static void check_received(const struct message *m, const unsigned char *data, const MPI_Status *status)
{
    int count, step = stride[m->receive_type];

    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(status->MPI_SOURCE == m->source && status->MPI_TAG == m->tag && count == m->bytes);
    for (int i = 0; i < m->bytes; i++) {
        CHECK(data[i * step] == byte_of(m, i));
        CHECK(step == 1 || data[i * step + 1] == 0xee);
    }
    CHECK(data[m->bytes * step] == 0xee);
}

/* Messages to me, received in the order of the list; with wildcards one after the other, since what they match depends
 * on arrival. */
static void round_of_traffic(void)
{
    struct message list[MESSAGES];
    MPI_Request sends[MESSAGES], receives[MESSAGES];
    unsigned char *out[MESSAGES] = {0}, *in[MESSAGES] = {0};
    int sent = 0, is_late = random_below(2);
    MPI_Status status;

    draw(list);
    for (int i = 0; i < MESSAGES; i++) {
        receives[i] = MPI_REQUEST_NULL;
        if (list[i].dest == rank) {
            in[i] = malloc(2 * LARGEST + 2);
            CHECK(in[i]);
            if (!is_late)
                start_receive(&list[i], in[i], &receives[i]);
        }
    }
    for (int i = 0; i < MESSAGES; i++)
        if (list[i].source == rank) {
            out[i] = malloc((size_t)list[i].bytes * 2 + 1);
            CHECK(out[i]);
            start_send(&list[i], out[i], &sends[sent++]);
        }
    for (int i = 0; i < MESSAGES; i++)
        if (is_late && list[i].dest == rank)
            start_receive(&list[i], in[i], &receives[i]);
    for (int i = 0; i < MESSAGES; i++)
        if (list[i].dest == rank) {
            MPI_Wait(&receives[i], &status);
            check_received(&list[i], in[i], &status);
        }
    MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++) {
        free(out[i]);
        free(in[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many to one, received with wildcards: per source, numbers come in order. */
static void wildcards(void)
{
    enum { EACH = 200 };
    int next[64] = {0}, value[2];
    MPI_Status status, probed;
    MPI_Request requests[EACH];
    static int data[EACH][2];

    for (int i = 0; i < EACH; i++) {
        data[i][0] = rank;
        data[i][1] = i;
        MPI_Isend(data[i], 2, MPI_INT, 0, i % TAGS, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; rank == 0 && i < EACH * size; i++) {
        if (i % 3 == 0) {
            MPI_Recv(value, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        } else if (i % 3 == 1) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &probed);
            MPI_Recv(value, 2, MPI_INT, probed.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK(status.MPI_TAG == probed.MPI_TAG);
        } else {
            MPI_Message message;

            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(value, 2, MPI_INT, &message, &status);
            CHECK(message == MPI_MESSAGE_NULL);
        }
        CHECK(value[0] == status.MPI_SOURCE && value[1] == next[value[0]] && status.MPI_TAG == value[1] % TAGS);
        next[value[0]]++;
    }
    MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A rank that receives late is flooded first. */
static void flood(void)
{
    enum { COUNT = 20000 };
    static MPI_Request requests[COUNT];
    static int numbers[COUNT];

    if (rank == size - 1 && size > 1) {
        for (int i = 0; i < COUNT; i++) {
            numbers[i] = i;
            MPI_Isend(&numbers[i], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Send(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 0 && size > 1) {
        int value;

        MPI_Recv(NULL, 0, MPI_INT, size - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(value == i);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    types[0] = MPI_BYTE;
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &types[1]);
    MPI_Type_commit(&types[1]);
    for (int i = 0; i < ROUNDS; i++)
        round_of_traffic();
    wildcards();
    flood();
    MPI_Type_free(&types[1]);
    MPI_Finalize();
    return 0;
}
