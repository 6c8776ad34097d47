/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and answers over HTTP: see http.h. */
#include "mpijob/server/http.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/server/route.h"

#define UPGRADED_TICK 0.003 /* seconds */

enum {
    LONGEST_BODY = 3 << 20,     /* bytes; as the API server has it */
    LONGEST_REFUSED = 64 << 20, /* a longer body than this is not even read to its end */
    CONNECTIONS = 1000,
    IDLE = 90,         /* seconds until a connection that says nothing is closed */
    MEMORY = 256 << 10 /* of a connection, for its headers and its URL */
};

/* One request while it comes in. */
struct visit {
    char *body;
    size_t length;
    const char *user, *group; /* NULL: nobody that is known */
    struct mur_route route;
};

/* A connection that is not HTTP any more. */
struct upgraded {
    struct upgraded *next;
    struct MHD_UpgradeResponseHandle *handle;
    pid_t pid;
};

static struct {
    struct MHD_Daemon *daemon;
    int listener;
    struct upgraded *upgraded;
} http;

static const char *header(void *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value ? value : "";
}

static const char *option(const struct mur_api_request *request, const char *name)
{
    const char *value = MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);

    return value ? value : "";
}

static enum MHD_Result send_text(struct MHD_Connection *connection, int code, const char *type, char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result;

    if (!response) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", type);
    if (code == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    result = MHD_queue_response(connection, (unsigned)code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct mur_reply *reply)
{
    char *text = mur_json_text(reply->body);

    mur_value_free(reply->body);
    reply->body = NULL;
    return send_text(connection, reply->code, "application/json", text);
}

static enum MHD_Result send_stream(struct MHD_Connection *connection, struct mur_http_stream *stream)
{
    struct MHD_Response *response = mur_stream_response(connection, stream);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- connections that become something else ---- */

static void upgrade(void *whom, struct MHD_Connection *connection, void *visit, const char *extra, size_t length,
                    MHD_socket socket, struct MHD_UpgradeResponseHandle *handle)
{
    struct upgraded *upgraded = mur_alloc(1, sizeof *upgraded);

    (void)connection;
    (void)visit;
    upgraded->handle = handle;
    upgraded->pid = mur_exec_start(whom, socket, extra, length);
    upgraded->next = http.upgraded;
    http.upgraded = upgraded;
    mur_exec_free(whom);
    if (upgraded->pid < 0)
        mur_http_reap(upgraded->pid);
}

bool mur_http_reap(pid_t pid)
{
    for (struct upgraded **at = &http.upgraded; *at; at = &(*at)->next)
        if ((*at)->pid == pid) {
            struct upgraded *upgraded = *at;

            *at = upgraded->next;
            MHD_upgrade_action(upgraded->handle, MHD_UPGRADE_ACTION_CLOSE);
            free(upgraded);
            return true;
        }
    return false;
}

static enum MHD_Result take_word(void *exec, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    if (strcmp(name, "command") == 0)
        mur_exec_add_word(exec, value ? value : "");
    return MHD_YES;
}

static enum MHD_Result send_exec(struct MHD_Connection *connection, struct mur_exec *exec)
{
    struct MHD_Response *response = MHD_create_response_for_upgrade(upgrade, exec);
    enum MHD_Result result;
    const char *name, *value;

    if (!response) {
        mur_exec_free(exec);
        return MHD_NO;
    }
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_word, exec);
    for (int i = 0; (name = mur_exec_header(exec, i, &value)); i++)
        MHD_add_response_header(response, name, value);
    result = MHD_queue_response(connection, MHD_HTTP_SWITCHING_PROTOCOLS, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- requests ---- */

static void forbid(const struct mur_api_request *request, struct mur_reply *reply)
{
    mur_reply_fail(reply, 403, "Forbidden",
                   "%s%s%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\"%s%s%s",
                   request->resource->plural, *request->resource->group ? "." : "", request->resource->group,
                   request->user, request->verb, request->resource->plural, *request->part ? "/" : "", request->part,
                   request->resource->group, *request->space ? " in the namespace \"" : " at the cluster scope",
                   request->space, *request->space ? "\"" : "");
}

static enum MHD_Result answer_resource(struct MHD_Connection *connection, struct mur_api_request *request)
{
    struct mur_reply reply = {0};
    struct mur_http_stream *stream = NULL;
    struct mur_exec *exec = NULL;

    if (!mur_access_permits(request->user_group, request->verb, request->resource, request->part))
        forbid(request, &reply);
    else if (strcmp(request->part, "log") == 0)
        stream = mur_log_open(request, &reply);
    else if (strcmp(request->part, "exec") == 0)
        exec = mur_exec_open(request, &reply);
    else if (strcmp(request->verb, "watch") == 0)
        stream = mur_watch_open(request, &reply);
    else
        mur_objects_answer(request, &reply);
    if (stream)
        return send_stream(connection, stream);
    if (exec)
        return send_exec(connection, exec);
    if (mur_table_is_wanted(request->accept) && reply.code == 200 && strcmp(request->part, "") == 0 &&
        (strcmp(request->verb, "get") == 0 || strcmp(request->verb, "list") == 0))
        mur_route_tabulate(request, &reply);
    return send_reply(connection, &reply);
}

static struct mur_api_request make_request(struct MHD_Connection *connection, const struct visit *visit)
{
    struct mur_api_request request = {.accept = header(connection, "Accept"),
                                      .content_type = header(connection, "Content-Type"),
                                      .user = visit->user,
                                      .user_group = visit->group,
                                      .body = visit->body ? visit->body : "",
                                      .length = visit->length,
                                      .option = option,
                                      .connection = connection};

    return request;
}

static enum MHD_Result answer(struct MHD_Connection *connection, struct visit *visit, const char *path,
                              const char *method)
{
    struct mur_api_request request = make_request(connection, visit);
    struct mur_reply reply = {0};

    if (strcmp(path, "/healthz") == 0 || strcmp(path, "/livez") == 0 || strcmp(path, "/readyz") == 0)
        return send_text(connection, 200, "text/plain", mur_alloc_text("ok"));
    if (!visit->user) {
        mur_reply_fail(&reply, 401, "Unauthorized", "Unauthorized: the request has no token that is known here");
        return send_reply(connection, &reply);
    }
    if (visit->length > LONGEST_BODY) {
        mur_reply_fail(&reply, 413, "RequestEntityTooLarge", "Request entity too large: limit is %d", LONGEST_BODY);
        return send_reply(connection, &reply);
    }
    if (strcmp(path, "/openapi/v2") == 0 && strstr(request.accept, "proto-openapi")) /* an empty document */
        return send_text(connection, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                         mur_alloc_text("%s", ""));
    if (strcmp(method, "GET") == 0 && mur_discovery_answer(path, &reply))
        return send_reply(connection, &reply);
    if (mur_route_find(&visit->route, path, method, &request, &reply))
        return answer_resource(connection, &request);
    return send_reply(connection, &reply);
}

static struct visit *begin(struct MHD_Connection *connection)
{
    struct visit *visit = mur_alloc(1, sizeof *visit);

    mur_access_find(header(connection, "Authorization"), &visit->user, &visit->group);
    return visit;
}

/* What is too long, or of nobody that is known, is read and dropped, so that the client comes to read the answer. */
static enum MHD_Result take_body(struct visit *visit, const char *data, size_t *size)
{
    size_t length = visit->length + *size;

    if (length > LONGEST_REFUSED)
        return MHD_NO;
    if (!visit->user || length > LONGEST_BODY) {
        free(visit->body);
        visit->body = NULL;
    } else {
        visit->body = mur_alloc_again(visit->body, length, 1);
        memcpy(visit->body + visit->length, data, *size);
    }
    visit->length = length;
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result handle(void *whom, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
    (void)whom;
    (void)version;
    if (!*state) {
        *state = begin(connection);
        return MHD_YES;
    }
    if (*size > 0)
        return take_body(*state, data, size);
    return answer(connection, *state, path, method);
}

static void finish(void *whom, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode how)
{
    struct visit *visit = *state;

    (void)whom;
    (void)connection;
    (void)how;
    if (!visit)
        return;
    mur_route_free(&visit->route);
    free(visit->body);
    free(visit);
    *state = NULL;
}

/* ---- the daemon ---- */

int mur_http_start(const char *address, const char *certificate, const char *key)
{
    int port;

    http.listener = mur_http_listen(address, &port);
    http.daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_TLS | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE, 0, NULL, NULL, handle, NULL,
        MHD_OPTION_LISTEN_SOCKET, http.listener, MHD_OPTION_HTTPS_MEM_CERT, certificate, MHD_OPTION_HTTPS_MEM_KEY, key,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_NOTIFY_COMPLETED, finish, NULL, MHD_OPTION_END);
    if (!http.daemon)
        mur_quit(MUR_EXIT_TROUBLE, "HTTP cannot be served: is the certificate one, and the key its own?");
    mur_streams_start(http.daemon);
    return port;
}

void mur_http_stop(void)
{
    mur_streams_stop(http.daemon);
    MHD_stop_daemon(http.daemon);
}

int mur_http_descriptor(void)
{
    return mur_streams_descriptor();
}

/* libmicrohttpd does not always say when it can pass on bytes of an upgraded connection, so it is asked again. */
double mur_http_due(void)
{
    MHD_UNSIGNED_LONG_LONG due;
    double seconds = MHD_get_timeout(http.daemon, &due) == MHD_YES ? (double)due / 1000 : -1;

    return http.upgraded && (seconds < 0 || seconds > UPGRADED_TICK) ? UPGRADED_TICK : seconds;
}

void mur_http_step(double now)
{
    mur_streams_step(http.daemon, now);
}
