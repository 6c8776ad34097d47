/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is mapped on its own and given back, for windows of any size: pieces of the node's file behind what all
 * ranks map at start. All ranks have the file open, so an offset in it is all that one has to tell another. Offsets are
 * never used twice; the memory behind them is freed by punching a hole, and the file stays sparse. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/settings.h"
#include "boot/job.h"
#include "boot/process.h"
#include "node/node.h"

enum { PAGE = 4096 };
static const uint64_t LARGE = 2 << 20; /* pieces of this size may have large pages: they start at such a boundary */

static uint64_t rounded(size_t bytes)
{
    return ((uint64_t)bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Makes the file reach up to `end`. Writing the last byte never shortens what another rank has just made longer, as
 * ftruncate might. Past the limit of file sizes the system would send a signal. */
static bool extend(uint64_t end)
{
    struct rlimit limit;

    if (mur_process.job->is_fixed || (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)) {
        errno = EFBIG;
        return false;
    }
    return pwrite(mur_process.node_fd, "", 1, (off_t)(end - 1)) == 1;
}

static uint64_t cut(size_t bytes)
{
    uint64_t first = mur_job_bytes(mur_process.size) + mur_process.node_bytes;
    uint64_t gap = bytes >= LARGE ? LARGE - PAGE : 0;
    uint64_t start = first + atomic_fetch_add(&mur_node.memory->beyond, rounded(bytes) + gap);

    start = (start + gap) & ~(uint64_t)gap;
    return extend(start + rounded(bytes)) ? start : 0;
}

static void *map_at(void *address, size_t bytes, uint64_t token)
{
    return mmap(address, rounded(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | (address ? MAP_FIXED : 0),
                mur_process.node_fd, (off_t)token);
}

/* Large pages, where the system gives them to shared memory, need addresses that fit to the place in the file. */
static void *map_large(size_t bytes, uint64_t token)
{
    char *range = mmap(NULL, rounded(bytes) + LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t before;
    void *memory;

    if (range == MAP_FAILED)
        return MAP_FAILED;
    before = -(uintptr_t)range & (LARGE - 1);
    if (before)
        munmap(range, before);
    munmap(range + before + rounded(bytes), LARGE - before);
    memory = map_at(range + before, bytes, token);
    if (memory == MAP_FAILED)
        munmap(range + before, rounded(bytes));
    else if (mur_settings.huge_pages)
        madvise(memory, rounded(bytes), MADV_HUGEPAGE);
    return memory;
}

void *mur_node_map(size_t bytes, uint64_t *token)
{
    void *memory;

    errno = ENOMEM;
    if (mur_node.size == 1 || mur_process.node_fd < 0 || bytes > (size_t)1 << 60)
        return NULL;
    if (!*token && !(*token = cut(bytes)))
        return NULL;
    memory = bytes >= LARGE ? map_large(bytes, *token) : map_at(NULL, bytes, *token);
    return memory == MAP_FAILED ? NULL : memory;
}

void mur_node_unmap(void *memory, size_t bytes)
{
    munmap(memory, rounded(bytes));
}

void mur_node_discard(uint64_t token, size_t bytes)
{
    fallocate(mur_process.node_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)token, (off_t)rounded(bytes));
}
