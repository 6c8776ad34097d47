/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/snapshots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name_start[] = "app-", partial_end[] = ".partial";

void mur_snapshots_print(char path[PATH_MAX], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (vsnprintf(path, PATH_MAX, format, arguments) >= PATH_MAX)
        path[0] = '\0';
    va_end(arguments);
}

void mur_snapshots_path(char path[PATH_MAX], const char *directory, int64_t version, bool is_partial, const char *file)
{
    mur_snapshots_print(path, "%s/%s%lld%s%s%s", directory, name_start, (long long)version,
                        is_partial ? partial_end : "", *file ? "/" : "", file);
}

/* The version that a name stands for; -1: it is none of ours. */
static int64_t version_of(const char *name, bool *is_partial)
{
    char *end;
    long long version;

    if (strncmp(name, name_start, sizeof name_start - 1) != 0)
        return -1;
    name += sizeof name_start - 1;
    if (*name < '0' || *name > '9')
        return -1;
    version = strtoll(name, &end, 10);
    *is_partial = strcmp(end, partial_end) == 0;
    return *end && !*is_partial ? -1 : version;
}

static int newest_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x < y) - (x > y);
}

static int64_t *list(const char *directory, bool are_partial, int *count)
{
    DIR *entries = opendir(directory);
    int64_t *versions = NULL, *grown = NULL;
    struct dirent *entry;

    *count = 0;
    while (entries && (entry = readdir(entries))) {
        bool is_partial = false;
        int64_t version = version_of(entry->d_name, &is_partial);

        if (version < 0 || is_partial != are_partial)
            continue;
        grown = realloc(versions, (size_t)(*count + 1) * sizeof *versions);
        if (!grown)
            break;
        versions = grown;
        versions[(*count)++] = version;
    }
    if (entries)
        closedir(entries);
    if (versions)
        qsort(versions, (size_t)*count, sizeof *versions, newest_first);
    return versions;
}

int64_t *mur_snapshots_list(const char *directory, int *count)
{
    return list(directory, false, count);
}

bool mur_snapshots_make(const char *path, struct mur_flaw *flaw)
{
    char above[PATH_MAX];

    mur_snapshots_print(above, "%s", path);
    for (char *slash = above + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(above, 0777); /* where that fails, what lies below it fails, too */
        *slash = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST ||
           mur_flaw_set(flaw, "cannot make the directory %s: %s", path, strerror(errno));
}

static bool sync_directory(const char *path, struct mur_flaw *flaw)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;

    if (!is_synced)
        mur_flaw_set(flaw, "cannot write the directory %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return is_synced;
}

bool mur_snapshots_finish(const char *directory, int64_t version, struct mur_flaw *flaw)
{
    char partial[PATH_MAX], whole[PATH_MAX];

    mur_snapshots_path(partial, directory, version, true, "");
    mur_snapshots_path(whole, directory, version, false, "");
    if (!sync_directory(partial, flaw))
        return false;
    if (rename(partial, whole) != 0)
        return mur_flaw_set(flaw, "cannot rename %s: %s", partial, strerror(errno));
    return sync_directory(directory, flaw);
}

/* A snapshot has files only. */
static void delete (const char *directory, int64_t version, bool is_partial)
{
    char path[PATH_MAX];
    DIR *files;
    struct dirent *file;

    mur_snapshots_path(path, directory, version, is_partial, "");
    files = opendir(path);
    while (files && (file = readdir(files)))
        unlinkat(dirfd(files), file->d_name, 0); /* . and .. are no files */
    if (files)
        closedir(files);
    rmdir(path);
}

void mur_snapshots_discard(const char *directory, int64_t version)
{
    delete (directory, version, true);
}

/* A whole snapshot loses its name first, lest half of one keeps it. */
static void drop(const char *directory, int64_t version)
{
    char partial[PATH_MAX], whole[PATH_MAX];

    mur_snapshots_path(partial, directory, version, true, "");
    mur_snapshots_path(whole, directory, version, false, "");
    if (rename(whole, partial) == 0)
        delete (directory, version, true);
}

void mur_snapshots_prune(const char *directory, int keep)
{
    int count;
    int64_t *versions = list(directory, false, &count), newest = count ? versions[0] : -1;

    for (int i = keep; i < count; i++)
        drop(directory, versions[i]);
    free(versions);
    versions = list(directory, true, &count);
    for (int i = 0; i < count; i++)
        if (versions[i] < newest)
            delete (directory, versions[i], true);
    free(versions);
}
