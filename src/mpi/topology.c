/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian topologies (MPI-5.0 §8.5). */
#include "topo/cart.h"

#include <stdlib.h>

#include "base/error.h"
#include "coll/schedule/schedule.h"
#include "comm/create.h"
#include "mpi/bodies.h"
#include "mpi/check.h"
#include "object/comm.h"
#include "topo/map.h"

/* The grid of a communicator, or NULL. */
static const struct mur_cart *cart_of(const struct mur_comm *comm)
{
    return comm->topology && comm->topology->kind == MPI_CART ? &comm->topology->cart : NULL;
}

static int no_cart(void)
{
    return mur_error(MPI_ERR_TOPOLOGY, "the communicator has no Cartesian topology");
}

static int check_room(int maxdims, int ndims)
{
    if (maxdims >= ndims)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_ARG, "maxdims is %d, but the communicator has %d dimensions", maxdims, ndims);
}

/* The number of processes in a grid that must fit into `size` of them. */
static int count_cells(int ndims, const int *dims, int size, int *cells_p)
{
    int64_t cells = 1;

    if (ndims < 0)
        return mur_error(MPI_ERR_DIMS, "ndims is %d, but must be 0 or more", ndims);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 1)
            return mur_error(MPI_ERR_DIMS, "dimension %d is %d, but must be at least 1", i, dims[i]);
        cells *= dims[i];
        if (cells > size)
            return mur_error(MPI_ERR_DIMS, "the grid has more processes than the communicator, which has %d", size);
    }
    *cells_p = (int)cells;
    return MPI_SUCCESS;
}

/* Where there is no memory for what is to be made, the others wait. */
static int no_memory(const struct mur_comm *comm)
{
    return mur_collective_result(mur_error(MPI_ERR_NO_MEM, "no memory for a topology"), comm->size);
}

/* Takes part in a split that others wait for, so that they hear of the failure. */
static int fail(struct mur_comm *comm, int failed)
{
    struct mur_comm *none;

    mur_comm_split(comm, MPI_UNDEFINED, 0, true, &none);
    return failed;
}

/* Splits the communicator and gives the new one the topology, which it then owns. */
static int split(struct mur_comm *comm, int color, int key, struct mur_topology *topology, MPI_Comm *handle)
{
    struct mur_comm *new = NULL;
    int rc;

    if (!topology)
        return no_memory(comm);
    rc = mur_comm_split(comm, color, key, false, &new);
    if (rc || !new) {
        mur_topology_free(topology);
        *handle = MPI_COMM_NULL;
        return mur_collective_result(rc, comm->size);
    }
    new->topology = topology;
    *handle = mur_object_handle(new);
    return MPI_SUCCESS;
}

int mur_mpi_topo_test(struct mur_comm *comm, int *status)
{
    *status = comm->topology ? comm->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int mur_mpi_dims_create(int nnodes, int ndims, int dims[])
{
    return mur_dims_create(nnodes, ndims, dims);
}

int mur_mpi_cart_create(int refused, struct mur_comm *comm_old, int ndims, const int dims[], const int periods[],
                        int reorder, MPI_Comm *comm_cart)
{
    int cells = 0, failed = refused;
    int place;

    if (!failed)
        failed = count_cells(ndims, dims, comm_old->size, &cells);
    if (failed)
        return fail(comm_old, failed);
    place = mur_topo_place(comm_old, cells, reorder != 0);
    return split(comm_old, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0, place,
                 mur_cart_new(ndims, dims, periods, place == MPI_UNDEFINED ? 0 : place), comm_cart);
}

int mur_mpi_cart_map(struct mur_comm *comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    int cells = 0, rc = count_cells(ndims, dims, comm->size, &cells);

    (void)periods;
    if (!rc)
        *newrank = mur_topo_place(comm, cells, true);
    return rc;
}

int mur_mpi_cartdim_get(struct mur_comm *comm, int *ndims)
{
    const struct mur_cart *cart = cart_of(comm);

    if (!cart)
        return no_cart();
    *ndims = cart->ndims;
    return MPI_SUCCESS;
}

int mur_mpi_cart_get(struct mur_comm *comm, int maxdims, int dims[], int periods[], int coords[])
{
    const struct mur_cart *cart = cart_of(comm);
    int rc;

    if (!cart)
        return no_cart();
    rc = check_room(maxdims, cart->ndims);
    if (rc)
        return rc;
    for (int i = 0; i < cart->ndims; i++) {
        dims[i] = cart->dims[i];
        periods[i] = cart->periods[i];
        coords[i] = cart->coords[i];
    }
    return MPI_SUCCESS;
}

int mur_mpi_cart_rank(struct mur_comm *comm, const int coords[], int *rank)
{
    const struct mur_cart *cart = cart_of(comm);
    int rc;

    if (!cart)
        return no_cart();
    rc = mur_check_array("coords", coords, cart->ndims);
    if (rc)
        return rc;
    for (int i = 0; i < cart->ndims; i++)
        if (!cart->periods[i] && (coords[i] < 0 || coords[i] >= cart->dims[i]))
            return mur_error(MPI_ERR_ARG,
                             "coordinate %d is %d, but must be from 0 to %d: the dimension is not periodic", i,
                             coords[i], cart->dims[i] - 1);
    *rank = mur_cart_rank(cart, coords);
    return MPI_SUCCESS;
}

int mur_mpi_cart_coords(struct mur_comm *comm, int rank, int maxdims, int coords[])
{
    const struct mur_cart *cart = cart_of(comm);
    int rc;

    if (!cart)
        return no_cart();
    rc = check_room(maxdims, cart->ndims);
    if (rc)
        return rc;
    if (rank < 0 || rank >= comm->size)
        return mur_error(MPI_ERR_RANK, "rank is %d, but must be from 0 to %d", rank, comm->size - 1);
    mur_cart_coords(cart, rank, coords);
    return MPI_SUCCESS;
}

int mur_mpi_cart_shift(struct mur_comm *comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    const struct mur_cart *cart = cart_of(comm);

    if (!cart)
        return no_cart();
    if (direction < 0 || direction >= cart->ndims)
        return mur_error(MPI_ERR_ARG, "direction is %d, but the communicator has %d dimensions, counted from 0",
                         direction, cart->ndims);
    *rank_source = mur_cart_shifted(cart, direction, -(int64_t)disp);
    *rank_dest = mur_cart_shifted(cart, direction, disp);
    return MPI_SUCCESS;
}

/* The processes that agree in the coordinates left out get one communicator, ordered by the coordinates kept. */
int mur_mpi_cart_sub(int refused, struct mur_comm *comm, const int remain_dims[], MPI_Comm *newcomm)
{
    const struct mur_cart *cart = cart_of(comm);
    int color = 0, key = 0, kept = 0, failed = refused;
    struct mur_topology *topology;
    int *dims;

    if (!cart)
        return no_cart();
    if (!failed)
        failed = mur_check_array("remain_dims", remain_dims, cart->ndims);
    if (failed)
        return fail(comm, failed);
    dims = malloc((2 * (size_t)cart->ndims + 1) * sizeof *dims);
    if (!dims)
        return no_memory(comm);
    for (int i = 0; i < cart->ndims; i++) {
        if (remain_dims[i]) {
            key = key * cart->dims[i] + cart->coords[i];
            dims[kept] = cart->dims[i];
            dims[cart->ndims + kept] = cart->periods[i];
            kept++;
        } else {
            color = color * cart->dims[i] + cart->coords[i];
        }
    }
    topology = mur_cart_new(kept, dims, dims + cart->ndims, key);
    free(dims);
    return split(comm, color, key, topology, newcomm);
}
