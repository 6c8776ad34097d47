/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks around: system, processors, memory, what the kernel permits, network interfaces. What cannot be found out is
 * left out. */
#define _GNU_SOURCE
#include "mpi/found.h"

#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/secret.h"
#include "node/cores.h"

struct list {
    struct mur_found *found;
    int count;
};

static void add(struct list *list, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(struct list *list, const char *name, const char *format, ...)
{
    struct mur_found *found = &list->found[list->count];
    va_list args;

    if (list->count == MUR_FOUND_MAX)
        return;
    va_start(args, format);
    vsnprintf(found->value, sizeof found->value, format, args);
    va_end(args);
    found->name = name;
    list->count++;
}

/* The first line of a file, as it is; false without one. */
static bool read_line(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, (int)bytes, file);

    if (file)
        fclose(file);
    if (is_read)
        line[strcspn(line, "\n")] = 0;
    return is_read && *line;
}

static void find_system(struct list *list)
{
    struct utsname name;

    if (uname(&name))
        return;
    add(list, "host", "%s", name.nodename);
    add(list, "system", "%s %s on %s", name.sysname, name.release, name.machine);
}

static void find_processors(struct list *list)
{
    int quota = mur_cores_quota();
    char text[150] = "";
    size_t length = 0;
    cpu_set_t set;

    for (int level = 0; level < MUR_LEVELS; level++) {
        int count = mur_machine_instances((enum mur_level)level);

        if (count && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d %s", length ? ", " : "", count,
                                       mur_level_names[level]);
    }
    if (length)
        add(list, "machine", "%s", text);
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        add(list, "processors", "%d in this process's affinity mask", CPU_COUNT(&set));
    if (quota < INT_MAX)
        add(list, "quota", "%d processors' time by the control group", quota);
#if defined(__x86_64__)
    add(list, "vectors", "%s",
        __builtin_cpu_supports("avx512f") ? "AVX-512"
        : __builtin_cpu_supports("avx2")  ? "AVX2"
                                          : "SSE2");
#endif
}

/* The word in brackets is the one that is chosen: "always [madvise] never". */
static void find_memory(struct list *list)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    char line[100];

    if (pages > 0 && bytes > 0)
        add(list, "memory", "%ld MiB", pages / (1048576 / bytes));
    if (read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line))
        add(list, "transparent huge pages", "%s", line);
    if (read_line("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", line, sizeof line))
        add(list, "reserved huge pages", "%s of 2 MiB", line);
}

/* Whether the system lets this process copy from its own memory: a filter of system calls (a container's) forbids all.
 */
static bool may_copy(void)
{
    char from = 0, to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

/* Yama forbids copying between processes from 2 on; with 1 the library asks for permission itself. */
static void find_copying(struct list *list)
{
    char line[16];

    if (!may_copy())
        add(list, "copying between processes", "refused by the system (%s), perhaps by a container's filter",
            strerror(errno));
    else if (!read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof line))
        add(list, "copying between processes", "not restricted by Yama");
    else
        add(list, "copying between processes", "%s (Yama's ptrace_scope is %s)",
            *line < '2' ? "permitted" : "forbidden", line);
}

static void find_interfaces(struct list *list)
{
    struct ifaddrs *first, *one;
    char text[150] = "";
    size_t length = 0;

    if (getifaddrs(&first))
        return;
    for (one = first; one; one = one->ifa_next) {
        bool is_internet = one->ifa_addr && one->ifa_addr->sa_family == AF_INET;

        if (is_internet && one->ifa_flags & IFF_UP && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "", one->ifa_name);
    }
    freeifaddrs(first);
    if (length)
        add(list, "network interfaces", "%s", text);
}

/* Loaded when it is needed, so that no list of a program's libraries shows it. */
static void find_libsodium(struct list *list)
{
    char complaint[400];

    add(list, "libsodium", "%s",
        mur_secret_open(complaint, sizeof complaint) ? "found"
                                                     : "missing: no spawn, no ports, no jobs on several hosts");
}

int mur_found_list(struct mur_found found[MUR_FOUND_MAX])
{
    struct list list = {.found = found};

    find_system(&list);
    find_processors(&list);
    find_memory(&list);
    find_copying(&list);
    find_interfaces(&list);
    find_libsodium(&list);
    return list.count;
}
