/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx through its library, loaded when a launcher's environment asks for it: see pmix_abi.h.
 *
 * Keys belong to ranks here, and values may have any length, so nothing is escaped or cut. Values that a spawn passes
 * on travel in the environment of the new processes, as MUR_PREPUT_<KEY>: they have no other common place to look. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "boot/pmi/pmix_abi.h"
#include "boot/pmi/pmix_leave.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

#define PREPUT     "MUR_PREPUT_"
#define SPAWNED_BY "MUR_SPAWNED_BY" /* the parent's namespace, for launchers that do not tell PMIX_PARENT_ID */

struct mur_pmix {
    void *library;
    struct mur_pmix_functions call;
    struct mur_pmix_proc self, job; /* job: all ranks */
};

static int failed(const struct mur_pmi *pmi, const char *what, int status)
{
    const char *text = pmi->pmix->call.error_string(status);

    return mur_error(MPI_ERR_OTHER, "the launcher (PMIx) cannot %s: %s (%d)", what, text ? text : "unknown", status);
}

static int load(struct mur_pmix *pmix)
{
    static const char *const names[] = {"libpmix.so.2"};
    static const struct mur_library_function functions[] = {
        {"PMIx_Init", offsetof(struct mur_pmix_functions, init)},
        {"PMIx_Finalize", offsetof(struct mur_pmix_functions, finalize)},
        {"PMIx_Abort", offsetof(struct mur_pmix_functions, abort)},
        {"PMIx_Put", offsetof(struct mur_pmix_functions, put)},
        {"PMIx_Commit", offsetof(struct mur_pmix_functions, commit)},
        {"PMIx_Fence", offsetof(struct mur_pmix_functions, fence)},
        {"PMIx_Get", offsetof(struct mur_pmix_functions, get)},
        {"PMIx_Publish", offsetof(struct mur_pmix_functions, publish)},
        {"PMIx_Unpublish", offsetof(struct mur_pmix_functions, unpublish)},
        {"PMIx_Lookup", offsetof(struct mur_pmix_functions, lookup)},
        {"PMIx_Spawn", offsetof(struct mur_pmix_functions, spawn)},
        {"PMIx_Error_string", offsetof(struct mur_pmix_functions, error_string)},
    };
    const char *missing;

    pmix->library = mur_library_open(names, sizeof names / sizeof names[0]);
    if (!pmix->library)
        return mur_error(MPI_ERR_OTHER,
                         "a launcher that speaks PMIx started this process (PMIX_NAMESPACE=%.100s), but libpmix.so.2 "
                         "cannot be loaded: %.200s; install it (Debian: libpmix2), or start with srun --mpi=pmi2 or "
                         "the mpiexec of Murmur",
                         getenv("PMIX_NAMESPACE"), dlerror());
    missing = mur_library_find(pmix->library, &pmix->call, functions, sizeof functions / sizeof functions[0]);
    if (missing)
        return mur_error(MPI_ERR_OTHER, "libpmix.so.2 lacks the function %s; install OpenPMIx 2 or later", missing);
    return MPI_SUCCESS;
}

static struct mur_pmix_info flag(const char *key)
{
    struct mur_pmix_info info = {.value = {.type = MUR_PMIX_BOOL, .data.flag = true}};

    snprintf(info.key, sizeof info.key, "%s", key);
    return info;
}

static void release(struct mur_pmix_value *value)
{
    if (value->type == MUR_PMIX_STRING)
        free(value->data.string);
    if (value->type == MUR_PMIX_PROC)
        free(value->data.proc);
    free(value);
}

/* A number of the job or of this rank, of whatever type the launcher gave it. */
static bool number(struct mur_pmi *pmi, const struct mur_pmix_proc *proc, const char *key, int *result)
{
    struct mur_pmix_info optional = flag(MUR_PMIX_OPTIONAL);
    struct mur_pmix_value *value;
    int64_t wide = -1;

    if (pmi->pmix->call.get(proc, key, &optional, 1, &value) != MUR_PMIX_SUCCESS || !value)
        return false;
    if (value->type == MUR_PMIX_UINT32)
        wide = value->data.uint32;
    else if (value->type == MUR_PMIX_INT || value->type == MUR_PMIX_INT32)
        wide = value->data.int32;
    else if (value->type == MUR_PMIX_UINT16)
        wide = value->data.uint16;
    else if (value->type == MUR_PMIX_UINT64 || value->type == MUR_PMIX_SIZE)
        wide = (int64_t)value->data.uint64;
    release(value);
    if (wide < 0 || wide > 0x7fffffff)
        return false;
    *result = (int)wide;
    return true;
}

static int read_job(struct mur_pmi *pmi)
{
    struct mur_pmix *pmix = pmi->pmix;
    struct mur_pmix_info optional = flag(MUR_PMIX_OPTIONAL);
    struct mur_pmix_value *value;

    pmi->rank = (int)pmix->self.rank;
    snprintf(pmi->kvs_name, sizeof pmi->kvs_name, "%s", pmix->self.nspace);
    if (!number(pmi, &pmix->job, MUR_PMIX_JOB_SIZE, &pmi->size))
        return mur_error(MPI_ERR_OTHER, "the launcher (PMIx) does not tell the size of the job (%s)",
                         MUR_PMIX_JOB_SIZE);
    if (!number(pmi, &pmix->self, MUR_PMIX_APPNUM, &pmi->appnum))
        pmi->appnum = -1;
    if (!number(pmi, &pmix->job, MUR_PMIX_UNIV_SIZE, &pmi->universe_size))
        pmi->universe_size = -1;
    if (pmix->call.get(&pmix->job, MUR_PMIX_ANL_MAP, &optional, 1, &value) == MUR_PMIX_SUCCESS && value) {
        if (value->type == MUR_PMIX_STRING && value->data.string)
            pmi->mapping = strdup(value->data.string);
        release(value);
    }
    if (pmix->call.get(&pmix->self, MUR_PMIX_PARENT_ID, &optional, 1, &value) == MUR_PMIX_SUCCESS && value) {
        pmi->is_spawned = value->type == MUR_PMIX_PROC;
        release(value);
    }
    if (getenv(SPAWNED_BY) && strcmp(getenv(SPAWNED_BY), pmi->kvs_name) != 0)
        pmi->is_spawned = true;
    if (pmi->size < 1 || pmi->rank < 0 || pmi->rank >= pmi->size)
        return mur_error(MPI_ERR_OTHER, "the launcher says rank %d of %d, which cannot be", pmi->rank, pmi->size);
    return MPI_SUCCESS;
}

int mur_pmix_open(struct mur_pmi *pmi)
{
    struct mur_pmix *pmix = calloc(1, sizeof *pmix);
    int rc = pmix ? load(pmix) : mur_pmi_no_memory(), status;

    pmi->pmix = pmix;
    if (rc)
        goto err_free;
    status = pmix->call.init(&pmix->self, NULL, 0);
    if (status != MUR_PMIX_SUCCESS) {
        rc = failed(pmi, "be reached, though PMIX_NAMESPACE is set; unset it, or use the mpiexec of Murmur", status);
        goto err_free;
    }
    pmix->job = pmix->self;
    pmix->job.rank = MUR_PMIX_RANK_WILDCARD;
    return read_job(pmi);

err_free: /* the library stays: it has threads and exit handlers */
    free(pmix);
    pmi->pmix = NULL;
    return rc;
}

static int put(struct mur_pmi *pmi, const char *key, const char *value)
{
    char *copy = strdup(value); /* the library's interface is without const */
    struct mur_pmix_value wrapped = {.type = MUR_PMIX_STRING, .data.string = copy};
    int status = copy ? pmi->pmix->call.put(MUR_PMIX_GLOBAL, key, &wrapped) : MUR_PMIX_SUCCESS;

    free(copy);
    if (!copy)
        return mur_pmi_no_memory();
    return status == MUR_PMIX_SUCCESS ? MPI_SUCCESS : failed(pmi, "store a value", status);
}

static int commit(struct mur_pmi *pmi)
{
    int status = pmi->pmix->call.commit();

    return status == MUR_PMIX_SUCCESS ? MPI_SUCCESS : failed(pmi, "commit values", status);
}

static int fence(struct mur_pmi *pmi)
{
    struct mur_pmix_info collect = flag(MUR_PMIX_COLLECT_DATA);
    int status = pmi->pmix->call.fence(&pmi->pmix->job, 1, &collect, 1);

    return status == MUR_PMIX_SUCCESS ? MPI_SUCCESS : failed(pmi, "wait for all ranks", status);
}

static int get_preput(const char *key, char **value)
{
    char name[sizeof PREPUT + 64];
    const char *text;

    snprintf(name, sizeof name, PREPUT "%s", key);
    text = getenv(name);
    if (!text)
        return MPI_SUCCESS;
    *value = strdup(text);
    return *value ? MPI_SUCCESS : mur_pmi_no_memory();
}

static int get(struct mur_pmi *pmi, int rank, const char *key, char **value)
{
    struct mur_pmix_info immediate = flag(MUR_PMIX_IMMEDIATE);
    struct mur_pmix_proc proc = pmi->pmix->self;
    struct mur_pmix_value *found = NULL;
    int status;

    if (rank == MUR_PMI_JOB)
        return get_preput(key, value);
    proc.rank = (uint32_t)rank;
    status = pmi->pmix->call.get(&proc, key, &immediate, 1, &found);
    if (status == MUR_PMIX_ERR_NOT_FOUND)
        return MPI_SUCCESS;
    if (status != MUR_PMIX_SUCCESS || !found)
        return failed(pmi, "get a value", status);
    if (found->type == MUR_PMIX_STRING && found->data.string) {
        *value = found->data.string;
        found->data.string = NULL;
    }
    release(found);
    return *value ? MPI_SUCCESS : mur_error(MPI_ERR_OTHER, "the launcher (PMIx) has no text under the key %s", key);
}

static int check_name(const char *service)
{
    size_t most = sizeof((struct mur_pmix_info *)NULL)->key - 1;

    return strlen(service) <= most
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_SERVICE, "the service's name is %zu bytes long, but PMIx takes %zu", strlen(service),
                           most);
}

static int publish(struct mur_pmi *pmi, const char *service, const char *port)
{
    struct mur_pmix_info info = {.value.type = MUR_PMIX_STRING};
    int rc = check_name(service), status;

    if (rc)
        return rc;
    snprintf(info.key, sizeof info.key, "%s", service);
    info.value.data.string = strdup(port);
    if (!info.value.data.string)
        return mur_pmi_no_memory();
    status = pmi->pmix->call.publish(&info, 1);
    free(info.value.data.string);
    return status == MUR_PMIX_SUCCESS
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_SERVICE, "the launcher (PMIx) refused to publish the name '%s': %s", service,
                           pmi->pmix->call.error_string(status));
}

static int unpublish(struct mur_pmi *pmi, const char *service)
{
    char *keys[2] = {strdup(service), NULL};
    int status = keys[0] ? pmi->pmix->call.unpublish(keys, NULL, 0) : MUR_PMIX_SUCCESS;

    free(keys[0]);
    if (!keys[0])
        return mur_pmi_no_memory();
    return status == MUR_PMIX_SUCCESS
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_SERVICE, "the launcher (PMIx) cannot take back the name '%s': %s", service,
                           pmi->pmix->call.error_string(status));
}

static int lookup(struct mur_pmi *pmi, const char *service, char **port)
{
    struct mur_pmix_pdata data = {0};
    int rc = check_name(service), status;

    if (rc)
        return rc;
    snprintf(data.key, sizeof data.key, "%s", service);
    status = pmi->pmix->call.lookup(&data, 1, NULL, 0);
    if (status != MUR_PMIX_SUCCESS && status != MUR_PMIX_ERR_NOT_FOUND)
        return failed(pmi, "look up a name", status);
    if (status != MUR_PMIX_SUCCESS || data.value.type != MUR_PMIX_STRING || !data.value.data.string)
        return mur_error(MPI_ERR_NAME, "no port is published under the name '%s'", service);
    *port = data.value.data.string;
    return MPI_SUCCESS;
}

/* argv begins with the program; the strings stay the caller's. */
static char **make_argv(const struct mur_pmi_command *command)
{
    size_t count = 0;
    char **argv;

    while (command->arguments && command->arguments[count])
        count++;
    argv = calloc(count + 2, sizeof *argv);
    if (!argv)
        return NULL;
    argv[0] = (char *)command->program;
    for (size_t i = 0; i < count; i++)
        argv[i + 1] = command->arguments[i];
    return argv;
}

static void free_environment(char **environment)
{
    for (char **variable = environment; variable && *variable; variable++)
        free(*variable);
    free(environment);
}

static char **make_environment(const struct mur_pmi *pmi, const struct mur_pmi_pair *preputs, int count)
{
    char **environment = calloc((size_t)count + 2, sizeof *environment);

    for (int i = 0; i <= count && environment; i++) {
        struct mur_pmi_text text = {0};

        if (i < count)
            mur_pmi_text_add(&text, PREPUT "%s=%s", preputs[i].key, preputs[i].value);
        else
            mur_pmi_text_add(&text, SPAWNED_BY "=%s", pmi->kvs_name);
        environment[i] = text.at;
        if (text.failed) {
            free_environment(environment);
            return NULL;
        }
    }
    return environment;
}

/* False: no memory. What is filled then can be freed all the same. */
static bool make_app(const struct mur_pmi *pmi, struct mur_pmix_app *app, const struct mur_pmi_command *command,
                     const struct mur_pmi_pair *preputs, int preput_count)
{
    app->cmd = (char *)command->program;
    app->maxprocs = command->ranks;
    app->argv = make_argv(command);
    app->env = make_environment(pmi, preputs, preput_count);
    app->info = calloc((size_t)command->info_count + 1, sizeof *app->info);
    if (!app->argv || !app->env || !app->info)
        return false;
    for (int i = 0; i < command->info_count; i++) {
        const struct mur_pmi_pair *pair = &command->info[i];
        bool is_host = strcmp(pair->key, "host") == 0 || strcmp(pair->key, "hosts") == 0;

        if (strcmp(pair->key, "wdir") == 0)
            app->cwd = (char *)pair->value;
        if (!is_host && strcmp(pair->key, "hostfile") != 0)
            continue; /* others are not for the launcher */
        snprintf(app->info[app->ninfo].key, sizeof app->info->key, "%s", is_host ? MUR_PMIX_HOST : MUR_PMIX_HOSTFILE);
        app->info[app->ninfo].value.type = MUR_PMIX_STRING;
        app->info[app->ninfo++].value.data.string = (char *)pair->value;
    }
    if (app->ninfo == 0) { /* the library counts for itself where there is an array and the number is 0 */
        free(app->info);
        app->info = NULL;
    }
    return true;
}

static void free_app(struct mur_pmix_app *app)
{
    free_environment(app->env);
    free(app->argv);
    free(app->info);
}

static int spawn(struct mur_pmi *pmi, const struct mur_pmi_command *commands, int count,
                 const struct mur_pmi_pair *preputs, int preput_count)
{
    struct mur_pmix_app *apps = calloc((size_t)count + 1, sizeof *apps);
    bool is_ready = apps != NULL;
    char nspace[256];
    int status = MUR_PMIX_SUCCESS;

    for (int i = 0; i < count && is_ready; i++)
        is_ready = make_app(pmi, &apps[i], &commands[i], preputs, preput_count);
    if (is_ready)
        status = pmi->pmix->call.spawn(NULL, 0, apps, (size_t)count, nspace);
    for (int i = 0; i < count && apps; i++)
        free_app(&apps[i]);
    free(apps);
    if (!is_ready)
        return mur_pmi_no_memory();
    return status == MUR_PMIX_SUCCESS
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_SPAWN, "the launcher (PMIx) could not start the processes: %s",
                           pmi->pmix->call.error_string(status));
}

static void abort_job(struct mur_pmi *pmi, int code, const char *text)
{
    pmi->pmix->call.abort(code, text, NULL, 0);
}

static int finalize(struct mur_pmi *pmi)
{
    int connection = pmi->is_spawned ? mur_pmix_leave_begin() : -1; /* with any other job the server ends, too */
    int status = pmi->pmix->call.finalize(NULL, 0);
    int rc = status == MUR_PMIX_SUCCESS ? MPI_SUCCESS : failed(pmi, "say goodbye", status);

    mur_pmix_leave_end(connection);
    free(pmi->pmix);
    pmi->pmix = NULL;
    return rc;
}

const struct mur_pmi_protocol mur_pmi_protocol_x = {
    .name = "PMIx",
    .put = put,
    .commit = commit,
    .fence = fence,
    .get = get,
    .publish = publish,
    .unpublish = unpublish,
    .lookup = lookup,
    .spawn = spawn,
    .abort = abort_job,
    .finalize = finalize,
};
