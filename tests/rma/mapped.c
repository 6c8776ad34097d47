/* SPDX-License-Identifier: BSD-3-Clause */
/* A window of MPI_Win_create on memory of MPI_Alloc_mem is reached by loads and stores. Run it with
 * MUR_SHM_SINGLE_COPY=0: what is not reached by them then needs messages, as windows on other memory do, and messages
 * are counted. */
#include "share.h"
#include "tool/tool.h"

enum { WORDS = 1 << 20, SMALL = 3, LARGE = WORDS / 2 };

static int rank, size;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle messages;

static void count(void)
{
    tool_start();
    MPI_T_pvar_session_create(&session);
    messages = tool_meter(session, "rma_messages", MPI_T_PVAR_CLASS_COUNTER, NULL);
}

static unsigned long long counted(void)
{
    return tool_read(session, messages);
}

/* Every rank writes to its right neighbour, adds, and reads back. */
static void operate(MPI_Win win, int words)
{
    int64_t *data = malloc((size_t)words * sizeof *data), *result = malloc((size_t)words * sizeof *result);
    int right = (rank + 1) % size;

    for (int i = 0; i < words; i++)
        data[i] = rank * 1000 + i;
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Put(data, words, MPI_INT64_T, right, 0, words, MPI_INT64_T, win);
    MPI_Win_flush(right, win);
    MPI_Accumulate(data, words, MPI_INT64_T, right, 0, words, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(right, win);
    MPI_Get(result, words, MPI_INT64_T, right, 0, words, MPI_INT64_T, win);
    MPI_Win_unlock(right, win);
    for (int i = 0; i < words; i++)
        CHECK(result[i] == 2 * (int64_t)(rank * 1000 + i));
    free(data);
    free(result);
}

/* On a part of the memory, as programs have it. Returns how many operations became messages. */
static unsigned long long try(int64_t *memory)
{
    unsigned long long before = counted();
    MPI_Win win;

    MPI_Win_create(memory + 1, (WORDS - 1) * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    operate(win, SMALL);
    MPI_Barrier(MPI_COMM_WORLD);
    operate(win, LARGE);
    MPI_Win_free(&win);
    return counted() - before;
}

int main(int argc, char **argv)
{
    int64_t *memory;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!all_share(MPI_COMM_WORLD) || all_can_copy(MPI_COMM_WORLD)) {
        MPI_Finalize();
        return test_skip("ranks share no memory, or copy without it");
    }
    count();
    MPI_Alloc_mem(WORDS * (MPI_Aint)sizeof *memory, MPI_INFO_NULL, &memory);
    for (int round = 0; round < 2; round++) /* again: it is mapped already */
        CHECK(try(memory) == 0);
    MPI_Free_mem(memory);
    memory = malloc(WORDS * sizeof *memory);
    CHECK(try(memory) >= 6);
    free(memory);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
