/* SPDX-License-Identifier: BSD-3-Clause */
/* A stretch of a file that the kernel reads or writes while the program goes on. A caller that waits for nothing asks
 * mur_async_is_busy now and then; who needs the data now calls mur_async_wait; both then call
 * mur_async_end. All with the engine's lock held. */
#ifndef MUR_IO_ASYNC_H
#define MUR_IO_ASYNC_H

#include "io/file.h"
#include "io/uring.h"

struct mur_async {
    struct mur_uring_op op;
    bool is_write;
    char *memory;
    size_t bytes; /* 0: nothing is under way */
    MPI_Offset offset;
};

/* Whether it is possible for this file at all. */
bool mur_async_is_there(const struct mur_file *file, bool is_write);

/* `async` and the memory stay where they are until the end. False: the caller reads or writes by itself. */
bool mur_async_start(struct mur_async *async, struct mur_file *file, bool is_write, char *memory, size_t bytes,
                     MPI_Offset offset);
bool mur_async_is_busy(const struct mur_async *async);
void mur_async_wait(const struct mur_async *async);

/* It is not busy any more. What the kernel has left of it is done here, which finds out why. Returns the bytes that
 * were moved, fewer only at the end of the file, or -1 with errno. */
ssize_t mur_async_end(struct mur_async *async, struct mur_file *file);

#endif
