/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches: changes from the journal as a stream of events, one a line.
 *
 * A watch is a place in the journal. What it has not read is there, so a slow client costs no memory; one that is so
 * slow that the journal has gone on without it is told that its version has expired. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "mpijob/server/http.h"

enum { ENOUGH = 64 << 10, LONGEST = 1800, BOOKMARK = 60 }; /* bytes that are ready; seconds */

struct watch {
    struct mur_http_stream stream;
    const struct mur_resource *resource;
    char *space, *api_version;
    struct mur_selectors selectors;
    bool is_table, has_bookmarks, has_columns, is_over;
    long long version;
    double ends, bookmark;
    char *text; /* what is ready, of which `sent` bytes have been sent */
    size_t length, sent;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void add_text(struct watch *watch, const char *text)
{
    size_t length = strlen(text);

    watch->text = mur_alloc_again(watch->text, watch->length + length + 1, 1);
    memcpy(watch->text + watch->length, text, length + 1);
    watch->length += length;
}

/* `body` is the object's text. */
static void add_event(struct watch *watch, const char *type, const char *body)
{
    add_text(watch, "{\"type\":\"");
    add_text(watch, type);
    add_text(watch, "\",\"object\":");
    add_text(watch, body);
    add_text(watch, "}\n");
}

static void add_object(struct watch *watch, const char *type, const struct mur_value *object)
{
    struct mur_value *alone, *table;
    char *text;

    if (!watch->is_table) {
        text = mur_json_text(object);
    } else {
        alone = mur_value_new(MUR_LIST);
        mur_value_add(alone, mur_value_copy(object));
        table = mur_table_make(watch->resource, alone, mur_value_string(object, "metadata.resourceVersion", ""),
                               !watch->has_columns);
        watch->has_columns = true;
        text = mur_json_text(table);
        mur_value_free(alone);
        mur_value_free(table);
    }
    add_event(watch, type, text);
    free(text);
}

static struct mur_value *read_text(const char *text)
{
    struct mur_document_error error;

    return *text ? mur_json_read(text, strlen(text), &error) : NULL;
}

/* An object that comes to match, or matches no longer, is added or deleted as far as this watch knows. */
static void add_selected(struct watch *watch, const struct mur_api_change *change)
{
    struct mur_value *before = read_text(change->before), *after = read_text(change->after);
    bool did = before && mur_selectors_match(&watch->selectors, before);
    bool does = after && strcmp(change->type, "DELETED") != 0 && mur_selectors_match(&watch->selectors, after);

    if (did || does)
        add_object(watch, !does ? "DELETED" : did ? "MODIFIED" : "ADDED", after);
    mur_value_free(before);
    mur_value_free(after);
}

static bool take_change(void *whom, const struct mur_api_change *change)
{
    struct watch *watch = whom;

    if (watch->is_table || !mur_selector_is_empty(watch->selectors.labels) ||
        !mur_selector_is_empty(watch->selectors.fields))
        add_selected(watch, change);
    else
        add_event(watch, change->type, change->after);
    return watch->length < ENOUGH;
}

static void add_bookmark(struct watch *watch)
{
    char *text = mur_alloc_text("{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"%lld\","
                                "\"creationTimestamp\":null}}",
                                watch->resource->kind, watch->api_version, watch->version);

    if (!watch->is_table)
        add_event(watch, "BOOKMARK", text);
    watch->bookmark = now() + BOOKMARK;
    free(text);
}

static void fill(struct watch *watch)
{
    free(watch->text);
    watch->text = NULL;
    watch->length = watch->sent = 0;
    if (watch->version < mur_base_oldest()) {
        struct mur_value *failure =
            mur_failure(410, "Expired", "too old resource version: %lld (%lld)", watch->version, mur_base_oldest());
        char *text = mur_json_text(failure);

        add_event(watch, "ERROR", text);
        free(text);
        mur_value_free(failure);
        watch->is_over = true;
        return;
    }
    mur_base_changes(watch->resource, watch->space, &watch->version, take_change, watch);
    if (watch->has_bookmarks && watch->length == 0 && now() >= watch->bookmark)
        add_bookmark(watch);
}

static ssize_t watch_read(struct mur_http_stream *stream, char *to, size_t room)
{
    struct watch *watch = (struct watch *)stream;
    size_t left;

    if (watch->sent == watch->length && !watch->is_over)
        fill(watch);
    left = watch->length - watch->sent;
    if (left > 0) {
        left = left < room ? left : room;
        memcpy(to, watch->text + watch->sent, left);
        watch->sent += left;
        return (ssize_t)left;
    }
    return watch->is_over || now() >= watch->ends ? -1 : 0;
}

static bool watch_is_ready(const struct mur_http_stream *stream, double time_now)
{
    const struct watch *watch = (const struct watch *)stream;

    return watch->version < mur_base_version() || time_now >= watch->ends ||
           (watch->has_bookmarks && time_now >= watch->bookmark);
}

static void watch_free(struct mur_http_stream *stream)
{
    struct watch *watch = (struct watch *)stream;

    mur_selectors_free(&watch->selectors);
    free(watch->space);
    free(watch->api_version);
    free(watch->text);
    free(watch);
}

/* Without a version, or from "0": what there is comes first, as if it were added now. */
static void add_present(struct watch *watch)
{
    struct mur_value *list = mur_base_list(watch->resource, watch->space);

    for (int i = 0; i < list->count; i++)
        if (mur_selectors_match(&watch->selectors, list->members[i].value))
            add_object(watch, "ADDED", list->members[i].value);
    mur_value_free(list);
    watch->version = mur_base_version();
}

static bool find_start(struct watch *watch, const char *version, struct mur_reply *reply)
{
    char *end;

    if (!*version || strcmp(version, "0") == 0) {
        add_present(watch);
        return true;
    }
    watch->version = strtoll(version, &end, 10);
    if (*end || watch->version < 0)
        mur_reply_fail(reply, 400, "BadRequest", "resourceVersion: Invalid value: \"%s\"", version);
    else if (watch->version < mur_base_oldest() || watch->version > mur_base_version())
        mur_reply_fail(reply, 410, "Expired", "too old resource version: %s (%lld)", version, mur_base_oldest());
    return !reply->body;
}

struct mur_http_stream *mur_watch_open(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct watch *watch;
    struct mur_selectors selectors;
    double limit = strtod(request->option(request, "timeoutSeconds"), NULL);

    if (strcmp(request->option(request, "sendInitialEvents"), "true") == 0) {
        mur_reply_fail(reply, 422, "Invalid", "sendInitialEvents: Forbidden: list the objects first, then watch");
        return NULL;
    }
    if (!mur_selectors_read(request, &selectors, reply))
        return NULL;
    watch = mur_alloc(1, sizeof *watch);
    watch->stream = (struct mur_http_stream){
        .content_type = "application/json", .read = watch_read, .is_ready = watch_is_ready, .free = watch_free};
    watch->resource = request->resource;
    watch->selectors = selectors;
    watch->space = mur_alloc_text("%s", request->space);
    watch->api_version = mur_alloc_text("%s%s%s", request->group, *request->group ? "/" : "", request->version);
    watch->is_table = mur_table_is_wanted(request->accept);
    watch->has_bookmarks = strcmp(request->option(request, "allowWatchBookmarks"), "true") == 0;
    watch->ends = now() + (limit > 0 && limit < LONGEST ? limit : LONGEST);
    watch->bookmark = now() + BOOKMARK;
    if (find_start(watch, request->option(request, "resourceVersion"), reply))
        return &watch->stream;
    watch_free(&watch->stream);
    return NULL;
}
