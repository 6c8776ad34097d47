/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of messages from one rank to another, of sizes around every way that a lane has for them, taken by blocking
 * and nonblocking receives in any mixture: with more room than needed or too little, with and without MPI_ANY_TAG and
 * MPI_ANY_SOURCE, dense and strided, already there or still to come. Which message each receive gets follows from the
 * order of both alone: the first of those left that matches. */
#include <stdbool.h>

#include "random.h"

enum { ROUNDS = 400, MESSAGES = 40, TAGS = 3, LARGEST = 70000, GUARD = 16 };

static int rank;
static MPI_Datatype strided;

struct message {
    int tag, bytes, number;
    bool is_taken;
};

static unsigned char byte_of(const struct message *m, int i)
{
    return (unsigned char)(m->number + i * 5 + (i >> 8));
}

static int random_bytes(void)
{
    static const int edges[] = {0,   1,    7,    8,    8,    8,    9,    40,    41,     64,
                                256, 2047, 2048, 2049, 4096, 4097, 8192, 20000, LARGEST};

    return random_below(4) ? edges[random_below(sizeof edges / sizeof *edges)] : random_below(3000);
}

static void send_all(const struct message *list, int count)
{
    static unsigned char data[MESSAGES][LARGEST];
    MPI_Request requests[MESSAGES];

    for (int i = 0; i < count; i++) {
        for (int k = 0; k < list[i].bytes; k++)
            data[i][k] = byte_of(&list[i], k);
        MPI_Isend(data[i], list[i].bytes, MPI_BYTE, 1 - rank, list[i].tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

/* One receive, and what it must get. */
struct receive {
    const struct message *message;
    unsigned char data[2 * LARGEST + GUARD];
    int room, step; /* bytes apart */
    MPI_Request request;
};

static void check(const struct receive *r, int rc, const MPI_Status *status)
{
    int bytes = r->message->bytes < r->room ? r->message->bytes : r->room, received, class = MPI_SUCCESS;

    if (rc == MPI_ERR_IN_STATUS)
        rc = status->MPI_ERROR;
    if (rc)
        MPI_Error_class(rc, &class);
    CHECK(class == (r->message->bytes > r->room ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    MPI_Get_count(status, MPI_BYTE, &received);
    CHECK(status->MPI_SOURCE == 1 - rank && status->MPI_TAG == r->message->tag && received == bytes);
    for (int i = 0; i < bytes; i++)
        CHECK(r->data[i * r->step] == byte_of(r->message, i));
    for (int i = 0; i < GUARD; i++)
        CHECK(r->data[bytes * r->step + i] == 0xee);
}

static void receive_all(struct message *list, int count)
{
    static struct receive receives[MESSAGES];
    int tag, source, posted[MESSAGES], posted_count = 0;
    MPI_Status status;

    for (int i = 0; i < count; i++) {
        struct receive *r = &receives[i];
        struct message *m = list;
        bool is_any_tag = random_below(5) == 0;

        /* A tag that some message has which is left. */
        while (m->is_taken || (!is_any_tag && random_below(3) == 0))
            m = m == &list[count - 1] ? list : m + 1;
        tag = is_any_tag ? MPI_ANY_TAG : m->tag;
        source = random_below(5) ? 1 - rank : MPI_ANY_SOURCE;
        for (m = list; m->is_taken || (tag != MPI_ANY_TAG && m->tag != tag);)
            m++;
        m->is_taken = true;
        r->message = m;
        r->step = random_below(5) ? 1 : 2;
        r->room = random_below(8) ? m->bytes + random_below(2) * random_below(200) : m->bytes / 2;
        if (r->room > LARGEST)
            r->room = LARGEST;
        memset(r->data, 0xee, (size_t)m->bytes * 2 + GUARD);
        if (random_below(3)) {
            int rc =
                MPI_Recv(r->data, r->room, r->step == 1 ? MPI_BYTE : strided, source, tag, MPI_COMM_WORLD, &status);

            check(r, rc, &status);
        } else {
            MPI_Irecv(r->data, r->room, r->step == 1 ? MPI_BYTE : strided, source, tag, MPI_COMM_WORLD, &r->request);
            posted[posted_count++] = i;
        }
        if (posted_count && random_below(3) == 0) {
            struct receive *last = &receives[posted[--posted_count]];
            int rc = MPI_Wait(&last->request, &status);

            check(last, rc, &status);
        }
    }
    while (posted_count) {
        struct receive *last = &receives[posted[--posted_count]];
        int rc = MPI_Wait(&last->request, &status);

        check(last, rc, &status);
    }
}

int main(int argc, char **argv)
{
    static struct message list[MESSAGES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &strided);
    MPI_Type_commit(&strided);
    random_start();
    for (int round = 0; rank < 2 && round < ROUNDS; round++) {
        int count = 1 + random_below(MESSAGES), sender = random_below(2);
        bool is_small = random_below(2);
        unsigned state;

        for (int i = 0; i < count; i++) /* the same at both ranks */
            list[i] =
                (struct message){.tag = random_below(TAGS), .bytes = random_bytes(), .number = random_below(1000)};
        for (int i = 0; is_small && i < count; i++)
            list[i].bytes %= 48;
        state = random_state; /* the receiver draws more */
        if (rank == sender)
            send_all(list, count);
        else
            receive_all(list, count);
        random_state = state;
    }
    MPI_Type_free(&strided);
    MPI_Finalize();
    return 0;
}
