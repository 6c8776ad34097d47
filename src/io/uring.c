/* SPDX-License-Identifier: BSD-3-Clause */
/* One ring of the process: two arrays of indices and entries that it shares with the kernel (io_uring_setup(2)).
 * Submissions are handed over one at a time; completions are found at the ring's tail. Where the kernel is too old or
 * refuses rings (io_uring_disabled, filters of system calls in containers), nothing is ever started.
 *
 * The system calls are made here and not by liburing, of which this would use only what is below. */
#define _GNU_SOURCE
#include "io/uring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/settings.h"
#include "engine/engine.h"
#include "io/driver.h"

enum {
    ENTRIES = 64,
    INLINE_MAX = 256 << 10 /* bytes that may be copied at once where the page cache has room, instead of by a thread of
                              the kernel's */
};

static struct {
    int fd; /* 0: not tried yet; -1: there is none */
    _Atomic uint32_t *submit_head, *submit_tail;
    uint32_t submit_mask, *submit_index;
    struct io_uring_sqe *submissions;
    _Atomic uint32_t *complete_head, *complete_tail;
    uint32_t complete_mask;
    const struct io_uring_cqe *completions;
    uint32_t under_way;
} ring;

static void *map(int fd, size_t bytes, off_t what)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);

    return memory == MAP_FAILED ? NULL : memory;
}

static bool map_rings(int fd, const struct io_uring_params *params)
{
    size_t submit = params->sq_off.array + params->sq_entries * sizeof(uint32_t);
    size_t complete = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
    char *both = map(fd, submit > complete ? submit : complete, IORING_OFF_SQ_RING);

    ring.submissions = map(fd, params->sq_entries * sizeof *ring.submissions, IORING_OFF_SQES);
    if (!both || !ring.submissions)
        return false;
    ring.submit_head = (_Atomic uint32_t *)(void *)(both + params->sq_off.head);
    ring.submit_tail = (_Atomic uint32_t *)(void *)(both + params->sq_off.tail);
    ring.submit_mask = *(uint32_t *)(void *)(both + params->sq_off.ring_mask);
    ring.submit_index = (uint32_t *)(void *)(both + params->sq_off.array);
    ring.complete_head = (_Atomic uint32_t *)(void *)(both + params->cq_off.head);
    ring.complete_tail = (_Atomic uint32_t *)(void *)(both + params->cq_off.tail);
    ring.complete_mask = *(uint32_t *)(void *)(both + params->cq_off.ring_mask);
    ring.completions = (const struct io_uring_cqe *)(void *)(both + params->cq_off.cqes);
    return true;
}

/* With the two features below there are both rings in one mapping, and reads and writes at an offset. What was mapped
 * for a ring that cannot be used stays until the process ends. */
static void open_ring(void)
{
    const uint32_t needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_RW_CUR_POS;
    struct io_uring_params params = {0};
    int fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);

    ring.fd = -1;
    if (fd < 0)
        return;
    if ((params.features & needed) != needed || !map_rings(fd, &params)) {
        close(fd);
        return;
    }
    ring.fd = fd;
}

/* The kernel takes the entry, or has not seen it: then it is taken back. */
static bool submit(uint32_t tail)
{
    int number;

    atomic_store_explicit(ring.submit_tail, tail + 1, memory_order_release); /* pairs with the kernel's acquire */
    do
        number = syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) < 0 ? errno : 0;
    while (number == EINTR);
    /* pairs with the kernel's release when it has taken the entry (io_uring(7)) */
    if (atomic_load_explicit(ring.submit_head, memory_order_acquire) == tail + 1)
        return true;
    /* pairs with the kernel's acquire; the entry is taken back */
    atomic_store_explicit(ring.submit_tail, tail, memory_order_release);
    return false;
}

bool mur_uring_is_there(void)
{
    if (mur_settings.io_uring && !ring.fd)
        open_ring();
    return mur_settings.io_uring && ring.fd > 0;
}

bool mur_uring_start(struct mur_uring_op *op, int fd, bool is_write, void *memory, size_t bytes, off_t offset)
{
    uint32_t tail;

    if (!mur_uring_is_there() || ring.under_way == ENTRIES ||
        (is_write && mur_driver_is_beyond_limit(offset + (off_t)bytes)))
        return false;
    tail = atomic_load_explicit(ring.submit_tail, memory_order_relaxed);
    ring.submissions[tail & ring.submit_mask] = (struct io_uring_sqe){
        .opcode = is_write ? IORING_OP_WRITE : IORING_OP_READ,
        .flags = bytes > INLINE_MAX ? IOSQE_ASYNC : 0,
        .fd = fd,
        .off = (uint64_t)offset,
        .addr = (uint64_t)(uintptr_t)memory,
        .len = (uint32_t)bytes,
        .user_data = (uint64_t)(uintptr_t)op,
    };
    ring.submit_index[tail & ring.submit_mask] = tail & ring.submit_mask;
    *op = (struct mur_uring_op){.is_busy = true};
    if (!submit(tail)) {
        op->is_busy = false;
        return false;
    }
    ring.under_way++;
    mur_engine.silent_operations++;
    mur_counters.file_background++;
    return true;
}

void mur_uring_poll(void)
{
    uint32_t head, tail;

    if (!ring.under_way)
        return;
    head = atomic_load_explicit(ring.complete_head, memory_order_relaxed);
    tail = atomic_load_explicit(ring.complete_tail, memory_order_acquire); /* pairs with the kernel's release */
    for (; head != tail; head++) {
        const struct io_uring_cqe *entry = &ring.completions[head & ring.complete_mask];
        struct mur_uring_op *op = (struct mur_uring_op *)(uintptr_t)entry->user_data;

        op->result = entry->res;
        op->is_busy = false;
        ring.under_way--;
        mur_engine.silent_operations--;
    }
    atomic_store_explicit(ring.complete_head, head, memory_order_release); /* pairs with the kernel's acquire */
}

void mur_uring_wait(const struct mur_uring_op *op)
{
    for (mur_uring_poll(); op->is_busy; mur_uring_poll())
        syscall(SYS_io_uring_enter, ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}
