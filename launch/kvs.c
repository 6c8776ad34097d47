/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table with chains (FNV-1a), which doubles when it is full. */
#include "kvs.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

struct waiter {
    struct waiter *next;
    mur_kvs_answer *answer;
    void *owner;
    int32_t who;
};

struct mur_kvs_entry {
    struct mur_kvs_entry *next;
    uint64_t hash;
    char *key;
    void *value; /* NULL: asked for, but not there */
    size_t bytes;
    struct waiter *waiters, **last;
};

static uint64_t hash_of(const char *key)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 0x100000001b3u;
    return hash;
}

static struct mur_kvs_entry *find(const struct mur_kvs *kvs, const char *key, uint64_t hash)
{
    struct mur_kvs_entry *entry = kvs->bucket_count ? kvs->buckets[hash & (kvs->bucket_count - 1)] : NULL;

    while (entry && (entry->hash != hash || strcmp(entry->key, key) != 0))
        entry = entry->next;
    return entry;
}

static void grow(struct mur_kvs *kvs)
{
    size_t count = kvs->bucket_count ? 2 * kvs->bucket_count : 64;
    struct mur_kvs_entry **buckets = mur_alloc(count, sizeof *buckets);

    for (size_t i = 0; i < kvs->bucket_count; i++)
        for (struct mur_kvs_entry *entry = kvs->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            entry->next = buckets[entry->hash & (count - 1)];
            buckets[entry->hash & (count - 1)] = entry;
        }
    free(kvs->buckets);
    kvs->buckets = buckets;
    kvs->bucket_count = count;
}

static struct mur_kvs_entry *find_or_add(struct mur_kvs *kvs, const char *key)
{
    uint64_t hash = hash_of(key);
    struct mur_kvs_entry *entry = find(kvs, key, hash);

    if (entry)
        return entry;
    if (kvs->entry_count++ >= kvs->bucket_count)
        grow(kvs);
    entry = mur_alloc(1, sizeof *entry);
    entry->hash = hash;
    entry->key = mur_alloc_text("%s", key);
    entry->last = &entry->waiters;
    entry->next = kvs->buckets[hash & (kvs->bucket_count - 1)];
    kvs->buckets[hash & (kvs->bucket_count - 1)] = entry;
    return entry;
}

void mur_kvs_put(struct mur_kvs *kvs, const char *key, const void *value, size_t bytes)
{
    struct mur_kvs_entry *entry = find_or_add(kvs, key);

    if (entry->value)
        return;
    entry->value = mur_alloc(bytes + 1, 1);
    entry->bytes = bytes;
    memcpy(entry->value, value, bytes);
    while (entry->waiters) {
        struct waiter *waiter = entry->waiters;

        entry->waiters = waiter->next;
        waiter->answer(waiter->owner, waiter->who, entry->key, entry->value, bytes);
        free(waiter);
    }
    entry->last = &entry->waiters;
}

const void *mur_kvs_get(const struct mur_kvs *kvs, const char *key, size_t *bytes)
{
    const struct mur_kvs_entry *entry = find(kvs, key, hash_of(key));

    if (!entry || !entry->value)
        return NULL;
    *bytes = entry->bytes;
    return entry->value;
}

bool mur_kvs_ask(struct mur_kvs *kvs, const char *key, mur_kvs_answer *answer, void *owner, int32_t who)
{
    struct mur_kvs_entry *entry = find_or_add(kvs, key);
    struct waiter *waiter;
    bool is_first;

    if (entry->value) {
        answer(owner, who, entry->key, entry->value, entry->bytes);
        return false;
    }
    is_first = !entry->waiters;
    waiter = mur_alloc(1, sizeof *waiter);
    *waiter = (struct waiter){.answer = answer, .owner = owner, .who = who};
    *entry->last = waiter;
    entry->last = &waiter->next;
    return is_first;
}
