/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI-1 as the server sees it: `cmd=NAME key=value ...` on a line, answered by a line, with the words that old and new
 * clients look for. Version 1.2 is the same with barriers of groups, several of which may be under way. */
#include <stdio.h>
#include <string.h>

#include "launch/pmi/inside.h"

enum { KEY_MAX = 64, VALUE_MAX = 1024, NAME_MAX_BYTES = 256 };

typedef void command(struct mur_pmi_server *server, const struct mur_pmi_words *words);

/* A value that fits into a word. */
static bool is_word(const char *text)
{
    return !strpbrk(text, " \n");
}

static bool refuse(struct mur_pmi_server *server, const char *reply, const char *reason)
{
    mur_pmi_server_send(server, "cmd=%s rc=-1 msg=%s\n", reply, reason);
    return false;
}

/* The values of two keys (the second may be NULL); sends a refusal where one is missing. */
static bool want(struct mur_pmi_server *server, const char *reply, const struct mur_pmi_words *words, const char *key_1,
                 const char **value_1, const char *key_2, const char **value_2)
{
    *value_1 = mur_pmi_words_find(words, key_1);
    if (key_2)
        *value_2 = mur_pmi_words_find(words, key_2);
    return (*value_1 && **value_1 && (!key_2 || *value_2)) || refuse(server, reply, "missing_argument");
}

static bool is_own_space(struct mur_pmi_server *server, const char *reply, const struct mur_pmi_words *words)
{
    const char *name = mur_pmi_words_find(words, "kvsname");

    return !name || strcmp(name, server->facts.kvs_name) == 0 || refuse(server, reply, "unknown_kvsname");
}

static void do_init(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    int version = mur_pmi_words_number(words, "pmi_version", -1);

    server->version = 0;
    if (version == 2) {
        mur_pmi_server_send(server, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n");
        server->version = 2;
    } else if (version == 1) {
        mur_pmi_server_send(server, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=%d\n",
                            server->calls->group_barrier ? 2 : 1);
        server->version = 1;
    } else {
        mur_pmi_server_send(server, "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1\n");
    }
    server->is_active = server->version == 1; /* PMI-2 goes on to fullinit */
}

/* Of a rank that connected to a port; which one it is, is known already. */
static void do_initack(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const struct mur_pmi_server_facts *facts = &server->facts;

    if (mur_pmi_words_number(words, "pmiid", -1) != facts->rank)
        mur_pmi_server_blame(server, "says in PMI that it is another");
    else
        mur_pmi_server_send(server, "cmd=initack rc=0\ncmd=set size=%d\ncmd=set rank=%d\ncmd=set debug=0\n",
                            facts->size, facts->rank);
}

static void do_get_maxes(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    (void)words;
    mur_pmi_server_send(server, "cmd=maxes rc=0 kvsname_max=%d keylen_max=%d vallen_max=%d\n", NAME_MAX_BYTES, KEY_MAX,
                        VALUE_MAX);
}

static void do_get_appnum(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    (void)words;
    mur_pmi_server_send(server, "cmd=appnum rc=0 appnum=%d\n", server->facts.appnum);
}

static void do_get_universe_size(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    (void)words;
    mur_pmi_server_send(server, "cmd=universe_size rc=0 size=%d\n", server->facts.universe_size);
}

static void do_get_my_kvsname(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    (void)words;
    mur_pmi_server_send(server, "cmd=my_kvsname rc=0 kvsname=%s\n", server->facts.kvs_name);
}

static void do_put(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *key, *value;

    if (!want(server, "put_result", words, "key", &key, "value", &value) || !is_own_space(server, "put_result", words))
        return;
    if (strncmp(key, "PMI_", 4) == 0)
        refuse(server, "put_result", "reserved_key");
    else if (!server->calls->put(server->owner, key, value))
        refuse(server, "put_result", "no_room");
    else
        mur_pmi_server_send(server, "cmd=put_result rc=0 msg=success\n");
}

static void do_get(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    struct mur_pmi_ticket *ticket;
    const char *key;

    if (!want(server, "get_result", words, "key", &key, NULL, NULL) || !is_own_space(server, "get_result", words))
        return;
    ticket = mur_pmi_server_ticket(server, MUR_PMI_GET);
    if (!ticket)
        return;
    if (strcmp(key, "PMI_process_mapping") == 0)
        mur_pmi_server_answer(server, ticket->number, server->facts.mapping != NULL, server->facts.mapping);
    else
        server->calls->get(server->owner, key, ticket->number);
}

static void do_barrier_in(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *group = mur_pmi_words_find(words, "group");
    struct mur_pmi_ticket *ticket = mur_pmi_server_ticket(server, MUR_PMI_BARRIER);
    char members[MUR_PMI_LINE_MAX];
    size_t length;

    if (!ticket)
        return;
    if (!group || !server->calls->group_barrier) {
        server->calls->barrier(server->owner, ticket->number);
        return;
    }
    length = strcspn(group, ":"); /* members, then perhaps a tag */
    memcpy(members, group, length);
    members[length] = '\0';
    if (group[length] && (!mur_pmi_number(group + length + 1, &ticket->tag) || ticket->tag < 0)) {
        mur_pmi_server_blame(server, "sent the PMI barrier group '%.60s', whose tag is no number", group);
        return;
    }
    server->calls->group_barrier(server->owner, members, ticket->tag, ticket->number);
}

static void do_publish_name(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    struct mur_pmi_ticket *ticket;
    const char *service, *port;

    if (!want(server, "publish_result", words, "service", &service, "port", &port))
        return;
    ticket = mur_pmi_server_ticket(server, MUR_PMI_PUBLISH);
    if (ticket && server->calls->publish)
        server->calls->publish(server->owner, service, port, ticket->number);
    else if (ticket)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
}

static void do_unpublish_name(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    struct mur_pmi_ticket *ticket;
    const char *service;

    if (!want(server, "unpublish_result", words, "service", &service, NULL, NULL))
        return;
    ticket = mur_pmi_server_ticket(server, MUR_PMI_UNPUBLISH);
    if (ticket && server->calls->unpublish)
        server->calls->unpublish(server->owner, service, ticket->number);
    else if (ticket)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
}

static void do_lookup_name(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    struct mur_pmi_ticket *ticket;
    const char *service;

    if (!want(server, "lookup_result", words, "service", &service, NULL, NULL))
        return;
    ticket = mur_pmi_server_ticket(server, MUR_PMI_LOOKUP);
    if (ticket && server->calls->lookup)
        server->calls->lookup(server->owner, service, ticket->number);
    else if (ticket)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
}

static void do_finalize(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    (void)words;
    server->is_active = false;
    mur_pmi_server_send(server, "cmd=finalize_ack rc=0\n");
    server->calls->finalized(server->owner);
}

static void do_abort(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *message = mur_pmi_words_find(words, "message");

    server->calls->abort(server->owner, mur_pmi_words_number(words, "exitcode", 1), message ? message : "");
}

/* Key-value spaces of a rank's own, and lists of all keys, have gone out of use: no client has asked for years. */
static void do_old(struct mur_pmi_server *server, const struct mur_pmi_words *words)
{
    const char *name = mur_pmi_words_find(words, "cmd");

    if (strcmp(name, "getbyidx") == 0)
        mur_pmi_server_send(server, "cmd=getbyidx_results rc=-1 reason=no_more_keyvals\n");
    else
        refuse(server, strcmp(name, "create_kvs") == 0 ? "newkvs" : "kvs_destroyed", "not_supported");
}

static const struct {
    const char *name;
    command *run;
} commands[] = {
    {"init", do_init},
    {"initack", do_initack},
    {"get_maxes", do_get_maxes},
    {"get_appnum", do_get_appnum},
    {"get_universe_size", do_get_universe_size},
    {"get_my_kvsname", do_get_my_kvsname},
    {"put", do_put},
    {"get", do_get},
    {"barrier_in", do_barrier_in},
    {"publish_name", do_publish_name},
    {"unpublish_name", do_unpublish_name},
    {"lookup_name", do_lookup_name},
    {"finalize", do_finalize},
    {"abort", do_abort},
    {"create_kvs", do_old},
    {"destroy_kvs", do_old},
    {"getbyidx", do_old},
};

static void run_command(struct mur_pmi_server *server, char *line)
{
    struct mur_pmi_words words;
    const char *name;
    char start[41];

    snprintf(start, sizeof start, "%s", line); /* splitting cuts the line to pieces */
    name = mur_pmi_words_split(&words, line, ' ') ? mur_pmi_words_find(&words, "cmd") : NULL;
    if (!name) {
        mur_pmi_server_blame(server, "sent '%s', which is no PMI command", start);
        return;
    }
    if (server->version == 0 && strncmp(name, "init", 4) != 0) {
        mur_pmi_server_blame(server, "sent the PMI command '%.40s' before init", name);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0) {
            commands[i].run(server, &words);
            return;
        }
    mur_pmi_server_send(server, "cmd=%.40s_result rc=-1 msg=unknown_command\n", name);
}

static void run_spawn(struct mur_pmi_server *server)
{
    struct mur_pmi_ticket *ticket = mur_pmi_server_ticket(server, MUR_PMI_SPAWN);
    struct mur_pmi_server_spawn spawn;

    if (!ticket)
        return;
    if (!mur_pmi_server_spawn_parse_1(&spawn, server->spawn))
        mur_pmi_server_answer(server, ticket->number, false, "malformed_spawn");
    else if (!server->calls->spawn)
        mur_pmi_server_answer(server, ticket->number, false, "not_supported");
    else
        server->calls->spawn(server->owner, &spawn, ticket->number);
    mur_pmi_server_spawn_free(&spawn);
}

/* A spawn is many lines, a block of them a command; it ends with the block that says it is the last. */
static void collect_spawn(struct mur_pmi_server *server, const char *line)
{
    if (server->spawn_length + strlen(line) + 1 > MUR_PMI_MESSAGE_MAX) {
        mur_pmi_server_blame(server, "sent a PMI spawn longer than %d bytes", MUR_PMI_MESSAGE_MAX);
        return;
    }
    mur_pmi_server_append(&server->spawn, &server->spawn_length, &server->spawn_size, line, strlen(line));
    mur_pmi_server_append(&server->spawn, &server->spawn_length, &server->spawn_size, "\n", 1);
    if (strncmp(line, "totspawns=", 10) == 0 && !mur_pmi_number(line + 10, &server->spawn_total))
        server->spawn_total = 0;
    if (strncmp(line, "spawnssofar=", 12) == 0 && !mur_pmi_number(line + 12, &server->spawn_so_far))
        server->spawn_so_far = 0;
    if (strcmp(line, "endcmd") != 0 || server->spawn_so_far < server->spawn_total)
        return;
    run_spawn(server);
    server->in_spawn = false;
    server->spawn_length = 0;
    server->spawn_total = server->spawn_so_far = 0;
}

void mur_pmi_server_line(struct mur_pmi_server *server, char *line)
{
    if (!server->in_spawn && strncmp(line, "mcmd=", 5) == 0) {
        if (strcmp(line, "mcmd=spawn") == 0 && server->version == 1)
            server->in_spawn = true;
        else
            mur_pmi_server_blame(server, "sent '%.40s', which is no PMI command now", line);
    }
    if (*server->fault)
        return;
    if (server->in_spawn)
        collect_spawn(server, line);
    else
        run_command(server, line);
}

void mur_pmi_server_answer_1(struct mur_pmi_server *server, const struct mur_pmi_ticket *ticket, bool is_good,
                             const char *text)
{
    static const char *const names[] = {[MUR_PMI_PUBLISH] = "publish_result",
                                        [MUR_PMI_UNPUBLISH] = "unpublish_result",
                                        [MUR_PMI_SPAWN] = "spawn_result"};
    bool has_text = text && is_word(text);

    switch (ticket->question) {
    case MUR_PMI_GET:
        if (is_good && has_text)
            mur_pmi_server_send(server, "cmd=get_result rc=0 msg=success value=%s\n", text);
        else
            mur_pmi_server_send(server, "cmd=get_result rc=1 msg=key_not_found value=unknown\n");
        return;
    case MUR_PMI_LOOKUP:
        if (is_good && has_text)
            mur_pmi_server_send(server, "cmd=lookup_result info=ok rc=0 port=%s\n", text);
        else
            mur_pmi_server_send(server, "cmd=lookup_result info=fail rc=1 msg=not_published\n");
        return;
    case MUR_PMI_BARRIER:
        if (is_good)
            mur_pmi_server_send(server, "cmd=barrier_out rc=0 tag=%d\n", ticket->tag);
        else
            mur_pmi_server_send(server, "cmd=barrier_out rc=-1 msg=%s tag=%d\n", has_text ? text : "failed",
                                ticket->tag);
        return;
    case MUR_PMI_PUBLISH:
    case MUR_PMI_UNPUBLISH:
    case MUR_PMI_SPAWN:
        if (is_good)
            mur_pmi_server_send(server, "cmd=%s info=ok rc=0 msg=success\n", names[ticket->question]);
        else
            mur_pmi_server_send(server, "cmd=%s info=fail rc=1 msg=%s\n", names[ticket->question],
                                has_text ? text : "failed");
        return;
    default:
        return;
    }
}
