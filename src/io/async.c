/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/async.h"

#include "io/shared_state.h"
#include "io/lock.h"

bool mur_async_is_there(const struct mur_file *file, bool is_write)
{
    return !(is_write && mur_file_must_lock(file)) && mur_uring_is_there();
}

bool mur_async_start(struct mur_async *async, struct mur_file *file, bool is_write, char *memory, size_t bytes,
                     MPI_Offset offset)
{
    if (!mur_async_is_there(file, is_write))
        return false;
    if (is_write && !mur_shared_state_gate_begin(file->shared, offset, offset + (MPI_Offset)bytes))
        return false;
    if (!mur_uring_start(&async->op, file->fd, is_write, memory, bytes, (off_t)offset)) {
        if (is_write)
            mur_shared_state_gate_end(file->shared);
        return false;
    }
    async->is_write = is_write;
    async->memory = memory;
    async->bytes = bytes;
    async->offset = offset;
    return true;
}

bool mur_async_is_busy(const struct mur_async *async)
{
    mur_uring_poll();
    return async->op.is_busy;
}

void mur_async_wait(const struct mur_async *async)
{
    mur_uring_wait(&async->op);
}

ssize_t mur_async_end(struct mur_async *async, struct mur_file *file)
{
    ssize_t result = async->op.result;
    size_t bytes = async->bytes, done = result > 0 ? (size_t)result : 0;
    struct mur_view_segment rest = {async->offset + (MPI_Offset)done, bytes - done};

    async->bytes = 0;
    if (async->is_write)
        mur_shared_state_gate_end(file->shared);
    if (done == bytes || (!async->is_write && result == 0))
        return (ssize_t)done;
    result = mur_file_transfer(file, async->memory + done, rest, async->is_write);
    return result < 0 ? -1 : (ssize_t)done + result;
}
