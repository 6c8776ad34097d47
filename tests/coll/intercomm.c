/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective between two groups of different sizes, blocking, nonblocking and persistent, with random roots on
 * either side, random counts and displacements, none on one side, an operation that does not commute, against computed
 * results. */
#include <stdbool.h>

#include "random.h"

enum { MOST = 400, RANKS_MOST = 128, GAP = -99 };

static int world_rank, world_size;
static MPI_Comm comm;
static int side, rank, mine, theirs;                     /* my side, my rank in it, the sizes */
static int counts[2][RANKS_MOST], places[2][RANKS_MOST]; /* of blocks, by side and rank */

static int value(int s, int r, int i)
{
    return s * 10007 + r * 101 + i * 7;
}

static int *buffer(int elements)
{
    int *memory = malloc(((size_t)elements + 1) * sizeof *memory);

    CHECK(memory);
    for (int i = 0; i <= elements; i++)
        memory[i] = GAP;
    return memory;
}

static int *filled(int elements)
{
    int *memory = buffer(elements);

    for (int i = 0; i < elements; i++)
        memory[i] = value(side, rank, i);
    return memory;
}

/* Random blocks of both sides with gaps between them, in random order of places; returns the room a side needs. */
static int draw_blocks(int s, int size, bool is_none)
{
    int at = 0, order[RANKS_MOST];

    for (int i = 0; i < size; i++)
        order[i] = i;
    for (int i = size - 1; i > 0; i--) {
        int j = random_below(i + 1), held = order[i];

        order[i] = order[j];
        order[j] = held;
    }
    for (int i = 0; i < size; i++) {
        counts[s][order[i]] = is_none ? 0 : random_below(MOST);
        places[s][order[i]] = at;
        at += counts[s][order[i]] + random_below(3);
    }
    return at + 1;
}

/* The call blocking, nonblocking or persistent. */
#define FORMS(form, Name, name, ...)                                                                                   \
    do {                                                                                                               \
        MPI_Request request_ = MPI_REQUEST_NULL;                                                                       \
        if (form == 0) {                                                                                               \
            MPI_##Name(__VA_ARGS__);                                                                                   \
        } else if (form == 1) {                                                                                        \
            MPI_I##name(__VA_ARGS__, &request_);                                                                       \
            MPI_Wait(&request_, MPI_STATUS_IGNORE);                                                                    \
        } else {                                                                                                       \
            MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_);                                                  \
            MPI_Start(&request_);                                                                                      \
            MPI_Wait(&request_, MPI_STATUS_IGNORE);                                                                    \
            MPI_Request_free(&request_);                                                                               \
        }                                                                                                              \
    } while (0)

/* What to pass as the root: rank `root` of side `s`. */
static int root_argument(int s, int root)
{
    return side != s ? root : rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void bcast(int form, int s, int root)
{
    int count = random_below(MOST), argument = root_argument(s, root);
    int *data = argument == MPI_ROOT ? filled(count) : buffer(count);

    FORMS(form, Bcast, bcast, data, count, MPI_INT, argument, comm);
    for (int i = 0; i < count && side != s; i++)
        CHECK(data[i] == value(s, root, i));
    for (int i = 0; i <= count && argument == MPI_PROC_NULL; i++)
        CHECK(data[i] == GAP);
    free(data);
}

/* The leaves' arguments are garbage at the root, and the other way round. */
static void gather_scatter(int form, int s, int root)
{
    int argument = root_argument(s, root), leaves = side == s ? theirs : mine;
    int room = draw_blocks(!s, leaves, false), is_leaf = side != s;
    int count = is_leaf ? counts[side][rank] : -5;
    MPI_Datatype type = is_leaf ? MPI_INT : MPI_DATATYPE_NULL,
                 root_type = argument == MPI_ROOT ? MPI_INT : MPI_DATATYPE_NULL;
    int *own = filled(is_leaf ? count : 0), *all = buffer(room);

    FORMS(form, Gatherv, gatherv, own, count, type, all, counts[!s], places[!s], root_type, argument, comm);
    if (argument == MPI_ROOT)
        for (int r = 0; r < leaves; r++)
            for (int i = 0; i < counts[!s][r]; i++)
                CHECK(all[places[!s][r] + i] == value(!s, r, i));
    else
        CHECK(all[0] == GAP);
    for (int i = 0; i < count; i++)
        own[i] = GAP;
    FORMS(form, Scatterv, scatterv, all, counts[!s], places[!s], root_type, own, count, type, argument, comm);
    for (int i = 0; i < count; i++)
        CHECK(own[i] == value(side, rank, i));
    free(own);
    free(all);

    count = random_below(MOST);
    own = filled(count);
    all = buffer(count * leaves);
    FORMS(form, Gather, gather, own, is_leaf ? count : -1, type, all, count, root_type, argument, comm);
    for (int i = 0; argument == MPI_ROOT && i < count * leaves; i++)
        CHECK(all[i] == value(!s, i / count, i % count));
    FORMS(form, Scatter, scatter, all, argument == MPI_ROOT ? count : -1, root_type, own, count,
          is_leaf ? MPI_INT : type, argument, comm);
    for (int i = 0; is_leaf && i < count; i++)
        CHECK(own[i] == value(side, rank, i));
    free(own);
    free(all);
}

static void allgather(int form)
{
    int room[2], sent = random_below(MOST), received = random_below(MOST), none = random_below(3);
    int *own, *all;

    if (side) { /* each side sends its own count to the other */
        int held = sent;

        sent = received;
        received = held;
    }
    own = filled(sent);
    all = buffer(received * theirs);
    FORMS(form, Allgather, allgather, own, sent, MPI_INT, all, received, MPI_INT, comm);
    for (int i = 0; i < received * theirs; i++)
        CHECK(all[i] == value(!side, i / received, i % received));
    free(own);
    free(all);

    for (int s = 0; s < 2; s++)
        room[s] = draw_blocks(s, s == side ? mine : theirs, none == s);
    own = filled(counts[side][rank]);
    all = buffer(room[!side]);
    FORMS(form, Allgatherv, allgatherv, own, counts[side][rank], MPI_INT, all, counts[!side], places[!side], MPI_INT,
          comm);
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < counts[!side][r]; i++)
            CHECK(all[places[!side][r] + i] == value(!side, r, i));
    free(own);
    free(all);
}

/* The block from rank a of side s to rank b of the other: its length, and the number of its first element. */
static int length(int s, int a, int b)
{
    return (s * 5 + a * 3 + b * 7) % 40;
}

static void alltoall(int form)
{
    int out[RANKS_MOST], in[RANKS_MOST], out_places[RANKS_MOST], in_places[RANKS_MOST], out_room = 0, in_room = 0;
    int count = random_below(50);
    MPI_Datatype single, out_types[RANKS_MOST], in_types[RANKS_MOST];
    int *own, *all;

    for (int i = 0; i < theirs; i++) {
        out[i] = length(side, rank, i);
        in[i] = length(!side, i, rank);
        out_places[i] = out_room;
        in_places[i] = in_room;
        out_room += out[i];
        in_room += in[i] + i % 2;
    }
    own = buffer(out_room);
    all = buffer(in_room);
    for (int i = 0; i < theirs; i++)
        for (int k = 0; k < out[i]; k++)
            own[out_places[i] + k] = value(side, rank, i * 50 + k);
    FORMS(form, Alltoallv, alltoallv, own, out, out_places, MPI_INT, all, in, in_places, MPI_INT, comm);
    for (int i = 0; i < theirs; i++)
        for (int k = 0; k < in[i]; k++)
            CHECK(all[in_places[i] + k] == value(!side, i, rank * 50 + k));
    /* The same with places in bytes, and a type of its own for each of them. */
    MPI_Type_contiguous(1, MPI_INT, &single);
    MPI_Type_commit(&single);
    for (int i = 0; i < theirs; i++) {
        out_places[i] *= (int)sizeof(int);
        in_places[i] *= (int)sizeof(int);
        out_types[i] = i % 2 ? MPI_INT : single;
        in_types[i] = i % 2 ? single : MPI_INT;
    }
    for (int i = 0; i < in_room; i++)
        all[i] = GAP;
    FORMS(form, Alltoallw, alltoallw, own, out, out_places, out_types, all, in, in_places, in_types, comm);
    for (int i = 0; i < theirs; i++)
        for (int k = 0; k < in[i]; k++)
            CHECK(all[in_places[i] / (int)sizeof(int) + k] == value(!side, i, rank * 50 + k));
    MPI_Type_free(&single);
    free(own);
    free(all);

    own = filled(count * theirs);
    all = buffer(count * theirs);
    FORMS(form, Alltoall, alltoall, own, count, MPI_INT, all, count, MPI_INT, comm);
    for (int i = 0; i < count * theirs; i++)
        CHECK(all[i] == value(!side, i / count, rank * count + i % count));
    free(own);
    free(all);
}

/* Composition of the maps x -> a x + b, modulo 2^32: associative, not commutative. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    unsigned *left = in, *right = inout;

    (void)type;
    for (int i = 0; i < *len; i++) {
        unsigned a = left[2 * i] * right[2 * i], b = left[2 * i] * right[2 * i + 1] + left[2 * i + 1];

        right[2 * i] = a;
        right[2 * i + 1] = b;
    }
}

static void expect_composed(int s, int size, int first, int count, const unsigned *got)
{
    for (int i = 0; i < count; i++) {
        unsigned a = 1, b = 0;

        for (int r = 0; r < size; r++) {
            unsigned ra = (unsigned)value(s, r, 2 * (first + i)), rb = (unsigned)value(s, r, 2 * (first + i) + 1);

            b = a * rb + b;
            a = a * ra;
        }
        CHECK(got[2 * i] == a && got[2 * i + 1] == b);
    }
}

static void reduce(int form, int s, int root)
{
    int count = random_below(MOST), argument = root_argument(s, root), share, each[RANKS_MOST], total = 0, first = 0;
    unsigned *own = (unsigned *)filled(2 * MOST * 2), *result = (unsigned *)buffer(2 * MOST * 2);
    MPI_Datatype pair;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    FORMS(form, Reduce, reduce, own, result, count, pair, op, argument, comm);
    if (argument == MPI_ROOT)
        expect_composed(!s, theirs, 0, count, result);
    else
        CHECK(result[0] == (unsigned)GAP);
    FORMS(form, Allreduce, allreduce, own, result, count, pair, op, comm);
    expect_composed(!side, theirs, 0, count, result);

    share = random_below(MOST / (mine * theirs) + 1);
    FORMS(form, Reduce_scatter_block, reduce_scatter_block, own, result, share * theirs, pair, op, comm);
    expect_composed(!side, theirs, rank * share * theirs, share * theirs, result);
    for (int i = 0; i < mine; i++) {
        each[i] = i == mine - 1 ? share * mine * theirs - total : share * theirs / 2 + i % 2 * (share > 1);
        first += i < rank ? each[i] : 0;
        total += each[i];
    }
    FORMS(form, Reduce_scatter, reduce_scatter, own, result, each, pair, op, comm);
    expect_composed(!side, theirs, first, each[rank], result);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(own);
    free(result);
}

/* Nobody leaves before all of the other side have come. */
static void barrier(int form)
{
    static int come;
    int sum, wanted;

    come++;
    FORMS(form, Barrier, barrier, comm);
    MPI_Allreduce(&come, &sum, 1, MPI_INT, MPI_SUM, comm);
    wanted = come * theirs;
    CHECK(sum == wanted);
}

int main(int argc, char **argv)
{
    MPI_Comm local;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    random_start();
    for (int turn = 0; turn < 12 && world_size > 1; turn++) {
        int first = 1 + random_below(world_size - 1);

        side = world_rank >= first;
        MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : first, 0, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &mine);
        MPI_Comm_remote_size(comm, &theirs);
        for (int form = 0; form < 3; form++)
            for (int s = 0; s < 2; s++) {
                int root = random_below(s == 0 ? first : world_size - first);

                bcast(form, s, root);
                gather_scatter(form, s, root);
                allgather(form);
                alltoall(form);
                reduce(form, s, root);
                barrier(form);
            }
        MPI_Comm_free(&comm);
        MPI_Comm_free(&local);
    }
    MPI_Finalize();
    return 0;
}
