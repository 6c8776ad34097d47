/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeping writes apart from others that read, change and write back what lies around them (data sieving), and from
 * accesses in atomic mode. The ranks of one host that opened the file together have the gate for that
 * (io/shared_state.h); against everybody else there are the locks of the file system. */
#ifndef MUR_IO_LOCK_H
#define MUR_IO_LOCK_H

#include "io/file.h"

/* Locks bytes of the file against other openings of it, and against other threads that use this one; length 0: to the
 * end. Not for two ranges at a time. Fails like a system call. */
int mur_file_lock(struct mur_file *file, bool is_exclusive, MPI_Offset offset, MPI_Offset length);
void mur_file_unlock(struct mur_file *file, MPI_Offset offset, MPI_Offset length);

/* Whether what lies between stretches may be written back as it was read. The ranks of a host have the gate for that;
 * others only locks, which then every write must take, and which some mounts keep to the host (NFS with nolock, Lustre
 * with localflock): so they sieve where the user asks for it (romio_ds_write). */
bool mur_file_may_sieve_writes(const struct mur_file *file);

/* Whether every write of the file has to lock what it writes: for others' sieves, or as the driver wants it. */
bool mur_file_must_lock(const struct mur_file *file);

/* Around reading and writing back, behind the gate. Where the gate suffices a file system may refuse the lock, which is
 * for sieves of others: *is_locked tells. Fails like a system call. */
int mur_io_lock_sieve(struct mur_file *file, MPI_Offset offset, size_t bytes, bool *is_locked);

/* Several writes between `first` and `end`: what has to be locked is locked once for all of them. Begin and each one
 * fail like system calls; end keeps errno. */
int mur_io_lock_writes_begin(struct mur_file *file, MPI_Offset first, MPI_Offset end, bool *is_locked);
ssize_t mur_io_lock_writes_one(struct mur_file *file, const char *memory, struct mur_view_segment segment,
                               bool is_locked);
void mur_io_lock_writes_end(struct mur_file *file, MPI_Offset first, MPI_Offset end, bool is_locked);

/* Reads or writes a stretch of the file, announced to others who sieve. Returns bytes, or -1 with errno. */
ssize_t mur_file_transfer(struct mur_file *file, char *memory, struct mur_view_segment segment, bool is_write);

#endif
