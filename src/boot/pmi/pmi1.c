/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI-1.1 on the wire: a command is a line, `cmd=NAME key=value ...`, answered by a line.
 *
 * Servers differ: some give rc first, some last, some say info=ok or info=fail, and older ones leave rc out when all is
 * well; so answers are read by key. One command is out at a time, and goes out in one write of at most COMMAND_MAX
 * bytes: Slurm reads up to that many and takes them for one command. Only spawn, which Slurm reads by lines, is longer.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/pmi/escape.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

enum { COMMAND_MAX = 1024, KEY_LENGTH_MAX = 64, VALUE_LEAST = 16 };

static int unexpected(const char *wanted, const char *seen)
{
    return mur_error(MPI_ERR_OTHER, "the launcher answered '%.80s', but '%s' was expected", seen ? seen : "", wanted);
}

/* Reads a line whose cmd is `wanted`. */
static int read_reply(struct mur_pmi *pmi, const char *wanted, struct mur_pmi_words *reply)
{
    const char *seen;
    char start[81];
    char *line;
    int rc = mur_pmi_wire_line(pmi, &line);

    if (rc)
        return rc;
    snprintf(start, sizeof start, "%s", line); /* for the message: splitting cuts the line to pieces */
    if (!mur_pmi_words_split(reply, line, ' '))
        return unexpected(wanted, start);
    seen = mur_pmi_words_find(reply, "cmd");
    return seen && strcmp(seen, wanted) == 0 ? MPI_SUCCESS : unexpected(wanted, start);
}

static int send_text(struct mur_pmi *pmi, struct mur_pmi_text *command)
{
    int rc = command->failed ? mur_pmi_no_memory() : mur_pmi_wire_send(pmi, command->at, command->length);

    free(command->at);
    return rc;
}

__attribute__((format(printf, 4, 5))) static int ask(struct mur_pmi *pmi, const char *wanted,
                                                     struct mur_pmi_words *reply, const char *format, ...)
{
    char command[COMMAND_MAX + 1];
    va_list args;
    int length, rc;

    va_start(args, format);
    length = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof command)
        return mur_error(MPI_ERR_OTHER, "a command of %d bytes is too long for the launcher, which takes %d: %.40s...",
                         length, COMMAND_MAX, command);
    rc = mur_pmi_wire_send(pmi, command, (size_t)length);
    return rc ? rc : read_reply(pmi, wanted, reply);
}

/* Whether the answer says that it went well. */
static bool is_good(const struct mur_pmi_words *reply)
{
    const char *info = mur_pmi_words_find(reply, "info");

    return mur_pmi_words_number(reply, "rc", 0) == 0 && (!info || strcmp(info, "ok") == 0);
}

static const char *reason(const struct mur_pmi_words *reply)
{
    const char *message = mur_pmi_words_find(reply, "msg");

    return message ? message : "it gives no reason";
}

/* Port mode: the first line tells the launcher which process this is, and four lines come back. */
static int introduce_by_id(struct mur_pmi *pmi, const char *id)
{
    struct mur_pmi_words reply;
    int rc = ask(pmi, "initack", &reply, "cmd=initack pmiid=%.40s\n", id);

    pmi->rank = pmi->size = -1;
    if (!rc && mur_pmi_words_find(&reply, "spawner-jobid"))
        pmi->is_spawned = true;
    for (int i = 0; i < 3 && !rc; i++) {
        rc = read_reply(pmi, "set", &reply);
        if (!rc && mur_pmi_words_find(&reply, "size"))
            pmi->size = mur_pmi_words_number(&reply, "size", -1);
        if (!rc && mur_pmi_words_find(&reply, "rank"))
            pmi->rank = mur_pmi_words_number(&reply, "rank", -1);
    }
    return rc;
}

static int read_environment(struct mur_pmi *pmi)
{
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");

    if (mur_pmi_number(rank, &pmi->rank) && mur_pmi_number(size, &pmi->size))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_OTHER, "PMI_FD is set, but PMI_RANK is '%s' and PMI_SIZE '%s', which must be numbers",
                     rank ? rank : "", size ? size : "");
}

int mur_pmi_1_introduce(struct mur_pmi *pmi, const char *port_mode_id)
{
    return port_mode_id ? introduce_by_id(pmi, port_mode_id) : read_environment(pmi);
}

static int handshake(struct mur_pmi *pmi, bool *speaks_2)
{
    struct mur_pmi_words reply;
    int rc = ask(pmi, "response_to_init", &reply, "cmd=init pmi_version=1 pmi_subversion=1\n");
    int version;

    if (rc)
        return rc;
    version = mur_pmi_words_number(&reply, "pmi_version", 1);
    pmi->subversion = mur_pmi_words_number(&reply, "pmi_subversion", 1);
    *speaks_2 = version == 2 && !is_good(&reply);
    if (*speaks_2 || (is_good(&reply) && version == 1))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_OTHER, "the launcher speaks PMI %d.%d, but this library PMI 1.1 and 2.0", version,
                     pmi->subversion);
}

static int read_limits(struct mur_pmi *pmi)
{
    struct mur_pmi_words reply;
    const char *name;
    int rc = ask(pmi, "maxes", &reply, "cmd=get_maxes\n"), value_max;

    if (rc)
        return rc;
    value_max = mur_pmi_words_number(&reply, "vallen_max", COMMAND_MAX);
    rc = ask(pmi, "my_kvsname", &reply, "cmd=get_my_kvsname\n");
    if (rc)
        return rc;
    name = mur_pmi_words_find(&reply, "kvsname");
    if (!name || !*name || strlen(name) > MUR_PMI_NAME_MAX)
        return mur_error(MPI_ERR_OTHER, "the launcher names its key-value space '%.300s', but a name has 1 to %d bytes",
                         name ? name : "", MUR_PMI_NAME_MAX);
    strcpy(pmi->kvs_name, name);
    pmi->value_max = COMMAND_MAX - strlen("cmd=put kvsname= key= value=\n") - KEY_LENGTH_MAX - strlen(name);
    if (value_max <= VALUE_LEAST)
        return mur_error(MPI_ERR_OTHER, "the launcher takes values of %d bytes, but more than %d are needed", value_max,
                         VALUE_LEAST);
    if ((size_t)value_max - 1 < pmi->value_max)
        pmi->value_max = (size_t)value_max - 1; /* some count the NUL */
    return MPI_SUCCESS;
}

static int store(struct mur_pmi *pmi, const char *key, const char *value)
{
    struct mur_pmi_words reply;
    int rc = ask(pmi, "put_result", &reply, "cmd=put kvsname=%s key=%s value=%s\n", pmi->kvs_name, key, value);

    if (!rc && !is_good(&reply))
        rc = mur_error(MPI_ERR_OTHER, "the launcher refused to store key %s: %s", key, reason(&reply));
    return rc;
}

static int fetch(struct mur_pmi *pmi, const char *key, char **value)
{
    struct mur_pmi_words reply;
    const char *found;
    int rc = ask(pmi, "get_result", &reply, "cmd=get kvsname=%s key=%s\n", pmi->kvs_name, key);

    *value = NULL;
    if (rc)
        return rc;
    found = mur_pmi_words_find(&reply, "value");
    if (!found || !is_good(&reply))
        return MPI_SUCCESS;
    *value = strdup(found);
    return *value ? MPI_SUCCESS : mur_pmi_no_memory();
}

int mur_pmi_1_open(struct mur_pmi *pmi, bool *speaks_2)
{
    struct mur_pmi_words reply;
    int rc = handshake(pmi, speaks_2);

    if (rc || *speaks_2 || (rc = read_limits(pmi)))
        return rc;
    rc = ask(pmi, "appnum", &reply, "cmd=get_appnum\n");
    if (rc)
        return rc;
    pmi->appnum = mur_pmi_words_number(&reply, "appnum", -1);
    rc = ask(pmi, "universe_size", &reply, "cmd=get_universe_size\n");
    if (rc)
        return rc;
    pmi->universe_size = mur_pmi_words_number(&reply, "size", -1);
    return fetch(pmi, "PMI_process_mapping", &pmi->mapping);
}

static int fence(struct mur_pmi *pmi)
{
    struct mur_pmi_words reply;
    int rc = ask(pmi, "barrier_out", &reply, "cmd=barrier_in\n");

    return rc || is_good(&reply) ? rc : mur_error(MPI_ERR_OTHER, "the launcher's barrier failed: %s", reason(&reply));
}

/* A command about a published name, with or without port; the result is left in `reply`. */
static int name_command(struct mur_pmi *pmi, const char *name, const char *service, const char *port,
                        struct mur_pmi_words *reply)
{
    struct mur_pmi_text command = {0};
    char wanted[32];
    int rc;

    mur_pmi_text_add(&command, "cmd=%s_name service=", name);
    mur_pmi_text_add_escaped(&command, service);
    if (port)
        mur_pmi_text_add(&command, " port=");
    if (port)
        mur_pmi_text_add_escaped(&command, port);
    mur_pmi_text_add(&command, "\n");
    if (command.length > COMMAND_MAX) {
        free(command.at);
        return mur_error(MPI_ERR_SERVICE, "the service's name '%.60s...' is too long for the launcher: %zu bytes",
                         service, strlen(service));
    }
    rc = send_text(pmi, &command);
    snprintf(wanted, sizeof wanted, "%s_result", name);
    return rc ? rc : read_reply(pmi, wanted, reply);
}

static int publish(struct mur_pmi *pmi, const char *service, const char *port)
{
    struct mur_pmi_words reply;
    int rc = name_command(pmi, "publish", service, port, &reply);

    if (!rc && !is_good(&reply))
        rc = mur_error(MPI_ERR_SERVICE, "the launcher refused to publish the name '%s': %s", service, reason(&reply));
    return rc;
}

static int unpublish(struct mur_pmi *pmi, const char *service)
{
    struct mur_pmi_words reply;
    int rc = name_command(pmi, "unpublish", service, NULL, &reply);

    if (!rc && !is_good(&reply))
        rc = mur_error(MPI_ERR_SERVICE, "the launcher cannot take back the name '%s': %s", service, reason(&reply));
    return rc;
}

static int lookup(struct mur_pmi *pmi, const char *service, char **port)
{
    struct mur_pmi_words reply;
    const char *found;
    int rc = name_command(pmi, "lookup", service, NULL, &reply);

    if (rc)
        return rc;
    found = mur_pmi_words_find(&reply, "port");
    if (!found || !is_good(&reply))
        return mur_error(MPI_ERR_NAME, "no port is published under the name '%s'", service);
    *port = strdup(found);
    if (!*port)
        return mur_pmi_no_memory();
    mur_pmi_unescape(*port);
    return MPI_SUCCESS;
}

/* A value fills the rest of its line, so only a newline cannot be told. Hydra of MPICH 5, which says 1.2, takes an
 * empty one for the end of its connection and ends the job. */
static int add_value(struct mur_pmi *pmi, struct mur_pmi_text *block, const char *what, const char *value)
{
    if (strchr(value, '\n') || (!*value && pmi->subversion >= 2))
        return mur_error(MPI_ERR_SPAWN, "%s is '%.100s', but the launcher does not take %s", what, value,
                         *value ? "newlines" : "empty texts");
    mur_pmi_text_add(block, "%s\n", value);
    return MPI_SUCCESS;
}

static int add_arguments(struct mur_pmi *pmi, struct mur_pmi_text *block, char *const *arguments)
{
    int count = 0, rc = MPI_SUCCESS;
    char what[32];

    while (arguments && arguments[count])
        count++;
    mur_pmi_text_add(block, "argcnt=%d\n", count);
    for (int i = 0; i < count && !rc; i++) {
        mur_pmi_text_add(block, "arg%d=", i + 1);
        snprintf(what, sizeof what, "argument %d", i);
        rc = add_value(pmi, block, what, arguments[i]);
    }
    return rc;
}

static int add_info(struct mur_pmi *pmi, struct mur_pmi_text *block, const struct mur_pmi_pair *info, int count)
{
    int rc = MPI_SUCCESS;

    mur_pmi_text_add(block, "info_num=%d\n", count);
    for (int i = 0; i < count && !rc; i++) {
        mur_pmi_text_add(block, "info_key_%d=", i);
        rc = add_value(pmi, block, "an info key", info[i].key);
        mur_pmi_text_add(block, "info_val_%d=", i);
        if (!rc)
            rc = add_value(pmi, block, info[i].key, info[i].value);
    }
    return rc;
}

/* One command of a spawn as lines; what is put for the new job goes with the first. */
static int add_block(struct mur_pmi *pmi, struct mur_pmi_text *block, const struct mur_pmi_command *command, int number,
                     int count, const struct mur_pmi_pair *preputs, int preput_count)
{
    int rc;

    mur_pmi_text_add(block, "mcmd=spawn\nnprocs=%d\nexecname=", command->ranks);
    rc = add_value(pmi, block, "the program", command->program);
    mur_pmi_text_add(block, "totspawns=%d\nspawnssofar=%d\n", count, number + 1);
    if (!rc)
        rc = add_arguments(pmi, block, command->arguments);
    mur_pmi_text_add(block, "preput_num=%d\n", number == 0 ? preput_count : 0);
    for (int i = 0; i < preput_count && number == 0; i++) {
        mur_pmi_text_add(block, "preput_key_%d=%s\npreput_val_%d=", i, preputs[i].key, i);
        mur_pmi_text_add_escaped(block, preputs[i].value);
        mur_pmi_text_add(block, "\n");
    }
    if (!rc)
        rc = add_info(pmi, block, command->info, command->info_count);
    mur_pmi_text_add(block, "endcmd\n");
    return rc;
}

/* errcodes, where the launcher gives them, has one number a process. */
static int spawn_result(const struct mur_pmi_words *reply)
{
    const char *codes = mur_pmi_words_find(reply, "errcodes");
    char *end;

    if (!is_good(reply))
        return mur_error(MPI_ERR_SPAWN, "the launcher could not start the processes: %s", reason(reply));
    for (int process = 0; codes && *codes; process++) {
        long code = strtol(codes, &end, 10);

        if (end == codes || code)
            return mur_error(MPI_ERR_SPAWN, "the launcher could not start process %d: code %ld", process, code);
        codes = *end == ',' ? end + 1 : end;
    }
    return MPI_SUCCESS;
}

static int spawn(struct mur_pmi *pmi, const struct mur_pmi_command *commands, int count,
                 const struct mur_pmi_pair *preputs, int preput_count)
{
    struct mur_pmi_text whole = {0};
    struct mur_pmi_words reply;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && !rc; i++)
        rc = add_block(pmi, &whole, &commands[i], i, count, preputs, preput_count);
    if (rc) {
        free(whole.at);
        return rc;
    }
    rc = send_text(pmi, &whole);
    if (!rc)
        rc = read_reply(pmi, "spawn_result", &reply);
    return rc ? rc : spawn_result(&reply);
}

/* One write, without waiting for a thread in the midst of a command: lines do not mix. */
static void abort_job(struct mur_pmi *pmi, int code, const char *text)
{
    char command[64];
    int length = snprintf(command, sizeof command, "cmd=abort exitcode=%d message=abort\n", code);

    (void)text; /* a message cannot hold blanks; the caller has printed it */
    mur_pmi_wire_send(pmi, command, (size_t)length);
}

static int finalize(struct mur_pmi *pmi)
{
    struct mur_pmi_words reply;

    return ask(pmi, "finalize_ack", &reply, "cmd=finalize\n");
}

const struct mur_pmi_protocol mur_pmi_protocol_1 = {
    .name = "PMI-1",
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
