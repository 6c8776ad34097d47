/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian communicators: made from random shapes, mapped, copied and cut into lines, at the size of the whole
 * communicator and below it; a grid without dimensions has one process. */
#include "random.h"

enum { ROUNDS = 15 };

static int rank, size;

static void check_shape(MPI_Comm comm, int ndims, const int *dims, const int *periods)
{
    int got_dims[4], got_periods[4], coords[4], again[4], kind = -1, n = -1, me, found = -1;

    MPI_Topo_test(comm, &kind);
    MPI_Cartdim_get(comm, &n);
    CHECK(kind == MPI_CART && n == ndims);
    MPI_Cart_get(comm, 4, got_dims, got_periods, coords);
    MPI_Comm_rank(comm, &me);
    MPI_Cart_coords(comm, me, ndims, again);
    for (int i = 0; i < ndims; i++)
        CHECK(got_dims[i] == dims[i] && !got_periods[i] == !periods[i] && coords[i] == again[i]);
    MPI_Cart_rank(comm, coords, &found);
    CHECK(found == me);
    for (int i = 0; i < ndims; i++) {
        int below = -9, above = -9, steps = random_below(5) - 2;

        MPI_Cart_shift(comm, i, steps, &below, &above);
        for (int side = 0; side < 2; side++) {
            int to = coords[i] + (side ? steps : -steps), expected = MPI_PROC_NULL;

            memcpy(again, coords, sizeof again);
            again[i] = to;
            if (periods[i] || (to >= 0 && to < dims[i]))
                MPI_Cart_rank(comm, again, &expected);
            CHECK((side ? above : below) == expected);
        }
    }
}

/* Keeps some dimensions; the rest must be constant within each part. */
static void check_sub(MPI_Comm comm, int ndims, const int *dims, const int *periods)
{
    int keep[4], kept_dims[4], kept_periods[4], kept = 0, all = 1, left_out = 0, coords[4], before[64], got_dims[4];
    int got_size;
    MPI_Comm part;

    MPI_Cart_get(comm, 4, got_dims, keep, coords);
    for (int i = 0; i < ndims; i++) {
        keep[i] = random_below(2);
        if (keep[i]) {
            kept_dims[kept] = dims[i];
            kept_periods[kept++] = periods[i];
            all *= dims[i];
        } else {
            left_out = left_out * dims[i] + coords[i];
        }
    }
    MPI_Cart_sub(comm, keep, &part);
    check_shape(part, kept, kept_dims, kept_periods);
    MPI_Comm_size(part, &got_size);
    CHECK(got_size == all);
    MPI_Allgather(&left_out, 1, MPI_INT, before, 1, MPI_INT, part);
    for (int i = 0; i < all; i++)
        CHECK(before[i] == left_out);
    MPI_Comm_free(&part);
}

static void check_random(int cells)
{
    int dims[4] = {0}, periods[4], ndims = random_below(4), place = -7;
    MPI_Comm comm, copy;

    if (ndims == 0)
        cells = 1;
    else
        MPI_Dims_create(cells, ndims, dims);
    for (int i = 0; i < ndims; i++)
        periods[i] = random_below(2);
    MPI_Cart_map(MPI_COMM_WORLD, ndims, dims, periods, &place);
    CHECK(place == MPI_UNDEFINED || (place >= 0 && place < cells));
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank >= cells));
    if (comm == MPI_COMM_NULL)
        return;
    check_shape(comm, ndims, dims, periods);
    check_sub(comm, ndims, dims, periods);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    check_shape(copy, ndims, dims, periods);
    MPI_Comm_free(&copy);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    for (int i = 0; i < ROUNDS; i++) {
        unsigned before = random_state;

        check_random(i % 3 ? 1 + random_below(size) : size);
        random_state = before + (unsigned)i; /* ranks outside of the grid have drawn less */
    }
    MPI_Finalize();
    return 0;
}
