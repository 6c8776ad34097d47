/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of dynamic windows. Each rank keeps a list of its regions by address, and shows it to the ranks of its node
 * beside its locks. Readers there take no lock: they count on the version, which is odd while the list changes. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "rma/rma.h"

/* Partner: the loads in look_up. */
static void publish(struct mur_win *win)
{
    struct mur_win_control *control = win->targets[win->rank].control;
    int shown = win->attached_count < MUR_WIN_REGIONS ? win->attached_count : MUR_WIN_REGIONS;

    atomic_fetch_add_explicit(&control->version, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < shown; i++) {
        __atomic_store_n(&control->regions[i].start, win->attached[i].start, __ATOMIC_RELAXED);
        __atomic_store_n(&control->regions[i].bytes, win->attached[i].bytes, __ATOMIC_RELAXED);
    }
    atomic_store_explicit(&control->region_count, (uint32_t)shown, memory_order_relaxed);
    atomic_store_explicit(&control->has_more, win->attached_count > shown, memory_order_relaxed);
    /* pairs with the acquires in mur_rma_is_attached */
    atomic_fetch_add_explicit(&control->version, 1, memory_order_release);
}

/* The number of regions that start at or before an address. */
static int regions_up_to(const struct mur_win_region *regions, int count, uint64_t start)
{
    int low = 0, high = count;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (__atomic_load_n(&regions[middle].start, __ATOMIC_RELAXED) <= start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Regions may touch: what is asked for may go over several. */
static bool look_up(const struct mur_win_region *regions, int count, uint64_t start, uint64_t bytes)
{
    while (bytes) {
        int i = regions_up_to(regions, count, start) - 1;
        uint64_t offset, length;

        if (i < 0)
            return false;
        offset = start - __atomic_load_n(&regions[i].start, __ATOMIC_RELAXED);
        length = __atomic_load_n(&regions[i].bytes, __ATOMIC_RELAXED);
        if (offset >= length)
            return false;
        if (bytes <= length - offset)
            return true;
        start += length - offset;
        bytes -= length - offset;
    }
    return true;
}

bool mur_rma_is_attached(const struct mur_win *win, int rank, uint64_t start, uint64_t bytes)
{
    struct mur_win_control *control = win->targets[rank].control;
    uint64_t before, after;
    bool answer;

    if (rank == win->rank)
        return look_up(win->attached, win->attached_count, start, bytes);
    if (!control)
        return true; /* the rank itself will say */
    do {
        before = atomic_load_explicit(&control->version, memory_order_acquire);
        answer = look_up(control->regions, (int)atomic_load_explicit(&control->region_count, memory_order_relaxed),
                         start, bytes) ||
                 atomic_load_explicit(&control->has_more, memory_order_relaxed);
        /* pairs with the version's release: what was read above is of the version before or the one after */
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&control->version, memory_order_relaxed);
    } while (before != after || before & 1);
    return answer;
}

int mur_rma_attach(struct mur_win *win, void *base, MPI_Aint size)
{
    uint64_t start = (uintptr_t)base;
    struct mur_win_region *regions;
    int i;

    if (!win->is_dynamic)
        return mur_error(MPI_ERR_RMA_FLAVOR, "memory can be attached to windows of MPI_Win_create_dynamic only");
    if (size < 0)
        return mur_error(MPI_ERR_SIZE, "size is %lld bytes, but must be 0 or more", (long long)size);
    if (!base && !size)
        return MPI_SUCCESS;
    if (!base || start + (uint64_t)size < start)
        return mur_error(MPI_ERR_RMA_ATTACH, "base is %p, where no %lld bytes of memory can lie", base,
                         (long long)size);
    i = regions_up_to(win->attached, win->attached_count, start + (uint64_t)size - 1);
    if (i > 0 && win->attached[i - 1].start + win->attached[i - 1].bytes > start)
        return mur_error(MPI_ERR_RMA_ATTACH, "base is %p, but the memory from %p on, %llu bytes, is attached already",
                         base, (void *)(uintptr_t)win->attached[i - 1].start,
                         (unsigned long long)win->attached[i - 1].bytes);
    regions = realloc(win->attached, (size_t)(win->attached_count + 1) * sizeof *regions);
    if (!regions)
        return mur_error(MPI_ERR_NO_MEM, "no memory to attach to the window");
    memmove(&regions[i + 1], &regions[i], (size_t)(win->attached_count - i) * sizeof *regions);
    regions[i] = (struct mur_win_region){start, (uint64_t)size};
    win->attached = regions;
    win->attached_count++;
    publish(win);
    return MPI_SUCCESS;
}

int mur_rma_detach(struct mur_win *win, const void *base)
{
    int i;

    if (!win->is_dynamic)
        return mur_error(MPI_ERR_RMA_FLAVOR, "memory can be detached from windows of MPI_Win_create_dynamic only");
    i = regions_up_to(win->attached, win->attached_count, (uintptr_t)base) - 1;
    if (i < 0 || win->attached[i].start != (uintptr_t)base)
        return mur_error(MPI_ERR_RMA_ATTACH, "base is %p, where no attached memory starts", base);
    win->attached_count--;
    memmove(&win->attached[i], &win->attached[i + 1], (size_t)(win->attached_count - i) * sizeof *win->attached);
    publish(win);
    return MPI_SUCCESS;
}
