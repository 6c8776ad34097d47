/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that the standard calls not significant may be anything: those of the root's side at other ranks, those
 * that belong to MPI_IN_PLACE, and those of a rank that takes no part between two groups. In all forms. */
#include <stdint.h>

#include "test.h"

enum { RANKS_MOST = 16, RUNS = 2 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* What must not be looked at. */
#define NO_COUNT (-7)
#define NO_TYPE  ((MPI_Datatype)(intptr_t)0x7d31)
#define NO_OP    ((MPI_Op)(intptr_t)0x7d33)

/* Addresses of no memory, which the compiler does not see through. */
static void *volatile no_buffer = (void *)(intptr_t)0x10;
static int *volatile no_array = (int *)(intptr_t)0x20;
static MPI_Datatype *volatile no_types = (MPI_Datatype *)(intptr_t)0x30;

static int rank, size;
static int in[RANKS_MOST], out[RANKS_MOST], ones[RANKS_MOST], places[RANKS_MOST], bytes[RANKS_MOST];
static MPI_Datatype types[RANKS_MOST];

static void fill(int base)
{
    for (int i = 0; i < RANKS_MOST; i++) {
        out[i] = base + 100 * rank + i;
        in[i] = -1;
    }
}

/* Calls one collective in the form; `name` has its arguments but the last. */
#define RUN(form, name, init_name, comm, ...)                                                                          \
    do {                                                                                                               \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        if ((form) == BLOCKING)                                                                                        \
            MPI_##name(__VA_ARGS__, comm);                                                                             \
        else if ((form) == NONBLOCKING)                                                                                \
            MPI_I##init_name(__VA_ARGS__, comm, &request);                                                             \
        else                                                                                                           \
            MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request);                                             \
        for (int run = 0; (form) == PERSISTENT && run < RUNS; run++) {                                                 \
            MPI_Start(&request);                                                                                       \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                     \
        }                                                                                                              \
        if ((form) == PERSISTENT)                                                                                      \
            MPI_Request_free(&request);                                                                                \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                         \
    } while (0)

/* ---- one group ---- */

static void rooted(enum form form, int root)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int is_root = rank == root;

    fill(0);
    if (is_root)
        RUN(form, Gather, gather, world, out, 1, MPI_INT, in, 1, MPI_INT, root);
    else
        RUN(form, Gather, gather, world, out, 1, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, root);
    for (int i = 0; is_root && i < size; i++)
        CHECK(in[i] == 100 * i);
    fill(1);
    if (is_root)
        RUN(form, Gatherv, gatherv, world, out, 1, MPI_INT, in, ones, places, MPI_INT, root);
    else
        RUN(form, Gatherv, gatherv, world, out, 1, MPI_INT, no_buffer, no_array, no_array, NO_TYPE, root);
    for (int i = 0; is_root && i < size; i++)
        CHECK(in[i] == 100 * i + 1);
    fill(2);
    if (is_root)
        RUN(form, Scatter, scatter, world, out, 1, MPI_INT, in, 1, MPI_INT, root);
    else
        RUN(form, Scatter, scatter, world, no_buffer, NO_COUNT, NO_TYPE, in, 1, MPI_INT, root);
    CHECK(in[0] == 100 * root + rank + 2);
    fill(3);
    if (is_root)
        RUN(form, Scatterv, scatterv, world, out, ones, places, MPI_INT, in, 1, MPI_INT, root);
    else
        RUN(form, Scatterv, scatterv, world, no_buffer, no_array, no_array, NO_TYPE, in, 1, MPI_INT, root);
    CHECK(in[0] == 100 * root + rank + 3);
    fill(4);
    RUN(form, Reduce, reduce, world, out, is_root ? in : no_buffer, 1, MPI_INT, MPI_MAX, root);
    CHECK(!is_root || in[0] == 100 * (size - 1) + 4);
}

static void rooted_in_place(enum form form, int root)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int is_root = rank == root;

    fill(0);
    in[rank] = 100 * rank;
    if (is_root)
        RUN(form, Gather, gather, world, MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, 1, MPI_INT, root);
    else
        RUN(form, Gather, gather, world, out, 1, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, root);
    for (int i = 0; is_root && i < size; i++)
        CHECK(in[i] == 100 * i);
    fill(1);
    in[rank] = 100 * rank + 1;
    if (is_root)
        RUN(form, Gatherv, gatherv, world, MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, ones, places, MPI_INT, root);
    else
        RUN(form, Gatherv, gatherv, world, out, 1, MPI_INT, no_buffer, no_array, no_array, NO_TYPE, root);
    for (int i = 0; is_root && i < size; i++)
        CHECK(in[i] == 100 * i + 1);
    fill(2);
    if (is_root)
        RUN(form, Scatter, scatter, world, out, 1, MPI_INT, MPI_IN_PLACE, NO_COUNT, NO_TYPE, root);
    else
        RUN(form, Scatter, scatter, world, no_buffer, NO_COUNT, NO_TYPE, in, 1, MPI_INT, root);
    CHECK(is_root || in[0] == 100 * root + rank + 2);
    fill(3);
    if (is_root)
        RUN(form, Scatterv, scatterv, world, out, ones, places, MPI_INT, MPI_IN_PLACE, NO_COUNT, NO_TYPE, root);
    else
        RUN(form, Scatterv, scatterv, world, no_buffer, no_array, no_array, NO_TYPE, in, 1, MPI_INT, root);
    CHECK(is_root || in[0] == 100 * root + rank + 3);
}

static void all_in_place(enum form form)
{
    MPI_Comm world = MPI_COMM_WORLD;

    fill(0);
    in[rank] = rank;
    RUN(form, Allgather, allgather, world, MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, 1, MPI_INT);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i);
    fill(1);
    in[rank] = rank + 1;
    RUN(form, Allgatherv, allgatherv, world, MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, ones, places, MPI_INT);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i + 1);
    if (form == PERSISTENT) /* would go to and fro */
        return;
    fill(2);
    RUN(form, Alltoall, alltoall, world, MPI_IN_PLACE, NO_COUNT, NO_TYPE, out, 1, MPI_INT);
    for (int i = 0; i < size; i++)
        CHECK(out[i] == 100 * i + rank + 2);
    fill(3);
    RUN(form, Alltoallv, alltoallv, world, MPI_IN_PLACE, no_array, no_array, NO_TYPE, out, ones, places, MPI_INT);
    for (int i = 0; i < size; i++)
        CHECK(out[i] == 100 * i + rank + 3);
    fill(4);
    RUN(form, Alltoallw, alltoallw, world, MPI_IN_PLACE, no_array, no_array, no_types, out, ones, bytes, types);
    for (int i = 0; i < size; i++)
        CHECK(out[i] == 100 * i + rank + 4);
}

/* ---- two groups: the first rank of one is the root, the others of its group take no part ---- */

static void between(enum form form, MPI_Comm comm, int is_roots_group)
{
    int mine, root;

    MPI_Comm_rank(comm, &mine);
    root = !is_roots_group ? 0 : mine ? MPI_PROC_NULL : MPI_ROOT;
    fill(0);
    if (root == MPI_PROC_NULL) {
        RUN(form, Bcast, bcast, comm, no_buffer, NO_COUNT, NO_TYPE, root);
        RUN(form, Gather, gather, comm, no_buffer, NO_COUNT, NO_TYPE, no_buffer, NO_COUNT, NO_TYPE, root);
        RUN(form, Gatherv, gatherv, comm, no_buffer, NO_COUNT, NO_TYPE, no_buffer, no_array, no_array, NO_TYPE, root);
        RUN(form, Scatter, scatter, comm, no_buffer, NO_COUNT, NO_TYPE, no_buffer, NO_COUNT, NO_TYPE, root);
        RUN(form, Scatterv, scatterv, comm, no_buffer, no_array, no_array, NO_TYPE, no_buffer, NO_COUNT, NO_TYPE, root);
        RUN(form, Reduce, reduce, comm, no_buffer, no_buffer, NO_COUNT, NO_TYPE, NO_OP, root);
    } else if (root == MPI_ROOT) {
        RUN(form, Bcast, bcast, comm, out, 1, MPI_INT, root);
        RUN(form, Gather, gather, comm, no_buffer, NO_COUNT, NO_TYPE, in, 1, MPI_INT, root);
        RUN(form, Gatherv, gatherv, comm, no_buffer, NO_COUNT, NO_TYPE, in, ones, places, MPI_INT, root);
        RUN(form, Scatter, scatter, comm, out, 1, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, root);
        RUN(form, Scatterv, scatterv, comm, out, ones, places, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, root);
        RUN(form, Reduce, reduce, comm, no_buffer, in, 1, MPI_INT, MPI_SUM, root);
    } else {
        RUN(form, Bcast, bcast, comm, in, 1, MPI_INT, root);
        RUN(form, Gather, gather, comm, out, 1, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, root);
        RUN(form, Gatherv, gatherv, comm, out, 1, MPI_INT, no_buffer, no_array, no_array, NO_TYPE, root);
        RUN(form, Scatter, scatter, comm, no_buffer, NO_COUNT, NO_TYPE, in, 1, MPI_INT, root);
        RUN(form, Scatterv, scatterv, comm, no_buffer, no_array, no_array, NO_TYPE, in, 1, MPI_INT, root);
        RUN(form, Reduce, reduce, comm, out, no_buffer, 1, MPI_INT, MPI_SUM, root);
    }
}

int main(void)
{
    MPI_Comm half, comm;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS_MOST);
    for (int i = 0; i < size; i++) {
        ones[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int form = 0; form < FORMS; form++)
        for (int root = 0; root < size; root++) {
            rooted((enum form)form, root);
            rooted_in_place((enum form)form, root);
            all_in_place((enum form)form);
        }
    if (size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &comm);
        for (int form = 0; form < FORMS; form++)
            for (int side = 0; side < 2; side++)
                between((enum form)form, comm, side == rank % 2);
        MPI_Comm_free(&comm);
        MPI_Comm_free(&half);
    }
    MPI_Finalize();
    return 0;
}
