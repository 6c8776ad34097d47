/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking calls whose sections were copied: a list of requests by their number in Fortran. After every call that
 * completes requests, what came in is copied back to the sections of those that are complete. The list is empty in
 * nearly all programs, which look at one counter. A request that C completes without Fortran's knowledge is not seen.
 *
 * A number is free again when its request is complete, so another thread may have a new request of the same number
 * before the data of the old one is back. Hence a thread marks the entries of the requests that it is about to
 * complete, and afterwards looks for its own marks.
 *
 * Partitioned communication copies a partition when it is ready, and brings it back when it has arrived: from then on
 * the program may change it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fortran/section.h"

struct pending {
    struct pending *next;
    MPI_Fint request;
    bool is_persistent;
    bool is_active; /* started and not known to be complete */
    bool is_marked;
    pthread_t marker; /* the thread that marked it last */
    MPI_Count partitions;
    char *is_back; /* of each partition; NULL if there are none */
    int count;
    struct mur_section_part parts[MUR_SECTION_BUFFERS];
};

int mur_pending_count; /* of the list; read without the lock by threads that have requests of their own in it or none */
static struct pending *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The newest entry of a number, or NULL. The caller holds the lock. */
static struct pending *find(MPI_Fint request)
{
    struct pending *entry = list;

    while (entry && entry->request != request)
        entry = entry->next;
    return entry;
}

/* The entry that this thread has marked, or NULL. The caller holds the lock. */
static struct pending *find_marked(MPI_Fint request)
{
    struct pending *entry = list;

    while (entry && !(entry->request == request && entry->is_marked && pthread_equal(entry->marker, pthread_self())))
        entry = entry->next;
    return entry;
}

static void take_out(struct pending *entry)
{
    struct pending **link = &list;

    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    __atomic_fetch_sub(&mur_pending_count, 1, __ATOMIC_RELAXED);
}

static void destroy(struct pending *entry)
{
    take_out(entry);
    for (int i = 0; i < entry->count; i++)
        mur_section_part_free(&entry->parts[i]);
    free(entry->is_back);
    free(entry);
}

/* Without memory for an entry nothing could ever bring the data back: the job ends. */
void mur_pending_add(MPI_Fint request, const struct mur_sections *sections)
{
    struct pending *entry = calloc(1, sizeof *entry);

    if (entry && sections->partitions)
        entry->is_back = calloc((size_t)sections->partitions, 1);
    if (!entry || (sections->partitions && !entry->is_back)) {
        free(entry);
        PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        return;
    }
    entry->request = request;
    entry->is_persistent = sections->is_persistent;
    entry->is_active = !sections->is_persistent;
    entry->partitions = sections->partitions;
    entry->count = sections->count;
    memcpy(entry->parts, sections->parts, sizeof entry->parts);
    pthread_mutex_lock(&lock);
    entry->next = list;
    list = entry;
    __atomic_fetch_add(&mur_pending_count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

static void bring_partition_back(struct pending *entry, MPI_Count partition)
{
    const struct mur_section_part *part = &entry->parts[0];

    if (!entry->is_back[partition])
        mur_section_scatter(part, (size_t)(partition * part->part_bytes), (size_t)part->part_bytes);
    entry->is_back[partition] = true;
}

static void bring_back(struct pending *entry)
{
    for (int i = 0; i < entry->count; i++) {
        if (!entry->parts[i].copy || entry->parts[i].is_input)
            continue;
        if (!entry->partitions)
            mur_section_scatter(&entry->parts[i], 0, mur_section_part_bytes(&entry->parts[i]));
        for (MPI_Count partition = 0; partition < entry->partitions; partition++)
            bring_partition_back(entry, partition);
    }
    entry->is_active = false;
}

static bool is_complete(MPI_Request request)
{
    int flag = 0;

    return request == MPI_REQUEST_NULL || (!PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) && flag);
}

void mur_pending_mark_all(const MPI_Fint *numbers, int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        struct pending *entry = find(numbers[i]);

        if (entry) {
            entry->is_marked = true;
            entry->marker = pthread_self();
        }
    }
    pthread_mutex_unlock(&lock);
}

void mur_pending_settle_all(const MPI_Fint *numbers, const MPI_Request *requests, int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        struct pending *entry = find_marked(numbers[i]);

        if (!entry)
            continue;
        if (entry->is_active && is_complete(requests[i]))
            bring_back(entry);
        if (requests[i] == MPI_REQUEST_NULL)
            destroy(entry);
        else
            entry->is_marked = false;
    }
    pthread_mutex_unlock(&lock);
}

void mur_pending_start_all(const MPI_Fint *numbers, int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        struct pending *entry = find(numbers[i]);

        for (int j = 0; entry && j < entry->count; j++)
            if (entry->parts[j].copy)
                mur_section_gather(&entry->parts[j], 0, mur_section_part_bytes(&entry->parts[j]));
        if (entry && entry->partitions)
            memset(entry->is_back, false, (size_t)entry->partitions);
        if (entry)
            entry->is_active = true;
    }
    pthread_mutex_unlock(&lock);
}

/* The entry of a partitioned request, if it has these partitions; the call itself reports any others. */
static struct pending *find_partitions(MPI_Fint number, MPI_Fint low, MPI_Fint high)
{
    struct pending *entry = find(number);

    return entry && low >= 0 && high < entry->partitions ? entry : NULL;
}

void mur_pending_ready_range(MPI_Fint number, MPI_Fint low, MPI_Fint high)
{
    struct pending *entry;

    pthread_mutex_lock(&lock);
    entry = find_partitions(number, low, high);
    if (entry && low <= high)
        mur_section_gather(&entry->parts[0], (size_t)(low * entry->parts[0].part_bytes),
                           (size_t)((high - low + 1) * entry->parts[0].part_bytes));
    pthread_mutex_unlock(&lock);
}

void mur_pending_arrived_one(MPI_Fint number, MPI_Fint partition)
{
    struct pending *entry;

    pthread_mutex_lock(&lock);
    entry = find_partitions(number, partition, partition);
    if (entry && entry->is_active)
        bring_partition_back(entry, partition);
    pthread_mutex_unlock(&lock);
}

/* A request that is freed while it is active still uses the copy, which therefore stays. */
void mur_pending_forget_one(MPI_Fint number)
{
    struct pending *entry;

    pthread_mutex_lock(&lock);
    entry = find(number);
    if (entry && !entry->is_active) {
        destroy(entry);
    } else if (entry) {
        take_out(entry);
        free(entry->is_back);
        free(entry);
    }
    pthread_mutex_unlock(&lock);
}
