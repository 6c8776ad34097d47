/* SPDX-License-Identifier: BSD-3-Clause */
/* What Murmur offers beside MPI: checkpoints that a program takes of its own data (libmurmur: link with
 * -lmurmur). It needs nothing but MPI, so it works with every MPI of the standard ABI.
 *
 * A program registers what it has to keep, and calls MPIX_Ckpt_point where its data are whole, once a step say:
 *
 *     MPIX_Ckpt_register_shared(&step, 1, MPI_INT);
 *     MPIX_Ckpt_register(field, cells, MPI_DOUBLE);
 *     for (step = 0; step < steps; step++) {
 *         MPIX_Ckpt_point(MPI_COMM_WORLD, &is_restarted);   // step and field are those of the snapshot, if it is
 *         advance(field);
 *     }
 *
 * Settings are read from the environment, or given to mpiexec (docs/libmurmur.md): where snapshots are written
 * (MUR_CKPT_PREFIX, MUR_CKPT_LOCAL), how often (MUR_CKPT_INTERVAL), from which to start (MUR_CKPT_RESTART). Without
 * them MPIX_Ckpt_point does nothing. All functions return MPI's error codes, and raise errors as MPI does. */
#ifndef MURMUR_H
#define MURMUR_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Data that belong to this rank alone: `count` elements. Every rank registers its regions in the same order; their
 * sizes may differ from rank to rank. They are only restored on as many ranks as there were. */
int MPIX_Ckpt_register(void *address, MPI_Count count, MPI_Datatype datatype);

/* Data that are the same at all ranks, such as the number of the step. */
int MPIX_Ckpt_register_shared(void *address, MPI_Count count, MPI_Datatype datatype);

/* This rank's block of an array that is spread over all ranks, described as for MPI_Type_create_subarray: up to 8
 * dimensions, `sizes` of the whole array, which all ranks give alike, `subsizes` and `starts` of the block, which lies
 * at `address` without gaps; `order` is MPI_ORDER_C or MPI_ORDER_FORTRAN. The blocks must cover the array, once. A
 * snapshot has the array as one file, so any other number of ranks with any other blocks can go on with it. */
int MPIX_Ckpt_register_array(void *address, MPI_Datatype element, int ndims, const MPI_Count sizes[],
                             const MPI_Count subsizes[], const MPI_Count starts[], int order);

/* Forgets what was registered at this address. Collective in effect: all ranks must forget the same region before the
 * next point. */
int MPIX_Ckpt_deregister(void *address);

/* Collective over comm, which has the same group at each call. The first call restores the snapshot that was asked for
 * and tells so in *is_restarted (1, else 0); others write one when it is due. A snapshot that cannot be written (a full
 * disk, say) does no harm: the job goes on, and rank 0 says why once. */
int MPIX_Ckpt_point(MPI_Comm comm, int *is_restarted);

/* Collective: writes a snapshot now. Here it is an error (MPI_ERR_IO) when that fails; older snapshots stay. */
int MPIX_Ckpt_save(MPI_Comm comm);

/* The number of the newest snapshot that this job has written or restored; -1: none. */
int MPIX_Ckpt_version(int *version);

#ifdef __cplusplus
}
#endif

#endif
