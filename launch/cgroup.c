/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads limits of control groups from /proc/self/cgroup and /sys/fs/cgroup.
 *
 * The group is a path below a mount point: one for all controllers in version 2, one a controller in version 1. A limit
 * holds for all below it, so each look-up walks from the group to the root. Inside a container the path may name what
 * is not mounted there; levels that cannot be read are skipped, and the root of the mount is the container's group. */
#include "launch/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct group {
    char path[PATH_MAX]; /* below /sys/fs/cgroup, cut shorter level by level */
    size_t root_length;  /* of the mount point's part */
    bool is_v2;
};

/* Whether `list`, comma-separated, has `word`. */
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || !list[length]))
            return true;
    return false;
}

/* Finds this process's group for `controller`. Lines are "number:controllers:path", with no controllers in version 2.
 */
static bool find_group(const char *controller, struct group *group)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    bool found = false;

    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        char *list = strchr(line, ':');
        char *path = list ? strchr(list + 1, ':') : NULL;

        if (!path)
            continue;
        *path++ = 0;
        list++;
        path[strcspn(path, "\n")] = 0;
        if (*list && !list_has(list, controller))
            continue;
        if (found && !*list)
            continue; /* both are mounted: the controller is where version 1 has it */
        group->is_v2 = !*list;
        group->root_length = (size_t)snprintf(group->path, sizeof group->path, "/sys/fs/cgroup%s%s",
                                              group->is_v2 ? "" : "/", group->is_v2 ? "" : controller);
        found = strlen(path) + group->root_length < sizeof group->path;
        if (found)
            strcpy(group->path + group->root_length, path);
    }
    fclose(file);
    return found;
}

/* Cuts the last level off; false when the root has been visited. */
static bool go_up(struct group *group)
{
    char *slash = strrchr(group->path, '/');

    if (strlen(group->path) <= group->root_length)
        return false;
    if (slash)
        *slash = 0;
    return slash && strlen(group->path) >= group->root_length;
}

/* The first line of a file of the group; false when there is none. */
static bool read_line(const struct group *group, const char *name, char *line, int size)
{
    char path[PATH_MAX + 64];
    FILE *file;
    bool ok;

    snprintf(path, sizeof path, "%s/%s", group->path, name);
    file = fopen(path, "re");
    if (!file)
        return false;
    ok = fgets(line, size, file) != NULL;
    fclose(file);
    return ok;
}

/* The number in a file of the group; INT64_MAX when there is none ("max" or no file). */
static int64_t read_number(const struct group *group, const char *name)
{
    char line[128];
    char *end;
    long long value;

    if (!read_line(group, name, line, sizeof line))
        return INT64_MAX;
    value = strtoll(line, &end, 10);
    return end == line ? INT64_MAX : value;
}

/* The number after "key " in a file; -1 when there is none. */
static int64_t read_keyed(const char *path, const char *key)
{
    FILE *file = fopen(path, "re");
    size_t length = strlen(key);
    char line[256];
    int64_t value = -1;

    if (!file)
        return -1;
    while (value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            value = strtoll(line + length, NULL, 10);
    fclose(file);
    return value;
}

int64_t mur_cgroup_memory_limit(void)
{
    struct group group;
    int64_t least = INT64_MAX;

    if (!find_group("memory", &group))
        return least;
    do {
        int64_t limit = read_number(&group, group.is_v2 ? "memory.max" : "memory.limit_in_bytes");

        if (limit < least)
            least = limit;
    } while (go_up(&group));
    return least;
}

int64_t mur_cgroup_pids_left(void)
{
    struct group group;
    int64_t least = INT64_MAX;

    if (!find_group("pids", &group))
        return least;
    do {
        int64_t limit = read_number(&group, "pids.max");
        int64_t used = read_number(&group, "pids.current");

        if (limit != INT64_MAX && used != INT64_MAX && limit - used < least)
            least = limit - used;
    } while (go_up(&group));
    return least;
}

double mur_cgroup_cpus(void)
{
    struct group group;
    double least = 0;

    if (!find_group("cpu", &group))
        return 0;
    do {
        char line[128];
        double quota = 0;
        double period = 0;

        if (group.is_v2) {
            if (!read_line(&group, "cpu.max", line, sizeof line) || sscanf(line, "%lf %lf", &quota, &period) != 2)
                continue;
        } else {
            quota = (double)read_number(&group, "cpu.cfs_quota_us");
            period = (double)read_number(&group, "cpu.cfs_period_us");
            if (quota >= (double)INT64_MAX)
                continue;
        }
        if (quota > 0 && period > 0 && (least == 0 || quota / period < least))
            least = quota / period;
    } while (go_up(&group));
    return least;
}

int64_t mur_cgroup_oom_kills(void)
{
    struct group group;
    char path[PATH_MAX + 64];
    int64_t kills = -1;

    if (find_group("memory", &group)) {
        snprintf(path, sizeof path, "%s/%s", group.path, group.is_v2 ? "memory.events" : "memory.oom_control");
        kills = read_keyed(path, "oom_kill");
    }
    return kills >= 0 ? kills : read_keyed("/proc/vmstat", "oom_kill");
}
