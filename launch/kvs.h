/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's key-value space, as one agent knows it: values that ranks have put, and questions that wait for one.
 *
 * The root agent knows all values. The others keep those that passed through them, so that a value which many ranks
 * of a node ask for comes down the tree once. A value does not change: the first that is put under a key stays. */
#ifndef MUR_LAUNCH_KVS_H
#define MUR_LAUNCH_KVS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mur_kvs {
    struct mur_kvs_entry **buckets;
    size_t bucket_count, entry_count;
};

/* Whoever asked: `who` means something to the one who gave it. */
typedef void mur_kvs_answer(void *owner, int32_t who, const char *key, const void *value, size_t bytes);

/* Keeps the value, and answers those who wait for it. */
void mur_kvs_put(struct mur_kvs *kvs, const char *key, const void *value, size_t bytes);

/* The value, or NULL where there is none yet. */
const void *mur_kvs_get(const struct mur_kvs *kvs, const char *key, size_t *bytes);

/* Answers now, or when the value is put. Returns true when nobody here has asked for it before: the one who knows
 * must be asked. */
bool mur_kvs_ask(struct mur_kvs *kvs, const char *key, mur_kvs_answer *answer, void *owner, int32_t who);

#endif
