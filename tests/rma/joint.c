/* SPDX-License-Identifier: BSD-3-Clause */
/* Large operations that a waiting target may take part in: windows of all kinds on memory of all kinds, buffers that
 * are from MPI_Alloc_mem, from malloc or part of a window, at odd offsets, freed and allocated anew between operations,
 * all compared with a copy; then all ranks add to the same memory at once. With the argument "threads" two threads of
 * each rank do so. With "counted" the target must have taken part, sooner or later. */
#include "random.h"
#include "share.h"
#include "tool/tool.h"

#include <pthread.h>
#include <stdint.h>

enum { WORDS = 400 << 10, BYTES = WORDS * 8, LEAST = 12 << 10, ROUNDS = 12, STEPS = 10, THREADS = 2 };
enum { ALLOCATED, CREATED, CREATED_SHARED, DYNAMIC, KINDS };

static int rank, size;

/* ---- windows ---- */

struct window {
    MPI_Win win;
    int kind;
    int64_t *memory; /* [WORDS] */
    void *piece;     /* that it lies in */
    MPI_Aint start;  /* displacement of the memory of the rank that is asked */
};

static void *alloc_mem(MPI_Aint bytes)
{
    void *memory;

    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
    return memory;
}

static void open_window(struct window *w, int kind, int target)
{
    *w = (struct window){.kind = kind};
    if (kind == ALLOCATED) {
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->memory, &w->win);
        return;
    }
    w->piece = kind == CREATED ? malloc(BYTES + 64) : alloc_mem(BYTES + 64);
    w->memory = (int64_t *)((char *)w->piece + 8 * random_below(8));
    if (kind != DYNAMIC) {
        MPI_Win_create(w->memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
        return;
    }
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
    MPI_Win_attach(w->win, w->memory, BYTES);
    MPI_Get_address(w->memory, &w->start);
    MPI_Bcast(&w->start, 1, MPI_AINT, target, MPI_COMM_WORLD);
}

static void close_window(struct window *w)
{
    if (w->kind == DYNAMIC)
        MPI_Win_detach(w->win, w->memory);
    MPI_Win_free(&w->win);
    if (w->kind == CREATED)
        free(w->piece);
    else if (w->piece)
        MPI_Free_mem(w->piece);
}

/* ---- buffers of the origin ---- */

struct buffer {
    char *piece, *data;
    int is_malloc;
};

/* `step`: what the offset is a multiple of. */
static struct buffer take_buffer(size_t bytes, int step)
{
    struct buffer buffer = {.is_malloc = random_below(5) == 0};
    int offset = step * random_below(9);

    buffer.piece = buffer.is_malloc ? malloc(bytes + 64) : alloc_mem((MPI_Aint)bytes + 64);
    buffer.data = buffer.piece + offset;
    return buffer;
}

static void give_back(struct buffer *buffer)
{
    if (buffer->is_malloc)
        free(buffer->piece);
    else
        MPI_Free_mem(buffer->piece);
}

static void fill(void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        unsigned some = random_next();

        memcpy((char *)data + i, &some, bytes - i < 4 ? bytes - i : 4);
    }
}

/* ---- one origin ---- */

static void move_bytes(struct window *w, int target, char *copy)
{
    size_t bytes = (size_t)LEAST + (size_t)random_below(BYTES - LEAST),
           first = (size_t)random_below((int)(BYTES - bytes));
    struct buffer buffer = take_buffer(bytes, 1);
    MPI_Aint place = w->start + (MPI_Aint)first;
    int count = (int)bytes, how = random_below(4);
    MPI_Request request = MPI_REQUEST_NULL;

    if (how < 2)
        fill(buffer.data, bytes);
    if (how == 0)
        MPI_Put(buffer.data, count, MPI_BYTE, target, place, count, MPI_BYTE, w->win);
    else if (how == 1)
        MPI_Rput(buffer.data, count, MPI_BYTE, target, place, count, MPI_BYTE, w->win, &request);
    else if (how == 2)
        MPI_Get(buffer.data, count, MPI_BYTE, target, place, count, MPI_BYTE, w->win);
    else
        MPI_Rget(buffer.data, count, MPI_BYTE, target, place, count, MPI_BYTE, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, w->win);
    if (how < 2)
        memcpy(copy + first, buffer.data, bytes);
    else
        CHECK(!memcmp(copy + first, buffer.data, bytes));
    give_back(&buffer);
}

static void combine(int64_t *copy, const char *data, int count, MPI_Op op)
{
    for (int i = 0; i < count; i++) {
        int64_t value;

        memcpy(&value, data + 8 * (size_t)i, 8);
        if (op == MPI_SUM)
            copy[i] = (int64_t)((uint64_t)copy[i] + (uint64_t)value);
        else if (op == MPI_MAX)
            copy[i] = copy[i] > value ? copy[i] : value;
        else if (op == MPI_REPLACE)
            copy[i] = value;
    }
}

static void compute(struct window *w, int target, int64_t *copy)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_REPLACE, MPI_NO_OP};
    int fetches = random_below(2), count = LEAST / 8 + random_below(WORDS - LEAST / 8),
        first = random_below(WORDS - count);
    MPI_Op op = ops[random_below(fetches ? 4 : 3)];
    size_t bytes = (size_t)count * 8;
    struct buffer origin = take_buffer(bytes, random_below(4) ? 8 : 1), result = take_buffer(bytes, 8);
    MPI_Aint place = w->start + (MPI_Aint)first * 8;

    fill(origin.data, bytes);
    if (fetches)
        MPI_Get_accumulate(op == MPI_NO_OP ? NULL : origin.data, count, MPI_INT64_T, result.data, count, MPI_INT64_T,
                           target, place, count, MPI_INT64_T, op, w->win);
    else
        MPI_Accumulate(origin.data, count, MPI_INT64_T, target, place, count, MPI_INT64_T, op, w->win);
    MPI_Win_flush(target, w->win);
    if (fetches)
        CHECK(!memcmp(result.data, copy + first, bytes));
    combine(copy + first, origin.data, count, op);
    give_back(&origin);
    give_back(&result);
}

/* From one window's part to another's of the same window: the buffer is what the node shares as well. */
static void move_own(struct window *w, int target, int64_t *copy)
{
    int count = LEAST / 8 + random_below(WORDS - LEAST / 8), first = random_below(WORDS - count);

    fill(w->memory, (size_t)count * 8);
    MPI_Put(w->memory, count, MPI_INT64_T, target, w->start + 8 * (MPI_Aint)first, count, MPI_INT64_T, w->win);
    MPI_Win_flush(target, w->win);
    memcpy(copy + first, w->memory, (size_t)count * 8);
}

static void check_window(struct window *w, int target, int64_t *copy)
{
    if (rank == 0 && target)
        MPI_Send(copy, WORDS, MPI_INT64_T, target, 0, MPI_COMM_WORLD);
    if (rank == target && target)
        MPI_Recv(copy, WORDS, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == target)
        CHECK(!memcmp(copy, w->memory, BYTES));
}

static void check_round(int64_t *copy)
{
    int target = size == 1 ? 0 : 1 + random_below(size - 1);
    unsigned state;
    struct window w;

    open_window(&w, random_below(KINDS), target);
    memset(w.memory, 7, BYTES);
    memset(copy, 7, BYTES);
    MPI_Win_lock_all(0, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    state = random_state;
    for (int step = 0; step < STEPS && rank == 0; step++)
        if (random_below(4) == 0 && target)
            move_own(&w, target, copy);
        else if (random_below(2))
            move_bytes(&w, target, (char *)copy);
        else
            compute(&w, target, copy);
    random_state = state;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w.win);
    check_window(&w, target, copy);
    MPI_Win_unlock_all(w.win);
    close_window(&w);
}

/* ---- all at once ---- */

struct adder {
    struct window *w;
    int64_t *sum;
    unsigned state;
    int number;
};

/* What one thread adds; on `sum` where that is not NULL, else in the window of rank 0. */
static void *add(void *argument)
{
    struct adder *a = argument;
    unsigned state = a->state;

    for (int step = 0; step < STEPS; step++) {
        int count, first;
        int64_t *values;

        state = state * 1664525u + 1013904223u;
        count = LEAST / 8 + (int)((state >> 8) % (WORDS - LEAST / 8));
        first = (int)((state >> 4) % (unsigned)(WORDS - count));
        if (a->sum) {
            for (int i = 0; i < count; i++)
                a->sum[first + i] += a->number + i % 7;
            continue;
        }
        values = alloc_mem(8 * (MPI_Aint)count);
        for (int i = 0; i < count; i++)
            values[i] = a->number + i % 7;
        MPI_Accumulate(values, count, MPI_INT64_T, 0, a->w->start + 8 * (MPI_Aint)first, count, MPI_INT64_T, MPI_SUM,
                       a->w->win);
        MPI_Win_flush(0, a->w->win);
        MPI_Free_mem(values);
    }
    return NULL;
}

static void check_sum(int64_t *copy, int threads)
{
    unsigned seed = random_next();
    pthread_t thread[THREADS];
    struct adder adders[THREADS];
    struct window w;

    open_window(&w, random_below(KINDS), 0);
    memset(w.memory, 0, BYTES);
    MPI_Win_lock_all(0, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 0; t < threads && (rank || size == 1 || threads > 1); t++) {
        int number = rank * threads + t;

        adders[t] = (struct adder){.w = &w, .state = seed + (unsigned)number * 77777u, .number = number};
        if (threads == 1)
            add(&adders[t]);
        else
            pthread_create(&thread[t], NULL, add, &adders[t]);
    }
    for (int t = 0; t < threads && threads > 1; t++)
        pthread_join(thread[t], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w.win);
    memset(copy, 0, BYTES);
    for (int number = threads == 1 && size > 1; number < size * threads && rank == 0; number++) {
        struct adder adder = {.sum = copy, .state = seed + (unsigned)number * 77777u, .number = number};

        add(&adder);
    }
    if (rank == 0)
        CHECK(!memcmp(copy, w.memory, BYTES));
    MPI_Win_unlock_all(w.win);
    close_window(&w);
}

/* ---- whether the target takes part ---- */

static void check_counted(void)
{
    unsigned long long pieces = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle counter;
    struct window w;
    char *data;

    tool_start();
    MPI_T_pvar_session_create(&session);
    counter = tool_meter(session, "rma_joint", MPI_T_PVAR_CLASS_COUNTER, NULL);
    for (int kind = 0; kind < KINDS; kind++) {
        unsigned long long before = pieces;

        open_window(&w, kind, 1);
        data = alloc_mem(BYTES);
        memset(data, 1, BYTES);
        MPI_Win_lock_all(0, w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        while (rank == 0 && pieces == before) {
            MPI_Put(data, BYTES, MPI_BYTE, 1, w.start, BYTES, MPI_BYTE, w.win);
            MPI_Win_flush(1, w.win);
            pieces = tool_read(session, counter);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock_all(w.win);
        MPI_Free_mem(data);
        close_window(&w);
    }
    MPI_T_pvar_handle_free(session, &counter);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    int threads = argc > 1 && !strcmp(argv[1], "threads") ? THREADS : 1, provided;
    int64_t *copy = malloc(BYTES);

    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    if (argc > 1 && !strcmp(argv[1], "counted")) {
        if (!all_can_copy(MPI_COMM_WORLD)) {
            MPI_Finalize();
            return test_skip("the system does not let processes copy from each other");
        }
        check_counted();
    }
    for (int round = 0; round < ROUNDS; round++)
        check_round(copy);
    for (int round = 0; round < 4; round++)
        check_sum(copy, threads);
    free(copy);
    MPI_Finalize();
    return 0;
}
