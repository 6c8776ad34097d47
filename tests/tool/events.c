/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: callbacks hear of all that happens and of nothing else, with its data, in order of time; those that may run
 * anywhere at once, those without a promise when the call returns; what finds no room is dropped and counted; callbacks
 * may free what called them; events of a communicator are those of no other. */
#include "random.h"
#include "tool.h"

enum { MOST = 4000 };

static int rank, size;

static struct heard {
    int count, source, tags[MOST];
    unsigned long long bytes[MOST];
    MPI_Count times[MOST], dropped;
    MPI_T_cb_safety safety, dropped_safety;
    int drops, is_quiet;
} heard[2];

static MPI_T_event_registration registration_of(const char *name, void *object)
{
    MPI_T_event_registration registration = NULL;
    int index = -1;

    CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_alloc(index, object, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
    return registration;
}

static void hear(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct {
        int rank, tag;
        unsigned long long bytes;
    } copy;
    struct heard *h = data;
    int num, i = h->count;

    CHECK(registration && i < MOST);
    CHECK(MPI_T_event_copy(event, &copy) == MPI_SUCCESS);
    CHECK(MPI_T_event_read(event, 1, &h->tags[i]) == MPI_SUCCESS && h->tags[i] == copy.tag);
    CHECK(MPI_T_event_read(event, 2, &h->bytes[i]) == MPI_SUCCESS && h->bytes[i] == copy.bytes);
    CHECK(MPI_T_event_read(event, 3, &copy) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_read(event, -1, &copy) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_get_timestamp(event, &h->times[i]) == MPI_SUCCESS);
    CHECK(MPI_T_event_get_source(event, &h->source) == MPI_SUCCESS && h->source == 0);
    if (safety != MPI_T_CB_REQUIRE_NONE) { /* the middle of a call: nothing else may be asked */
        CHECK(MPI_T_cvar_get_num(&num) == MPI_T_ERR_NOT_ACCESSIBLE);
        CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_ACCESSIBLE);
    } else {
        CHECK(MPI_T_cvar_get_num(&num) == MPI_SUCCESS);
        if (!h->is_quiet)
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &num, MPI_STATUS_IGNORE);
    }
    h->safety = safety;
    h->count++;
}

static void hear_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                         void *data)
{
    struct heard *h = data;

    CHECK(registration && source == 0 && count > 0);
    h->dropped += count;
    h->drops++;
    h->dropped_safety = safety;
}

static void ended(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    CHECK(registration && safety == MPI_T_CB_REQUIRE_NONE);
    ++*(int *)data;
}

static void end(MPI_T_event_registration registration)
{
    int ends = 0;

    CHECK(MPI_T_event_handle_free(registration, &ends, ended) == MPI_SUCCESS && ends == 1);
    CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

/* The last message of each round is waited for, so those before have arrived without a receive. */
static void send_round(int count, int base, const int *bytes, MPI_Comm comm)
{
    static char data[40000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request;

    for (int i = 0; i < count; i++) {
        MPI_Isend(data, bytes ? bytes[i] : 4, MPI_BYTE, right, base + i, comm, &request);
        MPI_Request_free(&request);
    }
    MPI_Sendrecv(NULL, 0, MPI_BYTE, right, 1, NULL, 0, MPI_BYTE, left, 1, comm, MPI_STATUS_IGNORE);
}

static void receive_round(int count, int base, const int *bytes, MPI_Comm comm)
{
    static char data[40000];
    int left = (rank + size - 1) % size;

    for (int i = 0; i < count; i++)
        MPI_Recv(data, bytes ? bytes[i] : 4, MPI_BYTE, left, base + i, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

static void check_unexpected(MPI_T_cb_safety safety, MPI_Comm comm)
{
    MPI_T_event_registration registration = registration_of("message_unexpected", NULL);
    int bytes[100], found = 0, mine = 0;
    MPI_Count before, after;

    memset(heard, 0, sizeof heard);
    CHECK(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, &heard[0], hear) == MPI_SUCCESS);
    for (int i = 0; i < 100; i++)
        bytes[i] = random_below(i % 10 ? 200 : 40000);
    MPI_T_source_get_timestamp(0, &before);
    MPI_Barrier(comm); /* all listen */
    send_round(100, 1000, bytes, comm);
    MPI_T_source_get_timestamp(0, &after);
    for (int i = 0; i < heard[0].count; i++) {
        mine = heard[0].tags[i] - 1000;
        if (heard[0].tags[i] < 1000)
            continue; /* one of the library's own, or that which was waited for */
        CHECK(mine == found && heard[0].bytes[i] == (unsigned long long)bytes[mine]);
        CHECK(heard[0].times[i] >= before && heard[0].times[i] <= after &&
              (!i || heard[0].times[i] >= heard[0].times[i - 1]));
        found++;
    }
    CHECK(found == 100);
    if (!getenv("MUR_PROGRESS_THREAD")) /* whose events need more, or wait */
        CHECK(heard[0].safety ==
              (safety == MPI_T_CB_REQUIRE_NONE ? MPI_T_CB_REQUIRE_NONE : MPI_T_CB_REQUIRE_MPI_RESTRICTED));
    receive_round(100, 1000, bytes, comm);
    end(registration);
    mine = heard[0].count;
    send_round(10, 1000, NULL, comm);
    CHECK(heard[0].count == mine);
    receive_round(10, 1000, NULL, comm);
}

/* Of two registrations, the one without a promise loses what does not fit, and is told how much. */
static void check_dropped(MPI_Comm comm)
{
    MPI_T_event_registration late = registration_of("message_unexpected", NULL),
                             early = registration_of("message_unexpected", NULL);

    memset(heard, 0, sizeof heard);
    heard[0].is_quiet = 1; /* nothing arrives while it makes room */
    CHECK(MPI_T_event_register_callback(late, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &heard[0], hear) == MPI_SUCCESS);
    CHECK(MPI_T_event_set_dropped_handler(late, hear_dropped) == MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(early, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &heard[1], hear) ==
          MPI_SUCCESS);
    MPI_Barrier(comm);
    if (rank == 0) {
        for (int i = 0; i < 1500; i++)
            MPI_Send(&i, 1, MPI_INT, size - 1, 2000 + i, comm);
        MPI_Send(NULL, 0, MPI_INT, size - 1, 1, comm);
    }
    if (rank == size - 1) {
        int data;

        MPI_Recv(NULL, 0, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE); /* one call, in which all arrive */
        CHECK(heard[0].drops && heard[0].count >= 256 && heard[0].dropped_safety == MPI_T_CB_REQUIRE_NONE);
        CHECK(heard[0].count + heard[0].dropped == heard[1].count && heard[1].count >= 1500);
        for (int i = 0; i < 1500; i++)
            MPI_Recv(&data, 1, MPI_INT, 0, 2000 + i, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
    end(late);
    end(early);
}

static int collectives, nested;

static void count_collective(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                             void *data)
{
    int kind = -1, form = -1;

    (void)registration;
    (void)safety;
    CHECK(MPI_T_event_read(event, 0, &kind) == MPI_SUCCESS && kind == *(int *)data);
    CHECK(MPI_T_event_read(event, 1, &form) == MPI_SUCCESS && form >= 0 && form <= 2);
    collectives++;
}

/* Calls MPI, which raises another event of the kind, and ends its own registration. */
static void nest(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    MPI_Count time;

    CHECK(safety == MPI_T_CB_REQUIRE_NONE);
    CHECK(MPI_T_event_get_timestamp(event, &time) == MPI_SUCCESS);
    nested++;
    MPI_Barrier(*(MPI_Comm *)data);
    CHECK(MPI_T_event_get_timestamp(event, &time) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_free(registration, &nested, ended) == MPI_SUCCESS);
    CHECK(nested == 1); /* not before the callback has returned */
}

static void check_collectives(MPI_Comm comm)
{
    MPI_T_event_registration registration;
    int kind = 0, all;
    MPI_Comm other;

    MPI_Comm_dup(comm, &other);
    registration = registration_of("collective_start", &other);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &kind,
                                        count_collective) == MPI_SUCCESS);
    collectives = 0;
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(other);
        MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comm);
    }
    CHECK(collectives == 5);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, NULL) ==
          MPI_SUCCESS);
    MPI_Barrier(other);
    CHECK(collectives == 5);
    end(registration);

    nested = 0;
    registration = registration_of("collective_start", &other);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &other, nest) ==
          MPI_SUCCESS);
    MPI_Barrier(other);
    CHECK(nested == 2);
    MPI_Barrier(other);
    CHECK(nested == 2);
    MPI_Comm_free(&other);
}

static void check_infos(void)
{
    MPI_T_event_registration registration = registration_of("flow_hold", NULL);
    MPI_Info info, used;
    int keys = -1;

    MPI_Info_create(&info);
    MPI_Info_set(info, "no_such_hint", "1");
    CHECK(MPI_T_event_handle_set_info(registration, info) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_get_info(registration, &used) == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(used, &keys) == MPI_SUCCESS && keys == 0);
    MPI_Info_free(&used);
    CHECK(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, info) == MPI_SUCCESS);
    CHECK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &used) == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(used, &keys) == MPI_SUCCESS && keys == 0);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    /* The registration is left to the end of the interface. */
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    tool_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    random_start();
    check_unexpected(MPI_T_CB_REQUIRE_MPI_RESTRICTED, comm);
    check_unexpected(MPI_T_CB_REQUIRE_NONE, comm);
    check_unexpected(MPI_T_CB_REQUIRE_THREAD_SAFE, comm);
    check_unexpected(MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, comm);
    check_dropped(comm);
    check_collectives(comm);
    check_infos();
    MPI_Comm_free(&comm);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MPI_Finalize();
    return 0;
}
