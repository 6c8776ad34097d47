/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that only the ends of each pair know, from nothing to several hundred thousand bytes: gatherv, scatterv,
 * alltoallv and alltoallw, in place or not, with holes on either side, several at a time; reductions and scans of
 * users' operations that take several pieces; and blocks longer than what the receiver expects. */
#include "random.h"

enum { ROUNDS = 6, MOST_RANKS = 32, IN_FLIGHT = 3, LARGEST = 70000 };

static int rank, size;
static MPI_Datatype types[2]; /* an int; an int and a hole of the same size */

static int value(int from, int to, int i)
{
    return from * 1000003 + to * 10007 + i;
}

/* How many ints one rank has for another: all ranks compute the same. */
static int between(unsigned round, int from, int to)
{
    static const int sizes[] = {0, 1, 11, 12, 13, 300, 5000, 20000, 33000, LARGEST};
    unsigned mixed = (round * 31u + (unsigned)from) * 2654435761u + (unsigned)to * 40503u;

    mixed ^= mixed >> 13;
    return sizes[mixed % (size > 5 ? 7 : 10)];
}

struct exchange {
    int kind_out, kind_in, counts_out[MOST_RANKS], counts_in[MOST_RANKS], places_out[MOST_RANKS], places_in[MOST_RANKS];
    MPI_Datatype types_out[MOST_RANKS], types_in[MOST_RANKS];
    int *out, *in;
    MPI_Request request;
};

static int *memory_for(int ints, int kind)
{
    int *memory = malloc(((size_t)ints * (size_t)(kind + 1) + 1) * sizeof *memory);

    CHECK(memory);
    memset(memory, 0xA5, ((size_t)ints * (size_t)(kind + 1) + 1) * sizeof *memory);
    return memory;
}

/* Places count ints; of a w-form they become bytes. */
static void lay_out(struct exchange *x, unsigned round, int is_symmetric, int is_in_bytes)
{
    int all_out = 0, all_in = 0;

    for (int i = 0; i < size; i++) {
        int low = rank < i ? rank : i, high = rank < i ? i : rank;

        x->counts_out[i] = is_symmetric ? between(round, low, high) : between(round, rank, i);
        x->counts_in[i] = is_symmetric ? x->counts_out[i] : between(round, i, rank);
        x->places_out[i] = all_out * (is_in_bytes ? 4 * (x->kind_out + 1) : 1);
        x->places_in[i] = all_in * (is_in_bytes ? 4 * (x->kind_in + 1) : 1);
        x->types_out[i] = types[x->kind_out];
        x->types_in[i] = types[x->kind_in];
        all_out += x->counts_out[i];
        all_in += x->counts_in[i];
    }
    x->out = memory_for(all_out, x->kind_out);
    x->in = memory_for(all_in, x->kind_in);
}

static void fill(int *memory, const int *counts, int kind)
{
    for (int to = 0, at = 0; to < size; to++)
        for (int i = 0; i < counts[to]; i++, at++)
            memory[at * (kind + 1)] = value(rank, to, i);
}

static void expect(const struct exchange *x)
{
    for (int from = 0, at = 0; from < size; from++)
        for (int i = 0; i < x->counts_in[from]; i++, at++) {
            CHECK(x->in[at * (x->kind_in + 1)] == value(from, rank, i));
            CHECK(!x->kind_in || x->in[at * 2 + 1] == (int)0xA5A5A5A5);
        }
}

static void alltoalls(unsigned round)
{
    struct exchange exchanges[IN_FLIGHT];

    for (int k = 0; k < IN_FLIGHT; k++) {
        struct exchange *x = &exchanges[k];
        int is_in_place = random_below(3) == 0, is_w = random_below(2);

        x->kind_out = random_below(2);
        x->kind_in = is_in_place ? x->kind_out : random_below(2);
        lay_out(x, round * IN_FLIGHT + (unsigned)k, is_in_place, is_w);
        fill(is_in_place ? x->in : x->out, x->counts_out, x->kind_out);
        if (is_w)
            MPI_Ialltoallw(is_in_place ? MPI_IN_PLACE : x->out, x->counts_out, x->places_out, x->types_out, x->in,
                           x->counts_in, x->places_in, x->types_in, MPI_COMM_WORLD, &x->request);
        else
            MPI_Ialltoallv(is_in_place ? MPI_IN_PLACE : x->out, x->counts_out, x->places_out, types[x->kind_out], x->in,
                           x->counts_in, x->places_in, types[x->kind_in], MPI_COMM_WORLD, &x->request);
    }
    for (int k = IN_FLIGHT - 1; k >= 0; k--) {
        MPI_Wait(&exchanges[k].request, MPI_STATUS_IGNORE);
        expect(&exchanges[k]);
        free(exchanges[k].out);
        free(exchanges[k].in);
    }
}

/* Everybody's block for the root, and back. */
static void rooted(unsigned round)
{
    int root = random_below(size), counts[MOST_RANKS], places[MOST_RANKS], all = 0, mine = between(round, rank, rank);
    int kind = random_below(2), kind_root = random_below(2);
    int *own = memory_for(mine, kind), *back = memory_for(mine, kind), *gathered;

    for (int i = 0; i < size; i++) {
        counts[i] = between(round, i, i);
        places[i] = all;
        all += counts[i];
    }
    gathered = memory_for(all, kind_root);
    for (int i = 0; i < mine; i++)
        own[i * (kind + 1)] = value(rank, root, i);
    MPI_Gatherv(own, mine, types[kind], gathered, counts, places, types[kind_root], root, MPI_COMM_WORLD);
    for (int from = 0, at = 0; rank == root && from < size; from++)
        for (int i = 0; i < counts[from]; i++, at++)
            CHECK(gathered[at * (kind_root + 1)] == value(from, root, i));
    MPI_Scatterv(gathered, counts, places, types[kind_root], back, mine, types[kind], root, MPI_COMM_WORLD);
    CHECK(!memcmp(own, back, sizeof *own * (size_t)mine * (size_t)(kind + 1)));
    free(own);
    free(back);
    free(gathered);
}

/* x -> a x + b, composed, modulo a prime: associative, not commutative. */
static void compose(void *left, void *right, int *count, MPI_Datatype *type)
{
    const long *first = left;
    long *second = right;

    (void)type;
    for (int i = 0; i < *count * 2; i += 2) {
        long a = first[i] * second[i] % 10007, b = (first[i + 1] * second[i] + second[i + 1]) % 10007;

        second[i] = a;
        second[i + 1] = b;
    }
}

static void users_operations(void)
{
    int pairs = random_below(2) ? 30000 : 1 + random_below(3000), one = 1;
    size_t bytes = (size_t)pairs * 2 * sizeof(long);
    long *in = malloc(bytes), *sum = malloc(bytes), *expected = malloc(bytes), *theirs = malloc(bytes);
    MPI_Datatype pair;
    MPI_Request request;
    MPI_Op op;

    CHECK(in && sum && expected && theirs);
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int r = size - 1; r >= 0; r--) {
        for (int i = 0; i < pairs * 2; i++)
            theirs[i] = (r * 17 + i * 5) % 101;
        if (r == rank)
            memcpy(in, theirs, bytes);
        if (r == size - 1)
            memcpy(expected, theirs, bytes);
        else
            compose(theirs, expected, &pairs, &pair);
    }
    MPI_Iallreduce(in, sum, pairs, pair, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!memcmp(sum, expected, bytes));

    for (int i = 0; i < pairs; i++) /* a scan of sums, and one without the own */
        in[i] = rank + i;
    MPI_Scan(in, sum, pairs, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < pairs; i++)
        CHECK(sum[i] == (long)rank * (rank + 1) / 2 + (long)i * (rank + one));
    MPI_Exscan(MPI_IN_PLACE, in, pairs, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; rank && i < pairs; i++)
        CHECK(in[i] == (long)rank * (rank - 1) / 2 + (long)i * rank);
    free(in);
    free(sum);
    free(expected);
    free(theirs);
}

/* Rank 0 expects less than the last rank sends: an error there, and what follows is sound. */
static void too_long(int sent, int expected)
{
    int counts[MOST_RANKS] = {0}, places[MOST_RANKS] = {0}, code, class, sum = 0;
    int *out = memory_for(sent, 0), *in = memory_for(expected + 1, 0);

    for (int i = 0; i < sent; i++)
        out[i] = i;
    counts[size - 1] = expected;
    code = MPI_Gatherv(out, rank == size - 1 ? sent : 0, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(class == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    CHECK(rank || in[expected] == (int)0xA5A5A5A5);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MOST_RANKS);
    types[0] = MPI_INT;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &types[1]);
    MPI_Type_commit(&types[1]);
    random_start();
    for (unsigned k = 0; k < ROUNDS; k++) {
        unsigned round = random_next();

        alltoalls(round);
        rooted(round);
        users_operations();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int k = 0; size > 1 && k < 4; k++) {
        too_long(5, 3);
        too_long(40000, 100);
        too_long(200000, 100000);
    }
    MPI_Type_free(&types[1]);
    MPI_Finalize();
    return 0;
}
