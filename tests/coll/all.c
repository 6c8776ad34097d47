/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective, blocking, nonblocking and with large counts, in place or not, with random roots, counts and
 * displacements, contiguous and strided types, against results computed by each rank alone. */
#include "random.h"

enum { MOST = 3000, LARGE = 70001, GAP = -77 }; /* large: several pieces of what algorithms take at a time */

static int rank, size;
static MPI_Comm comm;
static MPI_Datatype types[2]; /* an int; an int and a hole of the same size */
static int stride[2] = {1, 2};

/* Element i of what rank r contributes; small, so that products and sums stay exact. */
static int value(int r, int i)
{
    return (r * 31 + i * 7) % 11 - 5;
}

static int *buffer(int elements)
{
    int *memory = malloc(((size_t)elements * 2 + 2) * sizeof *memory);

    CHECK(memory);
    for (int i = 0; i < elements * 2 + 2; i++)
        memory[i] = GAP;
    return memory;
}

static void put(int *memory, int kind, int at, int element)
{
    memory[at * stride[kind]] = element;
}

/* Elements [at, at+count) are those of rank r from `first` on. */
static void expect(const int *memory, int kind, int at, int count, int r, int first)
{
    for (int i = 0; i < count; i++) {
        CHECK(memory[(at + i) * stride[kind]] == value(r, first + i));
        if (stride[kind] == 2)
            CHECK(memory[(at + i) * 2 + 1] == GAP);
    }
}

static void fill(int *memory, int kind, int at, int count, int first)
{
    for (int i = 0; i < count; i++)
        put(memory, kind, at + i, value(rank, first + i));
}

static void finish(MPI_Request *request)
{
    int is_done = 0;

    if (random_next() % 2)
        while (!is_done)
            MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    else
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Runs one of the three forms of a call: plain, nonblocking, large count. */
#define FORMS(form, plain, nonblocking, large)                                                                         \
    do {                                                                                                               \
        MPI_Request request_;                                                                                          \
        if ((form) == 0) {                                                                                             \
            plain;                                                                                                     \
        } else if ((form) == 1) {                                                                                      \
            nonblocking;                                                                                               \
            finish(&request_);                                                                                         \
        } else {                                                                                                       \
            large;                                                                                                     \
        }                                                                                                              \
    } while (0)

static void bcast(int form, int kind, int count, int root)
{
    int *data = buffer(count);

    if (rank == root)
        fill(data, kind, 0, count, 3);
    FORMS(form, MPI_Bcast(data, count, types[kind], root, comm),
          MPI_Ibcast(data, count, types[kind], root, comm, &request_),
          MPI_Bcast_c(data, count, types[kind], root, comm));
    expect(data, kind, 0, count, root, 3);
    free(data);
}

static void gather(int form, int kind, int count, int root, int in_place)
{
    int *out = buffer(count), *in = buffer(count * size);
    const void *send = in_place && rank == root ? MPI_IN_PLACE : out;

    fill(out, kind, 0, count, 0);
    if (in_place && rank == root)
        fill(in, kind, count * rank, count, 0);
    FORMS(form, MPI_Gather(send, count, types[kind], in, count, types[kind], root, comm),
          MPI_Igather(send, count, types[kind], in, count, types[kind], root, comm, &request_),
          MPI_Gather_c(send, count, types[kind], in, count, types[kind], root, comm));
    for (int r = 0; rank == root && r < size; r++)
        expect(in, kind, r * count, count, r, 0);
    free(out);
    free(in);
}

static void scatter(int form, int kind, int count, int root, int in_place)
{
    int *out = buffer(count * size), *in = buffer(count);
    void *receive = in_place && rank == root ? MPI_IN_PLACE : in;

    fill(out, kind, 0, count * size, 0);
    FORMS(form, MPI_Scatter(out, count, types[kind], receive, count, types[kind], root, comm),
          MPI_Iscatter(out, count, types[kind], receive, count, types[kind], root, comm, &request_),
          MPI_Scatter_c(out, count, types[kind], receive, count, types[kind], root, comm));
    if (receive == in)
        expect(in, kind, 0, count, root, count * rank);
    free(out);
    free(in);
}

static void allgather(int form, int kind, int count, int in_place)
{
    int *out = buffer(count), *in = buffer(count * size);
    const void *send = in_place ? MPI_IN_PLACE : out;

    fill(in_place ? in : out, kind, in_place ? count * rank : 0, count, 0);
    FORMS(form, MPI_Allgather(send, count, types[kind], in, count, types[kind], comm),
          MPI_Iallgather(send, count, types[kind], in, count, types[kind], comm, &request_),
          MPI_Allgather_c(send, count, types[kind], in, count, types[kind], comm));
    for (int r = 0; r < size; r++)
        expect(in, kind, r * count, count, r, 0);
    free(out);
    free(in);
}

static void alltoall(int form, int kind, int count, int in_place)
{
    int *out = buffer(count * size), *in = buffer(count * size);
    const void *send = in_place ? MPI_IN_PLACE : out;

    fill(in_place ? in : out, kind, 0, count * size, 0);
    FORMS(form, MPI_Alltoall(send, count, types[kind], in, count, types[kind], comm),
          MPI_Ialltoall(send, count, types[kind], in, count, types[kind], comm, &request_),
          MPI_Alltoall_c(send, count, types[kind], in, count, types[kind], comm));
    for (int r = 0; r < size; r++)
        expect(in, kind, r * count, count, r, rank * count);
    free(out);
    free(in);
}

/* Random counts, some zero; blocks in random order with gaps. The same at all ranks. Returns the elements in all. */
static int lay_out(int most, int *counts, int *places)
{
    int total = 0, order[128];

    for (int i = 0; i < size; i++) {
        counts[i] = random_below(3) ? random_below(most + 1) : 0;
        order[i] = i;
    }
    for (int i = size - 1; i > 0; i--) {
        int j = random_below(i + 1), t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 0; i < size; i++) {
        places[order[i]] = total;
        total += counts[order[i]] + random_below(3);
    }
    return total;
}

/* The arguments of the large-count form. */
static void widen(const int *counts, const int *places, MPI_Count *large_counts, MPI_Aint *large_places)
{
    for (int i = 0; i < size; i++) {
        large_counts[i] = counts[i];
        large_places[i] = places[i];
    }
}

static void gatherv(int form, int kind, int most, int root, int in_place)
{
    int counts[128], places[128], total = lay_out(most, counts, places);
    int *out = buffer(counts[rank]), *in = buffer(total);
    const void *send = in_place && rank == root ? MPI_IN_PLACE : out;
    MPI_Count large[128];
    MPI_Aint far[128];

    widen(counts, places, large, far);
    fill(out, kind, 0, counts[rank], 0);
    if (in_place && rank == root)
        fill(in, kind, places[rank], counts[rank], 0);
    FORMS(form, MPI_Gatherv(send, counts[rank], types[kind], in, counts, places, types[kind], root, comm),
          MPI_Igatherv(send, counts[rank], types[kind], in, counts, places, types[kind], root, comm, &request_),
          MPI_Gatherv_c(send, counts[rank], types[kind], in, large, far, types[kind], root, comm));
    for (int r = 0; rank == root && r < size; r++)
        expect(in, kind, places[r], counts[r], r, 0);
    free(out);
    free(in);
}

static void scatterv(int form, int kind, int most, int root, int in_place)
{
    int counts[128], places[128], total = lay_out(most, counts, places);
    int *out = buffer(total), *in = buffer(counts[rank]);
    void *receive = in_place && rank == root ? MPI_IN_PLACE : in;
    MPI_Count large[128];
    MPI_Aint far[128];

    widen(counts, places, large, far);
    fill(out, kind, 0, total, 0);
    FORMS(form, MPI_Scatterv(out, counts, places, types[kind], receive, counts[rank], types[kind], root, comm),
          MPI_Iscatterv(out, counts, places, types[kind], receive, counts[rank], types[kind], root, comm, &request_),
          MPI_Scatterv_c(out, large, far, types[kind], receive, counts[rank], types[kind], root, comm));
    if (receive == in)
        expect(in, kind, 0, counts[rank], root, places[rank]);
    free(out);
    free(in);
}

static void allgatherv(int form, int kind, int most, int in_place)
{
    int counts[128], places[128], total = lay_out(most, counts, places);
    int *out = buffer(counts[rank]), *in = buffer(total);
    const void *send = in_place ? MPI_IN_PLACE : out;
    MPI_Count large[128];
    MPI_Aint far[128];

    widen(counts, places, large, far);
    fill(in_place ? in : out, kind, in_place ? places[rank] : 0, counts[rank], 0);
    FORMS(form, MPI_Allgatherv(send, counts[rank], types[kind], in, counts, places, types[kind], comm),
          MPI_Iallgatherv(send, counts[rank], types[kind], in, counts, places, types[kind], comm, &request_),
          MPI_Allgatherv_c(send, counts[rank], types[kind], in, large, far, types[kind], comm));
    for (int r = 0; r < size; r++)
        expect(in, kind, places[r], counts[r], r, 0);
    free(out);
    free(in);
}

/* count_between(a, b) = count_between(b, a), as in-place exchanges need. */
static int count_between(int a, int b, int most)
{
    return (a * b + a + b) % 4 == 0 ? 0 : (a + b) * 37 % (most + 1);
}

static void alltoallv(int form, int kind, int most, int in_place)
{
    int counts[128], places[128], total = 0;
    int *out, *in;
    MPI_Count large[128];
    MPI_Aint far[128];
    const void *send;

    for (int i = 0; i < size; i++) {
        counts[i] = count_between(rank, i, most);
        places[i] = total;
        total += counts[i] + i % 2;
    }
    widen(counts, places, large, far);
    out = buffer(total);
    in = buffer(total);
    send = in_place ? MPI_IN_PLACE : out;
    for (int i = 0; i < size; i++) /* the block for rank i starts with element i */
        fill(in_place ? in : out, kind, places[i], counts[i], i);
    FORMS(form, MPI_Alltoallv(send, counts, places, types[kind], in, counts, places, types[kind], comm),
          MPI_Ialltoallv(send, counts, places, types[kind], in, counts, places, types[kind], comm, &request_),
          MPI_Alltoallv_c(send, large, far, types[kind], in, large, far, types[kind], comm));
    for (int r = 0; r < size; r++)
        expect(in, kind, places[r], counts[r], r, rank);
    free(out);
    free(in);
}

/* ---- reductions: on long, exact in any order ---- */

/* x -> a x + b over a prime, composed: associative, not commutative. Two longs an element. */
enum { PRIME = 10007 };

static void compose_into(const long *first, long *second, MPI_Count pairs)
{
    for (MPI_Count i = 0; i < pairs; i++) {
        long a = first[2 * i] * second[2 * i] % PRIME;
        long b = (first[2 * i + 1] * second[2 * i] + second[2 * i + 1]) % PRIME;

        second[2 * i] = a;
        second[2 * i + 1] = b;
    }
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    compose_into(in, inout, *length);
}

static void compose_large(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    (void)type;
    compose_into(in, inout, *length);
}

struct reduction {
    MPI_Op op;
    MPI_Datatype type;
    int width; /* longs an element */
};

static void contribution(int r, int i, int width, long *element)
{
    for (int k = 0; k < width; k++)
        element[k] = (r * 5 + i * 3 + k * 2) % 7 + 1;
}

static void combine(const struct reduction *reduction, const long *left, long *right)
{
    if (reduction->width == 2)
        compose_into(left, right, 1);
    else if (reduction->op == MPI_SUM)
        right[0] += left[0];
    else if (reduction->op == MPI_MAX)
        right[0] = left[0] > right[0] ? left[0] : right[0];
    else
        right[0] ^= left[0];
}

/* Element i reduced over the ranks first..last. */
static void reduced(const struct reduction *reduction, int first, int last, int i, long *element)
{
    long left[2], right[2];

    contribution(first, i, reduction->width, left);
    for (int r = first + 1; r <= last; r++) {
        contribution(r, i, reduction->width, right);
        combine(reduction, left, right);
        memcpy(left, right, sizeof left);
    }
    memcpy(element, left, (size_t)reduction->width * sizeof *element);
}

static void expect_reduced(const struct reduction *reduction, const long *data, int count, int first, int last,
                           int from)
{
    long element[2];

    for (int i = 0; i < count; i++) {
        reduced(reduction, first, last, from + i, element);
        CHECK(memcmp(&data[i * reduction->width], element, (size_t)reduction->width * sizeof *element) == 0);
    }
}

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, REDUCTIONS };

static void call_reduction(int which, int form, const void *send, void *receive, int count, const int *counts,
                           const struct reduction *r, int root)
{
    MPI_Count large[128];

    for (int i = 0; i < size; i++)
        large[i] = counts[i];
    switch (which) {
    case REDUCE:
        FORMS(form, MPI_Reduce(send, receive, count, r->type, r->op, root, comm),
              MPI_Ireduce(send, receive, count, r->type, r->op, root, comm, &request_),
              MPI_Reduce_c(send, receive, count, r->type, r->op, root, comm));
        break;
    case ALLREDUCE:
        FORMS(form, MPI_Allreduce(send, receive, count, r->type, r->op, comm),
              MPI_Iallreduce(send, receive, count, r->type, r->op, comm, &request_),
              MPI_Allreduce_c(send, receive, count, r->type, r->op, comm));
        break;
    case SCAN:
        FORMS(form, MPI_Scan(send, receive, count, r->type, r->op, comm),
              MPI_Iscan(send, receive, count, r->type, r->op, comm, &request_),
              MPI_Scan_c(send, receive, count, r->type, r->op, comm));
        break;
    case EXSCAN:
        FORMS(form, MPI_Exscan(send, receive, count, r->type, r->op, comm),
              MPI_Iexscan(send, receive, count, r->type, r->op, comm, &request_),
              MPI_Exscan_c(send, receive, count, r->type, r->op, comm));
        break;
    case REDUCE_SCATTER:
        FORMS(form, MPI_Reduce_scatter(send, receive, counts, r->type, r->op, comm),
              MPI_Ireduce_scatter(send, receive, counts, r->type, r->op, comm, &request_),
              MPI_Reduce_scatter_c(send, receive, large, r->type, r->op, comm));
        break;
    default:
        FORMS(form, MPI_Reduce_scatter_block(send, receive, count, r->type, r->op, comm),
              MPI_Ireduce_scatter_block(send, receive, count, r->type, r->op, comm, &request_),
              MPI_Reduce_scatter_block_c(send, receive, count, r->type, r->op, comm));
    }
}

static void reduction(int which, int form, int count, const struct reduction *r, int root, int in_place)
{
    int counts[128], places[128], input = count, mine = 0;
    long *out, *in, before;
    const void *send;

    lay_out(count, counts, places);
    if (which == REDUCE_SCATTER_BLOCK)
        input = count * size;
    for (int i = 0; which == REDUCE_SCATTER && i < size; i++)
        input = (i ? input : 0) + counts[i];
    for (int i = 0; i < rank; i++)
        mine += which == REDUCE_SCATTER ? counts[i] : count;
    out = calloc((size_t)input * 2 + 2, sizeof *out);
    in = calloc((size_t)input * 2 + 2, sizeof *in);
    CHECK(out && in);
    for (int i = 0; i < input; i++) {
        contribution(rank, i, r->width, &out[i * r->width]);
        contribution(rank, i, r->width, &in[i * r->width]);
    }
    in_place = in_place && (which != REDUCE || rank == root);
    send = in_place ? MPI_IN_PLACE : out;
    if (!in_place)
        memset(in, 0x55, (size_t)input * 2 * sizeof *in);
    before = in[0];
    call_reduction(which, form, send, in, count, counts, r, root);
    if (which == ALLREDUCE || (which == REDUCE && rank == root))
        expect_reduced(r, in, count, 0, size - 1, 0);
    else if (which == SCAN)
        expect_reduced(r, in, count, 0, rank, 0);
    else if (which == EXSCAN && rank > 0)
        expect_reduced(r, in, count, 0, rank - 1, 0);
    else if (which == EXSCAN)
        CHECK(in[0] == before);
    else if (which == REDUCE_SCATTER)
        expect_reduced(r, in, counts[rank], 0, size - 1, mine);
    else if (which == REDUCE_SCATTER_BLOCK)
        expect_reduced(r, in, count, 0, size - 1, mine);
    free(out);
    free(in);
}

/* Nobody leaves a barrier before all have entered: a counter that rank 0 keeps by messages would say so, but a sum
 * that every rank checks is simpler: each sends after its barrier, and must have received all the "before" first. */
static void barrier(int form)
{
    MPI_Request request;
    int token = rank, got, flag;

    if (rank == size - 1)
        for (int i = 0; i < size - 1; i++)
            MPI_Send(&token, 1, MPI_INT, i, 12, comm);
    if (form == 1) {
        MPI_Ibarrier(comm, &request);
        finish(&request);
    } else {
        MPI_Barrier(comm);
    }
    if (rank < size - 1) { /* the last rank sent before it entered, so its message is here or on its way in order */
        MPI_Recv(&got, 1, MPI_INT, size - 1, 12, comm, MPI_STATUS_IGNORE);
        CHECK(got == size - 1);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
}

/* Several nonblocking collectives under way at once on two communicators, completed in the opposite order. */
static void outstanding(void)
{
    enum { MANY = 12 };
    MPI_Request requests[2 * MANY];
    long in[2 * MANY], out[2 * MANY];
    MPI_Comm other;

    MPI_Comm_dup(comm, &other);
    for (int i = 0; i < 2 * MANY; i++) {
        out[i] = rank + i;
        MPI_Iallreduce(&out[i], &in[i], 1, MPI_LONG, MPI_SUM, i % 2 ? other : comm, &requests[i]);
    }
    for (int i = 2 * MANY - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        CHECK(in[i] == (long)size * (size - 1) / 2 + (long)size * i);
    }
    MPI_Comm_free(&other);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 2, 5, 17, 100, 1000, MOST, LARGE};
    struct reduction reductions[5];
    MPI_Op user, user_large;
    MPI_Datatype pair;
    int rounds = argc > 1 ? atoi(argv[1]) : 1, largest = argc > 2 ? atoi(argv[2]) : LARGE;

    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    types[0] = MPI_INT;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &types[1]);
    MPI_Type_commit(&types[1]);
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &user);
    MPI_Op_create_c(compose_large, 0, &user_large);
    reductions[0] = (struct reduction){MPI_SUM, MPI_LONG, 1};
    reductions[1] = (struct reduction){MPI_MAX, MPI_LONG, 1};
    reductions[2] = (struct reduction){MPI_BXOR, MPI_LONG, 1};
    reductions[3] = (struct reduction){user, pair, 2};
    reductions[4] = (struct reduction){user_large, pair, 2};

    for (int round = 0; round < rounds; round++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int form = 0; form < 3; form++) {
                int count = sizes[s] * 8 / (8 + size), root = random_below(size), kind = random_below(2);
                int in_place = random_below(2);

                if (sizes[s] > largest || (sizes[s] == LARGE && (form || (size > 4 && size != 7))))
                    continue;
                if (size > 5 && (form ? sizes[s] > 17 : sizes[s] == 100 || sizes[s] == 1000)) /* many ranks take long */
                    continue;
                count = sizes[s] && !count ? 1 : count;
                barrier(form);
                bcast(form, kind, count, root);
                gather(form, kind, count, root, in_place);
                scatter(form, kind, count, root, in_place);
                allgather(form, kind, count, in_place);
                alltoall(form, kind, count, in_place);
                gatherv(form, kind, count, root, in_place);
                scatterv(form, kind, count, root, in_place);
                allgatherv(form, kind, count, in_place);
                alltoallv(form, kind, count, in_place);
                for (int which = 0; which < REDUCTIONS; which++)
                    for (int r = 0; r < 5; r++)
                        reduction(which, form, count, &reductions[r], root, random_below(2));
            }
    outstanding();
    MPI_Op_free(&user);
    MPI_Op_free(&user_large);
    MPI_Type_free(&types[1]);
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
