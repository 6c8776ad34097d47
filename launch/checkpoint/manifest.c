/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of words. The last is the checksum of all above it, so that a manifest that was cut or altered is none. The
 * name of the folder is the last thing that comes to be: a rename is whole or has not happened, and everything below it
 * was written out before. */
#include "launch/checkpoint/manifest.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"

#define FORM "murmur snapshot, form 1"

static bool fail(char *text, const char *what, const char *path)
{
    snprintf(text, MUR_PACK_TEXT, "%s '%s': %s", what, path, strerror(errno));
    return false;
}

char *mur_snapshot_folder(const char *prefix, int number)
{
    return mur_alloc_text("%s/%d", prefix, number);
}

char *mur_snapshot_partial(const char *prefix, int number)
{
    return mur_alloc_text("%s/%d.partial", prefix, number);
}

bool mur_manifest_build(char build[80], char text[MUR_PACK_TEXT])
{
    uint64_t sum, bytes;

    if (!mur_pack_sum("/proc/self/exe", &sum, &bytes, text))
        return false;
    snprintf(build, 80, "%s-%016" PRIx64, MUR_VERSION, sum);
    return true;
}

/* ---- which there are ---- */

/* The number of a folder's name, which must be all of it, before `rest`; -1: it is another's. */
static int number_of(const char *name, const char *rest)
{
    char *end;
    long number = strtol(name, &end, 10);

    return isdigit((unsigned char)*name) && strcmp(end, rest) == 0 && number <= 1000000000 ? (int)number : -1;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int list(const char *prefix, const char *rest, int **numbers)
{
    DIR *directory = opendir(prefix);
    struct dirent *entry;
    int count = 0;

    *numbers = NULL;
    while (directory && (entry = readdir(directory))) {
        int number = number_of(entry->d_name, rest);

        if (number < 0)
            continue;
        *numbers = mur_alloc_again(*numbers, (size_t)count + 1, sizeof **numbers);
        (*numbers)[count++] = number;
    }
    if (directory)
        closedir(directory);
    if (count)
        qsort(*numbers, (size_t)count, sizeof **numbers, compare);
    return count;
}

int mur_snapshots_list(const char *prefix, int **numbers)
{
    return list(prefix, "", numbers);
}

void mur_snapshots_prune(const char *prefix, int keep)
{
    int *numbers, count = list(prefix, "", &numbers);

    for (int i = 0; i < count - keep; i++) {
        char *folder = mur_snapshot_folder(prefix, numbers[i]), *partial = mur_snapshot_partial(prefix, numbers[i]);

        if (rename(folder, partial) == 0) /* from now on it is none, whatever is left of it */
            mur_pack_remove(partial);
        free(folder);
        free(partial);
    }
    free(numbers);
    count = list(prefix, ".partial", &numbers);
    for (int i = 0; i < count; i++) {
        char *partial = mur_snapshot_partial(prefix, numbers[i]);

        mur_pack_remove(partial);
        free(partial);
    }
    free(numbers);
}

/* ---- writing ---- */

static bool sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_good = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    return is_good;
}

static bool write_lines(const struct mur_manifest *manifest, const char *path)
{
    FILE *file = fopen(path, "we");
    bool is_good;

    if (!file)
        return false;
    fprintf(file, FORM "\nnumber %d\nranks %d\nnodes %d\nbuild %s\njob %016" PRIx64 "\n", manifest->number,
            manifest->ranks, manifest->nodes, manifest->build, manifest->job_sum);
    for (int i = 0; i < manifest->nodes; i++)
        fprintf(file, "node %d image %016" PRIx64 " bytes %" PRIu64 " ranks %016" PRIx64 " host %s\n", i,
                manifest->parts[i].image_sum, manifest->parts[i].image_bytes, manifest->parts[i].notes_sum,
                manifest->parts[i].host);
    is_good = fflush(file) == 0 && !ferror(file);
    return fclose(file) == 0 && is_good;
}

static bool add_sum(const char *path, char text[MUR_PACK_TEXT])
{
    uint64_t sum, bytes;
    FILE *file;

    if (!mur_pack_sum(path, &sum, &bytes, text))
        return false;
    file = fopen(path, "ae");
    if (!file)
        return fail(text, "cannot write", path);
    fprintf(file, "whole %" PRIu64 " %016" PRIx64 "\n", bytes, sum);
    return (fflush(file) == 0 && fsync(fileno(file)) == 0) & (fclose(file) == 0) || fail(text, "cannot write", path);
}

bool mur_manifest_commit(const char *prefix, const struct mur_manifest *manifest, char text[MUR_PACK_TEXT])
{
    char *partial = mur_snapshot_partial(prefix, manifest->number);
    char *folder = mur_snapshot_folder(prefix, manifest->number);
    char *path = mur_alloc_text("%s/manifest", partial);
    bool is_good = write_lines(manifest, path) || fail(text, "cannot write", path);

    is_good = is_good && add_sum(path, text);
    is_good = is_good && (sync_path(partial) || fail(text, "cannot write out", partial));
    is_good = is_good && (rename(partial, folder) == 0 || fail(text, "cannot name", folder));
    is_good = is_good && (sync_path(prefix) || fail(text, "cannot write out", prefix));
    free(path);
    free(folder);
    free(partial);
    return is_good;
}

/* ---- reading ---- */

static bool read_line(struct mur_manifest *manifest, const char *line)
{
    char word[300];
    struct mur_saved_part part;
    int node;

    if (sscanf(line, "number %d", &manifest->number) == 1 || sscanf(line, "ranks %d", &manifest->ranks) == 1 ||
        sscanf(line, "job %" SCNx64, &manifest->job_sum) == 1 || strcmp(line, FORM "\n") == 0)
        return true;
    if (sscanf(line, "build %299s", word) == 1) {
        manifest->build = mur_alloc_text("%s", word);
        return true;
    }
    if (sscanf(line, "nodes %d", &manifest->nodes) == 1) {
        if (manifest->nodes < 1 || manifest->nodes > 1 << 20)
            return false;
        manifest->parts = mur_alloc((size_t)manifest->nodes, sizeof *manifest->parts);
        return true;
    }
    if (sscanf(line, "node %d image %" SCNx64 " bytes %" SCNu64 " ranks %" SCNx64 " host %299s", &node, &part.image_sum,
               &part.image_bytes, &part.notes_sum, word) != 5 ||
        node < 0 || node >= manifest->nodes)
        return false;
    part.host = mur_alloc_text("%s", word);
    manifest->parts[node] = part;
    return true;
}

/* Whether the last line is right about what is above it. */
static bool is_whole(const char *path, char text[MUR_PACK_TEXT])
{
    char *copy, line[512], last[512] = "";
    uint64_t bytes, told_bytes, sum, told;
    FILE *file = fopen(path, "re");
    long start = 0;

    if (!file)
        return fail(text, "cannot open", path);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "whole ", 6) == 0) {
            memcpy(last, line, sizeof last);
            start = ftell(file) - (long)strlen(line);
        }
    fclose(file);
    snprintf(text, MUR_PACK_TEXT, "'%s' has been altered, or cut", path);
    if (sscanf(last, "whole %" SCNu64 " %" SCNx64, &told_bytes, &told) != 2 || told_bytes != (uint64_t)start)
        return false;
    copy = mur_alloc((size_t)start + 1, 1);
    file = fopen(path, "re");
    bytes = file ? fread(copy, 1, (size_t)start, file) : 0;
    if (file)
        fclose(file);
    sum = mur_pack_sum_of(copy, bytes);
    free(copy);
    return bytes == told_bytes && sum == told;
}

bool mur_manifest_read(const char *folder, struct mur_manifest *manifest, char text[MUR_PACK_TEXT])
{
    char *path = mur_alloc_text("%s/manifest", folder), line[512];
    bool is_good = mur_pack_load(text) && is_whole(path, text);
    FILE *file = is_good ? fopen(path, "re") : NULL;

    *manifest = (struct mur_manifest){0};
    while (is_good && file && fgets(line, sizeof line, file) && strncmp(line, "whole ", 6) != 0)
        is_good = read_line(manifest, line);
    if (file)
        fclose(file);
    for (int i = 0; is_good && i < manifest->nodes; i++)
        is_good = manifest->parts[i].host != NULL;
    free(path);
    return is_good && manifest->build && manifest->parts;
}
