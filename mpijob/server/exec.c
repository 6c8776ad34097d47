/* SPDX-License-Identifier: BSD-3-Clause */
/* exec: whether it can be, and how the connection is to be taken over. The rest is a process (session.c). */
#include <gnutls/crypto.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/document/base64.h"
#include "mpijob/server/http.h"
#include "mpijob/server/session.h"
#include "mpijob/server/sessions.h"

struct header {
    const char *name;
    char *value;
};

struct mur_exec {
    struct mur_session_plan plan;
    struct header headers[3];
};

static const char *header_of(const struct mur_api_request *request, const char *name)
{
    const char *value = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);

    return value ? value : "";
}

struct search {
    const char *name, *word;
    bool is_found;
};

static enum MHD_Result look(void *whom, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct search *search = whom;

    (void)kind;
    search->is_found |= strcasecmp(name, search->name) == 0 && value && strstr(value, search->word);
    return MHD_YES;
}

/* A header may come several times, and be a list. */
static bool offers(const struct mur_api_request *request, const char *name, const char *word)
{
    struct search search = {name, word, false};

    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, look, &search);
    return search.is_found;
}

/* RFC 6455 section 4.2.2: proof that the server has read the key. */
static char *accept_key(const char *key)
{
    unsigned char hash[20];
    char *text = mur_alloc_text("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key), *coded;

    gnutls_hash_fast(GNUTLS_DIG_SHA1, text, strlen(text), hash);
    coded = mur_base64_encode(hash, sizeof hash);
    free(text);
    return coded;
}

static bool choose_protocol(struct mur_exec *exec, const struct mur_api_request *request)
{
    const char *wanted = header_of(request, "Upgrade");
    bool is_v5 = offers(request, "Sec-WebSocket-Protocol", "v5.channel.k8s.io");
    const char *key = header_of(request, "Sec-WebSocket-Key");

    if (strcasecmp(wanted, "SPDY/3.1") == 0 && offers(request, "X-Stream-Protocol-Version", "v4.channel.k8s.io")) {
        exec->plan.protocol = &mur_spdy;
        exec->headers[0] = (struct header){"Upgrade", mur_alloc_text("SPDY/3.1")};
        exec->headers[1] = (struct header){"X-Stream-Protocol-Version", mur_alloc_text("v4.channel.k8s.io")};
        return true;
    }
    if (strcasecmp(wanted, "websocket") != 0 || !*key ||
        (!is_v5 && !offers(request, "Sec-WebSocket-Protocol", "v4.channel.k8s.io")))
        return false;
    exec->plan.protocol = &mur_websocket;
    exec->headers[0] = (struct header){"Upgrade", mur_alloc_text("websocket")};
    exec->headers[1] = (struct header){"Sec-WebSocket-Protocol",
                                       mur_alloc_text("%s", is_v5 ? "v5.channel.k8s.io" : "v4.channel.k8s.io")};
    exec->headers[2] = (struct header){"Sec-WebSocket-Accept", accept_key(key)};
    return true;
}

static bool check_pod(const struct mur_api_request *request, const struct mur_value *pod, struct mur_reply *reply)
{
    const struct mur_value *list = mur_value_at(pod, "spec.containers");
    const char *wanted = request->option(request, "container");
    const char *own = mur_value_count(list) ? mur_value_string(list->members[0].value, "name", "") : "";

    if (!pod)
        mur_reply_missing(reply, request->resource, request->name);
    else if (strcmp(mur_value_string(pod, "status.phase", ""), "Running") != 0)
        mur_reply_fail(reply, 400, "BadRequest", "cannot exec into a container of pod %s, whose phase is %s",
                       request->name, mur_value_string(pod, "status.phase", "Pending"));
    else if (*wanted && strcmp(wanted, own) != 0)
        mur_reply_fail(reply, 400, "BadRequest", "container %s is not valid for pod %s: it has %s", wanted,
                       request->name, own);
    else if (!*request->option(request, "command"))
        mur_reply_fail(reply, 400, "BadRequest", "you must specify at least 1 command to exec");
    return !reply->body;
}

static bool is_asked(const struct mur_api_request *request, const char *name)
{
    const char *text = request->option(request, name);

    return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

struct mur_exec *mur_exec_open(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_value *pod = mur_base_get(request->resource, request->space, request->name);
    struct mur_exec *exec = NULL;

    if (check_pod(request, pod, reply)) {
        exec = mur_alloc(1, sizeof *exec);
        exec->plan.has_terminal = is_asked(request, "tty");
        exec->plan.wants[MUR_STDIN] = is_asked(request, "stdin");
        exec->plan.wants[MUR_STDOUT] = is_asked(request, "stdout");
        exec->plan.wants[MUR_STDERR] = is_asked(request, "stderr") && !exec->plan.has_terminal;
        exec->plan.wants[MUR_LAST_WORD] = true;
        exec->plan.wants[MUR_RESIZE] = exec->plan.has_terminal;
        exec->plan.socket = mur_alloc_text("%s/spaces/%s/door/socket", mur_server_folder, request->space);
        exec->plan.host = mur_alloc_text("%s", mur_value_string(pod, "spec.hostname", request->name));
        if (!choose_protocol(exec, request)) {
            mur_reply_fail(reply, 400, "BadRequest",
                           "exec needs a connection that can be upgraded, to SPDY/3.1 or websocket with "
                           "v4.channel.k8s.io or v5.channel.k8s.io");
            mur_exec_free(exec);
            exec = NULL;
        }
    }
    mur_value_free(pod);
    return exec;
}

const char *mur_exec_header(const struct mur_exec *exec, int number, const char **value)
{
    if (number > 2)
        return NULL;
    *value = exec->headers[number].value;
    return exec->headers[number].name;
}

void mur_exec_add_word(struct mur_exec *exec, const char *word)
{
    exec->plan.words = mur_alloc_again(exec->plan.words, (size_t)exec->plan.count + 1, sizeof *exec->plan.words);
    exec->plan.words[exec->plan.count++] = mur_alloc_text("%s", word);
}

pid_t mur_exec_start(struct mur_exec *exec, int socket, const char *extra, size_t length)
{
    return mur_session_fork(&exec->plan, socket, extra, length);
}

void mur_exec_free(struct mur_exec *exec)
{
    for (int i = 0; i < 3; i++)
        free(exec->headers[i].value);
    for (int i = 0; i < exec->plan.count; i++)
        free(exec->plan.words[i]);
    free(exec->plan.words);
    free(exec->plan.socket);
    free(exec->plan.host);
    free(exec);
}
