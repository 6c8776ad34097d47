/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem and MPI_Free_mem (MPI-5.0 §9.2). What has been allocated is kept in a small hash table, so that freeing
 * anything else is an error and no crash.
 *
 * Memory comes from what the ranks of the node share (node/heap.h), so that one-sided operations reach it from both
 * sides (MUR_ALLOC_SHARED); where there is none of that, from the process's own.
 *
 * Large pieces are put on huge pages where the system has them (MUR_HUGE_PAGES): transparent ones, which the kernel
 * provides when it can, or reserved ones, which are there for sure but belong to all; without either there are small
 * pages, and nothing else changes. Many systems give transparent ones to a process's own memory only: then that is
 * taken, unless sharing is asked for expressly. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counters.h"
#include "base/error.h"
#include "base/settings.h"
#include "node/heap.h"
#include "mpi/bodies.h"
#include "object/info.h"

enum { BUCKETS = 256, ALIGNMENT = 64 /* a cache line; more than any predefined type needs */ };

struct allocation {
    struct allocation *next;
    void *memory;
    size_t bytes;  /* that were asked for */
    size_t mapped; /* bytes of reserved huge pages; else 0 */
    bool is_shared, is_huge;
};
static struct allocation *buckets[BUCKETS];

static struct allocation **bucket_of(const void *memory)
{
    return &buckets[((uintptr_t)memory / ALIGNMENT * 2654435761u >> 8) % BUCKETS];
}

/* What the user asks for, where that is a power of two; more does no harm. */
static size_t alignment_of(const struct mur_info *info)
{
    const char *value = mur_info_get(info, "mpi_minimum_memory_alignment");
    unsigned long long wanted = value ? strtoull(value, NULL, 10) : 0;

    return wanted > ALIGNMENT && wanted <= (1u << 30) && !(wanted & (wanted - 1)) ? (size_t)wanted : ALIGNMENT;
}

/* What one entry of the page table's second level maps; 0: this system has no huge pages. */
static size_t huge_page_bytes(void)
{
    static size_t bytes = 1; /* not known yet */
    FILE *file;

    if (bytes != 1)
        return bytes;
    bytes = 0;
    file = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "re");
    if (file && (fscanf(file, "%zu", &bytes) != 1 || bytes & (bytes - 1)))
        bytes = 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Whether the system gives transparent huge pages by this rule of its own: to those who ask for them at least. */
static bool read_rule(const char *rule)
{
    char path[96], text[128] = "";
    const char *chosen;
    FILE *file;

    snprintf(path, sizeof path, "/sys/kernel/mm/transparent_hugepage/%s", rule);
    file = fopen(path, "re");
    if (!file)
        return false;
    chosen = fgets(text, sizeof text, file) ? strchr(text, '[') : NULL;
    fclose(file);
    return chosen && strncmp(chosen, "[never]", 7) && strncmp(chosen, "[deny]", 6);
}

/* On reserved huge pages, all of which are there when the call returns; false: there are not enough. */
static bool map_reserved(struct allocation *allocation, size_t huge)
{
    size_t bytes = (allocation->bytes + huge - 1) & ~(huge - 1);
    int order = __builtin_ctzll(huge);
    void *memory;

    if (bytes < allocation->bytes)
        return false;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | order << MAP_HUGE_SHIFT, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    allocation->memory = memory;
    allocation->mapped = bytes;
    allocation->is_huge = true;
    return true;
}

/* For memory that is shared, and for a process's own; read once. */
static bool has_huge(bool is_shared)
{
    static bool is_known, of_shared, of_own;

    if (!is_known) {
        of_shared = read_rule("shmem_enabled");
        of_own = read_rule("enabled");
        is_known = true;
    }
    return is_shared ? of_shared : of_own;
}

/* Huge pages of its own are worth more to most than sharing. */
static bool should_share(bool is_large)
{
    return mur_settings.alloc_shared > 0 ||
           (mur_settings.alloc_shared < 0 && (!is_large || has_huge(true) || !has_huge(false)));
}

static bool provide(struct allocation *allocation, size_t alignment)
{
    size_t huge = mur_settings.huge_pages ? huge_page_bytes() : 0;
    bool is_large = huge && allocation->bytes >= huge;

    if (is_large && mur_settings.huge_pages == 2 && alignment <= huge && map_reserved(allocation, huge))
        return true;
    if (is_large && alignment < huge)
        alignment = huge;
    if (should_share(is_large)) {
        allocation->memory = mur_heap_get(allocation->bytes ? allocation->bytes : 1, alignment);
        allocation->is_shared = allocation->memory != NULL;
        allocation->is_huge = allocation->is_shared && is_large && has_huge(true);
        if (allocation->is_shared)
            return true;
    }
    if (posix_memalign(&allocation->memory, alignment, allocation->bytes ? allocation->bytes : 1))
        return false;
    if (is_large)
        allocation->is_huge = madvise(allocation->memory, allocation->bytes & ~(huge - 1), MADV_HUGEPAGE) == 0;
    return true;
}

static void count(const struct allocation *allocation, bool is_there)
{
    size_t huge = allocation->is_huge ? allocation->bytes : 0, shared = allocation->is_shared ? allocation->bytes : 0;

    mur_counters.allocated += is_there ? allocation->bytes : -allocation->bytes;
    mur_counters.huge_bytes += is_there ? huge : -huge;
    mur_counters.shared_bytes += is_there ? shared : -shared;
}

int mur_mpi_alloc_mem(MPI_Aint size, struct mur_info *info, void *baseptr)
{
    struct allocation *allocation, **bucket;

    if (size < 0)
        return mur_error(MPI_ERR_ARG, "size is %lld, but must be 0 or more", (long long)size);
    allocation = calloc(1, sizeof *allocation);
    if (allocation)
        allocation->bytes = (size_t)size;
    if (!allocation || !provide(allocation, alignment_of(info))) {
        free(allocation);
        return mur_error(MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)size);
    }
    count(allocation, true);
    bucket = bucket_of(allocation->memory);
    allocation->next = *bucket;
    *bucket = allocation;
    memcpy(baseptr, &allocation->memory, sizeof allocation->memory);
    return MPI_SUCCESS;
}

int mur_mpi_free_mem(void *base)
{
    struct allocation **link = bucket_of(base), *found;

    if (!base) /* as free() takes it */
        return MPI_SUCCESS;
    while (*link && (*link)->memory != base)
        link = &(*link)->next;
    found = *link;
    if (!found)
        return mur_error(MPI_ERR_BASE, "base is %p, which MPI_Alloc_mem has not given out, or which was freed already",
                         base);
    *link = found->next;
    count(found, false);
    if (found->is_shared)
        mur_heap_put(found->memory);
    else if (found->mapped)
        munmap(found->memory, found->mapped);
    else
        free(found->memory);
    free(found);
    return MPI_SUCCESS;
}
