/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that use the tool information interface while others send and receive: sums lose nothing, handles and
 * registrations come and go, callbacks that promise to be safe hear of every event. Each thread initialises and ends
 * the interface for itself, before, while and after MPI runs. */
#include <pthread.h>
#include <stdatomic.h>

#include "random.h"
#include "tool.h"

enum { TALKERS = 2, TOOLS = 2, MESSAGES = 3000, ROUNDS = 400 };

static int rank, size, is_running;
static atomic_int heard, is_over;

static void hear(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    int tag = -1;

    (void)registration;
    (void)safety;
    (void)data;
    CHECK(MPI_T_event_read(event, 1, &tag) == MPI_SUCCESS && tag >= 0);
    atomic_fetch_add(&heard, 1);
}

static void *talk(void *argument)
{
    int tag = (int)(intptr_t)argument, data = 0, peer = rank ^ 1;

    for (int i = 0; i < MESSAGES; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, peer, tag, &data, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data == i);
    }
    return NULL;
}

static void use_once(unsigned *state)
{
    static const char *const names[] = {"eager_sends", "eager_receives", "progress_passes"};
    MPI_T_event_registration registration;
    unsigned long long before, after;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_cvar_handle chunk;
    int provided, index;
    MPI_Count value;

    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    handle = tool_meter(session, names[draw_next(state) % 3], MPI_T_PVAR_CLASS_COUNTER, NULL);
    before = tool_read(session, handle);
    after = tool_read(session, handle);
    CHECK(after >= before && before < 1000000000);
    if (draw_next(state) % 2) {
        chunk = tool_control("MUR_SHM_COPY_CHUNK");
        value = 4096 * (1 + draw_next(state) % 100);
        CHECK(MPI_T_cvar_write(chunk, &value) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_handle_free(&chunk) == MPI_SUCCESS);
    }
    if (draw_next(state) % 2) {
        CHECK(MPI_T_event_get_index("message_unexpected", &index) == MPI_SUCCESS);
        CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
        CHECK(MPI_T_event_register_callback(registration,
                                            draw_next(state) % 2 ? MPI_T_CB_REQUIRE_NONE : MPI_T_CB_REQUIRE_THREAD_SAFE,
                                            MPI_INFO_NULL, NULL, hear) == MPI_SUCCESS);
        if (is_running)
            tool_meter(session, "comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &world);
        CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_SUCCESS);
    }
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
}

static void *use(void *argument)
{
    unsigned state = (unsigned)(intptr_t)argument;

    while (!atomic_load(&is_over))
        use_once(&state);
    return NULL;
}

static void *use_alone(void *argument)
{
    unsigned state = (unsigned)(intptr_t)argument;

    for (int i = 0; i < ROUNDS; i++)
        use_once(&state);
    return NULL;
}

static void run(int count, void *(*function)(void *))
{
    pthread_t threads[TALKERS];

    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, function, (void *)(intptr_t)(i + 1)) == 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void check_running(void)
{
    MPI_T_event_registration registration;
    pthread_t tools[TOOLS];
    unsigned long long sends, unexpected;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle eager, waited;
    int index;

    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_event_get_index("message_unexpected", &index) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, hear) ==
          MPI_SUCCESS);
    eager = tool_meter(session, "eager_sends", MPI_T_PVAR_CLASS_COUNTER, NULL);
    waited = tool_meter(session, "unexpected", MPI_T_PVAR_CLASS_COUNTER, NULL);
    atomic_store(&heard, 0);
    run(TALKERS, talk);
    sends = tool_read(session, eager);
    CHECK(sends == TALKERS * MESSAGES);
    unexpected = tool_read(session, waited);
    CHECK(unexpected == (unsigned long long)atomic_load(&heard));
    for (int i = 0; i < TOOLS; i++)
        CHECK(pthread_create(&tools[i], NULL, use, (void *)(intptr_t)(i + 77 + rank)) == 0);
    run(TALKERS, talk);
    CHECK(tool_read(session, eager) == 2 * TALKERS * MESSAGES);
    atomic_store(&is_over, 1);
    for (int i = 0; i < TOOLS; i++)
        pthread_join(tools[i], NULL);
    CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int provided;

    run(TOOLS, use_alone);
    tool_start();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_running = 1;
    if (rank < size / 2 * 2)
        check_running();
    is_running = 0;
    MPI_Finalize();
    run(TOOLS, use_alone);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return 0;
}
