/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks talk: rallies, in which they answer each other and use the express record (src/transport/shm), give way to
 * bursts in both directions at once, large messages, crossing exchanges and cancelled messages, at random. Sizes are
 * around the limits of all ways that a message can go; receives come before the message or after it, by probes or
 * without. Each message arrives once, whole and in its turn. Then threads do the same, all at one time. */
#include <pthread.h>

#include "random.h"

enum { ROUNDS = 300, THREADS = 3, MOST = 16, TAGS = 3, CANCEL_TAG = 17, LARGEST = 140000 };

/* One conversation. Both ranks draw the same numbers. */
struct talk {
    MPI_Comm comm;
    unsigned random;
    int me;
    unsigned numbers[2]; /* of the messages so far, of each rank */
    unsigned char *out[MOST], *in[MOST];
};

struct message {
    int bytes, tag, way;
    unsigned number;
};

static int below(struct talk *talk, int limit)
{
    return (int)(draw_next(&talk->random) % (unsigned)limit);
}

static int draw_bytes(struct talk *talk)
{
    static const int small[] = {0, 1, 7, 8, 9, 16, 39, 40, 41, 64};
    static const int large[] = {104, 105, 1024, 2048, 2049, 4096, 8192, 16384, 16385, 32768, 65536, 65537, LARGEST};
    int way = below(talk, 20), draw = below(talk, 5000);

    if (way < 14)
        return small[draw % (int)(sizeof small / sizeof *small)];
    if (way < 18)
        return draw;
    return large[draw % (int)(sizeof large / sizeof *large)];
}

static struct message draw_message(struct talk *talk, int sender)
{
    return (struct message){
        .bytes = draw_bytes(talk), .tag = below(talk, TAGS), .way = below(talk, 4), .number = talk->numbers[sender]++};
}

static unsigned char byte_of(const struct message *m, int i)
{
    return (unsigned char)(m->number * 7 + (m->number >> 8) + (unsigned)i * 3 + ((unsigned)i >> 8));
}

static void fill(const struct message *m, unsigned char *data)
{
    for (int i = 0; i < m->bytes; i++)
        data[i] = byte_of(m, i);
}

static void check(const struct talk *talk, const struct message *m, const unsigned char *data, const MPI_Status *status)
{
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(count == m->bytes && status->MPI_TAG == m->tag && status->MPI_SOURCE == 1 - talk->me);
    for (int i = 0; i < m->bytes; i++)
        CHECK(data[i] == byte_of(m, i));
    CHECK(data[m->bytes] == 0xee);
}

/* Clears only what could be written wrongly at first. */
static void clear(const struct message *m, unsigned char *data)
{
    memset(data, 0xee, (size_t)m->bytes + 1);
}

static void send(struct talk *talk, const struct message *m)
{
    fill(m, talk->out[0]);
    if (m->way == 0)
        MPI_Ssend(talk->out[0], m->bytes, MPI_BYTE, 1 - talk->me, m->tag, talk->comm);
    else
        MPI_Send(talk->out[0], m->bytes, MPI_BYTE, 1 - talk->me, m->tag, talk->comm);
}

static void receive(struct talk *talk, const struct message *m)
{
    unsigned char *data = talk->in[0];
    int flag = 0, peer = 1 - talk->me;
    MPI_Message message;
    MPI_Status status;

    clear(m, data);
    switch (m->way) {
    case 0:
        MPI_Recv(data, LARGEST, MPI_BYTE, peer, m->tag, talk->comm, &status);
        break;
    case 1:
        MPI_Recv(data, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, talk->comm, &status);
        break;
    case 2:
        while (!flag)
            MPI_Iprobe(peer, MPI_ANY_TAG, talk->comm, &flag, &status);
        CHECK(status.MPI_TAG == m->tag);
        MPI_Recv(data, m->bytes, MPI_BYTE, peer, m->tag, talk->comm, &status);
        break;
    default:
        MPI_Mprobe(MPI_ANY_SOURCE, m->tag, talk->comm, &message, &status);
        MPI_Mrecv(data, m->bytes, MPI_BYTE, &message, &status);
    }
    check(talk, m, data, &status);
}

/* They answer each other, once in a while twice. */
static void rally(struct talk *talk)
{
    int turns = below(talk, 24), sender = below(talk, 2);

    for (int i = 0; i < turns; i++) {
        struct message m = draw_message(talk, sender);

        if (sender == talk->me)
            send(talk, &m);
        else
            receive(talk, &m);
        if (below(talk, 8))
            sender = 1 - sender;
    }
}

/* Both send, and neither waits for the other. */
static void burst(struct talk *talk)
{
    int counts[2] = {below(talk, MOST), below(talk, MOST)}, is_early = below(talk, 2), backwards = below(talk, 2);
    MPI_Request sends[MOST], receives[MOST];
    struct message list[2][MOST];
    int mine = counts[talk->me], theirs = counts[1 - talk->me], peer = 1 - talk->me;
    MPI_Status status;

    for (int sender = 0; sender < 2; sender++)
        for (int i = 0; i < counts[sender]; i++)
            list[sender][i] = draw_message(talk, sender);
    for (int phase = 0; phase < 2; phase++) {
        for (int i = 0; i < theirs && phase != is_early; i++) {
            clear(&list[peer][i], talk->in[i]);
            MPI_Irecv(talk->in[i], LARGEST, MPI_BYTE, peer, list[peer][i].tag, talk->comm, &receives[i]);
        }
        for (int i = 0; i < mine && phase == is_early; i++) {
            fill(&list[talk->me][i], talk->out[i]);
            MPI_Isend(talk->out[i], list[talk->me][i].bytes, MPI_BYTE, peer, list[talk->me][i].tag, talk->comm,
                      &sends[i]);
        }
    }
    for (int k = 0; k < theirs; k++) {
        int i = backwards ? theirs - 1 - k : k;

        MPI_Wait(&receives[i], &status);
        check(talk, &list[peer][i], talk->in[i], &status);
    }
    MPI_Waitall(mine, sends, MPI_STATUSES_IGNORE);
}

/* Exchanges that cross. */
static void cross(struct talk *talk)
{
    for (int turns = below(talk, 12); turns > 0; turns--) {
        struct message m[2] = {draw_message(talk, 0), draw_message(talk, 1)};
        const struct message *mine = &m[talk->me], *theirs = &m[1 - talk->me];
        MPI_Status status;

        fill(mine, talk->out[0]);
        clear(theirs, talk->in[0]);
        MPI_Sendrecv(talk->out[0], mine->bytes, MPI_BYTE, 1 - talk->me, mine->tag, talk->in[0], LARGEST, MPI_BYTE,
                     1 - talk->me, theirs->tag, talk->comm, &status);
        check(talk, theirs, talk->in[0], &status);
    }
}

/* A receive that nothing matches is cancelled, and a send: the other one hears whether that went well. */
static void cancel(struct talk *talk)
{
    int sender = below(talk, 2), was_cancelled;
    struct message m = draw_message(talk, sender);
    MPI_Request request;
    MPI_Status status;

    m.tag = CANCEL_TAG + (int)m.number; /* the next one may be on its way already */
    MPI_Irecv(talk->in[1], 1, MPI_BYTE, 1 - talk->me, TAGS, talk->comm, &request);
    if (sender == talk->me) {
        MPI_Request doubtful;

        fill(&m, talk->out[0]);
        MPI_Isend(talk->out[0], m.bytes, MPI_BYTE, 1 - talk->me, m.tag, talk->comm, &doubtful);
        MPI_Cancel(&doubtful);
        MPI_Wait(&doubtful, &status);
        MPI_Test_cancelled(&status, &was_cancelled);
        MPI_Send(&was_cancelled, 1, MPI_INT, 1 - talk->me, 0, talk->comm);
    } else {
        MPI_Recv(&was_cancelled, 1, MPI_INT, 1 - talk->me, 0, talk->comm, &status);
        if (!was_cancelled) {
            clear(&m, talk->in[0]);
            MPI_Recv(talk->in[0], LARGEST, MPI_BYTE, 1 - talk->me, m.tag, talk->comm, &status);
            check(talk, &m, talk->in[0], &status);
        }
        MPI_Iprobe(1 - talk->me, m.tag, talk->comm, &was_cancelled, &status);
        CHECK(!was_cancelled);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &was_cancelled);
    CHECK(was_cancelled);
}

static void *converse(void *argument)
{
    static void (*const kinds[])(struct talk *) = {rally, rally, rally, burst, cross, cancel};
    struct talk *talk = argument;

    for (int i = 0; i < ROUNDS; i++)
        kinds[below(talk, sizeof kinds / sizeof *kinds)](talk);
    CHECK(MPI_Barrier(talk->comm) == MPI_SUCCESS);
    return NULL;
}

static void begin(struct talk *talk, MPI_Comm pair)
{
    MPI_Comm_dup(pair, &talk->comm);
    MPI_Comm_rank(pair, &talk->me);
    talk->random = random_next();
    talk->numbers[0] = talk->numbers[1] = 0;
    for (int i = 0; i < MOST; i++) {
        talk->out[i] = malloc(LARGEST + 1);
        talk->in[i] = malloc(LARGEST + 1);
        CHECK(talk->out[i] && talk->in[i]);
    }
}

static void end(struct talk *talk)
{
    for (int i = 0; i < MOST; i++) {
        free(talk->out[i]);
        free(talk->in[i]);
    }
    MPI_Comm_free(&talk->comm);
}

int main(int argc, char **argv)
{
    struct talk talks[THREADS];
    pthread_t threads[THREADS];
    int provided, rank;
    MPI_Comm pair;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair);
    for (int i = 0; i < THREADS; i++)
        begin(&talks[i], pair);
    converse(&talks[0]);
    for (int i = 1; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, converse, &talks[i]) == 0);
    converse(&talks[0]);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        end(&talks[i]);
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
