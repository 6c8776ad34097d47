/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects are short lists, searched from the front. */
#include "object/info.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/job.h"
#include "boot/process.h"

static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct mur_pool infos = MUR_POOL(MUR_KIND_INFO, struct mur_info, "info");

struct mur_info mur_info_env = {.object = {.kind = MUR_KIND_INFO, .references = 1}};

int mur_info_create(struct mur_info **info_p)
{
    struct mur_info *info = NULL;

    pthread_mutex_lock(&pool_mutex);
    info = mur_pool_get(&infos);
    pthread_mutex_unlock(&pool_mutex);
    if (!info)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an info object");
    info->count = info->capacity = 0;
    info->entries = NULL;
    *info_p = info;
    return MPI_SUCCESS;
}

void mur_info_free(struct mur_info *info)
{
    for (int i = 0; i < info->count; i++)
        free(info->entries[i].key);
    free(info->entries);
    pthread_mutex_lock(&pool_mutex);
    mur_pool_put(&infos, info);
    pthread_mutex_unlock(&pool_mutex);
}

int mur_info_dup(const struct mur_info *info, struct mur_info **info_p)
{
    struct mur_info *copy = NULL;
    int rc = mur_info_create(&copy);

    if (rc)
        return rc;
    for (int i = 0; i < info->count; i++) {
        rc = mur_info_set(copy, info->entries[i].key, info->entries[i].value);
        if (rc) {
            mur_info_free(copy);
            return rc;
        }
    }
    *info_p = copy;
    return MPI_SUCCESS;
}

/* The index of a key, or -1. */
static int find(const struct mur_info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (strcmp(info->entries[i].key, key) == 0)
            return i;
    return -1;
}

static bool grow(struct mur_info *info)
{
    int capacity = info->capacity ? 2 * info->capacity : 8;
    void *entries;

    if (info->count < info->capacity)
        return true;
    entries = realloc(info->entries, (size_t)capacity * sizeof info->entries[0]);
    if (!entries)
        return false;
    info->entries = entries;
    info->capacity = capacity;
    return true;
}

int mur_info_set(struct mur_info *info, const char *key, const char *value)
{
    size_t key_bytes = strlen(key) + 1, value_bytes = strlen(value) + 1;
    char *text = malloc(key_bytes + value_bytes);
    int i = find(info, key);

    if (!text || (i < 0 && !grow(info))) {
        free(text);
        return mur_error(MPI_ERR_NO_MEM, "no memory for the info key \"%s\"", key);
    }
    memcpy(text, key, key_bytes);
    memcpy(text + key_bytes, value, value_bytes);
    if (i < 0)
        i = info->count++;
    else
        free(info->entries[i].key);
    info->entries[i] = (struct mur_info_entry){text, text + key_bytes};
    return MPI_SUCCESS;
}

const char *mur_info_get(const struct mur_info *info, const char *key)
{
    int i = info ? find(info, key) : -1;

    return i < 0 ? NULL : info->entries[i].value;
}

bool mur_info_delete(struct mur_info *info, const char *key)
{
    int i = find(info, key);

    if (i < 0)
        return false;
    free(info->entries[i].key);
    info->count--;
    memmove(&info->entries[i], &info->entries[i + 1], (size_t)(info->count - i) * sizeof info->entries[0]);
    return true;
}

/* Sets a key unless the value is unknown or empty. */
static int set_if_known(struct mur_info *info, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL];

    if (!value || !*value)
        return MPI_SUCCESS;
    snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1, value);
    return mur_info_set(info, key, text);
}

/* The arguments behind the command, separated by blanks. */
static void join_arguments(int argc, char *const *argv, char text[MPI_MAX_INFO_VAL])
{
    size_t length = 0;

    text[0] = '\0';
    for (int i = 1; i < argc && length < MPI_MAX_INFO_VAL - 1; i++) {
        snprintf(text + length, MPI_MAX_INFO_VAL - length, "%s%s", i > 1 ? " " : "", argv[i]);
        length += strlen(text + length);
    }
}

int mur_info_describe_start(struct mur_info *info, int argc, char *const *argv, const char *maxprocs,
                            const char *thread_level)
{
    char arguments[MPI_MAX_INFO_VAL], directory[MPI_MAX_INFO_VAL];
    struct utsname system = {0};
    int rc;

    join_arguments(argc, argv, arguments);
    uname(&system);
    rc = set_if_known(info, "command", argc > 0 ? argv[0] : NULL);
    if (!rc)
        rc = set_if_known(info, "argv", arguments);
    if (!rc)
        rc = set_if_known(info, "maxprocs", maxprocs);
    if (!rc)
        rc = set_if_known(info, "host", mur_process.host[0] ? mur_process.host : system.nodename);
    if (!rc)
        rc = set_if_known(info, "arch", system.machine);
    if (!rc)
        rc = set_if_known(info, "wdir", getcwd(directory, sizeof directory));
    if (!rc)
        rc = set_if_known(info, "thread_level", thread_level);
    return rc;
}

static const char *thread_level_name(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE:
        return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
        return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
        return "MPI_THREAD_SERIALIZED";
    default:
        return "MPI_THREAD_MULTIPLE";
    }
}

const char *mur_info_maxprocs(void)
{
    const char *asked = getenv(MUR_ENV_MAXPROCS);

    return asked ? asked : "1"; /* a program that nobody launched is a world of one */
}

/* Reads the process's command line into `text`: the arguments, each with a NUL behind it. Returns how many bytes. */
static size_t read_command_line(char *text, size_t bytes)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = 0;

    if (file) {
        length = fread(text, 1, bytes - 1, file);
        fclose(file);
    }
    text[length] = '\0';
    return length;
}

int mur_info_env_setup(int required_thread_level)
{
    enum { MOST_ARGUMENTS = 256 };
    char text[4096];
    char *argv[MOST_ARGUMENTS];
    size_t length = read_command_line(text, sizeof text);
    int argc = 0;

    for (size_t i = 0; i < length && argc < MOST_ARGUMENTS; i += strlen(text + i) + 1)
        argv[argc++] = text + i;
    mur_info_env.object.predefined = (uint32_t)(uintptr_t)MPI_INFO_ENV;
    mur_predefined[mur_info_env.object.predefined] = &mur_info_env.object;
    return mur_info_describe_start(&mur_info_env, argc, argv, mur_info_maxprocs(),
                                   thread_level_name(required_thread_level));
}
