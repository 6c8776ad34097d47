/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors under MPI_THREAD_MULTIPLE: handlers call MPI and raise errors themselves; threads raise errors while others
 * change the handler; threads add and remove classes, codes and strings, and make and free handlers, before
 * MPI_Init as well. */
#include <pthread.h>
#include <stdatomic.h>

#include "test.h"

enum { THREADS = 4, ROUNDS = 500, MOST = 2 * THREADS * ROUNDS };

static MPI_Comm comm;
static MPI_File file;
static atomic_int comm_calls, file_calls, finished;
static _Thread_local int depth;

static void on_comm(MPI_Comm *which, int *code, ...)
{
    int rank, class;

    CHECK(MPI_Comm_rank(*which, &rank) == MPI_SUCCESS && MPI_Error_class(*code, &class) == MPI_SUCCESS);
    atomic_fetch_add(&comm_calls, 1);
    if (depth == 0) { /* an error within the handler of an error */
        depth = 1;
        CHECK(MPI_Send(NULL, 0, MPI_INT, 0, -1, *which) != MPI_SUCCESS);
        depth = 0;
    }
}

static void on_file(MPI_File *which, int *code, ...)
{
    MPI_Offset size;

    (void)code;
    CHECK(MPI_File_get_size(*which, &size) == MPI_SUCCESS);
    atomic_fetch_add(&file_calls, 1);
}

/* By call, and by an error. */
static void from_handlers(void)
{
    MPI_Errhandler handler;

    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER) == MPI_SUCCESS && comm_calls == 2);
    CHECK(MPI_Send(NULL, 0, MPI_INT, 0, -1, comm) != MPI_SUCCESS && comm_calls == 4);

    MPI_File_open(MPI_COMM_SELF, "error_threads.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_File_call_errhandler(file, MPI_ERR_IO) == MPI_SUCCESS && file_calls == 1);
    CHECK(MPI_File_set_size(file, -1) != MPI_SUCCESS && file_calls == 2);
    MPI_File_close(&file);
}

static void *raise_errors(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(MPI_Send(NULL, 0, MPI_INT, 0, -1, comm) != MPI_SUCCESS);
        CHECK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER) == MPI_SUCCESS);
    }
    atomic_fetch_add(&finished, 1);
    return NULL;
}

static void *change_handlers(void *argument)
{
    (void)argument;
    while (finished < THREADS) {
        MPI_Errhandler handler, got;

        CHECK(MPI_Comm_create_errhandler(on_comm, &handler) == MPI_SUCCESS);
        CHECK(MPI_Comm_set_errhandler(comm, handler) == MPI_SUCCESS);
        CHECK(MPI_Errhandler_free(&handler) == MPI_SUCCESS);
        CHECK(MPI_Comm_get_errhandler(comm, &got) == MPI_SUCCESS && MPI_Errhandler_free(&got) == MPI_SUCCESS);
        CHECK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    }
    return NULL;
}

static atomic_int owners[MOST];

/* Numbers that no other thread has, texts that are this thread's own, removed again in the standard's order. */
static void *add_codes(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        char wanted[64], text[MPI_MAX_ERROR_STRING];
        int class, code = 0, found, length;

        CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && MPI_Add_error_code(class, &code) == MPI_SUCCESS);
        if (code - MPI_ERR_LASTCODE - 1 < MOST)
            CHECK(atomic_fetch_add(&owners[code - MPI_ERR_LASTCODE - 1], 1) == 0);
        snprintf(wanted, sizeof wanted, "thread %d, round %d", *(int *)argument, i);
        CHECK(MPI_Add_error_string(code, wanted) == MPI_SUCCESS);
        CHECK(MPI_Error_class(code, &found) == MPI_SUCCESS && found == class);
        CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && !strcmp(text, wanted));
        if (i % 2)
            continue;
        CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS && MPI_Remove_error_code(code) == MPI_SUCCESS);
        CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS);
    }
    return NULL;
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
}

/* One that two threads were given could be freed once only. */
static void *make_handlers(void *argument)
{
    enum { KEPT = 16 };
    MPI_Errhandler kept[KEPT];

    (void)argument;
    for (int i = 0; i < 60 * ROUNDS; i++) {
        if (i >= KEPT)
            CHECK(MPI_Errhandler_free(&kept[i % KEPT]) == MPI_SUCCESS);
        CHECK(MPI_Session_create_errhandler(on_session, &kept[i % KEPT]) == MPI_SUCCESS);
    }
    for (int i = 0; i < KEPT; i++)
        CHECK(MPI_Errhandler_free(&kept[i]) == MPI_SUCCESS);
    return NULL;
}

static void run(void *(*work)(void *), void *(*beside)(void *))
{
    pthread_t threads[THREADS + 1];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    if (beside)
        pthread_create(&threads[THREADS], NULL, beside, NULL);
    for (int i = 0; i < THREADS + (beside != NULL); i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int provided;

    run(add_codes, NULL); /* legal before MPI_Init */
    run(make_handlers, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    from_handlers();
    run(raise_errors, change_handlers);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
