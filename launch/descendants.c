/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds descendants by the parent numbers in /proc: one look at all processes, then a closure over that table.
 *
 * /proc/PID/task/TID/children would give the tree directly, but it is optional in the kernel and documented to miss
 * children unless the process is frozen. This runs only when a job leaves something behind, so the cost does not
 * matter. */
#include "launch/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/loop.h"
#include "launch/say.h"

#define PASS_INTERVAL_MS 5

struct process {
    pid_t pid;
    pid_t parent;
};

void mur_descendants_adopt(void)
{
    static bool has_told; /* what mpiexec has told, the guard and the agent that it forks need not repeat */

    if (prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 || has_told)
        return;
    mur_say("note: the system does not let this process become a subreaper: %s; the job runs, but processes that ranks "
            "leave behind are not found once their parents have ended",
            strerror(errno));
    has_told = true;
}

/* The parent of a living process; 0 for one that is gone or a zombie, whose children have been given away. */
static pid_t read_parent(const char *pid)
{
    char path[64];
    char text[512];
    FILE *file;
    size_t length;
    char *name_end; /* the name is in parentheses and may contain anything, also ')' */
    char state;
    int parent;

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    name_end = strrchr(text, ')');
    if (!name_end || sscanf(name_end + 1, " %c %d", &state, &parent) != 2 || state == 'Z' || state == 'X')
        return 0;
    return parent;
}

static struct process *read_table(int *count)
{
    DIR *directory = opendir("/proc");
    struct process *table = NULL;
    struct dirent *entry;

    *count = 0;
    if (!directory)
        return NULL;
    while ((entry = readdir(directory))) {
        pid_t parent;

        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        parent = read_parent(entry->d_name);
        if (parent <= 0)
            continue;
        if ((*count & (*count - 1)) == 0) /* full: sizes are powers of two */
            table = mur_alloc_again(table, *count ? (size_t)*count * 2 : 1, sizeof *table);
        table[(*count)++] = (struct process){.pid = atoi(entry->d_name), .parent = parent};
    }
    closedir(directory);
    return table;
}

static bool is_kept(const struct mur_pids *keep, pid_t pid)
{
    for (int i = 0; keep && i < keep->count; i++)
        if (keep->items[i] == pid)
            return true;
    return false;
}

/* All descendants but those to keep, and theirs. */
static void find(struct mur_pids *found, const struct mur_pids *keep)
{
    int count;
    struct process *table = read_table(&count);
    pid_t parent = getpid();

    found->count = 0;
    found->items = mur_alloc((size_t)count, sizeof *found->items);
    for (int next = 0;; parent = found->items[next++]) { /* breadth first: `found` is also the queue */
        for (int i = 0; i < count; i++)
            if (table[i].parent == parent && !is_kept(keep, table[i].pid))
                found->items[found->count++] = table[i].pid;
        if (next == found->count)
            break;
    }
    free(table);
}

void mur_descendants_find(struct mur_pids *found)
{
    find(found, NULL);
}

int mur_descendants_kill(const struct mur_pids *keep)
{
    struct mur_pids found;

    find(&found, keep);
    for (int i = 0; i < found.count; i++)
        kill(found.items[i], SIGKILL);
    free(found.items);
    return found.count;
}

void mur_descendants_end(const struct mur_pids *keep, int ms)
{
    const struct timespec pause = {.tv_nsec = PASS_INTERVAL_MS * 1000000};
    int64_t give_up = mur_loop_now() + ms;

    while (mur_descendants_kill(keep) > 0 && mur_loop_now() < give_up) {
        nanosleep(&pause, NULL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
    }
}
