/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches: a list, then the changes after it, as lines of JSON that come as they happen. A watch that ends goes on
 * where it was; one whose version has expired begins with the list again. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/client/client.h"

enum { LONGEST_LINE = 64 << 20, SHORTEST_WATCH = 300, LIST_TIME = 60 }; /* bytes; seconds */

static CURLM *multi;

struct mur_space *mur_mirror_space(struct mur_mirror *mirror, const char *name)
{
    struct mur_space **at = &mirror->spaces;

    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (!*at) {
        *at = mur_alloc(1, sizeof **at);
        (*at)->name = mur_alloc_text("%s", name);
        mur_store_start(&(*at)->store);
    }
    return *at;
}

static char *path_of(const struct mur_api_watch *watch, const char *more)
{
    char *path = mur_path(watch->resource, watch->version, watch->space, NULL, NULL), *full;
    const char *query = watch->query ? watch->query : "";

    full = mur_alloc_text("%s?%s%s%s", path, query, *query && *more ? "&" : "", more);
    free(path);
    return full;
}

static void try_later(struct mur_api_watch *watch)
{
    watch->delay = watch->delay > 0 ? (watch->delay < 15 ? watch->delay * 2 : 30) : 0.25;
    watch->due = mur_clock() + watch->delay;
}

/* Items of lists need not say what they are. */
static void take_list(struct mur_api_watch *watch, struct mur_value *list)
{
    struct mur_value *items = mur_value_get(list, "items"), *uids = mur_value_new(MUR_LIST);
    char *version = watch->version ? mur_alloc_text("%s", watch->version) : mur_resource_version(watch->resource);

    for (int i = 0; i < mur_value_count(items); i++) {
        struct mur_value *object = items->members[i].value;

        if (!mur_value_get(object, "kind"))
            mur_value_put(object, "kind", mur_value_text("%s", watch->resource->kind));
        if (!mur_value_get(object, "apiVersion"))
            mur_value_put(object, "apiVersion", mur_value_text("%s", version));
        mur_value_add(uids, mur_value_text("%s", mur_value_string(object, "metadata.uid", "")));
        items->members[i].value = mur_value_new(MUR_NULL);
        watch->take(watch->whom, "ADDED", object);
    }
    free(watch->from);
    watch->from = mur_alloc_text("%s", mur_value_string(list, "metadata.resourceVersion", ""));
    if (watch->listed)
        watch->listed(watch->whom, watch->resource, uids);
    mur_value_free(uids);
    free(version);
}

static void list(struct mur_api_watch *watch)
{
    char *path = path_of(watch, ""), *what;
    struct mur_answer answer;

    mur_call(watch->cluster, "GET", path, "", NULL, LIST_TIME, &answer);
    if (answer.code == 200 && answer.body) {
        take_list(watch, answer.body);
        watch->is_listed = true;
        watch->is_said = false;
        watch->delay = 0;
    } else {
        what = mur_alloc_text("cannot list %s", watch->resource->plural);
        if (!watch->is_said)
            mur_answer_say(&answer, what);
        watch->is_said = true;
        free(what);
        try_later(watch);
    }
    mur_answer_free(&answer);
    free(path);
}

static size_t arrive(char *data, size_t size, size_t count, void *whom)
{
    struct mur_api_watch *watch = whom;
    size_t length = size * count;

    if (watch->length + length > LONGEST_LINE)
        return 0;
    watch->text = mur_alloc_again(watch->text, watch->length + length, 1);
    memcpy(watch->text + watch->length, data, length);
    watch->length += length;
    return length;
}

static void begin(struct mur_api_watch *watch)
{
    char *more = mur_alloc_text("watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s",
                                SHORTEST_WATCH, watch->from);
    char *path = path_of(watch, more), *url = mur_alloc_text("%s%s", watch->cluster->server, path);

    watch->handle = curl_easy_init();
    watch->headers = NULL;
    watch->length = 0;
    mur_cluster_setup(watch->cluster, watch->handle, &watch->headers);
    curl_easy_setopt(watch->handle, CURLOPT_URL, url);
    curl_easy_setopt(watch->handle, CURLOPT_WRITEFUNCTION, arrive);
    curl_easy_setopt(watch->handle, CURLOPT_WRITEDATA, watch);
    curl_easy_setopt(watch->handle, CURLOPT_PRIVATE, watch);
    curl_easy_setopt(watch->handle, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(watch->handle, CURLOPT_TIMEOUT, 2L * SHORTEST_WATCH);
    curl_multi_add_handle(multi, watch->handle);
    free(more);
    free(path);
    free(url);
}

static void end(struct mur_api_watch *watch)
{
    curl_multi_remove_handle(multi, watch->handle);
    curl_easy_cleanup(watch->handle);
    curl_slist_free_all(watch->headers);
    watch->handle = NULL;
    watch->headers = NULL;
}

/* One event. An error says, as far as is known, that the version has expired. */
static void take_line(struct mur_api_watch *watch, const char *line, size_t length)
{
    struct mur_document_error error;
    struct mur_value *event = mur_json_read(line, length, &error), *object = mur_value_get(event, "object");
    const char *type = mur_value_string(event, "type", "");

    if (!object || strcmp(type, "ERROR") == 0) {
        watch->is_listed = false;
    } else {
        free(watch->from);
        watch->from = mur_alloc_text("%s", mur_value_string(object, "metadata.resourceVersion", ""));
        if (strcmp(type, "BOOKMARK") != 0)
            watch->take(watch->whom, type, mur_value_copy(object));
    }
    mur_value_free(event);
}

static void take_lines(struct mur_api_watch *watch)
{
    char *text = watch->text;
    size_t length = watch->length, used = 0;

    watch->text = NULL; /* what is taken may call, and calls may wait */
    watch->length = 0;
    for (;;) {
        char *stop = length > used ? memchr(text + used, '\n', length - used) : NULL;

        if (!stop)
            break;
        if (stop > text + used)
            take_line(watch, text + used, (size_t)(stop - text) - used);
        used = (size_t)(stop - text) + 1;
    }
    watch->length = length - used;
    if (watch->length > 0) {
        memmove(text, text + used, watch->length);
        watch->text = text;
    } else {
        free(text);
    }
}

static void finish(struct mur_api_watch *watch, CURLcode result)
{
    long code = 0;

    curl_easy_getinfo(watch->handle, CURLINFO_RESPONSE_CODE, &code);
    if (code == 200)
        take_lines(watch);
    end(watch);
    if (code != 200 || result != CURLE_OK) {
        watch->is_listed = watch->is_listed && code != 410 && code != 403 && code != 404;
        try_later(watch);
    } else {
        watch->delay = 0;
    }
}

static void start_due(struct mur_api_watch *watches, int count)
{
    for (int i = 0; i < count; i++) {
        struct mur_api_watch *watch = &watches[i];

        if (watch->handle || mur_clock() < watch->due)
            continue;
        if (!watch->is_listed)
            list(watch);
        if (watch->is_listed)
            begin(watch);
    }
}

static double next_due(const struct mur_api_watch *watches, int count, double seconds)
{
    double now = mur_clock();

    for (int i = 0; i < count; i++)
        if (!watches[i].handle && watches[i].due - now < seconds)
            seconds = watches[i].due > now ? watches[i].due - now : 0;
    return seconds;
}

void mur_watches_wait(struct mur_api_watch *watches, int count, struct curl_waitfd *others, int other_count,
                      double seconds)
{
    int running;
    CURLMsg *message;
    struct mur_api_watch *watch;

    if (!multi)
        multi = curl_multi_init();
    start_due(watches, count);
    seconds = next_due(watches, count, seconds);
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, others, (unsigned)other_count, seconds > 0 ? (int)(seconds * 1000) + 1 : 0, NULL);
    curl_multi_perform(multi, &running);
    for (int i = 0; i < count; i++)
        if (watches[i].handle) {
            long code = 0;

            curl_easy_getinfo(watches[i].handle, CURLINFO_RESPONSE_CODE, &code);
            if (code == 200 && watches[i].length > 0)
                take_lines(&watches[i]);
        }
    while ((message = curl_multi_info_read(multi, &running)))
        if (message->msg == CURLMSG_DONE) {
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&watch);
            finish(watch, message->data.result);
        }
}

void mur_watches_stop(struct mur_api_watch *watches, int count)
{
    for (int i = 0; i < count; i++)
        if (watches[i].handle)
            end(&watches[i]);
}

static struct mur_value *reference_to(const struct mur_value *object)
{
    static const char *const parts[] = {"namespace", "name", "uid", "resourceVersion"};
    struct mur_value *reference = mur_value_new(MUR_MAP);

    mur_value_put(reference, "kind", mur_value_text("%s", mur_value_string(object, "kind", "")));
    mur_value_put(reference, "apiVersion", mur_value_text("%s", mur_value_string(object, "apiVersion", "")));
    for (int i = 0; i < 4; i++)
        mur_value_put(reference, parts[i],
                      mur_value_text("%s", mur_value_string(mur_value_get(object, "metadata"), parts[i], "")));
    return reference;
}

void mur_event_send(const struct mur_cluster *cluster, const struct mur_value *object, const char *component,
                    const char *type, const char *reason, const char *message)
{
    const struct mur_resource *resource = mur_resource_of_kind("Event");
    const char *space = mur_value_string(object, "metadata.namespace", "default");
    char *path = mur_path(resource, NULL, space, NULL, NULL);
    struct mur_value *event = mur_value_new(MUR_MAP);
    struct mur_answer answer;

    mur_value_put(event, "apiVersion", mur_value_text("v1"));
    mur_value_put(event, "kind", mur_value_text("Event"));
    mur_value_set(event, "metadata.generateName", mur_value_text("%s.", mur_value_string(object, "metadata.name", "")));
    mur_value_put(event, "involvedObject", reference_to(object));
    mur_value_put(event, "type", mur_value_text("%s", type));
    mur_value_put(event, "reason", mur_value_text("%s", reason));
    mur_value_put(event, "message", mur_value_text("%s", message));
    mur_value_set(event, "source.component", mur_value_text("%s", component));
    mur_value_put(event, "count", mur_value_integer(1));
    mur_value_put(event, "firstTimestamp", mur_time_node(mur_clock()));
    mur_value_put(event, "lastTimestamp", mur_time_node(mur_clock()));
    mur_call(cluster, "POST", path, "application/json", event, 10, &answer); /* nothing depends on it */
    mur_answer_free(&answer);
    mur_value_free(event);
    free(path);
}
