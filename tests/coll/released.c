/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs may do right after the start of a collective with arrays: overwrite and free the arrays of counts,
 * displacements and types, and free the types, whose handles then become other types. In each round another rank comes
 * last, so that the operation is under way at all others when their arrays are gone. */
#include "random.h"

enum { RANKS_MOST = 16, BLOCK_MOST = 7, GAP = -1, TRASH = 0x55 };
enum kind { GATHERV, SCATTERV, ALLGATHERV, ALLTOALLV, ALLTOALLW, IN_PLACE, REDUCE_SCATTER, KINDS };
/* IN_PLACE: of alltoallw; its blocks are the same in both directions. */

static int rank, size;
static int blocks[RANKS_MOST][RANKS_MOST]; /* ints from one rank for another */

/* The arrays of one side, each in memory of its own. */
struct arrays {
    int *counts, *displs;
    MPI_Aint *addresses;
    MPI_Datatype *types;
};

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    CHECK(memory);
    return memory;
}

/* Two ints wide, the second of which is a hole. */
static MPI_Datatype wide_int(void)
{
    MPI_Datatype type;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    return type;
}

/* Blocks lie one behind the other, in elements of two ints. */
static struct arrays make_arrays(enum kind kind, int is_out)
{
    size_t count = (size_t)size;
    struct arrays arrays = {allocate(count * sizeof(int)), allocate(count * sizeof(int)),
                            allocate(count * sizeof(MPI_Aint)), allocate(count * sizeof(MPI_Datatype))};
    int place = 0;

    for (int i = 0; i < size; i++) {
        int from = is_out ? rank : i, to = is_out ? i : rank;

        arrays.counts[i] = kind == GATHERV || kind == ALLGATHERV ? blocks[from][0]
                           : kind == SCATTERV                    ? blocks[0][to]
                           : kind == REDUCE_SCATTER              ? blocks[0][i]
                                                                 : blocks[from][to];
        arrays.displs[i] = kind == ALLTOALLW || kind == IN_PLACE ? place * 2 * (int)sizeof(int) : place;
        arrays.addresses[i] = place * 2 * (int)sizeof(int);
        arrays.types[i] = wide_int();
        place += arrays.counts[i];
    }
    return arrays;
}

static void trash_arrays(struct arrays *arrays)
{
    size_t count = (size_t)size;

    for (int i = 0; i < size; i++)
        MPI_Type_free(&arrays->types[i]);
    memset(arrays->counts, TRASH, count * sizeof(int));
    memset(arrays->displs, TRASH, count * sizeof(int));
    memset(arrays->addresses, TRASH, count * sizeof(MPI_Aint));
    memset(arrays->types, TRASH, count * sizeof(MPI_Datatype));
    free(arrays->counts);
    free(arrays->displs);
    free(arrays->addresses);
    free(arrays->types);
}

static int value(int from, int to, int i)
{
    return from * 1000 + to * 50 + i;
}

/* What this rank gives to others: block after block; where all get the same, the block for rank 0. */
static void fill(enum kind kind, int *out, int *in)
{
    int at = 0, is_one = kind == GATHERV || kind == ALLGATHERV;

    for (int i = 0; i < 2 * RANKS_MOST * BLOCK_MOST; i++)
        out[i] = in[i] = GAP;
    for (int to = 0; to < (is_one ? 1 : size); to++) {
        int count = kind == REDUCE_SCATTER || kind == SCATTERV ? blocks[0][to] : blocks[rank][to];

        for (int i = 0; i < count; i++, at++)
            (kind == IN_PLACE ? in : out)[2 * at] = value(rank, to, i);
    }
}

static void check(enum kind kind, const int *in, int root)
{
    int at = 0, is_one = kind == GATHERV || kind == ALLGATHERV, is_rooted = kind == SCATTERV || kind == REDUCE_SCATTER;

    if (kind == GATHERV && rank != root)
        return;
    for (int from = 0; from < (is_rooted ? 1 : size); from++) {
        int count = is_one ? blocks[from][0] : is_rooted ? blocks[0][rank] : blocks[from][rank];

        for (int i = 0; i < count; i++, at++) {
            int expected = value(kind == SCATTERV ? root : from, is_one ? 0 : rank, i);

            for (int r = 1; kind == REDUCE_SCATTER && r < size; r++)
                expected += value(r, rank, i);
            CHECK(in[2 * at] == expected && in[2 * at + 1] == GAP);
        }
    }
    CHECK(in[2 * at] == GAP);
}

/* Only the first ints of pairs: the type is derived, so the operation must be the program's. */
static void add(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[2 * i] += ((int *)in)[2 * i];
}

static MPI_Request make(enum kind kind, int root, int is_persistent, const struct arrays *s, const struct arrays *r,
                        int *out, int *in, MPI_Datatype type, MPI_Op op)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request request;
    const void *sent = kind == IN_PLACE ? MPI_IN_PLACE : out;
    int mine = kind == SCATTERV ? blocks[0][rank] : blocks[rank][0];

    if (kind == GATHERV && is_persistent)
        MPI_Gatherv_init(out, mine, type, in, r->counts, r->displs, type, root, comm, info, &request);
    else if (kind == GATHERV)
        MPI_Igatherv(out, mine, type, in, r->counts, r->displs, type, root, comm, &request);
    else if (kind == SCATTERV && is_persistent)
        MPI_Scatterv_init(out, s->counts, s->displs, type, in, mine, type, root, comm, info, &request);
    else if (kind == SCATTERV)
        MPI_Iscatterv(out, s->counts, s->displs, type, in, mine, type, root, comm, &request);
    else if (kind == ALLGATHERV && is_persistent)
        MPI_Allgatherv_init(out, mine, type, in, r->counts, r->displs, type, comm, info, &request);
    else if (kind == ALLGATHERV)
        MPI_Iallgatherv(out, mine, type, in, r->counts, r->displs, type, comm, &request);
    else if (kind == ALLTOALLV && is_persistent)
        MPI_Alltoallv_init(out, s->counts, s->displs, type, in, r->counts, r->displs, type, comm, info, &request);
    else if (kind == ALLTOALLV)
        MPI_Ialltoallv(out, s->counts, s->displs, type, in, r->counts, r->displs, type, comm, &request);
    else if ((kind == ALLTOALLW || kind == IN_PLACE) && is_persistent)
        MPI_Alltoallw_init(sent, s->counts, s->displs, s->types, in, r->counts, r->displs, r->types, comm, info,
                           &request);
    else if (kind == ALLTOALLW || kind == IN_PLACE)
        MPI_Ialltoallw(sent, s->counts, s->displs, s->types, in, r->counts, r->displs, r->types, comm, &request);
    else if (is_persistent)
        MPI_Reduce_scatter_init(out, in, r->counts, type, op, comm, info, &request);
    else
        MPI_Ireduce_scatter(out, in, r->counts, type, op, comm, &request);
    return request;
}

/* Alltoallw among all, as neighbours. */
static MPI_Request make_neighbor(MPI_Comm comm, int is_persistent, const struct arrays *s, const struct arrays *r,
                                 int *out, int *in)
{
    MPI_Request request;

    if (is_persistent)
        MPI_Neighbor_alltoallw_init(out, s->counts, s->addresses, s->types, in, r->counts, r->addresses, r->types, comm,
                                    MPI_INFO_NULL, &request);
    else
        MPI_Ineighbor_alltoallw(out, s->counts, s->addresses, s->types, in, r->counts, r->addresses, r->types, comm,
                                &request);
    return request;
}

/* The last rank comes when all others have started and trashed what they passed. */
static void wait_for_others(int last)
{
    int ignored = 0;

    if (rank != last)
        return;
    for (int i = 1; i < size; i++)
        MPI_Recv(&ignored, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void run(enum kind kind, MPI_Comm neighbors, int is_persistent, int last)
{
    int *out = allocate(2 * RANKS_MOST * BLOCK_MOST * sizeof *out), root = random_below(size), ignored = 0;
    int *in = allocate(2 * RANKS_MOST * BLOCK_MOST * sizeof *in);
    struct arrays send = make_arrays(kind, 1), receive = make_arrays(kind, 0);
    MPI_Datatype type = wide_int(), others[2 * RANKS_MOST + 1];
    MPI_Request request;
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    fill(kind, out, in);
    if (!is_persistent)
        wait_for_others(last);
    request = neighbors != MPI_COMM_NULL ? make_neighbor(neighbors, is_persistent, &send, &receive, out, in)
                                         : make(kind, root, is_persistent, &send, &receive, out, in, type, op);
    if (is_persistent && rank != last)
        MPI_Start(&request);
    trash_arrays(&send);
    trash_arrays(&receive);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    for (int i = 0; i < 2 * size + 1; i++) { /* takes the places of the freed types */
        MPI_Type_contiguous(3, MPI_DOUBLE, &others[i]);
        MPI_Type_commit(&others[i]);
    }
    if (rank != last)
        MPI_Send(&ignored, 1, MPI_INT, last, 7, MPI_COMM_WORLD);
    if (is_persistent && rank == last) {
        wait_for_others(last);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(kind, in, root);
    if (is_persistent)
        MPI_Request_free(&request);
    for (int i = 0; i < 2 * size + 1; i++)
        MPI_Type_free(&others[i]);
    free(out);
    free(in);
}

static MPI_Comm complete_graph(void)
{
    int all[RANKS_MOST];
    MPI_Comm comm;

    for (int i = 0; i < size; i++)
        all[i] = i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, all, MPI_UNWEIGHTED, size, all, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &comm);
    return comm;
}

int main(void)
{
    MPI_Comm graph;

    MPI_Init(NULL, NULL);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS_MOST);
    graph = complete_graph();
    for (int last = 0; last < size; last++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int is_persistent = 0; is_persistent < 2; is_persistent++) {
                for (int from = 0; from < size; from++)
                    for (int to = 0; to < size; to++)
                        blocks[from][to] = kind == IN_PLACE && to < from ? blocks[to][from] : random_below(BLOCK_MOST);
                run((enum kind)kind, MPI_COMM_NULL, is_persistent, last);
                if (kind == ALLTOALLW)
                    run(ALLTOALLW, graph, is_persistent, last);
            }
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
