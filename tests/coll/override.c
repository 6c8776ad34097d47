/* SPDX-License-Identifier: BSD-3-Clause */
/* Info keys choose the algorithms of a communicator's collectives: performance variables show that these ran. Keys can
 * be read back, an empty value takes one back, and a name that does not exist is an error that lists those that do. */
#include "test.h"

static MPI_T_pvar_session session;
static int rank, size;

/* Starts counting how often an algorithm is used, by the name of its variable. */
static MPI_T_pvar_handle watch(const char *kind, const char *algorithm)
{
    MPI_T_pvar_handle handle;
    char name[128];
    int index, count;

    snprintf(name, sizeof name, "%s_%s", kind, algorithm);
    CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
    return handle;
}

static unsigned long long uses(MPI_T_pvar_handle handle)
{
    unsigned long long value;

    MPI_T_pvar_read(session, handle, &value);
    MPI_T_pvar_handle_free(session, &handle);
    return value;
}

static void call(const char *kind, MPI_Comm comm)
{
    int out[16] = {rank, 1, 2, 3}, in[16];

    if (!strcmp(kind, "barrier"))
        MPI_Barrier(comm);
    else if (!strcmp(kind, "bcast"))
        MPI_Bcast(out, 4, MPI_INT, 0, comm);
    else if (!strcmp(kind, "gather"))
        MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    else if (!strcmp(kind, "scatter"))
        MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    else if (!strcmp(kind, "allgather"))
        MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    else if (!strcmp(kind, "alltoall"))
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    else if (!strcmp(kind, "reduce"))
        MPI_Reduce(out, in, 4, MPI_INT, MPI_SUM, 0, comm);
    else if (!strcmp(kind, "allreduce"))
        MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, comm);
    else
        MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, comm);
}

static void check_algorithm(const char *kind, const char *algorithm, int is_able)
{
    MPI_T_pvar_handle handle;
    char key[64], value[64];
    MPI_Info info;
    MPI_Comm comm;
    int flag, length = sizeof value;

    snprintf(key, sizeof key, "mur_%s", kind);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, algorithm);
    CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, key, &length, value, &flag);
    CHECK(flag && !strcmp(value, algorithm));
    handle = watch(kind, algorithm);
    call(kind, comm);
    CHECK((uses(handle) > 0) == is_able);

    MPI_Info_set(info, key, "");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, key, &length, value, &flag);
    CHECK(!flag);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

/* What the library itself tells on a board is none of the user's broadcasts. */
static void check_persistent(void)
{
    int one = 1, sum = 0;
    MPI_Request request;
    MPI_Info info;
    MPI_Comm comm;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mur_bcast", "chain");
    CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm) == MPI_SUCCESS);
    CHECK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, info, &request) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size);
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
}

static void check_errors(void)
{
    char text[MPI_MAX_ERROR_STRING], value[64];
    int code, class, length, flag;
    MPI_Comm comm, none = MPI_COMM_NULL;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mur_allreduce", "ring");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_set(info, "mur_allreduce", "rign");
    code = MPI_Comm_set_info(comm, info);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    CHECK(class == MPI_ERR_INFO_VALUE && strstr(text, "rign") && strstr(text, "recursive-doubling"));
    code = MPI_Comm_dup_with_info(comm, info, &none);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_INFO_VALUE && none == MPI_COMM_NULL);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    length = sizeof value;
    MPI_Info_get_string(info, "mur_allreduce", &length, value, &flag);
    CHECK(flag && !strcmp(value, "ring"));
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    static const char *const algorithms[][2] = {
        {"barrier", "dissemination-4"}, {"barrier", "dissemination"},   {"bcast", "chain"},
        {"bcast", "binomial-pieces"},   {"bcast", "scatter-allgather"}, {"gather", "linear"},
        {"gather", "binomial"},         {"scatter", "binomial"},        {"allgather", "bruck"},
        {"alltoall", "bruck"},          {"reduce", "rabenseifner"},     {"reduce", "chain"},
        {"allreduce", "ring"},          {"allreduce", "reduce-bcast"},  {"reduce_scatter", "halving"},
        {"reduce_scatter", "pairwise"}};
    static const char *const board[][2] = {{"bcast", "board-slots"},      {"bcast", "board-pieces"},
                                           {"gather", "board-blocks"},    {"scatter", "board-cells"},
                                           {"allgather", "board-slices"}, {"alltoall", "board-cells"},
                                           {"reduce", "board-parts"},     {"allreduce", "board-parts"}};
    static const char *const kinds[] = {"barrier",  "bcast",  "gather",    "scatter",       "allgather",
                                        "alltoall", "reduce", "allreduce", "reduce_scatter"};
    int provided, is_mixed = argc > 1;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        check_algorithm(algorithms[i][0], algorithms[i][1], 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check_algorithm(kinds[i], "hierarchical", is_mixed); /* falls back where there are no nodes to go by, */
        check_algorithm(kinds[i], "board-lines", !is_mixed); /* or several, */
        check_algorithm(kinds[i], "board-tree", 0);          /* or few ranks */
    }
    for (size_t i = 0; i < sizeof board / sizeof *board; i++)
        check_algorithm(board[i][0], board[i][1], !is_mixed);
    check_persistent();
    check_errors();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
