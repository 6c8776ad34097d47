/* SPDX-License-Identifier: BSD-3-Clause */
/* A key-value space: texts under keys, and waiters for keys that are not there yet.
 *
 * An agent keeps what its ranks put and caches what it asked its parent for. Who needs a key that is on its way leaves
 * a waiter, which is told the value when it is put, or that there is none (mur_kvs_settle). The space has a limit, so
 * that a rank that puts for ever fills it and not the memory. */
#ifndef MUR_LAUNCH_KVS_H
#define MUR_LAUNCH_KVS_H

#include <stdbool.h>
#include <stddef.h>

struct mur_kvs;

/* value is NULL where it is settled that there is none. Both texts are good during the call only. */
typedef void mur_kvs_waiter(void *owner, const char *key, const char *value);

struct mur_kvs *mur_kvs_create(size_t most_bytes); /* keys, values, waiters and their overhead together */
void mur_kvs_free(struct mur_kvs *kvs);            /* waiters are forgotten */

/* Stores a copy in the place of an older value, and tells the waiters. False: the space is full, nothing changed. */
bool mur_kvs_put(struct mur_kvs *kvs, const char *key, const char *value);

/* Tells the waiters a value that nobody will ask for again, and keeps it only when none waits yet. False: the space is
 * full, and the value is lost. */
bool mur_kvs_give(struct mur_kvs *kvs, const char *key, const char *value);

const char *mur_kvs_get(const struct mur_kvs *kvs, const char *key); /* NULL: not there */
bool mur_kvs_remove(struct mur_kvs *kvs, const char *key);           /* false: it was not there */

/* Calls the waiter at once when the value is there, else once when it is put or settled. *is_first tells that nobody
 * else waits for this key: time to ask the parent. False: the space is full, and the waiter will not be called. */
bool mur_kvs_wait(struct mur_kvs *kvs, const char *key, mur_kvs_waiter *waiter, void *owner, bool *is_first);

void mur_kvs_settle(struct mur_kvs *kvs, const char *key); /* there is no value: tells the waiters so */

size_t mur_kvs_count(const struct mur_kvs *kvs); /* keys that have values */
size_t mur_kvs_bytes(const struct mur_kvs *kvs); /* in use, of most_bytes */

#endif
