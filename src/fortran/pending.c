/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking calls whose sections were copied: a table of requests by their number in Fortran. After every call that
 * completes requests, what came in is copied back to the sections of those that are complete. The table is empty in
 * nearly all programs, which look at one counter. A request that C completes without Fortran's knowledge is not seen.
 */
#include <pthread.h>
#include <stdlib.h>

#include "fortran/section.h"

struct pending {
    struct pending *next;
    MPI_Fint request;
    bool is_persistent;
    bool is_active; /* started and not known to be complete */
    int count;
    struct mur_part parts[MUR_SECTION_BUFFERS];
};

int mur_pending_count; /* of the list; read without the lock by those who have requests of their own in it or none */
static struct pending *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The link to a request's entry, or to NULL. The caller holds the lock. */
static struct pending **find(MPI_Fint request)
{
    struct pending **link = &list;

    while (*link && (*link)->request != request)
        link = &(*link)->next;
    return link;
}

static void destroy(struct pending **link)
{
    struct pending *entry = *link;

    *link = entry->next;
    for (int i = 0; i < entry->count; i++)
        mur_part_free(&entry->parts[i]);
    free(entry);
    __atomic_fetch_sub(&mur_pending_count, 1, __ATOMIC_RELAXED);
}

/* Without memory for an entry nothing could ever bring the data back: the job ends. */
void mur_pending_add(MPI_Fint request, bool is_persistent, const struct mur_sections *sections)
{
    struct pending *entry = malloc(sizeof *entry);

    if (!entry) {
        PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        return;
    }
    entry->request = request;
    entry->is_persistent = is_persistent;
    entry->is_active = !is_persistent;
    entry->count = sections->count;
    for (int i = 0; i < sections->count; i++)
        entry->parts[i] = sections->parts[i];
    pthread_mutex_lock(&lock);
    if (*find(request))
        destroy(find(request));
    entry->next = list;
    list = entry;
    __atomic_fetch_add(&mur_pending_count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

static void bring_back(struct pending *entry)
{
    for (int i = 0; i < entry->count; i++)
        if (entry->parts[i].copy && !entry->parts[i].is_input)
            mur_section_scatter(entry->parts[i].descriptor, entry->parts[i].copy);
    entry->is_active = false;
}

static bool is_complete(MPI_Request request)
{
    int flag = 0;

    return request == MPI_REQUEST_NULL || (!PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) && flag);
}

void mur_pending_settle_all(const MPI_Fint *numbers, const MPI_Request *requests, int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        struct pending **link = find(numbers[i]);

        if (!*link)
            continue;
        if ((*link)->is_active && is_complete(requests[i]))
            bring_back(*link);
        if (requests[i] == MPI_REQUEST_NULL)
            destroy(link);
    }
    pthread_mutex_unlock(&lock);
}

void mur_pending_start_all(const MPI_Fint *numbers, int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        struct pending *entry = *find(numbers[i]);

        for (int j = 0; entry && j < entry->count; j++)
            if (entry->parts[j].copy)
                mur_section_gather(entry->parts[j].descriptor, entry->parts[j].copy);
        if (entry)
            entry->is_active = true;
    }
    pthread_mutex_unlock(&lock);
}

/* A request that is freed while it is active still uses the copy, which therefore stays. */
void mur_pending_forget_one(MPI_Fint number)
{
    struct pending **link;

    pthread_mutex_lock(&lock);
    link = find(number);
    if (*link && !(*link)->is_active) {
        destroy(link);
    } else if (*link) {
        struct pending *entry = *link;

        *link = entry->next;
        free(entry);
        __atomic_fetch_sub(&mur_pending_count, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
}
