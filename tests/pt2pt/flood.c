/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that is flooded with messages which it does not receive, while it takes part in other communication, does not
 * grow beyond bounds, and counts that it has told the sender to hold; all messages arrive in order in the end. */
#include <unistd.h>

#include "tool/tool.h"

enum { MESSAGES = 60000, BYTES = 4000 }; /* 240 MB of messages, of which at most 16 are kept */
enum { PATIENCE_S = 40 };
#ifdef __SANITIZE_ADDRESS__
enum { BOUND = 1 << 30 }; /* the sanitizer keeps what was freed */
#else
enum { BOUND = 100 << 20 };
#endif

static MPI_T_pvar_session session;

static long resident_bytes(void)
{
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file && fscanf(file, "%ld %ld", &ignored, &pages) == 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void flood(int target)
{
    char data[BYTES] = {0};

    for (int i = 0; i < MESSAGES; i++) {
        memcpy(data, &i, sizeof i);
        MPI_Send(data, i % 3 ? BYTES : (int)sizeof i, MPI_BYTE, target, 1, MPI_COMM_WORLD);
    }
}

/* Answers the last rank's calls, so it makes progress all the time, and watches its size. */
static long serve(int caller)
{
    long most = 0;

    for (int i = 0; i < 2000; i++) {
        long now;

        MPI_Recv(NULL, 0, MPI_BYTE, caller, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, caller, 2, MPI_COMM_WORLD);
        if (i % 100)
            continue;
        usleep(1000);
        now = resident_bytes();
        most = now > most ? now : most;
    }
    return most;
}

/* The sender, which has far more than may wait here, is told to hold at the latest when as much has come. */
static void check_holds(MPI_T_pvar_handle holds)
{
    double limit = MPI_Wtime() + PATIENCE_S;
    int flag;

    while (tool_read(session, holds) == 0) {
        CHECK(MPI_Wtime() < limit);
        MPI_Iprobe(1, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_T_pvar_handle holds;
    int rank, size;

    tool_start();
    MPI_Init(&argc, &argv);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    holds = tool_meter(session, "holds", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 3);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        flood(0);
    } else if (rank == 2) {
        for (int i = 0; i < 2000; i++) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else {
        long before = resident_bytes(), most = serve(2);
        char data[BYTES];
        int number;

        CHECK(most - before < BOUND);
        check_holds(holds);
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Recv(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memcpy(&number, data, sizeof number);
            CHECK(number == i);
        }
        CHECK(resident_bytes() - before < BOUND);
    }
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
