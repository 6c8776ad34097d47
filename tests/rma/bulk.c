/* SPDX-License-Identifier: BSD-3-Clause */
/* Large puts and gets by message, in two windows at once, all ranks to all, both ways, with small ones between and with
 * connections that break meanwhile: every byte is where it belongs, and a buffer may be overwritten as soon as the
 * operation is complete here. A put and a get of memory that is not attached are errors, and the next ones work. */
#include "connections.h"
#include "random.h"

enum { WINDOWS = 2, SLOT = 1300000, ROUNDS = 12, LARGEST = 1200000 };

static int rank, size;
static MPI_Win wins[WINDOWS];
static unsigned char *parts[WINDOWS];
static unsigned char *out, *in;

/* What rank `from` writes to rank `to`, by window and round. */
static unsigned char byte_of(int at, int from, int to, int window, int round)
{
    return (unsigned char)((at * 31u + (unsigned)from * 7u + (unsigned)to * 13u + (unsigned)window * 101u +
                            (unsigned)round * 17u) >>
                           2);
}

static void fill(int bytes, int to, int window, int round)
{
    for (int i = 0; i < bytes; i++)
        out[i] = byte_of(i, rank, to, window, round);
}

static void check(const unsigned char *data, int bytes, int from, int to, int window, int round)
{
    for (int i = 0; i < bytes; i++)
        CHECK(data[i] == byte_of(i, from, to, window, round));
}

/* All draw the same length and place. */
static void draw(int *bytes, int *place)
{
    *bytes = random_below(3) ? 1 + random_below(LARGEST) : 1 + random_below(100);
    *place = random_below(SLOT - *bytes);
}

static void put(int to, int window, int round, int bytes, int place)
{
    MPI_Request request;

    fill(bytes, to, window, round);
    if (round % 3 == 0) {
        MPI_Rput(out, bytes, MPI_BYTE, to, (MPI_Aint)rank * SLOT + place, bytes, MPI_BYTE, wins[window], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Put(out, bytes, MPI_BYTE, to, (MPI_Aint)rank * SLOT + place, bytes, MPI_BYTE, wins[window]);
        if (round % 3 == 1)
            MPI_Win_flush_local(to, wins[window]);
        else
            MPI_Win_flush(to, wins[window]);
    }
    memset(out, 0xee, (size_t)bytes);
}

static void get(int from, int window, int round, int bytes, int place)
{
    MPI_Request request;

    memset(in, 0xdd, (size_t)bytes);
    if (round % 2) {
        MPI_Rget(in, bytes, MPI_BYTE, from, (MPI_Aint)rank * SLOT + place, bytes, MPI_BYTE, wins[window], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Get(in, bytes, MPI_BYTE, from, (MPI_Aint)rank * SLOT + place, bytes, MPI_BYTE, wins[window]);
        MPI_Win_flush(from, wins[window]);
    }
    check(in, bytes, rank, from, window, round);
}

static void play(int round, bool breaks)
{
    int bytes[WINDOWS], places[WINDOWS];

    for (int w = 0; w < WINDOWS; w++)
        draw(&bytes[w], &places[w]);
    for (int step = 0; step < size; step++) {
        int to = (rank + step) % size;

        for (int w = 0; w < WINDOWS; w++)
            put(to, w, round, bytes[w], places[w]);
        if (breaks && (round + rank + step) % 3 == 0)
            break_connection(round % 2);
        for (int w = WINDOWS - 1; w >= 0; w--) {
            MPI_Win_flush(to, wins[w]);
            get(to, w, round, bytes[w], places[w]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int w = 0; w < WINDOWS; w++) {
        MPI_Win_sync(wins[w]);
        for (int from = 0; from < size; from++)
            check(parts[w] + (size_t)from * SLOT + places[w], bytes[w], from, rank, w, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many operations before one flush, without a look at any of them. */
static void crowd(void)
{
    enum { MANY = 20, BYTES = 60000 };

    for (int i = 0; i < MANY; i++) {
        unsigned char *data = out + (size_t)i * BYTES;

        for (int k = 0; k < BYTES; k++)
            data[k] = byte_of(k, rank, i, 0, 0);
    }
    for (int step = 1; step < size; step++)
        for (int i = 0; i < MANY; i++)
            MPI_Put(out + (size_t)i * BYTES, BYTES, MPI_BYTE, (rank + step) % size, (MPI_Aint)rank * SLOT + i * BYTES,
                    BYTES, MPI_BYTE, wins[i % WINDOWS]);
    for (int w = 0; w < WINDOWS; w++)
        MPI_Win_flush_all(wins[w]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < MANY && from != rank; i++)
            check(parts[i % WINDOWS] + (size_t)from * SLOT + (size_t)i * BYTES, BYTES, from, i, 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void miss(void)
{
    enum { BYTES = 700000 };
    MPI_Aint base, wrong;
    MPI_Win dynamic;
    int to = (rank + 1) % size, rc;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
    MPI_Win_attach(dynamic, parts[0], BYTES);
    MPI_Get_address(parts[0], &base);
    MPI_Sendrecv(&base, 1, MPI_AINT, (rank + size - 1) % size, 0, &wrong, 1, MPI_AINT, to, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    memset(out, rank + 1, BYTES);
    MPI_Win_lock_all(0, dynamic);
    rc = MPI_Put(out, BYTES, MPI_BYTE, to, wrong + 1, BYTES, MPI_BYTE, dynamic);
    if (!rc)
        rc = MPI_Win_flush(to, dynamic);
    CHECK(rc != MPI_SUCCESS);
    rc = MPI_Get(in, BYTES, MPI_BYTE, to, wrong + 1, BYTES, MPI_BYTE, dynamic);
    if (!rc)
        rc = MPI_Win_flush(to, dynamic);
    CHECK(rc != MPI_SUCCESS);
    CHECK(MPI_Put(out, BYTES, MPI_BYTE, to, wrong, BYTES, MPI_BYTE, dynamic) == MPI_SUCCESS);
    CHECK(MPI_Win_flush(to, dynamic) == MPI_SUCCESS);
    CHECK(MPI_Get(in, BYTES, MPI_BYTE, to, wrong, BYTES, MPI_BYTE, dynamic) == MPI_SUCCESS);
    CHECK(MPI_Win_flush(to, dynamic) == MPI_SUCCESS);
    CHECK(!memcmp(in, out, BYTES));
    MPI_Win_unlock_all(dynamic);
    MPI_Win_free(&dynamic);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    out = malloc(LARGEST);
    in = malloc(LARGEST);
    for (int w = 0; w < WINDOWS; w++) {
        MPI_Win_allocate((MPI_Aint)size * SLOT, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &parts[w], &wins[w]);
        MPI_Win_lock_all(0, wins[w]);
    }
    for (int round = 0; round < ROUNDS; round++)
        play(round, argc > 1 && !strcmp(argv[1], "breaks"));
    crowd();
    if (size > 1)
        miss();
    for (int w = 0; w < WINDOWS; w++) {
        MPI_Win_unlock_all(wins[w]);
        MPI_Win_free(&wins[w]);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
