/* SPDX-License-Identifier: BSD-3-Clause */
/* Names are a key-value space of their own: the port's name under the service's. */
#include "launch/names.h"

#include <stdio.h>
#include <string.h>

#include "boot/names.h"

bool mur_names_is_question(const char *key)
{
    return strncmp(key, MUR_NAME_QUESTION, strlen(MUR_NAME_QUESTION)) == 0;
}

bool mur_names_is_answer(const char *key)
{
    return strncmp(key, MUR_NAME_ANSWER, strlen(MUR_NAME_ANSWER)) == 0;
}

/* Finds the parts of a question: false when it is none. *service is not terminated. */
static bool read_question(const char *question, char *act, const char **service, size_t *length, const char **port)
{
    int start = 0;

    if (sscanf(question, "%c%8zu:%n", act, length, &start) != 2 || !start || *length > strlen(question + start))
        return false;
    *service = question + start;
    *port = *service + *length;
    return true;
}

static enum mur_name_result act_on(struct mur_kvs *names, char act, const char *service, const char *port)
{
    const char *known = mur_kvs_get(names, service);

    if (act == MUR_NAME_PUBLISH)
        return known ? MUR_NAME_TAKEN : mur_kvs_put(names, service, port) ? MUR_NAME_FINE : MUR_NAME_UNKNOWN;
    if (!known)
        return MUR_NAME_UNKNOWN;
    if (act == MUR_NAME_LOOKUP)
        return MUR_NAME_FINE;
    if (*port && strcmp(known, port) != 0) /* programs of other libraries do not tell it */
        return MUR_NAME_OTHER_PORT;
    mur_kvs_remove(names, service);
    return MUR_NAME_FINE;
}

void mur_names_act(struct mur_kvs *names, struct mur_kvs *answers, const char *key, const char *question)
{
    char act, service[MUR_NAME_SERVICE_MAX + 1], answer_key[256], answer[MUR_NAME_PORT_MAX + 1];
    const char *name, *port, *known = NULL;
    enum mur_name_result result;
    size_t length;

    if (!read_question(question, &act, &name, &length, &port) || length > MUR_NAME_SERVICE_MAX)
        return; /* not from our library */
    memcpy(service, name, length);
    service[length] = '\0';
    result = act_on(names, act, service, port);
    if (result == MUR_NAME_FINE && act == MUR_NAME_LOOKUP)
        known = mur_kvs_get(names, service);
    snprintf(answer, sizeof answer, "%c%s", result, known ? known : "");
    snprintf(answer_key, sizeof answer_key, "%s%s", MUR_NAME_ANSWER, key + strlen(MUR_NAME_QUESTION));
    mur_kvs_give(answers, answer_key, answer);
}
