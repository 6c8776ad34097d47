/* SPDX-License-Identifier: BSD-3-Clause */
/* The two tables of matching. The idea is told in match.h. */
#include "match/match.h"

#include <stdlib.h>

#include "base/copy.h"
#include "base/counters.h"
#include "base/error.h"
#include "mpi.h"

_Static_assert(MUR_ANY_SOURCE == MPI_ANY_SOURCE && MUR_ANY_TAG == MPI_ANY_TAG, "wildcards are the ABI's");

enum { FIRST_BUCKETS = 256 };

/* The wildcard classes, as bits: which parts of a key are wildcards. */
enum { EXACT = 0, ANY_SOURCE = 1, ANY_TAG = 2, ANY_BOTH = 3, CLASSES = 4 };

struct bucket {
    struct mur_match_node *first, *last;
};

struct table {
    struct bucket *buckets;
    uint32_t mask; /* buckets - 1 */
    uint32_t count;
};

static struct {
    struct table posted, unexpected;
    uint64_t posted_order;
    uint32_t posted_in_class[CLASSES];
    bool is_indexed[CLASSES]; /* whether waiting messages lie under the keys of this class */
    uint64_t arrival_order;
} match = {.is_indexed = {[EXACT] = true}};

static struct mur_pool message_pool = MUR_POOL(MUR_KIND_MESSAGE, struct mur_message, "messages");

/* Keeps neighbouring tags in neighbouring buckets: programs use them in sequence. */
static inline uint32_t hash_of(uint32_t context, int32_t source, int32_t tag)
{
    uint32_t hash = (uint32_t)tag + (uint32_t)source * 0x9e3779b1u + context * 0x85ebca77u;

    return hash ^ hash >> 7 ^ hash >> 16;
}

static inline int class_of(const struct mur_match_key *key)
{
    return (key->source == MUR_ANY_SOURCE ? ANY_SOURCE : 0) | (key->tag == MUR_ANY_TAG ? ANY_TAG : 0);
}

static inline void append(struct table *table, struct mur_match_node *node)
{
    struct bucket *bucket = &table->buckets[node->hash & table->mask];

    node->next = NULL;
    node->previous = bucket->last;
    if (bucket->last)
        bucket->last->next = node;
    else
        bucket->first = node;
    bucket->last = node;
}

/* Twice the buckets. Walking the old chains in order keeps the order of each key. Without memory the chains grow. */
static __attribute__((noinline)) void grow(struct table *table)
{
    uint32_t old = table->mask + 1;
    struct bucket *before = table->buckets;
    struct bucket *after = calloc((size_t)old * 4, sizeof *after);

    if (!after)
        return;
    table->buckets = after;
    table->mask = old * 4 - 1;
    for (uint32_t i = 0; i < old; i++)
        for (struct mur_match_node *node = before[i].first, *next; node; node = next) {
            next = node->next;
            append(table, node);
        }
    free(before);
}

static inline void insert(struct table *table, struct mur_match_node *node)
{
    if (__builtin_expect(table->count++ > table->mask, 0))
        grow(table);
    append(table, node);
}

static inline void erase(struct table *table, struct mur_match_node *node)
{
    struct bucket *bucket = &table->buckets[node->hash & table->mask];

    if (node->previous)
        node->previous->next = node->next;
    else
        bucket->first = node->next;
    if (node->next)
        node->next->previous = node->previous;
    else
        bucket->last = node->previous;
    table->count--;
}

static inline struct mur_match_node *lookup(const struct table *table, uint32_t context, int32_t source, int32_t tag)
{
    struct mur_match_node *node = table->buckets[hash_of(context, source, tag) & table->mask].first;

    while (node && (node->key.tag != tag || node->key.source != source || node->key.context != context))
        node = node->next;
    return node;
}

int mur_match_setup(void)
{
    match.posted.buckets = calloc(FIRST_BUCKETS, sizeof *match.posted.buckets);
    match.unexpected.buckets = calloc(FIRST_BUCKETS, sizeof *match.unexpected.buckets);
    if (!match.posted.buckets || !match.unexpected.buckets)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the matching tables");
    match.posted.mask = match.unexpected.mask = FIRST_BUCKETS - 1;
    return MPI_SUCCESS;
}

void mur_match_teardown(void)
{
    free(match.posted.buckets);
    free(match.unexpected.buckets);
    match.posted = match.unexpected = (struct table){0};
}

void mur_match_post(struct mur_match_node *node)
{
    node->hash = hash_of(node->key.context, node->key.source, node->key.tag);
    node->order = match.posted_order++;
    match.posted_in_class[class_of(&node->key)]++;
    insert(&match.posted, node);
}

void mur_match_withdraw(struct mur_match_node *node)
{
    match.posted_in_class[class_of(&node->key)]--;
    erase(&match.posted, node);
}

bool mur_match_has_posted(void)
{
    return match.posted.count != 0;
}

static inline struct mur_match_node *earlier(struct mur_match_node *a, struct mur_match_node *b)
{
    if (!a || !b)
        return a ? a : b;
    return a->order < b->order ? a : b;
}

struct mur_match_node *mur_match_arrival(uint32_t context, int32_t source, int32_t tag)
{
    struct mur_match_node *found = NULL;

    if (match.posted_in_class[EXACT])
        found = lookup(&match.posted, context, source, tag);
    if (__builtin_expect(match.posted_in_class[ANY_SOURCE], 0))
        found = earlier(found, lookup(&match.posted, context, MUR_ANY_SOURCE, tag));
    if (__builtin_expect(match.posted_in_class[ANY_TAG], 0))
        found = earlier(found, lookup(&match.posted, context, source, MUR_ANY_TAG));
    if (__builtin_expect(match.posted_in_class[ANY_BOTH], 0))
        found = earlier(found, lookup(&match.posted, context, MUR_ANY_SOURCE, MUR_ANY_TAG));
    if (found)
        mur_match_withdraw(found);
    return found;
}

/* Puts the message under its key of one class. */
static inline void index_message(struct mur_message *message, int class)
{
    struct mur_match_node *node = &message->node[class];

    node->key.context = message->frame.context;
    node->key.source = class & ANY_SOURCE ? MUR_ANY_SOURCE : message->frame.source;
    node->key.tag = class & ANY_TAG ? MUR_ANY_TAG : message->frame.tag;
    node->hash = hash_of(node->key.context, node->key.source, node->key.tag);
    insert(&match.unexpected, node);
}

struct mur_message *mur_match_keep(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_message *message = mur_pool_get(&message_pool);

    if (!message)
        return NULL;
    message->data = message->inline_data;
    if (frame->bytes > sizeof message->inline_data) {
        message->data = malloc(frame->bytes);
        if (!message->data) {
            mur_pool_put(&message_pool, message);
            return NULL;
        }
    }
    mur_copy(message->data, data, frame->bytes);
    message->peer = peer;
    message->frame = *frame;
    message->comm = NULL;
    message->node[EXACT].order = match.arrival_order++;
    mur_counters.unexpected++;
    mur_level_add(&mur_counters.unexpected_now, &mur_counters.unexpected_peak, 1);
    mur_level_add(&mur_counters.unexpected_bytes_now, &mur_counters.unexpected_bytes_peak, frame->bytes);
    for (int class = 0; class < CLASSES; class ++)
        if (match.is_indexed[class])
            index_message(message, class);
    return message;
}

static int compare_order(const void *a, const void *b)
{
    const struct mur_message *const *left = a, *const *right = b;

    return (*left)->node[EXACT].order < (*right)->node[EXACT].order ? -1 : 1;
}

static struct mur_message *message_of(struct mur_match_node *node, int class)
{
    return (struct mur_message *)((char *)node - offsetof(struct mur_message, node) - (size_t) class * sizeof *node);
}

/* The first receive with this wildcard: all messages that wait are put under its keys, in the order of arrival. */
static __attribute__((noinline)) bool start_index(int class)
{
    struct mur_message **messages = malloc(((size_t)match.unexpected.count + 1) * sizeof *messages);
    size_t count = 0;

    if (!messages)
        return false;
    for (uint32_t i = 0; i <= match.unexpected.mask; i++)
        for (struct mur_match_node *node = match.unexpected.buckets[i].first; node; node = node->next)
            if (class_of(&node->key) == EXACT)
                messages[count++] = message_of(node, EXACT);
    qsort(messages, count, sizeof *messages, compare_order);
    for (size_t i = 0; i < count; i++)
        index_message(messages[i], class);
    free(messages);
    match.is_indexed[class] = true;
    return true;
}

bool mur_match_has_messages(void)
{
    return match.unexpected.count != 0;
}

uint32_t mur_match_count(uint32_t context)
{
    uint32_t count = 0;

    if (!match.unexpected.count)
        return 0;
    for (uint32_t i = 0; i <= match.unexpected.mask; i++)
        for (struct mur_match_node *node = match.unexpected.buckets[i].first; node; node = node->next)
            count += node->key.context == context && class_of(&node->key) == EXACT;
    return count;
}

struct mur_message *mur_match_any(uint32_t first_context, uint32_t contexts)
{
    if (!match.unexpected.count)
        return NULL;
    for (uint32_t i = 0; i <= match.unexpected.mask; i++)
        for (struct mur_match_node *node = match.unexpected.buckets[i].first; node; node = node->next)
            if (node->key.context - first_context < contexts && class_of(&node->key) == EXACT)
                return message_of(node, EXACT);
    return NULL;
}

int mur_match_list(const struct mur_message **messages, int most)
{
    int count = 0;

    for (uint32_t i = 0; match.unexpected.count && i <= match.unexpected.mask; i++)
        for (struct mur_match_node *node = match.unexpected.buckets[i].first; node; node = node->next)
            if (class_of(&node->key) == EXACT && count++ < most)
                messages[count - 1] = message_of(node, EXACT);
    return count;
}

struct mur_message *mur_match_find(const struct mur_match_key *key)
{
    int class = class_of(key);
    struct mur_match_node *node;

    if (!match.unexpected.count)
        return NULL;
    if (!match.is_indexed[class] && !start_index(class))
        return NULL;
    node = lookup(&match.unexpected, key->context, key->source, key->tag);
    return node ? message_of(node, class) : NULL;
}

struct mur_message *mur_match_find_sent(const struct mur_match_key *key, const struct mur_peer *peer,
                                        bool (*is_it)(const struct mur_message *message, uint64_t id), uint64_t id)
{
    struct mur_match_node *node = lookup(&match.unexpected, key->context, key->source, key->tag);

    for (; node; node = node->next)
        if (node->key.context == key->context && node->key.source == key->source && node->key.tag == key->tag &&
            message_of(node, EXACT)->peer == peer && is_it(message_of(node, EXACT), id))
            return message_of(node, EXACT);
    return NULL;
}

void mur_match_take(struct mur_message *message)
{
    mur_counters.unexpected_now--;
    mur_counters.unexpected_bytes_now -= message->frame.bytes;
    for (int class = 0; class < CLASSES; class ++)
        if (match.is_indexed[class])
            erase(&match.unexpected, &message->node[class]);
}

void mur_match_message_free(struct mur_message *message)
{
    if (message->data != message->inline_data)
        free(message->data);
    mur_pool_put(&message_pool, message);
}
