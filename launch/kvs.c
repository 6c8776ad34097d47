/* SPDX-License-Identifier: BSD-3-Clause */
/* The key-value space as a hash map with chains (FNV-1a with a random start, so that no rank can choose keys that all
 * fall into one chain). An entry holds a value or a list of waiters, never both; one with neither is removed. */
#include "launch/kvs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "launch/alloc.h"

enum { FIRST_CHAINS = 64 };

struct waiter {
    struct waiter *next;
    mur_kvs_waiter *call;
    void *owner;
};

struct entry {
    struct entry *next;
    uint64_t hash;
    char *value; /* NULL: only waited for */
    struct waiter *waiters, **last_waiter;
    char key[];
};

struct mur_kvs {
    struct entry **chains;
    size_t chain_count; /* a power of two */
    size_t entry_count, value_count;
    size_t bytes, most_bytes;
    uint64_t hash_start;
};

struct mur_kvs *mur_kvs_create(size_t most_bytes)
{
    struct mur_kvs *kvs = mur_alloc(1, sizeof *kvs);

    kvs->chains = mur_alloc(FIRST_CHAINS, sizeof *kvs->chains);
    kvs->chain_count = FIRST_CHAINS;
    kvs->most_bytes = most_bytes;
    kvs->hash_start = 14695981039346656037u;
    if (getrandom(&kvs->hash_start, sizeof kvs->hash_start, GRND_NONBLOCK) < 0)
        kvs->hash_start ^= (uintptr_t)kvs;
    return kvs;
}

static void free_waiters(struct mur_kvs *kvs, struct entry *entry)
{
    while (entry->waiters) {
        struct waiter *next = entry->waiters->next;

        kvs->bytes -= sizeof *next;
        free(entry->waiters);
        entry->waiters = next;
    }
    entry->last_waiter = &entry->waiters;
}

void mur_kvs_free(struct mur_kvs *kvs)
{
    for (size_t i = 0; i < kvs->chain_count; i++)
        while (kvs->chains[i]) {
            struct entry *entry = kvs->chains[i];

            kvs->chains[i] = entry->next;
            free_waiters(kvs, entry);
            free(entry->value);
            free(entry);
        }
    free(kvs->chains);
    free(kvs);
}

static uint64_t hash_of(const struct mur_kvs *kvs, const char *key)
{
    uint64_t hash = kvs->hash_start;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    return hash ^ hash >> 32;
}

/* The link that leads to the key's entry, or the last one of its chain. */
static struct entry **find(const struct mur_kvs *kvs, const char *key, uint64_t hash)
{
    struct entry **link = &kvs->chains[hash & (kvs->chain_count - 1)];

    while (*link && ((*link)->hash != hash || strcmp((*link)->key, key) != 0))
        link = &(*link)->next;
    return link;
}

static void grow(struct mur_kvs *kvs)
{
    size_t count = 2 * kvs->chain_count;
    struct entry **chains = mur_alloc(count, sizeof *chains);

    for (size_t i = 0; i < kvs->chain_count; i++)
        while (kvs->chains[i]) {
            struct entry *entry = kvs->chains[i];

            kvs->chains[i] = entry->next;
            entry->next = chains[entry->hash & (count - 1)];
            chains[entry->hash & (count - 1)] = entry;
        }
    free(kvs->chains);
    kvs->chains = chains;
    kvs->chain_count = count;
}

static size_t entry_bytes(const char *key)
{
    return sizeof(struct entry) + 2 * sizeof(struct entry *) + strlen(key) + 1;
}

static bool has_room(const struct mur_kvs *kvs, size_t more)
{
    return more <= kvs->most_bytes && kvs->bytes <= kvs->most_bytes - more;
}

/* The key's entry, made if it is missing; NULL when it and `more` bytes do not fit. */
static struct entry *provide(struct mur_kvs *kvs, const char *key, size_t more)
{
    uint64_t hash = hash_of(kvs, key);
    struct entry *entry = *find(kvs, key, hash);

    if (!has_room(kvs, more + (entry ? 0 : entry_bytes(key))))
        return NULL;
    if (entry)
        return entry;
    if (kvs->entry_count >= kvs->chain_count)
        grow(kvs);
    entry = mur_alloc(1, sizeof *entry + strlen(key) + 1);
    strcpy(entry->key, key);
    entry->hash = hash;
    entry->last_waiter = &entry->waiters;
    entry->next = kvs->chains[hash & (kvs->chain_count - 1)];
    kvs->chains[hash & (kvs->chain_count - 1)] = entry;
    kvs->entry_count++;
    kvs->bytes += entry_bytes(key);
    return entry;
}

static void drop(struct mur_kvs *kvs, struct entry **link)
{
    struct entry *entry = *link;

    *link = entry->next;
    kvs->entry_count--;
    kvs->bytes -= entry_bytes(entry->key);
    if (entry->value) {
        kvs->value_count--;
        kvs->bytes -= strlen(entry->value) + 1;
    }
    free(entry->value);
    free(entry);
}

/* Waiters may call back into the space, even wait anew or remove the key: the list is taken off first, and the texts
 * are the caller's. */
static void tell(struct mur_kvs *kvs, struct waiter *waiters, const char *key, const char *value)
{
    while (waiters) {
        struct waiter *next = waiters->next;

        waiters->call(waiters->owner, key, value);
        kvs->bytes -= sizeof *waiters;
        free(waiters);
        waiters = next;
    }
}

static struct waiter *take_waiters(struct entry *entry)
{
    struct waiter *waiters = entry->waiters;

    entry->waiters = NULL;
    entry->last_waiter = &entry->waiters;
    return waiters;
}

bool mur_kvs_put(struct mur_kvs *kvs, const char *key, const char *value)
{
    size_t length = strlen(value) + 1;
    struct entry *entry = provide(kvs, key, length);
    char *copy;

    if (!entry)
        return false;
    copy = memcpy(mur_alloc(length, 1), value, length);
    if (entry->value)
        kvs->bytes -= strlen(entry->value) + 1;
    else
        kvs->value_count++;
    free(entry->value);
    entry->value = copy;
    kvs->bytes += length;
    tell(kvs, take_waiters(entry), key, value);
    return true;
}

bool mur_kvs_give(struct mur_kvs *kvs, const char *key, const char *value)
{
    struct entry **link = find(kvs, key, hash_of(kvs, key));
    struct waiter *waiters;

    if (!*link || !(*link)->waiters)
        return mur_kvs_put(kvs, key, value);
    waiters = take_waiters(*link);
    drop(kvs, link);
    tell(kvs, waiters, key, value);
    return true;
}

const char *mur_kvs_get(const struct mur_kvs *kvs, const char *key)
{
    struct entry *entry = *find(kvs, key, hash_of(kvs, key));

    return entry ? entry->value : NULL;
}

bool mur_kvs_remove(struct mur_kvs *kvs, const char *key)
{
    struct entry **link = find(kvs, key, hash_of(kvs, key));

    if (!*link || !(*link)->value)
        return false;
    drop(kvs, link);
    return true;
}

bool mur_kvs_wait(struct mur_kvs *kvs, const char *key, mur_kvs_waiter *call, void *owner, bool *is_first)
{
    const char *value = mur_kvs_get(kvs, key);
    struct waiter *waiter;
    struct entry *entry;

    *is_first = false;
    if (value) {
        call(owner, key, value);
        return true;
    }
    entry = provide(kvs, key, sizeof *waiter);
    if (!entry)
        return false;
    *is_first = !entry->waiters;
    waiter = mur_alloc(1, sizeof *waiter);
    waiter->call = call;
    waiter->owner = owner;
    *entry->last_waiter = waiter;
    entry->last_waiter = &waiter->next;
    kvs->bytes += sizeof *waiter;
    return true;
}

void mur_kvs_settle(struct mur_kvs *kvs, const char *key)
{
    struct entry **link = find(kvs, key, hash_of(kvs, key));
    struct waiter *waiters;

    if (!*link || (*link)->value)
        return;
    waiters = take_waiters(*link);
    drop(kvs, link);
    tell(kvs, waiters, key, NULL);
}

size_t mur_kvs_count(const struct mur_kvs *kvs)
{
    return kvs->value_count;
}

size_t mur_kvs_bytes(const struct mur_kvs *kvs)
{
    return kvs->bytes;
}
