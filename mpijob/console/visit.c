/* SPDX-License-Identifier: BSD-3-Clause */
/* A browser's request from its first byte to its answer.
 *
 * libmicrohttpd calls `handle` first when the headers are there, then for each piece of the body, then for the answer.
 * If the answer needs the API, the connection rests until the fetch is done, and `handle` is called once more. All
 * answers say that nothing but this console's own files may be loaded, run, or framed. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/console/console.h"

enum {
    LONGEST_BODY = 1 << 20,     /* bytes */
    LONGEST_REFUSED = 16 << 20, /* a longer body than this is not even read to its end */
    CONNECTIONS = 1000,
    IDLE = 90,         /* seconds until a connection that says nothing is closed */
    MEMORY = 64 << 10, /* of a connection, for its headers and its URL */
    CALL_TIME = 30     /* seconds that the API has for an answer */
};

static struct mur_console_visit *resting;

static const char *const guards[][2] = {
    {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                                "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Frame-Options", "DENY"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

const char *mur_visit_option(const struct mur_console_visit *visit, const char *name)
{
    const char *value = MHD_lookup_connection_value(visit->connection, MHD_GET_ARGUMENT_KIND, name);

    return value ? value : "";
}

const char *mur_visit_header(const struct mur_console_visit *visit, const char *name)
{
    const char *value = MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND, name);

    return value ? value : "";
}

/* Cookies are of a host, whatever the port: the name tells consoles of one host apart. */
static const char *cookie_name(void)
{
    static char name[64];

    if (!*name)
        snprintf(name, sizeof name, "mpijob-console-%d", mur_console.port);
    return name;
}

const char *mur_visit_cookie(const struct mur_console_visit *visit)
{
    return MHD_lookup_connection_value(visit->connection, MHD_COOKIE_KIND, cookie_name());
}

/* ---- answers ---- */

void mur_visit_answer_text(struct mur_console_visit *visit, int code, char *json)
{
    if (visit->is_answered) {
        free(json);
        return;
    }
    visit->is_answered = true;
    visit->code = code;
    visit->text = json;
}

void mur_visit_answer(struct mur_console_visit *visit, int code, struct mur_value *body)
{
    mur_visit_answer_text(visit, code, mur_json_text(body));
    mur_value_free(body);
}

void mur_visit_fail(struct mur_console_visit *visit, int code, const char *format, ...)
{
    struct mur_value *body = mur_value_new(MUR_MAP);
    va_list args;
    char *text;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = mur_alloc_text("no memory for the text");
    va_end(args);
    mur_value_put(body, "code", mur_value_integer(code));
    mur_value_put(body, "message", mur_value_text("%s", text));
    mur_visit_answer(visit, code, body);
    free(text);
}

static enum MHD_Result queue(struct MHD_Connection *connection, int code, struct MHD_Response *response)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
        MHD_add_response_header(response, guards[i][0], guards[i][1]);
    result = MHD_queue_response(connection, (unsigned)code, response);
    MHD_destroy_response(response);
    return result;
}

static void add_cookie(struct MHD_Response *response, const char *cookie)
{
    char *text = mur_alloc_text("%s=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s", cookie_name(), cookie,
                                *cookie ? mur_console.session : 0, mur_console.certificate ? "; Secure" : "");

    MHD_add_response_header(response, "Set-Cookie", text);
    free(text);
}

static enum MHD_Result send_answer(struct mur_console_visit *visit)
{
    struct MHD_Response *response;

    if (visit->stream) {
        response = mur_stream_response(visit->connection, visit->stream);
        visit->stream = NULL;
    } else {
        response = MHD_create_response_from_buffer(strlen(visit->text), visit->text, MHD_RESPMEM_MUST_FREE);
        if (response)
            MHD_add_response_header(response, "Content-Type", "application/json");
        else
            free(visit->text);
        visit->text = NULL;
    }
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (visit->cookie)
        add_cookie(response, visit->cookie);
    if (visit->is_attachment)
        MHD_add_response_header(response, "Content-Disposition", "attachment");
    return queue(visit->connection, visit->code, response);
}

/* Files of the page; they change only with the program. */
static enum MHD_Result send_file(struct mur_console_visit *visit, const char *path)
{
    const struct mur_page_file *file = mur_page_files;
    struct MHD_Response *response;

    if (strcmp(path, "/") == 0)
        path = "/index.html";
    while (file->path && strcmp(file->path, path) != 0)
        file++;
    if (!file->path || (strcmp(visit->method, "GET") != 0 && strcmp(visit->method, "HEAD") != 0)) {
        mur_visit_fail(visit, file->path ? 405 : 404,
                       file->path ? "the page's files are only read" : "there is no such thing");
        return send_answer(visit);
    }
    response = MHD_create_response_from_buffer(file->length, (void *)file->data, MHD_RESPMEM_PERSISTENT);
    if (response) {
        MHD_add_response_header(response, "Content-Type", file->type);
        MHD_add_response_header(response, "Cache-Control", "no-cache");
    }
    return queue(visit->connection, 200, response);
}

/* ---- what an action asks of the API ---- */

static void wake(struct mur_console_visit *visit)
{
    struct mur_console_visit **at = &resting;

    while (*at != visit)
        at = &(*at)->next;
    *at = visit->next;
    visit->rests = false;
    MHD_resume_connection(visit->connection);
}

void mur_visits_stop(void)
{
    while (resting) {
        mur_visit_fail(resting, 503, "the console is ending");
        wake(resting);
    }
}

static void fetched(struct mur_fetch *fetch, long code)
{
    struct mur_console_visit *visit = fetch->whom;

    visit->fetch = NULL;
    if (code == 0)
        mur_visit_fail(visit, 502, "the API cannot be reached: %s", fetch->error);
    else if (code == 401)
        mur_visit_fail(visit, 502, "the API does not know the console's own token or certificate");
    else
        visit->fetch_done(fetch, code);
    mur_fetch_free(fetch);
    if (!visit->fetch && visit->rests)
        wake(visit);
}

void mur_visit_fetch(struct mur_console_visit *visit, const char *method, const char *path, const char *type,
                     char *body, void (*done)(struct mur_fetch *fetch, long code))
{
    visit->fetch = mur_fetch_start(method, path, type, body, CALL_TIME);
    visit->fetch->whom = visit;
    visit->fetch->done = fetched;
    visit->fetch_done = done;
}

/* ---- requests ---- */

/* A page of another site must not be able to change anything here, even in a browser that is logged in. */
static bool is_own(const struct mur_console_visit *visit)
{
    const char *origin = mur_visit_header(visit, "Origin"), *host = mur_visit_header(visit, "Host");
    const char *at = strstr(origin, "://"), *given = mur_visit_header(visit, "X-Change-Token");

    if (*origin && (!at || strcmp(at + 3, host) != 0))
        return false;
    if (visit->action->role == MUR_ROLE_NOBODY) /* a page of another site cannot send this type unasked */
        return strncmp(mur_visit_header(visit, "Content-Type"), "application/json", 16) == 0;
    return strcmp(given, visit->login.change_token) == 0;
}

static void act(struct mur_console_visit *visit)
{
    visit->action = mur_action_find(visit);
    if (!visit->action)
        return;
    if (visit->action->role != MUR_ROLE_NOBODY && !visit->login.user)
        mur_visit_fail(visit, 401, "log in first: the session has expired, or there was none");
    else if (visit->action->role != MUR_ROLE_NOBODY && visit->login.user->role < visit->action->role)
        mur_visit_fail(visit, 403, "the role \"%s\" may not do this; \"%s\" may",
                       mur_role_name(visit->login.user->role), mur_role_name(visit->action->role));
    else if (strcmp(visit->method, "GET") != 0 && !is_own(visit))
        mur_visit_fail(visit, 403, "the request is not one of this page: load the page again");
    else if (visit->length > LONGEST_BODY)
        mur_visit_fail(visit, 413, "the text is longer than %d bytes", LONGEST_BODY);
    else
        visit->action->act(visit);
}

static enum MHD_Result answer(struct mur_console_visit *visit, const char *path)
{
    if (visit->is_answered || visit->stream)
        return send_answer(visit);
    if (strcmp(path, "/healthz") == 0) {
        mur_visit_answer_text(visit, 200, mur_alloc_text("{}"));
        return send_answer(visit);
    }
    if (strncmp(path, "/console/", 9) != 0)
        return send_file(visit, path);
    visit->path = mur_alloc_text("%s", path);
    act(visit);
    if (!visit->fetch)
        return send_answer(visit);
    visit->rests = true;
    visit->next = resting;
    resting = visit;
    MHD_suspend_connection(visit->connection);
    return MHD_YES;
}

/* What is too long, or of nobody that is known, is read and dropped, so that the browser comes to read the answer. A
 * login is short. */
static enum MHD_Result take_body(struct mur_console_visit *visit, const char *data, size_t *size)
{
    size_t length = visit->length + *size;

    if (length > LONGEST_REFUSED)
        return MHD_NO;
    if (length > (visit->login.user ? LONGEST_BODY : 4096)) {
        free(visit->body);
        visit->body = NULL;
    } else {
        visit->body = mur_alloc_again(visit->body, length + 1, 1);
        memcpy(visit->body + visit->length, data, *size);
        visit->body[length] = '\0';
    }
    visit->length = length;
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result handle(void *whom, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
    struct mur_console_visit *visit = *state;

    (void)whom;
    (void)version;
    if (visit)
        return *size > 0 ? take_body(visit, data, size) : answer(visit, path);
    visit = *state = mur_alloc(1, sizeof *visit);
    visit->connection = connection;
    visit->method = method;
    mur_session_find(mur_visit_cookie(visit), &visit->login);
    return MHD_YES;
}

static void finish(void *whom, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode how)
{
    struct mur_console_visit *visit = *state;

    (void)whom;
    (void)connection;
    (void)how;
    if (!visit)
        return;
    mur_fetch_free(visit->fetch);
    if (visit->stream)
        visit->stream->free(visit->stream);
    free(visit->body);
    free(visit->path);
    free(visit->text);
    free(visit->cookie);
    free(visit);
    *state = NULL;
}

struct MHD_Daemon *mur_visits_start(int listener)
{
    bool is_safe = mur_console.certificate != NULL;
    struct MHD_OptionItem safe[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)mur_console.certificate},
                                    {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)mur_console.key},
                                    {MHD_OPTION_END, 0, NULL}};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (is_safe ? MHD_USE_TLS : 0), 0, NULL, NULL, handle, NULL,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
        MHD_OPTION_NOTIFY_COMPLETED, finish, NULL, MHD_OPTION_ARRAY, is_safe ? safe : safe + 2, MHD_OPTION_END);

    if (!daemon)
        mur_quit(MUR_EXIT_TROUBLE, "HTTP cannot be served: is the certificate one, and the key its own?");
    return daemon;
}
