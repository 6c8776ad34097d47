/* SPDX-License-Identifier: BSD-3-Clause */
/* An array as one file, which all ranks write and read together through MPI-IO: the elements in the array's own order,
 * whatever the ranks' blocks were. */
#ifndef MUR_LIBMURMUR_ARRAY_FILE_H
#define MUR_LIBMURMUR_ARRAY_FILE_H

#include <stdint.h>

#include "libmurmur/data_region.h"

/* Collective; it is on the disk afterwards. *hash: see below. The flaw is this rank's own. */
bool mur_array_file_write(const char *path, const struct mur_data_region *region, MPI_Comm comm, uint64_t *hash,
                          struct mur_flaw *flaw);

/* Collective: the hash of a file that must have so many bytes: the sum of the hashes of its blocks, each of which
 * covers its place, too. So any number of ranks gets the same, each of its share. */
bool mur_array_file_hash(const char *path, MPI_Count bytes, MPI_Comm comm, uint64_t *hash, struct mur_flaw *flaw);

bool mur_array_file_read(const char *path, const struct mur_data_region *region, MPI_Comm comm, struct mur_flaw *flaw);

/* Of the whole array. */
MPI_Count mur_array_file_bytes(const struct mur_data_region *region);

#endif
