/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of the API:
 *
 *     /api/v1/namespaces/SPACE/pods/NAME/PART
 *     /apis/GROUP/VERSION/namespaces/SPACE/mpijobs/NAME/PART
 *
 * each of which may end earlier; without SPACE for all namespaces, and for what is in none. */
#include "mpijob/server/route.h"

#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"

static const struct {
    const char *method, *with_name, *without;
} verbs[] = {
    {"GET", "get", "list"},  {"HEAD", "get", "list"},  {"POST", NULL, "create"},
    {"PUT", "update", NULL}, {"PATCH", "patch", NULL}, {"DELETE", "delete", "deletecollection"},
};

void mur_route_free(struct mur_route *route)
{
    free(route->text);
    *route = (struct mur_route){0};
}

/* At most eight parts; more are no path of the API. */
static bool split(struct mur_route *route, const char *path)
{
    char *at;

    route->text = at = mur_alloc_text("%s", path);
    while (*at == '/') {
        *at++ = '\0';
        if (!*at)
            break;
        if (route->count == 8)
            return false;
        route->parts[route->count++] = at;
        at += strcspn(at, "/");
    }
    return true;
}

static char *take(struct mur_route *route, int *at)
{
    return *at < route->count ? route->parts[(*at)++] : (char *)"";
}

/* Whether the path names a resource; its parts go into the request. */
static bool read_path(struct mur_route *route, struct mur_api_request *request)
{
    int at = 0;
    const char *root = take(route, &at), *plural;

    request->group = strcmp(root, "apis") == 0 ? take(route, &at) : (char *)"";
    request->version = take(route, &at);
    request->space = request->name = request->part = (char *)"";
    if (strcmp(root, "api") != 0 && (strcmp(root, "apis") != 0 || !*request->group))
        return false;
    plural = take(route, &at);
    if (strcmp(plural, "namespaces") == 0 && route->count > at + 1 && strcmp(route->parts[at + 1], "status") != 0 &&
        strcmp(route->parts[at + 1], "finalize") != 0) {
        request->space = take(route, &at);
        plural = take(route, &at);
    }
    request->name = take(route, &at);
    request->part = take(route, &at);
    request->resource = mur_resource_find(request->group, request->version, plural);
    return request->resource && at == route->count && request->resource->is_namespaced >= (*request->space != '\0');
}

static bool has_part(const struct mur_api_request *request)
{
    const struct mur_resource *resource = request->resource;
    bool is_pod = strcmp(resource->kind, "Pod") == 0;

    return !*request->part || (resource->has_status && strcmp(request->part, "status") == 0) ||
           (is_pod && (strcmp(request->part, "log") == 0 || strcmp(request->part, "exec") == 0));
}

static const char *find_verb(const char *method, const struct mur_api_request *request)
{
    const char *verb = NULL, *watch = request->option(request, "watch");
    bool is_exec = strcmp(request->part, "exec") == 0;

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].method, method) == 0)
            verb = *request->name && !is_exec ? verbs[i].with_name : verbs[i].without;
    if (is_exec)
        return strcmp(method, "GET") == 0 ? "get" : strcmp(method, "POST") == 0 ? "create" : NULL;
    if (verb && strcmp(request->part, "log") == 0)
        return strcmp(verb, "get") == 0 ? verb : NULL;
    if (verb && strcmp(request->part, "status") == 0)
        return strcmp(verb, "delete") == 0 ? NULL : verb;
    if (verb && strcmp(verb, "list") == 0 && (strcmp(watch, "true") == 0 || strcmp(watch, "1") == 0))
        return "watch";
    return verb;
}

bool mur_route_find(struct mur_route *route, const char *path, const char *method, struct mur_api_request *request,
                    struct mur_reply *reply)
{
    if (!split(route, path) || !read_path(route, request) || !has_part(request)) {
        mur_reply_fail(reply, 404, "NotFound", "the server could not find the requested resource");
        return false;
    }
    request->verb = find_verb(method, request);
    if (request->verb && request->resource->is_namespaced && !*request->space && strcmp(request->verb, "list") != 0 &&
        strcmp(request->verb, "watch") != 0)
        request->verb = NULL; /* one namespace at a time */
    if (request->verb)
        return true;
    mur_reply_fail(reply, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    return false;
}

void mur_route_tabulate(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_value *items = mur_value_get(reply->body, "items"), *alone = NULL, *table;

    if (!items) {
        alone = mur_value_new(MUR_LIST);
        mur_value_add(alone, reply->body);
        items = alone;
    }
    table =
        mur_table_make(request->resource, items, mur_value_string(reply->body, "metadata.resourceVersion", ""), true);
    mur_value_free(alone ? alone : reply->body);
    reply->body = table;
}
