/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_THREAD_MULTIPLE: the threads of a pair of ranks exchange random traffic, all at once; nothing is
 * lost, doubled, reordered or changed. Some threads wait long, some test, some probe, some make communicators. The seed
 * is printed; MUR_TEST_SEED repeats one, MUR_TEST_SECONDS says how long (default 1). */
#include <pthread.h>

#include "draw.h"
#include "test.h"

enum { THREADS = 8, MOST = 70000, KINDS = 4 };

static int rank; /* in my pair: 0 or 1 */
static unsigned seed;
static double seconds = 1;

/* Both ends know what message `number` of a thread looks like. */
static int length_of(unsigned number, unsigned thread, int source)
{
    unsigned state = seed + number * 77 + thread * 1001 + (unsigned)source * 31337;
    unsigned kind = draw_next(&state) % 8;

    return (int)(kind < 5 ? draw_next(&state) % 64 : kind < 7 ? draw_next(&state) % 9000 : draw_next(&state) % MOST);
}

static void fill(unsigned char *data, int bytes, unsigned number, unsigned thread, int source)
{
    for (int i = 0; i < bytes; i++)
        data[i] = (unsigned char)(number * 7 + thread * 13 + (unsigned)source * 3 + (unsigned)i);
}

static void check(const unsigned char *data, int bytes, unsigned number, unsigned thread, int source)
{
    for (int i = 0; i < bytes; i++)
        CHECK(data[i] == (unsigned char)(number * 7 + thread * 13 + (unsigned)source * 3 + (unsigned)i));
}

static void complete(MPI_Request *request, MPI_Status *status, unsigned kind)
{
    int is_done = 0;

    if (kind % 2)
        while (!is_done)
            MPI_Test(request, &is_done, status);
    else
        MPI_Wait(request, status);
}

static void exchange(MPI_Comm comm, unsigned number, unsigned thread, int peer, unsigned char *out, unsigned char *in)
{
    int bytes = length_of(number, thread, rank), expected = length_of(number, thread, peer), count;
    unsigned kind = (number + thread) % KINDS;
    MPI_Request requests[2];
    MPI_Status status;

    fill(out, bytes, number, thread, rank);
    if (kind == 3) {
        MPI_Message message;

        MPI_Isend(out, bytes, MPI_BYTE, peer, (int)thread, comm, &requests[1]);
        MPI_Mprobe(peer, (int)thread, comm, &message, &status);
        MPI_Mrecv(in, expected, MPI_BYTE, &message, &status);
    } else {
        MPI_Irecv(in, MOST, MPI_BYTE, kind == 2 ? MPI_ANY_SOURCE : peer, (int)thread, comm, &requests[0]);
        MPI_Isend(out, bytes, MPI_BYTE, peer, (int)thread, comm, &requests[1]);
        complete(&requests[0], &status, kind);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == expected && status.MPI_SOURCE == peer && status.MPI_TAG == (int)thread);
    check(in, count, number, thread, peer);
    complete(&requests[1], MPI_STATUS_IGNORE, kind + 1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct worker {
    unsigned thread;
    MPI_Comm comm;
};

/* The ranks work in pairs. The lower one says when it is over. */
static void *work(void *argument)
{
    const struct worker *worker = argument;
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    int peer = rank ^ 1, is_over = 0;
    double end = now() + seconds;

    CHECK(out && in);
    for (unsigned number = 0; !is_over; number++) {
        exchange(worker->comm, number, worker->thread, peer, out, in);
        if (number % 16)
            continue;
        is_over = now() > end;
        if (rank < peer)
            MPI_Send(&is_over, 1, MPI_INT, peer, THREADS + (int)worker->thread, worker->comm);
        else
            MPI_Recv(&is_over, 1, MPI_INT, peer, THREADS + (int)worker->thread, worker->comm, MPI_STATUS_IGNORE);
        if (worker->thread == 0) {
            MPI_Comm copy;

            MPI_Comm_dup(worker->comm, &copy);
            exchange(copy, number, THREADS, peer, out, in);
            MPI_Comm_free(&copy);
        }
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    MPI_Comm pair;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_rank(pair, &rank);
    seed = draw_seed();
    seconds = getenv("MUR_TEST_SECONDS") ? atof(getenv("MUR_TEST_SECONDS")) : 1;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seed %u\n", seed);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].thread = i;
        MPI_Comm_dup(pair, &workers[i].comm);
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&workers[i].comm);
    }
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
