/* SPDX-License-Identifier: BSD-3-Clause */
/* One function for each kind of thing, which writes or reads it, by what the cursor says: so the two cannot differ. */
#include "launch/tree/spec.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"

struct cursor {
    struct mur_spec *out; /* NULL: reading */
    const char *in;
    size_t left;
    bool is_good;
};

static void pass(struct cursor *cursor, void *data, size_t bytes)
{
    struct mur_spec *out = cursor->out;

    if (!out) {
        if (cursor->left < bytes) {
            cursor->is_good = false;
            memset(data, 0, bytes);
            return;
        }
        memcpy(data, cursor->in, bytes);
        cursor->in += bytes;
        cursor->left -= bytes;
        return;
    }
    if (out->space - out->bytes < bytes) {
        out->space = 2 * (out->bytes + bytes);
        out->data = mur_alloc_again(out->data, out->space, 1);
    }
    memcpy(out->data + out->bytes, data, bytes);
    out->bytes += bytes;
}

/* Any byte but 0 is true. */
static void pass_bool(struct cursor *cursor, bool *value)
{
    unsigned char byte = cursor->out ? *value : 0;

    pass(cursor, &byte, 1);
    *value = byte != 0;
}

/* A number of things to follow, each of a byte at least. */
static int pass_count(struct cursor *cursor, int count)
{
    pass(cursor, &count, sizeof count);
    if (cursor->out || (count >= 0 && (size_t)count <= cursor->left))
        return count;
    cursor->is_good = false;
    return 0;
}

/* NULL passes as NULL. */
static void pass_text(struct cursor *cursor, char **text)
{
    int length = pass_count(cursor, cursor->out && *text ? (int)strlen(*text) + 1 : 0);

    if (!cursor->out)
        *text = length ? mur_alloc((size_t)length, 1) : NULL;
    if (length)
        pass(cursor, *text, (size_t)length);
    if (!cursor->out && length)
        (*text)[length - 1] = '\0';
}

static void pass_constant(struct cursor *cursor, const char **text)
{
    char *value = (char *)(uintptr_t)*text;

    pass_text(cursor, &value);
    *text = value;
}

static void pass_texts(struct cursor *cursor, char ***texts, int *count)
{
    *count = pass_count(cursor, *count);
    if (!cursor->out)
        *texts = mur_alloc((size_t)*count + 1, sizeof **texts);
    for (int i = 0; i < *count && cursor->is_good; i++)
        pass_text(cursor, &(*texts)[i]);
}

/* A list that ends with NULL, or none. */
static void pass_list(struct cursor *cursor, char ***list)
{
    bool is_there = *list != NULL;
    int count = 0;

    pass_bool(cursor, &is_there);
    if (!is_there) {
        *list = NULL;
        return;
    }
    while (cursor->out && (*list)[count])
        count++;
    pass_texts(cursor, list, &count);
}

static void pass_assignments(struct cursor *cursor, struct mur_assignments *assignments)
{
    pass_texts(cursor, &assignments->items, &assignments->count);
}

static void pass_inheritance(struct cursor *cursor, struct mur_inheritance *inheritance)
{
    pass(cursor, &inheritance->passing, sizeof inheritance->passing);
    pass_assignments(cursor, &inheritance->names);
}

/* Bytes that need be no text; the size stands before them. */
static void pass_bytes(struct cursor *cursor, char **data, size_t *bytes)
{
    uint64_t size = *bytes;

    pass(cursor, &size, sizeof size);
    if (!cursor->out && size > cursor->left) {
        cursor->is_good = false;
        size = 0;
    }
    *bytes = (size_t)size;
    if (!cursor->out)
        *data = size ? mur_alloc((size_t)size, 1) : NULL;
    if (size)
        pass(cursor, *data, (size_t)size);
}

static void pass_context(struct cursor *cursor, struct mur_context *context)
{
    pass(cursor, &context->ranks, sizeof context->ranks);
    pass_list(cursor, &context->argv);
    pass_constant(cursor, &context->wdir);
    pass_constant(cursor, &context->search);
    pass_constant(cursor, &context->initial_errhandler);
    pass_assignments(cursor, &context->environment);
    pass_assignments(cursor, &context->sets);
    pass_inheritance(cursor, &context->inheritance);
    pass_bytes(cursor, &context->image, &context->image_bytes);
    if (!context->argv || !context->argv[0] || context->ranks < 1)
        cursor->is_good = false;
}

/* Agents below need it for those that they start in turn. */
static void pass_key(struct cursor *cursor, struct mur_phrase_key **key)
{
    bool is_there = *key != NULL;

    pass_bool(cursor, &is_there);
    if (!cursor->out)
        *key = is_there ? mur_alloc(1, sizeof **key) : NULL;
    if (!is_there)
        return;
    pass_bool(cursor, &(*key)->is_known);
    pass(cursor, (*key)->bytes, sizeof(*key)->bytes);
}

static void pass_launcher(struct cursor *cursor, struct mur_launcher *launcher)
{
    pass_constant(cursor, &launcher->name);
    pass_list(cursor, &launcher->command);
    pass_list(cursor, &launcher->options);
    pass_list(cursor, &launcher->slurm_options);
    pass(cursor, &launcher->port, sizeof launcher->port);
    pass(cursor, &launcher->width, sizeof launcher->width);
    pass(cursor, &launcher->wait_ms, sizeof launcher->wait_ms);
    pass_constant(cursor, &launcher->prefix);
    pass_bool(cursor, &launcher->is_hybrid);
    pass_key(cursor, &launcher->key);
}

static void pass_formats(struct cursor *cursor, struct mur_formats *formats)
{
    pass_bool(cursor, &formats->is_ranked);
    pass_bool(cursor, &formats->is_tagged);
    pass_bool(cursor, &formats->is_timed);
    pass_bool(cursor, &formats->is_merged);
    pass_bool(cursor, &formats->has_copies_only);
    pass_constant(cursor, &formats->prefix);
    pass_constant(cursor, &formats->out);
    pass_constant(cursor, &formats->err);
    pass_constant(cursor, &formats->copies);
}

static void pass_starting(struct cursor *cursor, struct mur_starting *starting)
{
    pass_bool(cursor, &starting->has_no_mpi);
    pass_bool(cursor, &starting->is_idle);
    pass_bool(cursor, &starting->has_pmi_port);
    pass_bool(cursor, &starting->sends_program);
    pass(cursor, &starting->nice, sizeof starting->nice);
    pass(cursor, &starting->gpus, sizeof starting->gpus);
    pass_constant(cursor, &starting->windows);
    pass_constant(cursor, &starting->shown);
}

static void pass_checkpointing(struct cursor *cursor, struct mur_checkpointing *checkpointing)
{
    pass_bool(cursor, &checkpointing->is_on);
    pass_constant(cursor, &checkpointing->snapshot);
}

static void pass_binding(struct cursor *cursor, struct mur_binding_request *binding)
{
    int count;

    pass(cursor, &binding->bind, sizeof binding->bind);
    pass(cursor, &binding->map, sizeof binding->map);
    pass(cursor, &binding->width, sizeof binding->width);
    pass(cursor, &binding->block, sizeof binding->block);
    pass_bool(cursor, &binding->is_explicit);
    pass_bool(cursor, &binding->is_reported);
    count = binding->list_count = pass_count(cursor, binding->list_count);
    if (!cursor->out)
        binding->list = count ? mur_alloc((size_t)count, sizeof *binding->list) : NULL;
    for (int i = 0; i < count && cursor->is_good; i++)
        pass(cursor, &binding->list[i], sizeof binding->list[i]);
    pass_texts(cursor, &binding->slots, &binding->slot_count);
    pass_bool(cursor, &binding->is_auto);
    pass_bool(cursor, &binding->is_limited);
    pass(cursor, &binding->limit, sizeof binding->limit);
}

static void pass_hosts(struct cursor *cursor, struct mur_jobspec *job)
{
    int count = job->hosts.count = pass_count(cursor, job->hosts.count);

    if (!cursor->out) {
        job->hosts.items = mur_alloc((size_t)count, sizeof *job->hosts.items);
        job->hosts.space = count;
    }
    for (int i = 0; i < count && cursor->is_good; i++) {
        struct mur_host *host = &job->hosts.items[i];

        pass_text(cursor, &host->name);
        pass_text(cursor, &host->user);
        pass(cursor, &host->port, sizeof host->port);
        if (!host->name)
            cursor->is_good = false;
    }
}

static void pass_places(struct cursor *cursor, struct mur_jobspec *job)
{
    job->size = pass_count(cursor, job->size);
    if (!cursor->out) {
        job->node_of = mur_alloc((size_t)job->size, sizeof *job->node_of);
        job->local_of = mur_alloc((size_t)job->size, sizeof *job->local_of);
    }
    for (int i = 0; i < job->size && cursor->is_good; i++) {
        pass(cursor, &job->node_of[i], sizeof job->node_of[i]);
        if (job->node_of[i] < 0 || job->node_of[i] >= job->hosts.count)
            cursor->is_good = false;
        else if (!cursor->out)
            job->local_of[i] = job->hosts.items[job->node_of[i]].ranks++;
    }
    if (job->local_node < -1 || job->local_node >= job->hosts.count)
        cursor->is_good = false;
}

static void pass_contexts(struct cursor *cursor, struct mur_jobspec *job)
{
    int64_t size = 0;

    job->context_count = pass_count(cursor, job->context_count);
    if (!cursor->out)
        job->contexts = mur_alloc((size_t)job->context_count, sizeof *job->contexts);
    for (int i = 0; i < job->context_count && cursor->is_good; i++) {
        pass_context(cursor, &job->contexts[i]);
        size += job->contexts[i].ranks;
    }
    if (size != job->size)
        cursor->is_good = false;
}

static void pass_job(struct cursor *cursor, struct mur_jobspec *job)
{
    pass(cursor, &job->local_node, sizeof job->local_node);
    pass(cursor, job->host, sizeof job->host);
    pass(cursor, job->id, sizeof job->id);
    job->host[sizeof job->host - 1] = job->id[sizeof job->id - 1] = '\0';
    pass_hosts(cursor, job);
    pass_places(cursor, job);
    pass_contexts(cursor, job);
    pass_assignments(cursor, &job->environment);
    pass_inheritance(cursor, &job->inheritance);
    pass_binding(cursor, &job->binding);
    pass_launcher(cursor, &job->launcher);
    pass_formats(cursor, &job->formats);
    pass_starting(cursor, &job->starting);
    pass_checkpointing(cursor, &job->checkpointing);
    pass_constant(cursor, &job->manager);
    pass_constant(cursor, &job->spawner);
    pass(cursor, &job->stdin_rank, sizeof job->stdin_rank);
    pass(cursor, &job->universe, sizeof job->universe);
    pass(cursor, &job->abi, sizeof job->abi);
    pass_bool(cursor, &job->keeps_going);
    pass_bool(cursor, &job->is_verbose);
    pass_bool(cursor, &job->is_torch);
    pass_bool(cursor, &job->shows_exits);
}

void mur_spec_write(struct mur_spec *spec, const struct mur_jobspec *job)
{
    struct cursor cursor = {.out = spec, .is_good = true};
    struct mur_jobspec copy = *job; /* shallow: writing changes nothing below */
    char *directory = getcwd(NULL, 0);

    pass_job(&cursor, &copy);
    pass_text(&cursor, &directory);
    pass_list(&cursor, &environ);
    free(directory);
}

bool mur_spec_read(const char *data, size_t bytes, struct mur_jobspec *job, char **directory, char ***environment)
{
    struct cursor cursor = {.in = data, .left = bytes, .is_good = true};

    memset(job, 0, sizeof *job);
    pass_job(&cursor, job);
    *environment = NULL;
    pass_text(&cursor, directory);
    pass_list(&cursor, environment);
    return cursor.is_good && *environment;
}
