/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters against what the test counts itself: random messages between all ranks, while random handles are started,
 * stopped, reset, written and read; which way large messages go; peaks of several handles; variables of one
 * communicator; arrays. */
#define _GNU_SOURCE
#include "random.h"
#include "rma/share.h"
#include "tool.h"

enum { HANDLES = 12, ROUNDS = 300, LARGEST = 200000 };

static MPI_T_pvar_session session;
static int rank, size;

/* What a handle should say. */
static struct model {
    MPI_T_pvar_handle handle;
    int is_bytes, is_receive, is_started;
    unsigned long long value;
} models[HANDLES];

static void count_one(int is_receive, unsigned long long bytes)
{
    for (int i = 0; i < HANDLES; i++)
        if (models[i].is_started && models[i].is_receive == is_receive)
            models[i].value += models[i].is_bytes ? bytes : 1;
}

/* All draw alike, and everyone acts on its own handles. */
static void act_on_a_handle(void)
{
    struct model *m = &models[random_below(HANDLES)];
    unsigned long long value = (unsigned long long)random_below(1000);

    switch (random_below(6)) {
    case 0:
        CHECK(MPI_T_pvar_start(session, m->handle) == MPI_SUCCESS);
        m->is_started = 1;
        break;
    case 1:
        CHECK(MPI_T_pvar_stop(session, m->handle) == MPI_SUCCESS);
        m->is_started = 0;
        break;
    case 2:
        CHECK(MPI_T_pvar_reset(session, m->handle) == MPI_SUCCESS);
        m->value = 0;
        break;
    case 3:
        CHECK(MPI_T_pvar_write(session, m->handle, &value) == MPI_SUCCESS);
        m->value = value;
        break;
    case 4:
        CHECK(MPI_T_pvar_readreset(session, m->handle, &value) == MPI_SUCCESS && value == m->value);
        m->value = 0;
        break;
    default:
        CHECK(tool_read(session, m->handle) == m->value);
    }
}

/* Messages of `least` to `most` bytes from one rank to another, eager or by rendezvous; to receives that wait for them
 * or come after them, and to requests. */
static void check_sums(const char *way, int least, int most, MPI_Comm comm)
{
    static char data[LARGEST];
    MPI_Request request;
    char name[64];

    for (int i = 0; i < HANDLES; i++) {
        models[i] = (struct model){.is_bytes = i % 2, .is_receive = i / 2 % 2, .is_started = 1};
        snprintf(name, sizeof name, "%s_%s%s", way, models[i].is_receive ? "receive" : "send",
                 models[i].is_bytes ? "_bytes" : "s");
        models[i].handle =
            tool_meter(session, name, i % 2 ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER, NULL);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int from = random_below(size), to = (from + 1 + random_below(size - 1)) % size;
        int bytes = least + random_below(most - least + 1);

        if (rank == from) {
            MPI_Send(data, bytes, MPI_BYTE, to, 3, comm);
            count_one(0, (unsigned long long)bytes);
        } else if (rank == to && round % 2) {
            MPI_Recv(data, bytes, MPI_BYTE, from, 3, comm, MPI_STATUS_IGNORE);
            count_one(1, (unsigned long long)bytes);
        } else if (rank == to) {
            MPI_Irecv(data, bytes, MPI_BYTE, from, 3, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            count_one(1, (unsigned long long)bytes);
        }
        act_on_a_handle();
    }
    CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    for (int i = 0; i < HANDLES; i++) {
        CHECK(tool_read(session, models[i].handle) == models[i].value);
        CHECK(MPI_T_pvar_handle_free(session, &models[i].handle) == MPI_SUCCESS);
    }
}

/* Messages that are announced are copied once where the system lets a process copy from another's memory. */
static void check_copies(MPI_Comm comm)
{
    enum { MESSAGES = 20, BYTES = 32768 };
    static char data[BYTES];
    MPI_T_pvar_handle handles[2] = {tool_meter(session, "copied_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL),
                                    tool_meter(session, "piece_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL)};
    unsigned long long values[2];
    int can_copy = all_can_copy(comm);

    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 1)
            MPI_Send(data, BYTES, MPI_BYTE, 0, 3, comm);
        else if (rank == 0)
            MPI_Recv(data, BYTES, MPI_BYTE, 1, 3, comm, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++) {
        values[i] = tool_read(session, handles[i]);
        CHECK(MPI_T_pvar_handle_free(session, &handles[i]) == MPI_SUCCESS);
    }
    MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
    CHECK(values[can_copy ? 0 : 1] == MESSAGES * BYTES && values[can_copy ? 1 : 0] == 0);
}

/* Lets `count` messages from the left wait here; returns when they do. */
static void let_wait(int count, MPI_T_pvar_handle length, MPI_Comm comm)
{
    int flag;

    for (int i = 0; i < count; i++)
        MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, 5, comm);
    while (tool_read(session, length) < (unsigned long long)count)
        MPI_Iprobe(MPI_ANY_SOURCE, 77, comm, &flag, MPI_STATUS_IGNORE);
}

static void receive(int count, MPI_Comm comm)
{
    int data;

    for (int i = 0; i < count; i++)
        MPI_Recv(&data, 1, MPI_INT, (rank + size - 1) % size, 5, comm, MPI_STATUS_IGNORE);
}

static void check_peaks(MPI_Comm comm)
{
    MPI_T_pvar_handle length = tool_meter(session, "comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &comm),
                      a = tool_meter(session, "unexpected_length_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL), b, c;
    unsigned long long value;

    let_wait(9, length, comm);
    b = tool_meter(session, "unexpected_length_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    CHECK(tool_read(session, a) == 9 && tool_read(session, b) == 9);
    receive(5, comm);
    CHECK(tool_read(session, length) == 4);
    c = tool_meter(session, "unexpected_length_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    CHECK(tool_read(session, a) == 9 && tool_read(session, b) == 9 && tool_read(session, c) == 4);
    CHECK(MPI_T_pvar_reset(session, b) == MPI_SUCCESS && tool_read(session, b) == 4);
    receive(4, comm);
    CHECK(MPI_T_pvar_stop(session, a) == MPI_SUCCESS);
    MPI_Barrier(comm);
    let_wait(6, length, comm);
    CHECK(tool_read(session, a) == 9 && tool_read(session, b) == 6 && tool_read(session, c) == 6);
    receive(6, comm);
    CHECK(MPI_T_pvar_readreset(session, c, &value) == MPI_SUCCESS && value == 6 && tool_read(session, c) == 0);
    value = 3;
    CHECK(MPI_T_pvar_write(session, a, &value) == MPI_SUCCESS && tool_read(session, a) == 3);
    CHECK(MPI_T_pvar_start(session, a) == MPI_SUCCESS && tool_read(session, a) == 0);
    CHECK(tool_read(session, b) == 6);
    MPI_Barrier(comm);
}

static void check_objects(MPI_Comm comm)
{
    MPI_Comm other, world = MPI_COMM_WORLD;
    MPI_T_pvar_handle here, there, all;
    unsigned long long kinds[13] = {0};

    MPI_Comm_dup(comm, &other);
    here = tool_meter(session, "comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &other);
    there = tool_meter(session, "comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &world);
    all = tool_meter(session, "collectives", MPI_T_PVAR_CLASS_COUNTER, NULL);
    for (int i = 0; i < 7; i++)
        MPI_Barrier(other);
    for (int i = 0; i < 4; i++)
        MPI_Allreduce(MPI_IN_PLACE, kinds, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, other);
    CHECK(tool_read(session, here) == 11 && tool_read(session, there) == 0);
    CHECK(MPI_T_pvar_readreset(session, all, kinds) == MPI_SUCCESS);
    CHECK(kinds[0] == 7 && kinds[7] == 4 && kinds[1] == 0);
    MPI_Comm_free(&other); /* the handle keeps what it counts */
    CHECK(tool_read(session, here) == 11);
    CHECK(MPI_T_pvar_read(session, all, kinds) == MPI_SUCCESS && kinds[0] == 0 && kinds[7] == 0);
    CHECK(MPI_T_pvar_handle_free(session, &here) == MPI_SUCCESS);
}

/* A change at run time is seen by the messages that follow. */
static void change_eager_limit(MPI_Count bytes)
{
    MPI_T_cvar_handle eager = tool_control("MUR_SHM_EAGER_MAX");

    CHECK(MPI_T_cvar_write(eager, &bytes) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_free(&eager) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_handle slept;
    double seconds = -1;
    MPI_Comm comm;

    tool_start();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    random_start();
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    slept = tool_meter(session, "sleep_time", MPI_T_PVAR_CLASS_TIMER, NULL);
    change_eager_limit(8192);
    check_sums("eager", 0, 8192, comm);
    check_sums("rendezvous", 8193, LARGEST, comm);
    change_eager_limit(64);
    check_sums("eager", 0, 64, comm);
    check_sums("rendezvous", 65, 4096, comm);
    change_eager_limit(16384);
    check_sums("eager", 8193, 16384, comm);
    check_copies(comm);
    MPI_Barrier(comm);
    check_peaks(comm);
    check_objects(comm);
    CHECK(MPI_T_pvar_read(session, slept, &seconds) == MPI_SUCCESS && seconds >= 0);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return 0;
}
