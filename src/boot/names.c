/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking for names; and the names of a program that nobody launched. */
#include "boot/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/foreign.h"
#include "boot/process.h"
#include "mpi.h"

/* ---- without a launcher ---- */

static struct name {
    struct name *next;
    char *service, *port;
} * names;

static struct name **find(const char *service)
{
    struct name **link = &names;

    while (*link && strcmp((*link)->service, service) != 0)
        link = &(*link)->next;
    return link;
}

static int add(const char *service, const char *port)
{
    struct name *name = calloc(1, sizeof *name);

    if (!name || !(name->service = strdup(service)) || !(name->port = strdup(port)))
        return mur_error(MPI_ERR_NO_MEM, "no memory for the name of a service");
    name->next = names;
    names = name;
    return MPI_SUCCESS;
}

static int act_alone(enum mur_name_act act, const char *service, char *port, enum mur_name_result *result)
{
    struct name **link = find(service), *name = *link;

    *result = MUR_NAME_FINE;
    if (act == MUR_NAME_PUBLISH && !name)
        return add(service, port);
    if (act == MUR_NAME_PUBLISH) {
        *result = MUR_NAME_TAKEN;
    } else if (!name) {
        *result = MUR_NAME_UNKNOWN;
    } else if (act == MUR_NAME_LOOKUP) {
        snprintf(port, MUR_NAME_PORT_MAX, "%s", name->port);
    } else if (strcmp(name->port, port) != 0) {
        *result = MUR_NAME_OTHER_PORT;
    } else {
        *link = name->next;
        free(name->service);
        free(name->port);
        free(name);
    }
    return MPI_SUCCESS;
}

/* ---- with one ---- */

int mur_boot_name(enum mur_name_act act, const char *service, char *port, enum mur_name_result *result)
{
    static unsigned questions;
    char key[160], answer[MUR_VALUE_MAX];
    char question[16 + MUR_NAME_SERVICE_MAX + MUR_NAME_PORT_MAX];
    int rc;

    if (mur_foreign_is_there())
        return mur_foreign_name(act, service, port, result);
    if (mur_process.control_fd < 0)
        return act_alone(act, service, port, result);
    snprintf(question, sizeof question, "%c%zu:%s%s", act, strlen(service), service,
             act == MUR_NAME_LOOKUP ? "" : port);
    questions++;
    snprintf(key, sizeof key, MUR_NAME_QUESTION "%.64s.%d.%d.%u", mur_process.job_id, mur_process.rank, (int)getpid(),
             questions);
    if ((rc = mur_boot_put(key, question)))
        return rc;
    memcpy(key, MUR_NAME_ANSWER, strlen(MUR_NAME_ANSWER));
    if ((rc = mur_boot_ask(key)) || (rc = mur_boot_wait(key, answer)))
        return rc;
    *result = (enum mur_name_result)answer[0];
    if (act == MUR_NAME_LOOKUP && *result == MUR_NAME_FINE)
        snprintf(port, MUR_NAME_PORT_MAX, "%.*s", MUR_NAME_PORT_MAX - 1, answer + 1);
    return MPI_SUCCESS;
}
