/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/array_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmurmur/hash.h"

enum { BLOCK_BYTES = 1 << 20 };

MPI_Count mur_array_file_bytes(const struct mur_data_region *region)
{
    MPI_Count bytes = region->element_bytes;

    for (int i = 0; i < region->ndims; i++)
        bytes *= region->sizes[i];
    return bytes;
}

static bool is_empty(const struct mur_data_region *region)
{
    return region->count == 0 || region->element_bytes == 0;
}

/* The view of this rank's block: elements of bytes, since the file has neither gaps nor types. */
static bool set_view(MPI_File file, const struct mur_data_region *region, struct mur_flaw *flaw)
{
    MPI_Datatype element, block = MPI_BYTE;
    bool is_set;

    MPI_Type_contiguous_c(region->element_bytes, MPI_BYTE, &element);
    if (!is_empty(region)) {
        MPI_Type_create_subarray_c(region->ndims, region->sizes, region->subsizes, region->starts, region->order,
                                   element, &block);
        MPI_Type_commit(&block);
    }
    is_set = mur_flaw_of_mpi(flaw, "setting the view of an array's file",
                             MPI_File_set_view(file, 0, MPI_BYTE, block, "native", MPI_INFO_NULL));
    if (!is_empty(region))
        MPI_Type_free(&block);
    MPI_Type_free(&element);
    return is_set;
}

static bool open_file(const char *path, int mode, MPI_Comm comm, MPI_File *file, struct mur_flaw *flaw)
{
    return mur_flaw_of_mpi(flaw, path, MPI_File_open(comm, path, mode, MPI_INFO_NULL, file));
}

bool mur_array_file_write(const char *path, const struct mur_data_region *region, MPI_Comm comm, uint64_t *hash,
                          struct mur_flaw *flaw)
{
    MPI_File file;

    if (!open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, comm, &file, flaw))
        return false;
    set_view(file, region, flaw);
    mur_flaw_of_mpi(flaw, path,
                    MPI_File_write_all_c(file, region->address, is_empty(region) ? 0 : region->count, region->datatype,
                                         MPI_STATUS_IGNORE));
    mur_flaw_of_mpi(flaw, path, MPI_File_sync(file));
    mur_flaw_of_mpi(flaw, path, MPI_File_close(&file));
    return mur_flaw_agree(flaw, comm) && mur_array_file_hash(path, mur_array_file_bytes(region), comm, hash, flaw);
}

bool mur_array_file_read(const char *path, const struct mur_data_region *region, MPI_Comm comm, struct mur_flaw *flaw)
{
    MPI_File file;

    if (!open_file(path, MPI_MODE_RDONLY, comm, &file, flaw))
        return false;
    set_view(file, region, flaw);
    mur_flaw_of_mpi(flaw, path,
                    MPI_File_read_all_c(file, region->address, is_empty(region) ? 0 : region->count, region->datatype,
                                        MPI_STATUS_IGNORE));
    mur_flaw_of_mpi(flaw, path, MPI_File_close(&file));
    return !flaw->text[0];
}

/* The blocks of this rank's share. */
static uint64_t hash_share(int fd, const char *path, MPI_Count bytes, int rank, int ranks, struct mur_flaw *flaw)
{
    const MPI_Count blocks = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    char *block = malloc(BLOCK_BYTES);
    uint64_t sum = 0;

    if (!block)
        mur_flaw_set(flaw, "there is no memory to read %s", path);
    for (MPI_Count i = blocks * rank / ranks; block && i < blocks * (rank + 1) / ranks; i++) {
        const MPI_Count start = i * BLOCK_BYTES;
        const ssize_t length = bytes - start < BLOCK_BYTES ? (ssize_t)(bytes - start) : BLOCK_BYTES;
        ssize_t got = 0, more = 1;

        while (got < length && (more > 0 || (more < 0 && errno == EINTR))) {
            more = pread(fd, block + got, (size_t)(length - got), (off_t)(start + got));
            got += more > 0 ? more : 0;
        }
        if (got < length) {
            mur_flaw_set(flaw, "cannot read %s: %s", path, more < 0 ? strerror(errno) : "it is too short");
            break;
        }
        sum += XXH3_64bits_withSeed(block, (size_t)length, (XXH64_hash_t)i);
    }
    free(block);
    return sum;
}

bool mur_array_file_hash(const char *path, MPI_Count bytes, MPI_Comm comm, uint64_t *hash, struct mur_flaw *flaw)
{
    struct stat found;
    int fd = open(path, O_RDONLY | O_CLOEXEC), rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *hash = 0;
    if (fd < 0 || fstat(fd, &found) != 0)
        mur_flaw_set(flaw, "cannot open %s: %s", path, strerror(errno));
    else if (found.st_size != (off_t)bytes)
        mur_flaw_set(flaw, "%s has %lld bytes instead of %lld", path, (long long)found.st_size, (long long)bytes);
    else
        *hash = hash_share(fd, path, bytes, rank, ranks, flaw);
    if (fd >= 0)
        close(fd);
    MPI_Allreduce(MPI_IN_PLACE, hash, 1, MPI_UINT64_T, MPI_SUM, comm);
    return mur_flaw_agree(flaw, comm);
}
