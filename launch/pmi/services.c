/* SPDX-License-Identifier: BSD-3-Clause */
/* Both are the questions that ranks of our own library ask (boot/names.h, boot/spawn.h), so names and jobs of both
 * kinds of programs are of one kind. A spawn is answered when a process of the new job has introduced itself to its PMI
 * server, or the job has ended before: who has spawned it may wait for it to connect then. */
#include "launch/pmi/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "boot/names.h"
#include "boot/spawn.h"
#include "launch/alloc.h"
#include "launch/jobs.h"
#include "launch/pmi/ranks.h"

struct question {
    struct mur_pmi_rank *rank;
    uint32_t ticket;
    bool is_lookup;
};

static void ask(struct mur_pmi_rank *rank, const char *key, const char *answer_key, const char *value,
                mur_kvs_waiter *answer, const struct question *question)
{
    struct question *own = mur_alloc(1, sizeof *own);
    char *text = mur_alloc_text("%s%c%s", key, '\0', value);

    *own = *question;
    rank->all->calls->put(rank->all->owner, text);
    rank->all->calls->wait(rank->all->owner, answer_key, answer, own);
    free(text);
}

/* ---- names ---- */

static void name_answered(void *owner, const char *key, const char *value)
{
    struct question *question = owner;
    const char *text = "failed";

    (void)key;
    if (value && value[0] == MUR_NAME_FINE)
        text = value + 1;
    else if (value && value[0] == MUR_NAME_TAKEN)
        text = "name_is_published_already";
    else if (value && value[0] == MUR_NAME_UNKNOWN)
        text = "name_is_not_published";
    mur_pmi_rank_answer(question->rank, question->ticket, value && value[0] == MUR_NAME_FINE,
                        question->is_lookup || *text ? text : NULL);
    free(question);
}

static void ask_name(struct mur_pmi_rank *rank, enum mur_name_act act, const char *service, const char *port,
                     uint32_t ticket)
{
    const struct question question = {.rank = rank, .ticket = ticket, .is_lookup = act == MUR_NAME_LOOKUP};
    char key[400], answer[400], *text;

    if (strlen(service) > MUR_NAME_SERVICE_MAX || strlen(port) >= MUR_NAME_PORT_MAX) {
        mur_pmi_rank_answer(rank, ticket, false, "name_or_port_is_too_long");
        return;
    }
    rank->questions++;
    snprintf(key, sizeof key, MUR_NAME_QUESTION "pmi.%s.%d.%u", rank->all->name, rank->number, rank->questions);
    snprintf(answer, sizeof answer, MUR_NAME_ANSWER "%s", key + strlen(MUR_NAME_QUESTION));
    text = mur_alloc_text("%c%zu:%s%s", act, strlen(service), service, port);
    ask(rank, key, answer, text, name_answered, &question);
    free(text);
}

void mur_pmi_publish(void *owner, const char *service, const char *port, uint32_t ticket)
{
    ask_name(owner, MUR_NAME_PUBLISH, service, port, ticket);
}

/* PMI names no port here: whichever it is. */
void mur_pmi_unpublish(void *owner, const char *service, uint32_t ticket)
{
    ask_name(owner, MUR_NAME_UNPUBLISH, service, "", ticket);
}

void mur_pmi_lookup(void *owner, const char *service, uint32_t ticket)
{
    ask_name(owner, MUR_NAME_LOOKUP, service, "", ticket);
}

/* ---- jobs ---- */

struct text {
    char *bytes;
    size_t length, size;
};

static void add(struct text *text, const char *word)
{
    size_t bytes = strlen(word) + 1;

    if (text->length + bytes > text->size) {
        text->size = 2 * (text->length + bytes);
        text->bytes = mur_alloc_again(text->bytes, text->size, 1);
    }
    memcpy(text->bytes + text->length, word, bytes);
    text->length += bytes;
}

static const char *find_info(const struct mur_pmi_server_command *command, const char *key)
{
    for (int i = 0; i < command->info_count; i++)
        if (strcmp(command->info[i].key, key) == 0)
            return command->info[i].value;
    return NULL;
}

static void add_command(struct text *text, const struct mur_pmi_server_command *command)
{
    static const struct {
        const char *key, *option;
    } options[] = {{"wdir", "-wdir"}, {"path", "-path"}, {"hostfile", "-hostfile"}};
    const char *host = find_info(command, "host");
    char number[16];

    snprintf(number, sizeof number, "%d", command->ranks);
    add(text, "-n");
    add(text, number);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (find_info(command, options[i].key)) {
            add(text, options[i].option);
            add(text, find_info(command, options[i].key));
        }
    host = host ? host : find_info(command, "hosts");
    add(text, host ? "-host" : MUR_SPAWN_HOSTS);
    if (host)
        add(text, host);
    if (command->program[0] == '-') { /* no option of mpiexec */
        char *program = mur_alloc_text("./%s", command->program);

        add(text, program);
        free(program);
    } else {
        add(text, command->program);
    }
    for (int i = 0; i < command->argument_count; i++)
        add(text, command->arguments[i]);
}

static void spawn_answered(void *owner, const char *key, const char *value)
{
    struct question *question = owner;
    bool runs = value && strcmp(value, MUR_JOB_RUNS) == 0;

    mur_pmi_rank_answer(question->rank, question->ticket, runs, runs ? key : "the_new_job_did_not_start");
    free(question);
}

void mur_pmi_spawn(void *owner, const struct mur_pmi_server_spawn *spawn, uint32_t ticket)
{
    struct mur_pmi_rank *rank = owner;
    const struct question question = {.rank = rank, .ticket = ticket};
    unsigned char random[16];
    char separator[2 * sizeof random + 2] = ":", key[400], answer[400], *encoded;
    struct text text = {0};

    mur_secret_random(random, sizeof random); /* so that no argument of a user's can be it */
    mur_secret_write(separator + 1, random, sizeof random);
    add(&text, ""); /* no port of ours: the new job finds the values */
    add(&text, separator);
    for (int i = 0; i < spawn->preput_count; i++) {
        add(&text, MUR_SPAWN_VALUE);
        add(&text, spawn->preputs[i].key);
        add(&text, spawn->preputs[i].value);
    }
    for (int i = 0; i < spawn->command_count; i++) {
        if (i)
            add(&text, separator);
        add_command(&text, &spawn->commands[i]);
    }
    rank->questions++;
    snprintf(key, sizeof key, MUR_JOB_QUESTION "pmi.%s.%d.%u", rank->all->name, rank->number, rank->questions);
    snprintf(answer, sizeof answer, MUR_JOB_ANSWER "%s", key + strlen(MUR_JOB_QUESTION));
    encoded = mur_jobs_encode(text.bytes, text.length);
    ask(rank, key, answer, encoded, spawn_answered, &question);
    free(encoded);
    free(text.bytes);
}
