/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI-2 on the wire: six characters that say how long the rest is, then `cmd=NAME;key=value;...;`.
 *
 * It begins with a line of PMI-1, which asks for version 2. The length may be padded on either side. Slurm wants its
 * own order in some commands; where order matters, the fields stand as Slurm reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/pmi/escape.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

enum { HEAD = 6, BODY_MAX = 999999, VALUE_MAX = 900 };

/* What an answer is expected to say: a PMI-1 reply, or NAME-response. */
static int check_reply(const struct mur_pmi_words *reply, const char *command)
{
    const char *seen = mur_pmi_words_find(reply, "cmd");
    size_t length = strlen(command);

    if (seen && strncmp(seen, command, length) == 0 && strcmp(seen + length, "-response") == 0)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_OTHER, "the launcher answered '%.80s', but '%s-response' was expected", seen ? seen : "",
                     command);
}

static int read_reply(struct mur_pmi *pmi, const char *command, struct mur_pmi_words *reply)
{
    char *text;
    int length, rc = mur_pmi_wire_bytes(pmi, HEAD, &text);

    if (rc)
        return rc;
    text += strspn(text, " ");
    text[strcspn(text, " ")] = '\0';
    if (!mur_pmi_number(text, &length) || length < 1 || length > BODY_MAX)
        return mur_error(MPI_ERR_OTHER, "the launcher says that its answer is '%s' bytes long, which is no length",
                         text);
    rc = mur_pmi_wire_bytes(pmi, (size_t)length, &text);
    if (rc)
        return rc;
    if (strlen(text) != (size_t)length || !mur_pmi_words_split(reply, text, ';'))
        return mur_error(MPI_ERR_OTHER, "the launcher's answer to %s is malformed: '%.80s'", command, text);
    return check_reply(reply, command);
}

/* Sends `body`, whose memory it frees; the command's name is for the answer. */
static int ask(struct mur_pmi *pmi, const char *command, struct mur_pmi_text *body, struct mur_pmi_words *reply)
{
    struct mur_pmi_text whole = {0};
    int rc = MPI_SUCCESS;

    if (body->length > BODY_MAX)
        rc = mur_error(MPI_ERR_OTHER, "a command of %zu bytes is too long for the launcher, which takes %d",
                       body->length, BODY_MAX);
    else if (!body->failed)
        mur_pmi_text_add(&whole, "%6zu%s", body->length, body->at);
    if (!rc && (body->failed || whole.failed))
        rc = mur_pmi_no_memory();
    if (!rc)
        rc = mur_pmi_wire_send(pmi, whole.at, whole.length);
    free(body->at);
    free(whole.at);
    return rc ? rc : read_reply(pmi, command, reply);
}

static int check_good(const struct mur_pmi_words *reply, const char *what)
{
    const char *message = mur_pmi_words_find(reply, "errmsg");
    int code = mur_pmi_words_number(reply, "rc", 0);

    if (code == 0)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_OTHER, "the launcher refused to %s: code %d, %s", what, code,
                     message ? message : "it gives no reason");
}

static int handshake(struct mur_pmi *pmi)
{
    static const char hello[] = "cmd=init pmi_version=2 pmi_subversion=0\n";
    struct mur_pmi_words reply;
    char *line;
    int rc = mur_pmi_wire_send(pmi, hello, sizeof hello - 1);

    if (!rc)
        rc = mur_pmi_wire_line(pmi, &line);
    if (rc)
        return rc;
    if (!mur_pmi_words_split(&reply, line, ' ') || !mur_pmi_words_find(&reply, "cmd") ||
        strcmp(mur_pmi_words_find(&reply, "cmd"), "response_to_init") != 0 ||
        mur_pmi_words_number(&reply, "rc", 0) != 0 || mur_pmi_words_number(&reply, "pmi_version", 0) != 2)
        return mur_error(MPI_ERR_OTHER, "the launcher does not speak PMI 2.0");
    return MPI_SUCCESS;
}

static int introduce(struct mur_pmi *pmi)
{
    const char *job = getenv("PMI_JOBID"), *parent;
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    int rc;

    mur_pmi_text_add(&body, "cmd=fullinit;");
    if (job && *job) /* Slurm wants it; to Hydra an empty value is an error */
        mur_pmi_text_add(&body, "pmijobid=%s;", job);
    mur_pmi_text_add(&body, "pmirank=%d;threaded=FALSE;", pmi->rank);
    rc = ask(pmi, "fullinit", &body, &reply);
    if (!rc)
        rc = check_good(&reply, "let this process join");
    if (rc)
        return rc;
    pmi->rank = mur_pmi_words_number(&reply, "rank", -1);
    pmi->size = mur_pmi_words_number(&reply, "size", -1);
    pmi->appnum = mur_pmi_words_number(&reply, "appnum", -1);
    parent = mur_pmi_words_find(&reply, "spawner-jobid");
    pmi->is_spawned = pmi->is_spawned || (parent && *parent);
    return MPI_SUCCESS;
}

static int read_name(struct mur_pmi *pmi)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    const char *name;
    int rc;

    mur_pmi_text_add(&body, "cmd=job-getid;");
    rc = ask(pmi, "job-getid", &body, &reply);
    if (!rc)
        rc = check_good(&reply, "name the job");
    if (rc)
        return rc;
    name = mur_pmi_words_find(&reply, "jobid");
    if (!name || !*name || strlen(name) > MUR_PMI_NAME_MAX)
        return mur_error(MPI_ERR_OTHER, "the launcher names the job '%.300s', but a name has 1 to %d bytes",
                         name ? name : "", MUR_PMI_NAME_MAX);
    strcpy(pmi->kvs_name, name);
    return MPI_SUCCESS;
}

/* The value of an answer that has found=TRUE; NULL otherwise. */
static int take_value(const struct mur_pmi_words *reply, char **value)
{
    const char *found = mur_pmi_words_find(reply, "found"), *text = mur_pmi_words_find(reply, "value");

    *value = NULL;
    if (mur_pmi_words_number(reply, "rc", 0) != 0 || !text || (found && strcmp(found, "TRUE") != 0))
        return MPI_SUCCESS;
    *value = strdup(text);
    return *value ? MPI_SUCCESS : mur_pmi_no_memory();
}

static int job_attribute(struct mur_pmi *pmi, const char *key, char **value)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    int rc;

    *value = NULL;
    mur_pmi_text_add(&body, "cmd=info-getjobattr;key=%s;", key);
    rc = ask(pmi, "info-getjobattr", &body, &reply);
    return rc ? rc : take_value(&reply, value);
}

int mur_pmi_2_open(struct mur_pmi *pmi)
{
    char *universe = NULL;
    int rc = handshake(pmi);

    pmi->value_max = VALUE_MAX;
    if (!rc)
        rc = introduce(pmi);
    if (!rc)
        rc = read_name(pmi);
    if (!rc)
        rc = job_attribute(pmi, "PMI_process_mapping", &pmi->mapping);
    if (!rc)
        rc = job_attribute(pmi, "universeSize", &universe);
    if (!mur_pmi_number(universe, &pmi->universe_size))
        pmi->universe_size = -1;
    free(universe);
    return rc;
}

static int store(struct mur_pmi *pmi, const char *key, const char *value)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    int rc;

    mur_pmi_text_add(&body, "cmd=kvs-put;key=%s;value=%s;", key, value);
    rc = ask(pmi, "kvs-put", &body, &reply);
    return rc ? rc : check_good(&reply, "store a key");
}

static int fetch(struct mur_pmi *pmi, const char *key, char **value)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    int rc;

    *value = NULL;
    mur_pmi_text_add(&body, "cmd=kvs-get;jobid=%s;srcid=-1;key=%s;", pmi->kvs_name, key);
    rc = ask(pmi, "kvs-get", &body, &reply);
    return rc ? rc : take_value(&reply, value);
}

static int fence(struct mur_pmi *pmi)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    int rc;

    mur_pmi_text_add(&body, "cmd=kvs-fence;");
    rc = ask(pmi, "kvs-fence", &body, &reply);
    return rc ? rc : check_good(&reply, "wait for all ranks");
}

static int publish(struct mur_pmi *pmi, const char *service, const char *port)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    int rc;

    mur_pmi_text_add(&body, "cmd=name-publish;name=");
    mur_pmi_text_add_escaped(&body, service);
    mur_pmi_text_add(&body, ";port=");
    mur_pmi_text_add_escaped(&body, port);
    mur_pmi_text_add(&body, ";");
    rc = ask(pmi, "name-publish", &body, &reply);
    if (!rc && mur_pmi_words_number(&reply, "rc", 0) != 0)
        rc = mur_error(MPI_ERR_SERVICE, "the launcher refused to publish the name '%s'", service);
    return rc;
}

static int unpublish(struct mur_pmi *pmi, const char *service)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    int rc;

    mur_pmi_text_add(&body, "cmd=name-unpublish;name=");
    mur_pmi_text_add_escaped(&body, service);
    mur_pmi_text_add(&body, ";");
    rc = ask(pmi, "name-unpublish", &body, &reply);
    if (!rc && mur_pmi_words_number(&reply, "rc", 0) != 0)
        rc = mur_error(MPI_ERR_SERVICE, "the launcher cannot take back the name '%s'", service);
    return rc;
}

static int lookup(struct mur_pmi *pmi, const char *service, char **port)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    const char *found;
    int rc;

    mur_pmi_text_add(&body, "cmd=name-lookup;name=");
    mur_pmi_text_add_escaped(&body, service);
    mur_pmi_text_add(&body, ";");
    rc = ask(pmi, "name-lookup", &body, &reply);
    if (rc)
        return rc;
    found = mur_pmi_words_find(&reply, "port");
    if (!found)
        found = mur_pmi_words_find(&reply, "value"); /* as Slurm says it */
    if (!found || mur_pmi_words_number(&reply, "rc", 0) != 0)
        return mur_error(MPI_ERR_NAME, "no port is published under the name '%s'", service);
    *port = strdup(found);
    if (!*port)
        return mur_pmi_no_memory();
    mur_pmi_unescape(*port);
    return MPI_SUCCESS;
}

/* A value that the launcher takes as it is: without semicolon. */
static int check_plain(const char *what, const char *value)
{
    return !strchr(value, ';') ? MPI_SUCCESS
                               : mur_error(MPI_ERR_SPAWN,
                                           "%s '%.100s' has a semicolon in it, which the launcher does "
                                           "not take",
                                           what, value);
}

static int add_command(struct mur_pmi_text *body, const struct mur_pmi_command *command)
{
    int arguments = 0, rc = check_plain("the program", command->program);

    while (command->arguments && command->arguments[arguments])
        arguments++;
    mur_pmi_text_add(body, "subcmd=%s;maxprocs=%d;argc=%d;", command->program, command->ranks, arguments);
    for (int i = 0; i < arguments && !rc; i++) {
        rc = check_plain("the argument", command->arguments[i]);
        mur_pmi_text_add(body, "argv%d=%s;", i, command->arguments[i]);
    }
    mur_pmi_text_add(body, "infokeycount=%d;", command->info_count);
    for (int i = 0; i < command->info_count && !rc; i++) {
        rc = check_plain("the info key", command->info[i].key);
        if (!rc)
            rc = check_plain("the info value", command->info[i].value);
        mur_pmi_text_add(body, "infokey%d=%s;infoval%d=%s;", i, command->info[i].key, i, command->info[i].value);
    }
    return rc;
}

static int spawn(struct mur_pmi *pmi, const struct mur_pmi_command *commands, int count,
                 const struct mur_pmi_pair *preputs, int preput_count)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;
    const char *message;
    int rc = MPI_SUCCESS;

    mur_pmi_text_add(&body, "cmd=spawn;ncmds=%d;preputcount=%d;", count, preput_count);
    for (int i = 0; i < preput_count; i++) {
        mur_pmi_text_add(&body, "ppkey%d=%s;ppval%d=", i, preputs[i].key, i);
        mur_pmi_text_add_escaped(&body, preputs[i].value);
        mur_pmi_text_add(&body, ";");
    }
    for (int i = 0; i < count && !rc; i++)
        rc = add_command(&body, &commands[i]);
    if (rc) {
        free(body.at);
        return rc;
    }
    rc = ask(pmi, "spawn", &body, &reply);
    if (rc || mur_pmi_words_number(&reply, "rc", 0) == 0)
        return rc;
    message = mur_pmi_words_find(&reply, "errmsg");
    return mur_error(MPI_ERR_SPAWN, "the launcher could not start the processes: %s",
                     message ? message : "it gives no reason");
}

/* The exit code is a word of our own server's; others take that of this process, which exits with it. */
static void abort_job(struct mur_pmi *pmi, int code, const char *text)
{
    char command[512], body[400];
    int length = snprintf(body, sizeof body, "cmd=abort;isworld=TRUE;exitcode=%d;msg=%.300s", code, text);

    for (char *c = strstr(body, "msg="); *c; c++)
        if (*c == ';' || *c == '\n')
            *c = ',';
    length = snprintf(command, sizeof command, "%6d%s;", length + 1, body);
    mur_pmi_wire_send(pmi, command, (size_t)length);
}

static int finalize(struct mur_pmi *pmi)
{
    struct mur_pmi_text body = {0};
    struct mur_pmi_words reply;

    mur_pmi_text_add(&body, "cmd=finalize;");
    return ask(pmi, "finalize", &body, &reply);
}

const struct mur_pmi_protocol mur_pmi_protocol_2 = {
    .name = "PMI-2",
    .put = mur_pmi_segments_put,
    .fence = fence,
    .get = mur_pmi_segments_get,
    .publish = publish,
    .unpublish = unpublish,
    .lookup = lookup,
    .spawn = spawn,
    .abort = abort_job,
    .finalize = finalize,
    .store = store,
    .fetch = fetch,
};
