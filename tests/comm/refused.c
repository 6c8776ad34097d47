/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make something together, and fail at one rank only: a wrong argument, or an attribute callback that
 * returns an error. The call ends at all ranks, with the rank's own error there and one that names it elsewhere; and
 * the communicator is as good as before. */
#include "test.h"

enum { OWN_ERROR = 4711, VALUES = 4 };

static int rank, size, failing, key, win_key;
static MPI_Comm parent; /* what the calls get */
static MPI_Info unknown;

static int refuse_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    return rank == failing ? OWN_ERROR : MPI_SUCCESS;
}

static int refuse_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval, (void)value, (void)extra;
    return rank == failing ? OWN_ERROR : MPI_SUCCESS;
}

static int is_failing(void)
{
    return rank == failing;
}

/* ---- the calls: each is wrong at the failing rank ---- */

static int copy(MPI_Comm *made)
{
    int rc;

    MPI_Comm_set_attr(parent, key, &key);
    rc = MPI_Comm_dup(parent, made);
    MPI_Comm_delete_attr(parent, key);
    return rc;
}

static int copy_with_info(MPI_Comm *made)
{
    int rc;

    MPI_Comm_set_attr(parent, key, &key);
    rc = MPI_Comm_dup_with_info(parent, unknown, made);
    MPI_Comm_delete_attr(parent, key);
    return rc;
}

/* The failing rank knows at once, the others when the request is complete; what they hold then is of no use. */
static int copy_later(MPI_Comm *made)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm handle = MPI_COMM_NULL;
    int rc;

    (void)made;
    MPI_Comm_set_attr(parent, key, &key);
    rc = MPI_Comm_idup(parent, &handle, &request);
    MPI_Comm_delete_attr(parent, key);
    CHECK((rc != MPI_SUCCESS) == is_failing());
    if (!rc) {
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&handle);
    }
    return rc;
}

static int copy_to_nowhere(MPI_Comm *made)
{
    return MPI_Comm_dup(parent, is_failing() ? NULL : made);
}

static int split(MPI_Comm *made)
{
    return MPI_Comm_split(parent, is_failing() ? -5 : rank % 2, 0, made);
}

static int split_by_type(MPI_Comm *made)
{
    return MPI_Comm_split_type(parent, is_failing() ? 12345 : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
}

static int create(MPI_Comm *made)
{
    MPI_Group group;
    int rc;

    MPI_Comm_group(parent, &group);
    rc = MPI_Comm_create(parent, is_failing() ? MPI_GROUP_NULL : group, made);
    MPI_Group_free(&group);
    return rc;
}

static int merge(MPI_Comm *made)
{
    return MPI_Intercomm_merge(parent, 0, is_failing() ? NULL : made);
}

static int grid(MPI_Comm *made)
{
    int dims = is_failing() ? -1 : size, periods = 0;

    return MPI_Cart_create(parent, 1, &dims, &periods, 0, made);
}

static int part_of_grid(MPI_Comm *made)
{
    int dims = size, periods = 0, remain = 1, rc;
    MPI_Comm whole;

    CHECK(MPI_Cart_create(parent, 1, &dims, &periods, 0, &whole) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(whole, MPI_ERRORS_RETURN);
    rc = MPI_Cart_sub(whole, is_failing() ? NULL : &remain, made);
    MPI_Comm_free(&whole);
    return rc;
}

static int graph(MPI_Comm *made)
{
    int ends = is_failing() ? -1 : 1, edge = 0;

    return MPI_Graph_create(parent, 1, &ends, &edge, 0, made);
}

static int adjacent(MPI_Comm *made)
{
    int neighbour = is_failing() ? size : (rank + 1) % size;

    return MPI_Dist_graph_create_adjacent(parent, 0, NULL, MPI_UNWEIGHTED, 1, &neighbour, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                          0, made);
}

static int distributed(MPI_Comm *made)
{
    int source = rank, degree = is_failing() ? -1 : 1, destination = (rank + 1) % size;

    return MPI_Dist_graph_create(parent, 1, &source, &degree, &destination, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
}

static int window(MPI_Comm *made)
{
    static int values[VALUES];
    MPI_Win win;

    (void)made;
    return MPI_Win_create(values, sizeof values, is_failing() ? 0 : 1, MPI_INFO_NULL, parent, &win);
}

static int window_nowhere(MPI_Comm *made)
{
    MPI_Win win;
    void *base;

    (void)made;
    return MPI_Win_allocate(VALUES, 1, MPI_INFO_NULL, parent, is_failing() ? NULL : &base, &win);
}

static int window_end(MPI_Comm *made)
{
    void *base;
    MPI_Win win;
    int rc;

    (void)made;
    CHECK(MPI_Win_allocate(VALUES, 1, MPI_INFO_NULL, parent, &base, &win) == MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_set_attr(win, win_key, &win_key);
    rc = MPI_Win_free(&win);
    failing = -1 - failing; /* now it may end */
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
    failing = -1 - failing;
    return rc;
}

struct call {
    int (*make)(MPI_Comm *made);
    const char *name;
    int own_error; /* what the failing rank gets; 0: any */
};

#define CALL(name, error)                                                                                              \
    {                                                                                                                  \
        name, #name, error                                                                                             \
    }
static const struct call for_all[] = {
    CALL(copy, OWN_ERROR),
    CALL(copy_with_info, OWN_ERROR),
    CALL(copy_later, OWN_ERROR),
    CALL(copy_to_nowhere, 0),
    CALL(split, 0),
    CALL(create, 0),
};
static const struct call for_one_group[] = {
    CALL(split_by_type, 0), CALL(grid, 0),           CALL(part_of_grid, 0),
    CALL(graph, 0),         CALL(adjacent, 0),       CALL(distributed, 0),
    CALL(window, 0),        CALL(window_nowhere, 0), CALL(window_end, OWN_ERROR),
};
static const struct call for_two_groups[] = {CALL(merge, 0)};

/* The text names the rank where it is one of the own group. */
static void check_text(int rc, int named)
{
    char text[MPI_MAX_ERROR_STRING], expected[32];
    int length;

    MPI_Error_string(rc, text, &length);
    if (named >= 0)
        snprintf(expected, sizeof expected, "at rank %d of the", named);
    else
        snprintf(expected, sizeof expected, "of the remote group");
    if (!strstr(text, expected) && !strstr(text, "arguments of rank"))
        fprintf(stderr, "'%s' was expected in: %s\n", expected, text);
    CHECK(strstr(text, expected) || strstr(text, "arguments of rank"));
}

static void check_health(void)
{
    int sum = 0, one = 1, expected = size;
    MPI_Comm copy;

    CHECK(MPI_Comm_dup(parent, &copy) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy) == MPI_SUCCESS && sum >= 1 && sum <= expected);
    MPI_Comm_free(&copy);
}

/* `named` is the failing rank's number in this rank's group, or -1. */
static void try_calls(const struct call *calls, size_t count, int named)
{
    for (size_t i = 0; i < count; i++) {
        MPI_Comm made = MPI_COMM_NULL;
        int rc = calls[i].make(&made);

        if (rc == MPI_SUCCESS)
            fprintf(stderr, "%s: rank %d has no error\n", calls[i].name, rank);
        CHECK(rc != MPI_SUCCESS && made == MPI_COMM_NULL);
        if (!is_failing())
            check_text(rc, named);
        else
            CHECK(!calls[i].own_error || rc == calls[i].own_error);
        check_health();
    }
}

#define TRY(calls, named) try_calls(calls, sizeof calls / sizeof calls[0], named)

static void in_one_group(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    for (failing = 0; failing<size; failing += size> 2 ? size - 1 : 1) {
        TRY(for_all, failing);
        TRY(for_one_group, failing);
    }
    MPI_Comm_free(&parent);
}

/* Even ranks and odd ones; ranks of the world say who fails. */
static void in_two_groups(void)
{
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    for (failing = 0; failing < size; failing++) {
        TRY(for_all, failing % 2 == rank % 2 ? failing / 2 : -1);
        TRY(for_two_groups, failing % 2 == rank % 2 ? failing / 2 : -1);
    }
    MPI_Comm_free(&parent);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, refuse_delete, &win_key, NULL);
    MPI_Info_create(&unknown);
    MPI_Info_set(unknown, "not_known", "true");
    in_one_group();
    if (size > 1)
        in_two_groups();
    MPI_Info_free(&unknown);
    MPI_Comm_free_keyval(&key);
    MPI_Win_free_keyval(&win_key);
    MPI_Finalize();
    return 0;
}
