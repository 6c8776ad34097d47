/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects in memory: see store.h. */
#include "mpijob/store/store.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

void mur_store_start(struct mur_store *store)
{
    *store = (struct mur_store){.objects = mur_value_new(MUR_LIST)};
}

void mur_store_end(struct mur_store *store)
{
    mur_value_free(store->objects);
    store->objects = NULL;
}

struct mur_value *mur_store_find(const struct mur_store *store, const char *kind, const char *name)
{
    for (int i = 0; i < store->objects->count; i++) {
        struct mur_value *object = store->objects->members[i].value;

        if (strcmp(mur_value_string(object, "kind", ""), kind) == 0 &&
            strcmp(mur_value_string(object, "metadata.name", ""), name) == 0)
            return object;
    }
    return NULL;
}

void mur_store_changed(struct mur_store *store, struct mur_value *object)
{
    mur_value_set(object, "metadata.resourceVersion", mur_value_text("%lld", ++store->version));
}

struct mur_value *mur_uid_node(void)
{
    unsigned char bytes[16] = {0};

    if (getrandom(bytes, sizeof bytes, 0) < 0)
        bytes[0] = 1;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* RFC 9562, version 4 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    return mur_value_text("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", bytes[0], bytes[1],
                          bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
                          bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]);
}

struct mur_value *mur_store_create(struct mur_store *store, struct mur_value *object, double now)
{
    mur_value_set(object, "metadata.uid", mur_uid_node());
    mur_value_set(object, "metadata.creationTimestamp", mur_time_node(now));
    mur_store_changed(store, object);
    mur_value_add(store->objects, object);
    return object;
}

void mur_store_put(struct mur_store *store, struct mur_value *object)
{
    struct mur_value *list = store->objects;
    const struct mur_value *old =
        mur_store_find(store, mur_value_string(object, "kind", ""), mur_value_string(object, "metadata.name", ""));

    store->version++;
    for (int i = 0; old && i < list->count; i++)
        if (list->members[i].value == old) {
            mur_value_free(list->members[i].value);
            list->members[i].value = object;
            return;
        }
    mur_value_add(list, object);
}

void mur_store_remove(struct mur_store *store, const char *kind, const char *name)
{
    struct mur_value *list = store->objects, *object = mur_store_find(store, kind, name);

    for (int i = 0; i < list->count; i++)
        if (list->members[i].value == object) {
            memmove(&list->members[i], &list->members[i + 1], (size_t)(list->count - i - 1) * sizeof *list->members);
            list->count--;
            mur_value_free(object);
            store->version++;
            return;
        }
}

struct mur_value *mur_time_node(double seconds)
{
    time_t whole = (time_t)seconds;
    struct tm parts;
    char text[32];

    gmtime_r(&whole, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return mur_value_text("%s", text);
}

double mur_time_read(const char *text)
{
    struct tm parts = {0};

    return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts) ? (double)timegm(&parts) : 0;
}
