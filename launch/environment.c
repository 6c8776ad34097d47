/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the ranks' environment: a common list once per context, and a tail of a few variables rewritten per rank.
 *
 * Only the tail differs between ranks, and a rank is started before the next one's tail is written (spawn.c waits for
 * exec), so one buffer serves all. Variables of an outer launcher are taken out, so that an mpiexec inside an MPI
 * program starts a job of its own and no rank believes in a server that is not there. */
#include "launch/environment.h"

#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boot/job.h"
#include "launch/alloc.h"
#include "launch/binary.h"
#include "launch/say.h"

#define TEXT_BYTES 64 /* "OMPI_COMM_WORLD_LOCAL_RANK=2147483647" fits well; the job's id is common */

/* What makes only some GPUs visible. Of the two kinds that a host may have, AMD's and Nvidia's, the first obeys both
 * variables: then it gets its own only. */
enum { GPU_KINDS = 2, GPU_BYTES = 4096 };

static const char *gpu_variable(int kind)
{
    if (kind == 1)
        return "ZE_AFFINITY_MASK";
    return access("/dev/kfd", F_OK) == 0 ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
}

enum tail_value {
    RANK,
    SIZE,
    LOCAL_RANK,
    LOCAL_SIZE,
    APPNUM,
    MAXPROCS,
    UNIVERSE,
    CONTROL_FD,
    PMI_FD,
    PMI_PORT,
    NODE_FD,
    PROTOCOL
};

/* What each rank is told. Programs look for the names of other MPIs to find their rank before MPI_Init, and to choose
 * their GPU or log file. PMI_* promise a server, which the agent is (pmi/ranks.h): programs of MPICH run by it. */
static const struct tail_entry {
    const char *name;
    enum tail_value value;
} tail[] = {
    {MUR_ENV_PROTOCOL, PROTOCOL},
    {MUR_ENV_RANK, RANK},
    {MUR_ENV_SIZE, SIZE},
    {MUR_ENV_LOCAL_RANK, LOCAL_RANK},
    {MUR_ENV_LOCAL_SIZE, LOCAL_SIZE},
    {MUR_ENV_APPNUM, APPNUM},
    {MUR_ENV_MAXPROCS, MAXPROCS},
    {MUR_ENV_CONTROL_FD, CONTROL_FD},
    {MUR_ENV_NODE_FD, NODE_FD},
    {"PMI_FD", PMI_FD},
    {"PMI_PORT", PMI_PORT},
    {"PMI_ID", RANK},
    {"PMI_RANK", RANK},
    {"PMI_SIZE", SIZE},
    {"OMPI_COMM_WORLD_RANK", RANK},
    {"OMPI_COMM_WORLD_SIZE", SIZE},
    {"OMPI_COMM_WORLD_LOCAL_RANK", LOCAL_RANK},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE},
    {"OMPI_COMM_WORLD_NODE_RANK", LOCAL_RANK},
    {"OMPI_UNIVERSE_SIZE", UNIVERSE},
    {"MPI_LOCALRANKID", LOCAL_RANK},
    {"MPI_LOCALNRANKS", LOCAL_SIZE},
    {"MV2_COMM_WORLD_RANK", RANK},
    {"MV2_COMM_WORLD_SIZE", SIZE},
    {"MV2_COMM_WORLD_LOCAL_RANK", LOCAL_RANK},
    {"MV2_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE},
    /* Of -torch; their names are too common for every job. */
    {"RANK", RANK},
    {"WORLD_SIZE", SIZE},
    {"LOCAL_RANK", LOCAL_RANK},
    {"LOCAL_WORLD_SIZE", LOCAL_SIZE},
};

enum { TORCH_COUNT = 4 };
#define TAIL_COUNT ((int)(sizeof tail / sizeof tail[0]))

static int tail_count(const struct mur_jobspec *job)
{
    return job->is_torch ? TAIL_COUNT : TAIL_COUNT - TORCH_COUNT;
}

/* An outer launcher's own, beside the names in `tail`; a final '*' stands for any rest. */
static const char *const outer_names[] = {
    MUR_ENV_JOB_ID,
    MUR_ENV_ERRHANDLER,
    MUR_ENV_UNIVERSE,
    MUR_ENV_PSETS,
    "PMI_SPAWNED",
    "PMI_JOBID",
    "PMI_HOSTNAME",
    "PMI_LOCAL_RANK",
    "PMI_LOCAL_SIZE",
    "PMI_UNIVERSE_SIZE",
    "PMIX_RANK",
    "PMIX_ID",
    "PMIX_NAMESPACE",
    "PMIX_SERVER_*",
    "PMIX_SECURITY_MODE",
    "PMIX_PTL_MODULE",
    "PMIX_VERSION",
    "PMIX_KEEPALIVE_PIPE",
    "PMIX_BFROP_BUFFER_TYPE",
    "PMIX_GDS_MODULE",
    "PMIX_HOSTNAME",
};

static bool name_matches(const char *pattern, const char *name, size_t length)
{
    size_t fixed = strlen(pattern);

    if (fixed && pattern[fixed - 1] == '*')
        return length >= fixed - 1 && strncmp(pattern, name, fixed - 1) == 0;
    return fixed == length && strncmp(pattern, name, length) == 0;
}

static bool is_launchers(const struct mur_jobspec *job, const char *variable)
{
    size_t length = strcspn(variable, "=");

    for (int i = 0; i < tail_count(job); i++)
        if (name_matches(tail[i].name, variable, length))
            return true;
    for (size_t i = 0; i < sizeof outer_names / sizeof outer_names[0]; i++)
        if (name_matches(outer_names[i], variable, length))
            return true;
    return false;
}

/* An outer job's parents are not this job's. */
static bool is_outer_job(const char *variable)
{
    size_t length = strcspn(variable, "=");

    return name_matches(MUR_ENV_PARENT, variable, length) || name_matches("MUR_SPAWN_*", variable, length);
}

static bool is_listed(const struct mur_assignments *names, const char *variable)
{
    size_t length = strcspn(variable, "=");

    for (int i = 0; i < names->count; i++)
        if (name_matches(names->items[i], variable, length))
            return true;
    return false;
}

/* Whether ranks of `context` get this variable of our own environment. */
static bool is_passed(const struct mur_jobspec *job, const struct mur_context *context, const char *variable)
{
    const struct mur_inheritance *rule =
        context->inheritance.passing == MUR_PASS_UNSET ? &job->inheritance : &context->inheritance;

    if (is_launchers(job, variable) || is_outer_job(variable))
        return false;
    if (rule->passing == MUR_PASS_UNSET || rule->passing == MUR_PASS_ALL)
        return true;
    return is_listed(&rule->names, variable) || is_listed(&context->inheritance.names, variable);
}

/* Puts `variable` into the list of *count, in place of an earlier one of the same name. */
static void put(char **variables, int *count, char *variable)
{
    size_t length = strcspn(variable, "=") + 1;

    for (int i = 0; i < *count; i++)
        if (strncmp(variables[i], variable, length) == 0) {
            variables[i] = variable;
            return;
        }
    variables[(*count)++] = variable;
}

static const char *value_of(char **variables, int count, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < count; i++)
        if (strncmp(variables[i], name, length) == 0 && variables[i][length] == '=')
            return variables[i] + length + 1;
    return "";
}

/* mpi4py's wheels load any MPI, and look first for the one that the system's development files name: this says which.
 * All wheels know MPICH's binary interface, older ones not the standard's. */
static void put_mpi4py(char **variables, int *count)
{
    if (!*value_of(variables, *count, "MPI4PY_LIBMPI"))
        put(variables, count, mur_alloc_text("MPI4PY_LIBMPI=%s/libmpi.so.12", mur_doors_folder()));
}

/* The libraries for programs of other MPIs come first: what a user's own path leads to would be that MPI itself. */
static void put_doors(char **variables, int *count, const struct mur_context *context)
{
    static const char path[] = "LD_LIBRARY_PATH", first[] = "LD_PRELOAD";
    const char *others = value_of(variables, *count, path);

    if (context->needs_doors) {
        put(variables, count, mur_alloc_text("%s=%s%s%s", path, mur_doors_folder(), *others ? ":" : "", others));
        put_mpi4py(variables, count);
    }
    others = value_of(variables, *count, first);
    if (context->preloaded)
        put(variables, count, mur_alloc_text("%s=%s%s%s", first, context->preloaded, *others ? ":" : "", others));
}

static bool is_set(char **variables, int count, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < count; i++)
        if (strncmp(variables[i], name, length) == 0 && variables[i][length] == '=')
            return true;
    return false;
}

/* ---- GPUs ---- */

/* Takes the variables out, which would come twice, and keeps what they say. */
static void take_gpus(struct mur_environment *environment, char **variables, int *count)
{
    for (int kind = 0; kind < GPU_KINDS; kind++) {
        const char *name = gpu_variable(kind);
        size_t length = strlen(name);
        int kept = 0;

        environment->gpus[kind] = value_of(variables, *count, name);
        for (int i = 0; i < *count; i++)
            if (strncmp(variables[i], name, length) != 0 || variables[i][length] != '=')
                variables[kept++] = variables[i];
        *count = kept;
    }
    environment->gpu_texts = mur_alloc(GPU_KINDS, GPU_BYTES);
}

/* The name of device number `index` of a list, which is begun anew behind its end; of an empty one, the number. */
static void append_gpu(char *text, const char *list, int index)
{
    size_t length = strlen(text);
    const char *at = list;

    if (!*list) {
        snprintf(text + length, GPU_BYTES - length, "%d", index);
        return;
    }
    for (; index > 0; index--)
        at = at[strcspn(at, ",")] && at[strcspn(at, ",") + 1] ? at + strcspn(at, ",") + 1 : list;
    snprintf(text + length, GPU_BYTES - length, "%.*s", (int)strcspn(at, ","), at);
}

static void set_gpus(struct mur_environment *environment, int gpus, int local_rank, int *count)
{
    for (int kind = 0; kind < GPU_KINDS; kind++) {
        char *text = environment->gpu_texts + kind * GPU_BYTES;

        snprintf(text, GPU_BYTES, "%s=", gpu_variable(kind));
        for (int i = 0; i < gpus && strlen(text) + 32 < GPU_BYTES; i++) {
            if (i)
                strcat(text, ",");
            append_gpu(text, environment->gpus[kind], local_rank * gpus + i);
        }
        environment->variables[(*count)++] = text;
    }
}

/* ---- process sets ---- */

static bool has_sets(const struct mur_jobspec *job)
{
    for (int i = 0; i < job->context_count; i++)
        if (job->contexts[i].sets.count)
            return true;
    return false;
}

static bool is_in_set(const struct mur_context *context, const char *name)
{
    for (int i = 0; i < context->sets.count; i++)
        if (strcmp(context->sets.items[i], name) == 0)
            return true;
    return false;
}

/* " NAME 0-3,8-9": the ranks of all parts that are in it, from part `first` on, which is the first that is. */
static void write_set(FILE *out, const struct mur_jobspec *job, int first, const char *name)
{
    const char *separator = " ";
    int rank = 0;

    fprintf(out, " %s", name);
    for (int i = 0; i < job->context_count; rank += job->contexts[i++].ranks)
        if (i >= first && is_in_set(&job->contexts[i], name)) {
            fprintf(out, "%s%d-%d", separator, rank, rank + job->contexts[i].ranks - 1);
            separator = ",";
        }
}

/* All sets, in the order in which they were first named. */
static char *write_sets(const struct mur_jobspec *job)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        mur_quit(MUR_EXIT_TROUBLE, "no memory for the names of process sets");
    fprintf(out, "%s=", MUR_ENV_PSETS);
    for (int i = 0; i < job->context_count; i++)
        for (int s = 0; s < job->contexts[i].sets.count; s++) {
            const char *name = job->contexts[i].sets.items[s];
            bool is_known = false;

            for (int earlier = 0; earlier < i && !is_known; earlier++)
                is_known = is_in_set(&job->contexts[earlier], name);
            if (!is_known)
                write_set(out, job, i, name);
        }
    if (fclose(out))
        mur_quit(MUR_EXIT_TROUBLE, "no memory for the names of process sets");
    return text;
}

/* What all ranks of a context are told of the job. */
static void put_common(char **variables, int *count, const struct mur_jobspec *job, const struct mur_context *context)
{
    put_doors(variables, count, context);
    if (job->is_verbose && !is_set(variables, *count, "MUR_COLL_VERBOSE"))
        variables[(*count)++] = mur_alloc_text("MUR_COLL_VERBOSE=1");
    variables[(*count)++] = mur_alloc_text("%s=%s", MUR_ENV_JOB_ID, job->id);
    if (job->universe)
        variables[(*count)++] = mur_alloc_text("%s=%d", MUR_ENV_UNIVERSE, job->universe);
    if (job->spawner)
        variables[(*count)++] = mur_alloc_text("PMI_SPAWNED=1");
    if (context->initial_errhandler)
        variables[(*count)++] = mur_alloc_text("%s=%s", MUR_ENV_ERRHANDLER, context->initial_errhandler);
    if (has_sets(job))
        variables[(*count)++] = write_sets(job);
}

void mur_environment_prepare(struct mur_environment *environment, const struct mur_jobspec *job,
                             const struct mur_context *context)
{
    const struct mur_assignments *lists[] = {&job->environment, &context->environment};
    int inherited = 0;
    int count = 0;
    char **variables;

    while (environ[inherited])
        inherited++;
    variables = mur_alloc((size_t)(inherited + lists[0]->count + lists[1]->count + 8 + TAIL_COUNT + GPU_KINDS + 1),
                          sizeof *variables);
    for (int i = 0; i < inherited; i++)
        if (is_passed(job, context, environ[i]))
            variables[count++] = environ[i];
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < lists[l]->count; i++)
            if (!is_launchers(job, lists[l]->items[i]))
                put(variables, &count, lists[l]->items[i]);
    if (job->starting.gpus)
        take_gpus(environment, variables, &count);
    if (!job->starting.has_no_mpi)
        put_common(variables, &count, job, context);
    environment->variables = variables;
    environment->common_count = count;
    environment->texts = mur_alloc(TAIL_COUNT, TEXT_BYTES);
}

static bool is_told(const struct mur_jobspec *job, const struct tail_entry *entry)
{
    if (strcmp(entry->name, "PMI_FD") == 0)
        return !job->starting.has_pmi_port;
    if (strcmp(entry->name, "PMI_PORT") == 0 || strcmp(entry->name, "PMI_ID") == 0)
        return job->starting.has_pmi_port;
    return true;
}

void mur_environment_set_rank(struct mur_environment *environment, const struct mur_jobspec *job,
                              const struct mur_rank_place *place)
{
    const int values[] = {
        [RANK] = place->rank,
        [SIZE] = job->size,
        [LOCAL_RANK] = job->local_of[place->rank],
        [LOCAL_SIZE] = job->hosts.items[job->node_of[place->rank]].ranks,
        [APPNUM] = place->appnum,
        [CONTROL_FD] = place->control_fd,
        [PMI_FD] = place->pmi_fd,
        [PMI_PORT] = place->pmi_port,
        [NODE_FD] = place->node_fd,
        [PROTOCOL] = MUR_JOB_PROTOCOL,
        [UNIVERSE] = job->universe ? job->universe : job->size,
        [MAXPROCS] = job->contexts[place->appnum].ranks,
    };
    int count = environment->common_count;

    for (int i = 0; i < tail_count(job) && !job->starting.has_no_mpi; i++) {
        char *text = environment->texts + i * TEXT_BYTES;
        int length;

        if (!is_told(job, &tail[i]))
            continue;
        if (tail[i].value == PMI_PORT)
            length = snprintf(text, TEXT_BYTES, "%s=127.0.0.1:%d", tail[i].name, place->pmi_port);
        else
            length = snprintf(text, TEXT_BYTES, "%s=%d", tail[i].name, values[tail[i].value]);
        assert(length < TEXT_BYTES);
        (void)length;
        environment->variables[count++] = text;
    }
    if (job->starting.gpus)
        set_gpus(environment, job->starting.gpus, job->local_of[place->rank], &count);
    environment->variables[count] = NULL;
}
