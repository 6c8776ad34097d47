/* SPDX-License-Identifier: BSD-3-Clause */
/* CRIU refuses by itself most of what it cannot save; it would close connections, though, and cannot know which of them
 * are the library's. And its own words tell a user less than the name of a file does. */
#include "launch/checkpoint/carried.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/checkpoint/root.h"

struct process {
    pid_t pid, parent; /* by the namespace's numbers */
    bool is_of_tree;
};

struct search {
    const struct mur_tree_look *look;
    char folder[64];            /* /proc as the tree sees it */
    struct mur_sockets network; /* all of the network namespace, but of the Unix kind */
    char *text;
    size_t bytes;
};

static bool has(const struct mur_sockets *sockets, uint64_t inode)
{
    for (int i = 0; i < sockets->count; i++)
        if (sockets->items[i] == inode)
            return true;
    return false;
}

/* ---- the processes ---- */

static bool read_process(const struct search *search, const char *name, struct process *process)
{
    char *path = mur_alloc_text("%s/%s/stat", search->folder, name), line[512] = "", *end;
    FILE *file = fopen(path, "re");
    int parent;

    free(path);
    if (!file)
        return false;
    line[fread(line, 1, sizeof line - 1, file)] = '\0';
    fclose(file);
    end = strrchr(line, ')'); /* the name may hold anything */
    if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
        return false;
    *process = (struct process){.pid = atoi(name), .parent = parent};
    return true;
}

static void mark_tree(struct process *processes, int count)
{
    bool has_more = true;

    for (int i = 0; i < count; i++)
        processes[i].is_of_tree = processes[i].pid == MUR_ROOT_PID;
    while (has_more) {
        has_more = false;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < count && !processes[i].is_of_tree; k++)
                if (processes[k].is_of_tree && processes[i].parent == processes[k].pid)
                    processes[i].is_of_tree = has_more = true;
    }
}

static struct process *list_processes(const struct search *search, int *count)
{
    DIR *directory = opendir(search->folder);
    struct process *processes = NULL;
    struct dirent *entry;

    *count = 0;
    while (directory && (entry = readdir(directory))) {
        struct process process;

        if (!isdigit((unsigned char)entry->d_name[0]) || !read_process(search, entry->d_name, &process))
            continue;
        processes = mur_alloc_again(processes, (size_t)*count + 1, sizeof *processes);
        processes[(*count)++] = process;
    }
    if (directory)
        closedir(directory);
    mark_tree(processes, *count);
    return processes;
}

/* ---- sockets ---- */

/* The inode is the tenth word of each line. */
static void read_network(struct search *search, const char *name)
{
    char *path = mur_alloc_text("/proc/%d/net/%s", (int)search->look->init, name), line[512];
    FILE *file = fopen(path, "re");
    struct mur_sockets *all = &search->network;
    uint64_t inode;

    free(path);
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64, &inode) != 1 || !inode)
            continue;
        all->items = mur_alloc_again(all->items, (size_t)all->count + 1, sizeof *all->items);
        all->items[all->count++] = inode;
    }
    if (file)
        fclose(file);
}

/* ---- one process ---- */

static bool refuse(struct search *search, pid_t pid, const char *what, const char *name)
{
    char *path = mur_alloc_text("%s/%d/comm", search->folder, (int)pid), program[64] = "?";
    FILE *file = fopen(path, "re");

    free(path);
    if (file && fgets(program, sizeof program, file))
        program[strcspn(program, "\n")] = '\0';
    if (file)
        fclose(file);
    snprintf(search->text, search->bytes, "the program %s has %s%s%s, which a restart cannot bring back", program, what,
             *name ? " " : "", name);
    return false;
}

static bool is_plain_device(const char *path)
{
    static const char *const plain[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(path, plain[i]) == 0)
            return true;
    return strncmp(path, "/dev/", 5) != 0 || strncmp(path, "/dev/shm/", 9) == 0 ||
           strncmp(path, "/dev/hugepages", 14) == 0;
}

static bool check_name(struct search *search, pid_t pid, const char *name)
{
    uint64_t inode;

    if (sscanf(name, "socket:[%" SCNu64 "]", &inode) == 1 && has(&search->network, inode) &&
        !has(search->look->own, inode))
        return refuse(search, pid, "a network connection of its own", "");
    if (strcmp(name, "anon_inode:[io_uring]") == 0 || strcmp(name, "anon_inode:[perf_event]") == 0 ||
        strcmp(name, "anon_inode:[userfaultfd]") == 0)
        return refuse(search, pid, "a descriptor of the kind", name + strlen("anon_inode:"));
    return is_plain_device(name) || refuse(search, pid, "the device", name);
}

static bool is_for_writing(const struct search *search, pid_t pid, const char *fd)
{
    char *path = mur_alloc_text("%s/%d/fdinfo/%s", search->folder, (int)pid, fd), line[128];
    FILE *file = fopen(path, "re");
    unsigned flags = 0;

    free(path);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "flags: %o", &flags) == 1)
            break;
    if (file)
        fclose(file);
    return (flags & O_ACCMODE) != O_RDONLY;
}

static void note_file(struct search *search, pid_t pid, const char *fd, const char *link, const char *name)
{
    const struct mur_tree_look *look = search->look;
    struct stat status, named;

    if (!look->notes || stat(link, &status) < 0 || !S_ISREG(status.st_mode))
        return;
    for (int i = 0; i < look->memory_count; i++)
        if (look->memory_inodes[i] == status.st_ino && strncmp(name, "/memfd:", 7) == 0) {
            mur_notes_add_memory(look->notes, look->generations[i], pid, atoi(fd));
            return;
        }
    if (stat(name, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev &&
        is_for_writing(search, pid, fd))
        mur_notes_add_file(look->notes, name, (uint64_t)status.st_size);
}

static bool check_descriptors(struct search *search, pid_t pid)
{
    char *folder = mur_alloc_text("%s/%d/fd", search->folder, (int)pid);
    DIR *directory = opendir(folder);
    struct dirent *entry;
    bool is_good = true;

    while (is_good && directory && (entry = readdir(directory))) {
        char name[PATH_MAX];
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, name, sizeof name - 1);
        char *link;

        if (length <= 0)
            continue;
        name[length] = '\0';
        is_good = check_name(search, pid, name);
        link = mur_alloc_text("%s/%s", folder, entry->d_name);
        note_file(search, pid, entry->d_name, link, name);
        free(link);
    }
    if (directory)
        closedir(directory);
    free(folder);
    return is_good;
}

/* Memory of devices, and memory that is shared by name. */
static bool check_memory(struct search *search, pid_t pid)
{
    char *path = mur_alloc_text("%s/%d/maps", search->folder, (int)pid), line[PATH_MAX + 128];
    FILE *file = fopen(path, "re");
    bool is_good = true;

    free(path);
    while (is_good && file && fgets(line, sizeof line, file)) {
        const char *name = strchr(line, '/');
        bool is_shared = strncmp(line + strcspn(line, " ") + 4, "s", 1) == 0;

        line[strcspn(line, "\n")] = '\0';
        if (!name || strstr(name, " (deleted)"))
            continue;
        if (!is_plain_device(name))
            is_good = refuse(search, pid, "memory of the device", name);
        else if (is_shared && (strncmp(name, "/dev/shm/", 9) == 0 || strncmp(name, "/SYSV", 5) == 0))
            is_good = refuse(search, pid, "memory that it may share with other programs,", name);
    }
    if (file)
        fclose(file);
    return is_good;
}

bool mur_tree_look(const struct mur_tree_look *look, char *text, size_t bytes)
{
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6", "raw", "raw6"};
    struct search search = {.look = look, .text = text, .bytes = bytes};
    struct process *processes;
    bool is_good = true;
    int count;

    snprintf(search.folder, sizeof search.folder, "/proc/%d/root/proc", (int)look->init);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        read_network(&search, tables[i]);
    processes = list_processes(&search, &count);
    for (int i = 0; i < count && is_good; i++)
        if (processes[i].is_of_tree)
            is_good = check_descriptors(&search, processes[i].pid) && check_memory(&search, processes[i].pid);
    free(processes);
    free(search.network.items);
    return is_good;
}
