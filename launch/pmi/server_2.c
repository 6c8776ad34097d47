/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI-2 as the server sees it: `cmd=NAME;key=value;...`, answered by NAME-response, which names the asking thread
 * (thrid) where the command did. */
#include <stdio.h>
#include <string.h>

#include "launch/pmi/inside.h"

typedef void command(struct mur_pmi_server *server, const struct mur_pmi_words *words);

static const char *const question_names[] = {
    [MUR_PMI_GET] = "kvs-get",          [MUR_PMI_BARRIER] = "kvs-fence",        [MUR_PMI_NODE_GET] = "info-getnodeattr",
    [MUR_PMI_PUBLISH] = "name-publish", [MUR_PMI_UNPUBLISH] = "name-unpublish", [MUR_PMI_LOOKUP] = "name-lookup",
    [MUR_PMI_SPAWN] = "spawn",
};

/* The beginning of an answer. */
#define RESPONSE         "cmd=%s-response;%s%s%s"
#define THREAD_OF(words) (words) ? "thrid=" : "", (words) ? (words) : "", (words) ? ";" : ""

static bool is_word(const char *text)
{
    return !strpbrk(text, ";\n");
}

static void reply_rc(struct mur_pmi_server *server, const struct mur_pmi_words *words, int rc, const char *reason)
{
    const char *thread = mur_pmi_words_find(words, "thrid");

    mur_pmi_server_send_body(server, RESPONSE "rc=%d;%s%s%s", mur_pmi_words_find(words, "cmd"), THREAD_OF(thread), rc,
                             rc ? "errmsg=" : "", rc ? reason : "", rc ? ";" : "");
}

/* The ticket of a question that `words` asks. */
static struct mur_pmi_ticket *ticket_for(struct mur_pmi_server *server, const struct mur_pmi_words *words,
                                         enum mur_pmi_question question)
{
    struct mur_pmi_ticket *ticket = mur_pmi_server_ticket(server, question);
    const char *thread = mur_pmi_words_find(words, "thrid");

    if (ticket && thread && strlen(thread) < sizeof ticket->thread)
        strcpy(ticket->thread, thread);
    return ticket;
}

static const char *want(struct mur_pmi_server *server, const struct mur_pmi_words *words, const char *key)
{
    const char *value = mur_pmi_words_find(words, key);

    if (!value)
        reply_rc(server, words, 1, "missing_argument");
    return value;
}

static void do_fullinit(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const struct mur_pmi_server_facts *facts = &server->facts;
    const char *thread = mur_pmi_words_find(words, "thrid");
    const char *parent = facts->parent;

    if (mur_pmi_words_number(words, "pmirank", facts->rank) != facts->rank) {
        reply_rc(server, words, 1, "wrong_rank");
        return;
    }
    server->is_active = true;
    mur_pmi_server_send_body(server,
                             RESPONSE "rc=0;pmi-version=2;pmi-subversion=0;rank=%d;size=%d;appnum=%d;%s%s%s"
                                      "debugged=FALSE;pmiverbose=FALSE;",
                             "fullinit", THREAD_OF(thread), facts->rank, facts->size, facts->appnum,
                             parent ? "spawner-jobid=" : "", parent ? parent : "", parent ? ";" : "");
}

static void do_job_getid(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *thread = mur_pmi_words_find(words, "thrid");

    mur_pmi_server_send_body(server, RESPONSE "rc=0;jobid=%s;", "job-getid", THREAD_OF(thread), server->facts.kvs_name);
}

static void do_put(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *key = want(server, words, "key"), *value = key ? want(server, words, "value") : NULL;

    if (!value)
        return;
    if (!*key || strncmp(key, "PMI_", 4) == 0)
        reply_rc(server, words, 1, "reserved_key");
    else if (!server->calls->put(server->owner, key, value))
        reply_rc(server, words, 1, "no_room");
    else
        reply_rc(server, words, 0, NULL);
}

/* Another job's space cannot be read from here. */
static void do_get(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *key = want(server, words, "key"), *job = mur_pmi_words_find(words, "jobid");
    struct mur_pmi_ticket *ticket = key ? ticket_for(server, words, MUR_PMI_GET) : NULL;

    if (!ticket)
        return;
    if (job && *job && strcmp(job, server->facts.kvs_name) != 0)
        mur_pmi_server_answer(server, ticket->number, false, NULL);
    else
        server->calls->get(server->owner, key, ticket->number);
}

static void do_fence(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    struct mur_pmi_ticket *ticket = ticket_for(server, words, MUR_PMI_BARRIER);

    if (ticket)
        server->calls->barrier(server->owner, ticket->number);
}

static void do_put_node(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *key = want(server, words, "key"), *value = key ? want(server, words, "value") : NULL;

    if (!value)
        return;
    if (server->calls->node_put && server->calls->node_put(server->owner, key, value))
        reply_rc(server, words, 0, NULL);
    else
        reply_rc(server, words, 1, server->calls->node_put ? "no_room" : "not_supported");
}

static void do_get_node(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *key = want(server, words, "key"), *waits = mur_pmi_words_find(words, "wait");
    struct mur_pmi_ticket *ticket = key ? ticket_for(server, words, MUR_PMI_NODE_GET) : NULL;

    if (!ticket)
        return;
    if (server->calls->node_get)
        server->calls->node_get(server->owner, key, waits && strcmp(waits, "TRUE") == 0, ticket->number);
    else
        mur_pmi_server_answer(server, ticket->number, false, NULL);
}

static void do_get_job(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *thread = mur_pmi_words_find(words, "thrid"), *key = want(server, words, "key"), *value = NULL;
    char number[16];

    if (!key)
        return;
    if (strcmp(key, "PMI_process_mapping") == 0)
        value = server->facts.mapping;
    snprintf(number, sizeof number, "%d", server->facts.universe_size);
    if (strcmp(key, "universeSize") == 0 && server->facts.universe_size >= 0)
        value = number;
    if (value)
        mur_pmi_server_send_body(server, RESPONSE "rc=0;found=TRUE;value=%s;", "info-getjobattr", THREAD_OF(thread),
                                 value);
    else
        mur_pmi_server_send_body(server, RESPONSE "rc=0;found=FALSE;", "info-getjobattr", THREAD_OF(thread));
}

static void do_publish(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *name = want(server, words, "name"), *port = name ? want(server, words, "port") : NULL;
    struct mur_pmi_ticket *ticket = port ? ticket_for(server, words, MUR_PMI_PUBLISH) : NULL;

    if (ticket && server->calls->publish)
        server->calls->publish(server->owner, name, port, ticket->number);
    else if (ticket)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
}

static void do_unpublish(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *name = want(server, words, "name");
    struct mur_pmi_ticket *ticket = name ? ticket_for(server, words, MUR_PMI_UNPUBLISH) : NULL;

    if (ticket && server->calls->unpublish)
        server->calls->unpublish(server->owner, name, ticket->number);
    else if (ticket)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
}

static void do_lookup(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *name = want(server, words, "name");
    struct mur_pmi_ticket *ticket = name ? ticket_for(server, words, MUR_PMI_LOOKUP) : NULL;

    if (ticket && server->calls->lookup)
        server->calls->lookup(server->owner, name, ticket->number);
    else if (ticket)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
}

static void do_abort(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *message = mur_pmi_words_find(words, "msg");

    server->calls->abort(server->owner, mur_pmi_words_number(words, "exitcode", 1), message ? message : "");
}

static void do_finalize(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    server->is_active = false;
    reply_rc(server, words, 0, NULL);
    server->calls->finalized(server->owner);
}

static const struct {
    const char *name;
    command *run;
} commands[] = {
    {"fullinit", do_fullinit},
    {"job-getid", do_job_getid},
    {"kvs-put", do_put},
    {"kvs-get", do_get},
    {"kvs-fence", do_fence},
    {"info-putnodeattr", do_put_node},
    {"info-getnodeattr", do_get_node},
    {"info-getjobattr", do_get_job},
    {"name-publish", do_publish},
    {"name-unpublish", do_unpublish},
    {"name-lookup", do_lookup},
    {"abort", do_abort},
    {"finalize", do_finalize},
};

/* Spawn has any number of words, and keys that come again for each command. */
static void run_spawn(struct mur_pmi_server *server, char *body)
{
    struct mur_pmi_ticket *ticket = mur_pmi_server_ticket(server, MUR_PMI_SPAWN);
    const char *thread = strstr(body, ";thrid=");
    struct mur_pmi_server_spawn spawn;

    if (!ticket)
        return;
    if (thread)
        snprintf(ticket->thread, sizeof ticket->thread, "%.*s", (int)strcspn(thread + 7, ";"), thread + 7);
    if (!mur_pmi_server_spawn_parse_2(&spawn, body))
        mur_pmi_server_answer(server, ticket->number, false, "malformed_spawn");
    else if (!server->calls->spawn)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
    else
        server->calls->spawn(server->owner, &spawn, ticket->number);
    mur_pmi_server_spawn_free(&spawn);
}

void mur_pmi_server_body(struct mur_pmi_server *server, char *body)
{
    struct mur_pmi_words words;
    const char *name;
    char start[41];

    snprintf(start, sizeof start, "%s", body); /* splitting cuts the body to pieces */
    if (strncmp(body, "cmd=spawn;", 10) == 0 && server->is_active) {
        run_spawn(server, body);
        return;
    }
    name = mur_pmi_words_split(&words, body, ';') ? mur_pmi_words_find(&words, "cmd") : NULL;
    if (!name) {
        mur_pmi_server_blame(server, "sent '%s', which is no PMI command", start);
        return;
    }
    if (!server->is_active && strcmp(name, "fullinit") != 0 && strcmp(name, "abort") != 0) {
        mur_pmi_server_blame(server, "sent the PMI command '%.40s' before fullinit", name);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0) {
            commands[i].run(server, &words);
            return;
        }
    reply_rc(server, &words, 2, "unknown_command");
}

void mur_pmi_server_answer_2(struct mur_pmi_server *server, const struct mur_pmi_ticket *ticket, bool is_good,
                             const char *text)
{
    const char *name = question_names[ticket->question], *thread = *ticket->thread ? ticket->thread : NULL;
    bool has_text = text && is_word(text);

    switch (ticket->question) {
    case MUR_PMI_GET:
    case MUR_PMI_NODE_GET:
        if (is_good && has_text)
            mur_pmi_server_send_body(server, RESPONSE "rc=0;found=TRUE;value=%s;", name, THREAD_OF(thread), text);
        else
            mur_pmi_server_send_body(server, RESPONSE "rc=0;found=FALSE;", name, THREAD_OF(thread));
        return;
    case MUR_PMI_LOOKUP:
    case MUR_PMI_SPAWN:
        if (is_good && has_text) {
            bool is_lookup = ticket->question == MUR_PMI_LOOKUP;

            mur_pmi_server_send_body(server, RESPONSE "rc=0;%s=%s;%s", name, THREAD_OF(thread),
                                     is_lookup ? "port" : "jobid", text, is_lookup ? "" : "nerrs=0;");
            return;
        }
        break;
    default:
        if (is_good) {
            mur_pmi_server_send_body(server, RESPONSE "rc=0;", name, THREAD_OF(thread));
            return;
        }
        break;
    }
    mur_pmi_server_send_body(server, RESPONSE "rc=1;errmsg=%s;", name, THREAD_OF(thread),
                             !is_good && has_text ? text : "failed");
}
