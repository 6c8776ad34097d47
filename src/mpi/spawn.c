/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting processes (MPI-5.0 §11.8). The root describes the new job as a command line of mpiexec, opens a port for it,
 * and all of the group wait there; the ranks of the new job connect to it as part of their initialisation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/secret.h"
#include "base/settings.h"
#include "boot/foreign.h"
#include "boot/foreign_spawn.h"
#include "boot/job.h"
#include "boot/calls.h"
#include "boot/process.h"
#include "boot/spawn.h"
#include "coll/coll.h"
#include "comm/meet.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "mpi/bodies.h"
#include "mpi/parent.h"
#include "object/comm.h"
#include "object/info.h"
#include "object/type.h"
#include "transport/port.h"

/* What is to be started. Significant at the root only. */
struct order {
    int count;
    char **commands;
    char ***argvs; /* NULL: no arguments */
    const int *maxprocs;
    const MPI_Info *infos;
};

/* For each command, how many processes were asked for, and how many are started. */
struct numbers {
    int asked, started;
};

/* ---- the root ---- */

/* The largest number up to `most` that a list like "2,4:10:2" has; 0: none. */
static int choose_soft(const char *list, int most)
{
    int best = 0;

    for (const char *at = list; at && *at; at = strchr(at, ','), at += at != NULL) {
        long first, last, step = 1;
        int parts = sscanf(at, "%ld:%ld:%ld", &first, &last, &step);

        if (parts < 1)
            continue;
        if (parts == 1)
            last = first;
        if (step == 0)
            continue;
        for (long number = first; step > 0 ? number <= last && number <= most : number >= last; number += step)
            if (number <= most && number > best)
                best = (int)number;
    }
    return best;
}

static int check_command(const struct order *order, int i, struct numbers *numbers)
{
    const struct mur_info *info = mur_info_find(order->infos[i]);
    const char *soft;

    if (!order->commands[i] || !*order->commands[i])
        return mur_error(MPI_ERR_ARG, "command %d is %s; the name of a program was expected", i,
                         order->commands[i] ? "empty" : "a null pointer");
    if (order->maxprocs[i] < 1)
        return mur_error(MPI_ERR_ARG, "the number of processes of command %d is %d, but must be 1 or more", i,
                         order->maxprocs[i]);
    if (!info && order->infos[i] != MPI_INFO_NULL)
        return mur_error(MPI_ERR_INFO, "the info of command %d is no live info object, and not MPI_INFO_NULL", i);
    soft = mur_info_get(info, "soft");
    *numbers = (struct numbers){order->maxprocs[i], soft ? choose_soft(soft, order->maxprocs[i]) : order->maxprocs[i]};
    if (!numbers->started)
        return mur_error(MPI_ERR_SPAWN, "the info key soft of command %d, '%s', has no number from 1 to %d", i, soft,
                         order->maxprocs[i]);
    return MPI_SUCCESS;
}

static int check_order(const struct order *order, struct numbers *numbers)
{
    int rc = MPI_SUCCESS;

    if (!order->commands || !order->maxprocs || !order->infos)
        return mur_error(MPI_ERR_ARG, "%s is a null pointer",
                         !order->commands   ? "array_of_commands"
                         : !order->maxprocs ? "array_of_maxprocs"
                                            : "array_of_info");
    for (int i = 0; !rc && i < order->count; i++)
        rc = check_command(order, i, &numbers[i]);
    return rc;
}

/* "NAME=value" in lines. */
static void add_environment(struct mur_spawn_text *text, const char *list)
{
    char *copy = list ? strdup(list) : NULL, *rest, *line;

    if (list && !copy)
        text->has_failed = true;
    for (line = copy ? strtok_r(copy, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, '=');

        if (!value || value == line)
            continue;
        *value++ = '\0';
        mur_spawn_add(text, "-env");
        mur_spawn_add(text, line);
        mur_spawn_add(text, value);
    }
    free(copy);
}

static void add_option(struct mur_spawn_text *text, const char *option, const char *value)
{
    if (!value)
        return;
    mur_spawn_add(text, option);
    mur_spawn_add(text, value);
}

/* Ranks that speak to each other must have the same setting. */
static void add_seal(struct mur_spawn_text *text)
{
    static const char *const values[] = {"none", "authenticate", "encrypt"};

    if (mur_settings.tcp_seal < 0)
        return;
    mur_spawn_add(text, "-env");
    mur_spawn_add(text, "MUR_TCP_SEAL");
    mur_spawn_add(text, values[mur_settings.tcp_seal]);
}

/* mpiexec does not run where the call was made. */
static void add_file(struct mur_spawn_text *text, const char *option, const char *name)
{
    char *path = name ? realpath(name, NULL) : NULL;

    add_option(text, option, path ? path : name);
    free(path);
}

static void add_command(struct mur_spawn_text *text, const struct order *order, int i, int started)
{
    const struct mur_info *info = mur_info_find(order->infos[i]);
    const char *host = mur_info_get(info, "host"), *hostfile = mur_info_get(info, "hostfile");
    const char *wdir = mur_info_get(info, "wdir");
    char number[16], directory[4096];

    snprintf(number, sizeof number, "%d", started);
    add_option(text, "-n", number);
    if (!wdir && getcwd(directory, sizeof directory))
        wdir = directory;
    add_option(text, "-wdir", wdir);
    add_option(text, "-path", mur_info_get(info, "path"));
    add_option(text, "-initial-errhandler", mur_info_get(info, "mpi_initial_errhandler"));
    add_option(text, "-pset", mur_info_get(info, "pset"));
    add_environment(text, mur_info_get(info, "env"));
    host = host ? host : mur_info_get(info, "hosts");
    add_option(text, "-host", host);
    add_file(text, "-hostfile", hostfile);
    if (!host && !hostfile)
        mur_spawn_add(text, MUR_SPAWN_HOSTS);
    add_option(text, "-map-by", mur_info_get(info, "map_by"));
    add_option(text, "-bind-to", mur_info_get(info, "bind_to"));
    if (order->commands[i][0] == '-') { /* no option of mpiexec */
        snprintf(directory, sizeof directory, "./%s", order->commands[i]);
        mur_spawn_add(text, directory);
    } else {
        mur_spawn_add(text, order->commands[i]);
    }
    for (char **argument = order->argvs ? order->argvs[i] : NULL; argument && *argument; argument++)
        mur_spawn_add(text, *argument);
}

static void write_text(struct mur_spawn_text *text, const char *port, const struct order *order,
                       const struct numbers *numbers)
{
    unsigned char random[16];
    char separator[2 * sizeof random + 2] = ":";

    mur_secret_random(random, sizeof random); /* so that no argument of a user's can be it */
    mur_secret_write(separator + 1, random, sizeof random);
    mur_spawn_add(text, port);
    mur_spawn_add(text, separator);
    for (int i = 0; i < order->count; i++) {
        if (i)
            mur_spawn_add(text, separator);
        add_seal(text);
        add_command(text, order, i, numbers[i].started);
    }
}

/* What another's launcher is told instead. */
static int start_foreign(struct mur_spawn *spawn, const char *port, const struct order *order,
                         const struct numbers *numbers)
{
    struct mur_foreign_command *commands = calloc((size_t)order->count, sizeof *commands);
    char directory[4096];
    int rc;

    if (!commands)
        return mur_error(MPI_ERR_NO_MEM, "no memory to spawn %d programs", order->count);
    if (!getcwd(directory, sizeof directory))
        directory[0] = '\0';
    for (int i = 0; i < order->count; i++) {
        const struct mur_info *info = mur_info_find(order->infos[i]);
        const char *host = mur_info_get(info, "host"), *wdir = mur_info_get(info, "wdir");

        commands[i] = (struct mur_foreign_command){
            .program = order->commands[i],
            .arguments = order->argvs ? order->argvs[i] : NULL,
            .ranks = numbers[i].started,
            .wdir = wdir || !*directory ? wdir : directory,
            .path = mur_info_get(info, "path"),
            .host = host ? host : mur_info_get(info, "hosts"),
            .hostfile = mur_info_get(info, "hostfile"),
            .environment = mur_info_get(info, "env"),
            .errhandler = mur_info_get(info, "mpi_initial_errhandler"),
        };
    }
    rc = mur_foreign_spawn(spawn, port, commands, order->count);
    free(commands);
    return rc;
}

static int has_ended(void *owner)
{
    struct mur_spawn *spawn = owner;
    bool is_over = mur_spawn_has_ended(spawn);

    mur_port_take_answers();
    if (!is_over)
        return MPI_SUCCESS;
    if (mur_foreign_is_there())
        return mur_error(MPI_ERR_SPAWN,
                         "the launcher has started the new job, but %ld s later none of its processes is through "
                         "MPI_Init; if they need longer, set MUR_SPAWN_TIMEOUT",
                         mur_settings.spawn_timeout);
    return mur_error(MPI_ERR_SPAWN, "the new job ended before its processes were through MPI_Init; what its mpiexec "
                                    "has said on standard error tells why");
}

static int start(struct mur_spawn *spawn, char *port, const struct order *order, struct numbers *numbers)
{
    struct mur_spawn_text text = {0};
    int rc = check_order(order, numbers);

    if (rc || (rc = mur_comm_open_port(port)))
        return rc;
    if (mur_foreign_is_there())
        return start_foreign(spawn, port, order, numbers);
    write_text(&text, port, order, numbers);
    rc = mur_spawn_start(spawn, &text);
    free(text.bytes);
    return rc;
}

/* ---- all ---- */

static int tell(struct mur_comm *comm, void *values, int count, int root)
{
    struct mur_schedule *s = mur_schedule_create(comm);

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to spawn processes");
    mur_coll_bcast(s, values, count, mur_type_find(MPI_INT), root);
    return mur_schedule_run(s);
}

static void fill_codes(const struct numbers *numbers, int count, bool has_failed, int *codes)
{
    for (int i = 0, next = 0; codes && i < count; i++)
        for (int process = 0; process < numbers[i].asked; process++)
            codes[next++] = has_failed || process >= numbers[i].started ? MPI_ERR_SPAWN : MPI_SUCCESS;
}

static int spawn_and_meet(const struct order *order, struct numbers *numbers, int count, int root,
                          struct mur_comm *comm, struct mur_comm **made)
{
    struct mur_spawn spawn = {.fd = -1};
    struct mur_doubt doubt = {.has_failed = has_ended, .owner = &spawn};
    char port[MPI_MAX_PORT_NAME] = "";
    int rc;

    if (comm->rank == root) {
        doubt.error = start(&spawn, port, order, numbers);
        doubt.fd = mur_spawn_watch(&spawn);
        if (doubt.fd < 0)
            mur_port_hear_launcher();
    }
    rc = tell(comm, numbers, 2 * count, root);
    if (!rc)
        rc = mur_comm_await(port, root, comm, &doubt, made);
    if (comm->rank == root) {
        if (*port)
            mur_comm_close_port(port);
        mur_spawn_leave(&spawn);
        mur_port_take_answers();
    }
    return rc;
}

static int spawn_order(const struct order *order, int root, struct mur_comm *comm, MPI_Comm *intercomm, int *codes)
{
    int count = comm->rank == root ? order->count : 0, rc;
    struct mur_comm *made = NULL;
    struct numbers *numbers;

    if (comm->remote)
        return mur_error(MPI_ERR_COMM, "comm is an intercommunicator, but must have one group");
    rc = tell(comm, &count, 1, root);
    if (rc)
        return rc;
    if (count < 1)
        return mur_error(MPI_ERR_ARG, "count is %d at the root, but must be 1 or more", count);
    numbers = calloc((size_t)count, sizeof *numbers);
    if (!numbers)
        return mur_error(MPI_ERR_NO_MEM, "no memory to spawn %d programs", count);
    rc = spawn_and_meet(order, numbers, count, root, comm, &made);
    fill_codes(numbers, count, rc != MPI_SUCCESS, codes);
    free(numbers);
    if (!rc)
        *intercomm = mur_object_handle(made);
    return rc;
}

int mur_mpi_comm_spawn(const char *command, char *argv[], int maxprocs, struct mur_info *info, int root,
                       struct mur_comm *comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    MPI_Info handle = comm->rank == root && info ? (MPI_Info)mur_object_handle(info) : MPI_INFO_NULL;
    char *name = (char *)(uintptr_t)command;
    const struct order order = {1, &name, &argv, &maxprocs, &handle};

    return spawn_order(&order, root, comm, intercomm, array_of_errcodes);
}

int mur_mpi_comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                                const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                                struct mur_comm *comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    const struct order order = {count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info};

    return spawn_order(&order, root, comm, intercomm, array_of_errcodes);
}

/* ---- the new job ---- */

static struct mur_comm *parent;

int mur_parent_meet(void)
{
    const char *given = getenv(MUR_ENV_PARENT);
    char *port = NULL;
    int rc = MPI_SUCCESS;

    mur_engine_enter(MUR_CALL_INIT);
    if (!given)
        rc = mur_foreign_parent(&port);
    if (!rc && (given || port))
        rc = mur_comm_connect(given ? given : port, NULL, 0, &mur_comm_world, &parent);
    if (!rc && parent)
        strcpy(parent->name, "MPI_COMM_PARENT");
    mur_engine_leave(MUR_CALL_INIT);
    free(port);
    unsetenv(MUR_ENV_PARENT); /* programs that this one starts have other parents */
    return rc;
}

void mur_parent_forget(const struct mur_comm *comm)
{
    if (comm == parent)
        parent = NULL;
}

int mur_mpi_comm_get_parent(MPI_Comm *result)
{
    *result = parent ? (MPI_Comm)mur_object_handle(parent) : MPI_COMM_NULL;
    return MPI_SUCCESS;
}
