/* SPDX-License-Identifier: BSD-3-Clause */
/* An exchange of blocks among neighbours and what must come of it, worked out by comparing the lists of all ranks:
 * random counts, displacements and types, some with holes; what must not be written is compared, too. */
#ifndef MUR_TEST_EXCHANGE_H
#define MUR_TEST_EXCHANGE_H

#include "random.h"

enum { DEGREE_MOST = 128, COUNT_MOST = 6, RANKS_MOST = 128, GAP = -77 };

/* Who sends to whom: the lists of all ranks. MPI_PROC_NULL is nobody. */
struct neighbours {
    int is_grid;
    int indegree[RANKS_MOST], outdegree[RANKS_MOST];
    int sources[RANKS_MOST][DEGREE_MOST], destinations[RANKS_MOST][DEGREE_MOST];
};

/* The arguments of a call, in both forms. Displacements are in elements, `sbytes` and `rbytes` in bytes. */
struct exchange {
    int indegree, outdegree;
    MPI_Datatype stypes[DEGREE_MOST], rtypes[DEGREE_MOST], stype, rtype;
    int scount, rcount;
    int scounts[DEGREE_MOST], sdispls[DEGREE_MOST], rcounts[DEGREE_MOST], rdispls[DEGREE_MOST];
    int sbytes[DEGREE_MOST], rbytes[DEGREE_MOST];
    MPI_Count scounts_c[DEGREE_MOST], rcounts_c[DEGREE_MOST];
    MPI_Aint sdispls_c[DEGREE_MOST], rdispls_c[DEGREE_MOST], sbytes_c[DEGREE_MOST], rbytes_c[DEGREE_MOST];
    int ints; /* in each buffer */
    int *out, *in, *expected;
    int from_block[DEGREE_MOST]; /* of the sender; -1: none */
    int from_rank[DEGREE_MOST];
    int is_same; /* every block of a sender has the same data */
};

/* Two types of one signature: an int, and an int with a hole behind it. */
static MPI_Datatype exchange_types[2];

static inline void exchange_setup(void)
{
    exchange_types[0] = MPI_INT;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &exchange_types[1]);
    MPI_Type_commit(&exchange_types[1]);
}

static inline unsigned exchange_mix(unsigned a, unsigned b, unsigned c)
{
    unsigned mixed = a * 2654435761u ^ (b + 77) * 40503u ^ (c + 5) * 69069u;

    return (mixed ^ mixed >> 13) * 2246822519u >> 7;
}

/* The block that the sender of block `i` sends from: the same edge, the k-th of several between the two. */
static inline int exchange_sender_block(const struct neighbours *all, int me, int i)
{
    int source = all->sources[me][i], earlier = 0;

    if (source == MPI_PROC_NULL)
        return -1;
    if (all->is_grid)
        return i ^ 1;
    for (int j = 0; j < i; j++)
        earlier += all->sources[me][j] == source;
    for (int j = 0; j < all->outdegree[source]; j++)
        if (all->destinations[source][j] == me && earlier-- == 0)
            return j;
    CHECK(!"the lists of two ranks agree");
    return -1;
}

/* Gives every block a place of its own: they lie in a random order, with gaps between. */
static inline void exchange_place(int *ints, unsigned salt, int count, const int *counts, const int *widths,
                                  int *places)
{
    int order[DEGREE_MOST];

    for (int i = 0; i < count; i++) {
        int j = (int)(exchange_mix(salt, (unsigned)i, 1) % (unsigned)(i + 1));

        order[i] = order[j];
        order[j] = i;
    }
    *ints = 2;
    for (int i = 0; i < count; i++) {
        *ints += (int)(exchange_mix(salt, (unsigned)i, 2) % 3) * 2;
        places[order[i]] = (*ints + 1) / 2 * 2; /* in ints; even, so that either type reaches it */
        *ints = places[order[i]] + counts[order[i]] * widths[order[i]];
    }
    *ints += 2;
}

/* `is_same`: allgather; `is_regular`: one count for all, blocks in order; `has_types`: the w-form. */
static inline void exchange_create(struct exchange *x, const struct neighbours *all, int me, int is_same,
                                   int is_regular, int has_types)
{
    unsigned salt = random_next();
    int swidths[DEGREE_MOST], rwidths[DEGREE_MOST], splaces[DEGREE_MOST], rplaces[DEGREE_MOST], sints, rints;
    int kinds[2] = {(int)(exchange_mix(salt, (unsigned)me, 4) % 2), (int)(exchange_mix(salt, (unsigned)me, 5) % 2)};
    int count = (int)(exchange_mix(salt, 0, 6) % COUNT_MOST);

    x->indegree = all->indegree[me];
    x->outdegree = all->outdegree[me];
    x->is_same = is_same;
    x->scount = is_regular ? count : (int)(exchange_mix(salt, (unsigned)me, 0) % COUNT_MOST);
    x->rcount = count;
    x->stype = exchange_types[kinds[0]];
    x->rtype = exchange_types[kinds[1]];
    for (int i = 0; i < x->outdegree; i++) {
        int kind = has_types ? (int)(exchange_mix(salt, (unsigned)(me * 100 + i), 7) % 2) : kinds[0];

        swidths[i] = kind + 1;
        x->stypes[i] = exchange_types[kind];
        x->scounts[i] = is_regular ? count
                        : is_same  ? x->scount
                                   : (int)(exchange_mix(salt, (unsigned)(me * 100 + i), 0) % COUNT_MOST);
    }
    for (int i = 0; i < x->indegree; i++) {
        int kind = has_types ? (int)(exchange_mix(salt, (unsigned)(me * 100 + i), 8) % 2) : kinds[1];

        x->from_rank[i] = all->sources[me][i];
        x->from_block[i] = exchange_sender_block(all, me, i);
        rwidths[i] = kind + 1;
        x->rtypes[i] = exchange_types[kind];
        x->rcounts[i] =
            is_regular             ? count
            : x->from_block[i] < 0 ? 3
            : is_same              ? (int)(exchange_mix(salt, (unsigned)x->from_rank[i], 0) % COUNT_MOST)
                      : (int)(exchange_mix(salt, (unsigned)(x->from_rank[i] * 100 + x->from_block[i]), 0) % COUNT_MOST);
    }
    exchange_place(&sints, salt + (unsigned)me, x->outdegree, x->scounts, swidths, splaces);
    exchange_place(&rints, salt + (unsigned)me + 99, x->indegree, x->rcounts, rwidths, rplaces);
    for (int i = 0; i < x->outdegree; i++) {
        if (is_same)
            splaces[i] = 0;
        else if (is_regular)
            splaces[i] = i * count * swidths[i];
        x->scounts_c[i] = x->scounts[i];
        x->sdispls_c[i] = x->sdispls[i] = splaces[i] / swidths[i];
        x->sbytes_c[i] = x->sbytes[i] = splaces[i] * (int)sizeof(int);
    }
    for (int i = 0; i < x->indegree; i++) {
        if (is_regular)
            rplaces[i] = i * count * rwidths[i];
        x->rcounts_c[i] = x->rcounts[i];
        x->rdispls_c[i] = x->rdispls[i] = rplaces[i] / rwidths[i];
        x->rbytes_c[i] = x->rbytes[i] = rplaces[i] * (int)sizeof(int);
    }
    x->ints = (sints > rints ? sints : rints) + 4 + 2 * COUNT_MOST;
    x->out = malloc(3 * (size_t)x->ints * sizeof(int));
    CHECK(x->out);
    x->in = x->out + x->ints;
    x->expected = x->in + x->ints;
}

static inline int exchange_value(unsigned salt, const struct exchange *x, int rank, int block, int element)
{
    return (int)(exchange_mix(salt + (unsigned)rank * 64u, x->is_same ? 0 : (unsigned)block, (unsigned)element) %
                 100000);
}

/* Fills the buffers for one run. */
static inline void exchange_fill(struct exchange *x, int me, unsigned salt)
{
    for (int i = 0; i < 3 * x->ints; i++)
        x->out[i] = GAP;
    for (int i = 0; i < (x->outdegree || !x->is_same ? x->outdegree : 1); i++)
        for (int k = 0; x->outdegree && k < x->scounts[i]; k++)
            x->out[x->sbytes[i] / (int)sizeof(int) + k * (x->stypes[i] == MPI_INT ? 1 : 2)] =
                exchange_value(salt, x, me, i, k);
    for (int i = 0; i < x->indegree; i++)
        for (int k = 0; x->from_block[i] >= 0 && k < x->rcounts[i]; k++)
            x->expected[x->rbytes[i] / (int)sizeof(int) + k * (x->rtypes[i] == MPI_INT ? 1 : 2)] =
                exchange_value(salt, x, x->from_rank[i], x->from_block[i], k);
}

static inline void exchange_check(const struct exchange *x)
{
    for (int i = 0; i < x->ints; i++)
        CHECK(x->in[i] == x->expected[i]);
}

/* The arguments of the calls; c is empty or _c. */
#define EXCHANGE_ALLGATHER(c)  x->out, x->scount, x->stype, x->in, x->rcount, x->rtype, comm
#define EXCHANGE_ALLGATHERV(c) x->out, x->scount, x->stype, x->in, x->rcounts##c, x->rdispls##c, x->rtype, comm
#define EXCHANGE_ALLTOALL(c)   x->out, x->scount, x->stype, x->in, x->rcount, x->rtype, comm
#define EXCHANGE_ALLTOALLV(c)                                                                                          \
    x->out, x->scounts##c, x->sdispls##c, x->stype, x->in, x->rcounts##c, x->rdispls##c, x->rtype, comm
#define EXCHANGE_ALLTOALLW(c)                                                                                          \
    x->out, x->scounts##c, x->sbytes##c, x->stypes, x->in, x->rcounts##c, x->rbytes##c, x->rtypes, comm
#define EXCHANGE_NEIGHBOR_ALLTOALLW(c)                                                                                 \
    x->out, x->scounts##c, x->sbytes_c, x->stypes, x->in, x->rcounts##c, x->rbytes_c, x->rtypes, comm

/* Runs one of the six forms of a call; persistent ones a few times. */
enum { EXCHANGE_FORMS = 6 };
#define EXCHANGE_RUN(plain, nonblocking, arguments)                                                                    \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        if (form == 0)                                                                                                 \
            MPI_##plain(arguments());                                                                                  \
        else if (form == 1)                                                                                            \
            MPI_##plain##_c(arguments(_c));                                                                            \
        else if (form == 2)                                                                                            \
            MPI_##nonblocking(arguments(), &request);                                                                  \
        else if (form == 3)                                                                                            \
            MPI_##nonblocking##_c(arguments(_c), &request);                                                            \
        else if (form == 4)                                                                                            \
            MPI_##plain##_init(arguments(), MPI_INFO_NULL, &request);                                                  \
        else                                                                                                           \
            MPI_##plain##_init_c(arguments(_c), MPI_INFO_NULL, &request);                                              \
        if (form > 3)                                                                                                  \
            exchange_repeat(x, me, &request);                                                                          \
        else if (form > 1)                                                                                             \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                     \
    } while (0)

static inline void exchange_repeat(struct exchange *x, int me, MPI_Request *request)
{
    for (unsigned run = 0; run < 3; run++) {
        exchange_fill(x, me, run + 40);
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        exchange_check(x);
    }
    MPI_Request_free(request);
}

#endif
