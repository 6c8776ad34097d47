/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank has no memory for its part in making a communicator: memory FUNCTION RANK WHICH, the rank's allocation that
 * fails, counted from 0. The library may do without, and the communicator works; or the job ends, and says so. Ends
 * with exit code 0 if the rank does not allocate so often, with 4 if it did without. FUNCTION is a name, or nothing:
 * the names are printed. */
#define _GNU_SOURCE
#include "scarce.h"
#include "test.h"

#define WORLD MPI_COMM_WORLD

static int rank, size;
static MPI_Comm old, halves; /* a communicator to start from, and this rank's half of it */
static MPI_Comm inter, grid;
static MPI_Group group, sides[2];
static MPI_Session session;

static int dup(MPI_Comm *made)
{
    return MPI_Comm_dup(old, made);
}

static int dup_inter(MPI_Comm *made)
{
    return MPI_Comm_dup(inter, made);
}

static int idup(MPI_Comm *made)
{
    MPI_Request request;
    int code = MPI_Comm_idup(old, made, &request);

    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int split(MPI_Comm *made)
{
    return MPI_Comm_split(old, rank % 2, -rank, made);
}

static int split_inter(MPI_Comm *made)
{
    return MPI_Comm_split(inter, 0, -rank, made);
}

static int split_type(MPI_Comm *made)
{
    return MPI_Comm_split_type(old, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
}

static int create(MPI_Comm *made)
{
    return MPI_Comm_create(old, group, made);
}

static int create_group(MPI_Comm *made)
{
    return MPI_Comm_create_group(old, group, 3, made);
}

static int from_group(MPI_Comm *made)
{
    return MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, made);
}

static int from_groups(MPI_Comm *made)
{
    int side = rank >= size / 2;

    return MPI_Intercomm_create_from_groups(sides[side], 0, sides[!side], 0, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                            made);
}

static int intercomm_create(MPI_Comm *made)
{
    return MPI_Intercomm_create(halves, 0, old, rank < size / 2 ? size / 2 : 0, 4, made);
}

static int intercomm_merge(MPI_Comm *made)
{
    return MPI_Intercomm_merge(inter, rank < size / 2, made);
}

static int cart_create(MPI_Comm *made)
{
    return MPI_Cart_create(old, 1, (int[1]){size}, (int[1]){1}, 1, made);
}

static int cart_sub(MPI_Comm *made)
{
    return MPI_Cart_sub(grid, (int[2]){1, 0}, made);
}

static int graph_create(MPI_Comm *made)
{
    int ends[2] = {1, 2}, edges[2] = {1, 0};

    return MPI_Graph_create(old, 2, ends, edges, 0, made);
}

static int dist_graph(MPI_Comm *made)
{
    return MPI_Dist_graph_create(old, 1, &rank, (int[1]){1}, (int[1]){(rank + 1) % size}, (int[1]){2}, MPI_INFO_NULL, 0,
                                 made);
}

static int dist_graph_adjacent(MPI_Comm *made)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    return MPI_Dist_graph_create_adjacent(old, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                          made);
}

static const struct {
    const char *name;
    int (*make)(MPI_Comm *made);
} functions[] = {{"dup", dup},
                 {"dup_inter", dup_inter},
                 {"idup", idup},
                 {"split", split},
                 {"split_inter", split_inter},
                 {"split_type", split_type},
                 {"create", create},
                 {"create_group", create_group},
                 {"from_group", from_group},
                 {"from_groups", from_groups},
                 {"intercomm_create", intercomm_create},
                 {"intercomm_merge", intercomm_merge},
                 {"cart_create", cart_create},
                 {"cart_sub", cart_sub},
                 {"graph_create", graph_create},
                 {"dist_graph", dist_graph},
                 {"dist_graph_adjacent", dist_graph_adjacent}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static void prepare(void)
{
    MPI_Comm_dup(WORLD, &old);
    MPI_Comm_set_errhandler(old, MPI_ERRORS_RETURN);
    MPI_Comm_split(old, rank < size / 2, 0, &halves);
    MPI_Intercomm_create(halves, 0, WORLD, rank < size / 2 ? size / 2 : 0, 1, &inter);
    MPI_Cart_create(old, 2, (int[2]){size / 2, 2}, (int[2]){0, 0}, 0, &grid);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_range_incl(group, 1, (int[1][3]){{0, size / 2 - 1, 1}}, &sides[0]);
    MPI_Group_range_incl(group, 1, (int[1][3]){{size / 2, size - 1, 1}}, &sides[1]);
}

static void clean_up(void)
{
    MPI_Group_free(&sides[0]);
    MPI_Group_free(&sides[1]);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&halves);
    MPI_Comm_free(&old);
}

/* A communicator that works: a value goes around. */
static void use(MPI_Comm comm)
{
    int one = 1, sum = -1, ranks, is_inter;

    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_test_inter(comm, &is_inter);
    (is_inter ? MPI_Comm_remote_size : MPI_Comm_size)(comm, &ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == ranks);
}

static int find(const char *name)
{
    int i = 0;

    while (i < FUNCTIONS && strcmp(functions[i].name, name))
        i++;
    CHECK(i < FUNCTIONS);
    return i;
}

int main(int argc, char **argv)
{
    MPI_Comm made = MPI_COMM_NULL;
    int function, is_refused;

    for (int i = 0; argc < 4 && i < FUNCTIONS; i++)
        puts(functions[i].name);
    if (argc < 4)
        return 0;
    function = find(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    prepare();
    MPI_Barrier(WORLD);
    if (rank == atoi(argv[2]))
        scarcity_begin(atoi(argv[3]));
    CHECK(functions[function].make(&made) == MPI_SUCCESS);
    is_refused = scarcity_end();
    use(made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    clean_up();
    MPI_Finalize();
    return is_refused ? 4 : 0;
}
