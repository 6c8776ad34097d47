/* SPDX-License-Identifier: BSD-3-Clause */
/* With MUR_COLL_CHECK=1: one rank, whichever, calls each collective in another way than the others. All ranks get an
 * error of the right class, whose text names the difference, and nothing hangs; the next collective works. */
#include "forms.h"
#include "random.h"

enum what { ROOT, COUNT, TYPE, OP, CALL, WHATS };
enum call {
    BCAST,
    GATHER,
    SCATTER,
    REDUCE,
    GATHERV,
    SCATTERV,
    ALLGATHER,
    ALLREDUCE,
    ALLTOALL,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    SCAN,
    ALLGATHERV,
    ALLTOALLV,
    ALLTOALLW,
    NEIGHBOR_ALLGATHER,
    NEIGHBOR_ALLTOALLV,
    CALLS
};
enum { FORMS = 3, MOST = 64 };

static int rank, size;
static MPI_Comm comm, ring;

/* The arguments of this rank; the odd one out has another. */
struct arguments {
    int root, count;
    MPI_Datatype type;
    MPI_Op op;
};

#define DO(plain_, nonblocking_, persistent_)                                                                          \
    (form == 0 ? (plain_) : form == 1 ? complete(nonblocking_, &request, 0) : complete(persistent_, &request, 1))

static int call(enum call which, int form, const struct arguments *a, int odd)
{
    static long out[MOST * 8], in[MOST * 8];
    int counts[MOST], places[MOST], receive_counts[MOST], n = a->count, r = a->root;
    MPI_Datatype types[MOST], t = a->type;
    MPI_Request request;
    MPI_Info no = MPI_INFO_NULL;

    for (int i = 0; i < size; i++) {
        counts[i] = n;
        places[i] = i * 8;
        types[i] = t;
        receive_counts[i] = 2;
    }
    for (int i = 0; i < size; i++)
        if (which == REDUCE_SCATTER || (which == GATHERV && rank != odd)) /* what is received by everybody's measure */
            receive_counts[i] = which == REDUCE_SCATTER ? n : 2;
    switch (which) {
    case BCAST:
        return DO(MPI_Bcast(in, n, t, r, comm), MPI_Ibcast(in, n, t, r, comm, &request),
                  MPI_Bcast_init(in, n, t, r, comm, no, &request));
    case GATHER:
        return DO(MPI_Gather(out, n, t, in, n, t, r, comm), MPI_Igather(out, n, t, in, n, t, r, comm, &request),
                  MPI_Gather_init(out, n, t, in, n, t, r, comm, no, &request));
    case SCATTER:
        return DO(MPI_Scatter(out, n, t, in, n, t, r, comm), MPI_Iscatter(out, n, t, in, n, t, r, comm, &request),
                  MPI_Scatter_init(out, n, t, in, n, t, r, comm, no, &request));
    case REDUCE:
        return DO(MPI_Reduce(out, in, n, t, a->op, r, comm), MPI_Ireduce(out, in, n, t, a->op, r, comm, &request),
                  MPI_Reduce_init(out, in, n, t, a->op, r, comm, no, &request));
    case GATHERV:
        return DO(MPI_Gatherv(out, n, t, in, receive_counts, places, MPI_INT, r, comm),
                  MPI_Igatherv(out, n, t, in, receive_counts, places, MPI_INT, r, comm, &request),
                  MPI_Gatherv_init(out, n, t, in, receive_counts, places, MPI_INT, r, comm, no, &request));
    case SCATTERV:
        return DO(MPI_Scatterv(out, receive_counts, places, MPI_INT, in, n, t, r, comm),
                  MPI_Iscatterv(out, receive_counts, places, MPI_INT, in, n, t, r, comm, &request),
                  MPI_Scatterv_init(out, receive_counts, places, MPI_INT, in, n, t, r, comm, no, &request));
    case ALLGATHER:
        return DO(MPI_Allgather(out, n, t, in, n, t, comm), MPI_Iallgather(out, n, t, in, n, t, comm, &request),
                  MPI_Allgather_init(out, n, t, in, n, t, comm, no, &request));
    case ALLREDUCE:
        return DO(MPI_Allreduce(out, in, n, t, a->op, comm), MPI_Iallreduce(out, in, n, t, a->op, comm, &request),
                  MPI_Allreduce_init(out, in, n, t, a->op, comm, no, &request));
    case ALLTOALL:
        return DO(MPI_Alltoall(out, n, t, in, n, t, comm), MPI_Ialltoall(out, n, t, in, n, t, comm, &request),
                  MPI_Alltoall_init(out, n, t, in, n, t, comm, no, &request));
    case REDUCE_SCATTER_BLOCK:
        return DO(MPI_Reduce_scatter_block(out, in, n, t, a->op, comm),
                  MPI_Ireduce_scatter_block(out, in, n, t, a->op, comm, &request),
                  MPI_Reduce_scatter_block_init(out, in, n, t, a->op, comm, no, &request));
    case REDUCE_SCATTER:
        return DO(MPI_Reduce_scatter(out, in, receive_counts, t, a->op, comm),
                  MPI_Ireduce_scatter(out, in, receive_counts, t, a->op, comm, &request),
                  MPI_Reduce_scatter_init(out, in, receive_counts, t, a->op, comm, no, &request));
    case SCAN:
        return DO(MPI_Scan(out, in, n, t, a->op, comm), MPI_Iscan(out, in, n, t, a->op, comm, &request),
                  MPI_Scan_init(out, in, n, t, a->op, comm, no, &request));
    case ALLGATHERV:
        return DO(MPI_Allgatherv(out, n, t, in, receive_counts, places, MPI_INT, comm),
                  MPI_Iallgatherv(out, n, t, in, receive_counts, places, MPI_INT, comm, &request),
                  MPI_Allgatherv_init(out, n, t, in, receive_counts, places, MPI_INT, comm, no, &request));
    case ALLTOALLV:
        return DO(MPI_Alltoallv(out, counts, places, t, in, receive_counts, places, MPI_INT, comm),
                  MPI_Ialltoallv(out, counts, places, t, in, receive_counts, places, MPI_INT, comm, &request),
                  MPI_Alltoallv_init(out, counts, places, t, in, receive_counts, places, MPI_INT, comm, no, &request));
    case ALLTOALLW:
        return DO(MPI_Alltoallw(out, counts, places, types, in, counts, places, types, comm),
                  MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, comm, &request),
                  MPI_Alltoallw_init(out, counts, places, types, in, counts, places, types, comm, no, &request));
    case NEIGHBOR_ALLGATHER:
        return DO(MPI_Neighbor_allgather(out, n, t, in, n, t, ring),
                  MPI_Ineighbor_allgather(out, n, t, in, n, t, ring, &request),
                  MPI_Neighbor_allgather_init(out, n, t, in, n, t, ring, no, &request));
    default:
        return DO(MPI_Neighbor_alltoallv(out, counts, places, t, in, receive_counts, places, MPI_INT, ring),
                  MPI_Ineighbor_alltoallv(out, counts, places, t, in, receive_counts, places, MPI_INT, ring, &request),
                  MPI_Neighbor_alltoallv_init(out, counts, places, t, in, receive_counts, places, MPI_INT, ring, no,
                                              &request));
    }
}

static int has_root(enum call which)
{
    return which <= SCATTERV;
}

static int has_op(enum call which)
{
    return which == REDUCE || which == ALLREDUCE || which == REDUCE_SCATTER_BLOCK || which == REDUCE_SCATTER ||
           which == SCAN;
}

static void expect_error(int code, int wanted, const char *word)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;

    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != wanted || !strstr(text, word) || !strstr(text, "rank "))
        fprintf(stderr, "rank %d: class %d, not %d, or no '%s': %s\n", rank, class, wanted, word, text);
    CHECK(class == wanted && strstr(text, word) && strstr(text, "rank "));
}

static void disagree(enum call which, int form, enum what what)
{
    static const int classes[] = {MPI_ERR_ROOT, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_OP, MPI_ERR_OTHER};
    static const char *const words[] = {"root", "", "", "MPI_MAX", "different"};
    int odd = random_below(size), root = random_below(size), other = (root + 1 + random_below(size - 1)) % size;
    struct arguments a = {.root = root, .count = 2, .type = MPI_INT, .op = MPI_SUM};

    if ((what == ROOT && !has_root(which)) || (what == OP && !has_op(which)))
        return;
    if ((which == GATHERV || which == SCATTERV) && what != ROOT && what != CALL && size < 2)
        return;
    if (rank == odd) {
        a.root = what == ROOT ? other : root;
        a.count = what == COUNT ? 1 : 2;
        a.type = what == TYPE ? MPI_FLOAT : MPI_INT;
        a.op = what == OP ? MPI_MAX : MPI_SUM;
    }
    if (what == TYPE && has_op(which) && which == SCAN && rank == odd)
        a.op = MPI_SUM;
    if (what == CALL && rank == odd)
        expect_error(which == BCAST ? MPI_Barrier(comm) : call(BCAST, form, &a, odd), classes[what], words[what]);
    else
        expect_error(call(which, form, &a, odd), classes[what], words[what]);
}

int main(int argc, char **argv)
{
    int all, yes = 1, sum;

    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Cart_create(comm, 1, &size, &yes, 0, &ring);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    for (int which = 0; which < CALLS; which++)
        for (int form = 0; form < FORMS; form++)
            for (int what = 0; what < WHATS; what++) {
                if (what == CALL && (which >= NEIGHBOR_ALLGATHER || (which == BCAST && form)))
                    continue;
                disagree((enum call)which, form, (enum what)what);
                all = rank;
                CHECK(MPI_Allreduce(&all, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
                CHECK(sum == size * (size - 1) / 2);
            }
    MPI_Comm_free(&ring);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
