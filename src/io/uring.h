/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing that the kernel performs while the program goes on (io_uring, Linux 5.6 or later).
 *
 *   started   mur_uring_start; false: not possible here or now, and the caller reads or writes itself
 *   over      is_busy is false, which mur_uring_poll finds out: it looks at memory only
 *
 * All with the engine's lock held. */
#ifndef MUR_IO_URING_H
#define MUR_IO_URING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mur_uring_op {
    bool is_busy;
    ssize_t result; /* bytes, maybe fewer than asked for, or -errno */
};

/* Whether there is a ring; tries to open it. */
bool mur_uring_is_there(void);

/* The operation and the memory stay where they are until it is over. At most 1 GiB. */
bool mur_uring_start(struct mur_uring_op *op, int fd, bool is_write, void *memory, size_t bytes, off_t offset);
void mur_uring_poll(void);

/* Blocks until this one is over, which takes as long as the file system does. */
void mur_uring_wait(const struct mur_uring_op *op);

#endif
