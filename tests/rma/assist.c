/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of all kinds and of sizes up to and past what a target performs for an origin, in a window on the
 * program's own memory: first while the target waits in a barrier, then while it computes and calls nothing of MPI.
 * The memory is compared with a copy after each. With the argument "counted" the target must have performed all that
 * are small enough. */
#define _GNU_SOURCE
#include <sched.h>

#include "random.h"
#include "share.h"
#include "tool/tool.h"

enum { WORDS = 2048, MOST = 1400, ROUNDS = 2000, SMALL = 1024 /* elements of 8 bytes that are performed */ };

static int rank;
static long long *memory, copy[WORDS], buffer[WORDS], result[WORDS];
static MPI_Win win;

#define LOOKS __attribute__((no_sanitize("thread")))

static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter;

static void count(void)
{
    tool_start();
    MPI_T_pvar_session_create(&session);
    counter = tool_meter(session, "rma_assists", MPI_T_PVAR_CLASS_COUNTER, NULL);
}

static unsigned long long counted(void)
{
    unsigned long long value = tool_read(session, counter);

    MPI_T_pvar_handle_free(session, &counter);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return value;
}

static void check_result(int first, int count)
{
    CHECK(!memcmp(result, copy + first, (size_t)count * sizeof *copy));
}

/* One operation; returns whether it is small. */
static int one(void)
{
    int count = random_below(4) ? 1 + random_below(8) : 1 + random_below(MOST), first = random_below(WORDS - 1 - count),
        kind = random_below(7);

    for (int i = 0; i < count; i++)
        buffer[i] = random_below(1 << 20);
    switch (kind) {
    case 0:
        MPI_Put(buffer, count, MPI_INT64_T, 1, first, count, MPI_INT64_T, win);
        memcpy(copy + first, buffer, (size_t)count * sizeof *copy);
        break;
    case 1:
        MPI_Get(result, count, MPI_INT64_T, 1, first, count, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
        check_result(first, count);
        break;
    case 2:
        MPI_Accumulate(buffer, count, MPI_INT64_T, 1, first, count, MPI_INT64_T, MPI_SUM, win);
        for (int i = 0; i < count; i++)
            copy[first + i] += buffer[i];
        break;
    case 3:
        MPI_Get_accumulate(buffer, count, MPI_INT64_T, result, count, MPI_INT64_T, 1, first, count, MPI_INT64_T,
                           MPI_BXOR, win);
        MPI_Win_flush(1, win);
        check_result(first, count);
        for (int i = 0; i < count; i++)
            copy[first + i] ^= buffer[i];
        break;
    case 4:
        MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, result, count, MPI_INT64_T, 1, first, count, MPI_INT64_T,
                           MPI_NO_OP, win);
        MPI_Win_flush(1, win);
        check_result(first, count);
        break;
    case 5:
        count = 1;
        MPI_Fetch_and_op(buffer, result, MPI_INT64_T, 1, first, MPI_REPLACE, win);
        MPI_Win_flush(1, win);
        check_result(first, 1);
        copy[first] = buffer[0];
        break;
    default:
        count = 1;
        buffer[1] = random_below(2) ? copy[first] : copy[first] + 1;
        MPI_Compare_and_swap(buffer, buffer + 1, result, MPI_INT64_T, 1, first, win);
        MPI_Win_flush(1, win);
        check_result(first, 1);
        copy[first] = buffer[1] == copy[first] ? buffer[0] : copy[first];
        break;
    }
    return count <= SMALL;
}

static unsigned long long many(void)
{
    unsigned long long small = 0;

    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    for (int i = 0; i < ROUNDS; i++)
        small += (unsigned long long)one();
    MPI_Win_unlock(1, win);
    return small;
}

LOOKS static void compute(const long long *word)
{
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void see(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Get(result, WORDS, MPI_INT64_T, 1, 0, WORDS, MPI_INT64_T, win);
    MPI_Win_unlock(1, win);
    check_result(0, WORDS);
}

int main(int argc, char **argv)
{
    int is_counted = argc > 1 && !strcmp(argv[1], "counted");
    unsigned long long small;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    random_start();
    if (!all_can_copy(MPI_COMM_WORLD)) {
        MPI_Finalize();
        return test_skip("the system does not let processes copy from each other");
    }
    memory = calloc(WORDS, sizeof *memory);
    MPI_Win_create(memory, WORDS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        count();
        small = many();
        CHECK(counted() == small || !is_counted);
        see();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* the last word is nobody's in between, and ends it */
    if (rank == 0 && !is_counted) {
        many();
        see();
    }
    if (rank == 0) {
        copy[WORDS - 1] = 1;
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(copy + WORDS - 1, 1, MPI_INT64_T, 1, WORDS - 1, 1, MPI_INT64_T, win);
        MPI_Win_unlock(1, win);
    } else if (rank == 1) {
        compute(&memory[WORDS - 1]);
    }
    MPI_Win_free(&win);
    free(memory);
    MPI_Finalize();
    return 0;
}
