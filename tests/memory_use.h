/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory a process uses, as the kernel tells it: for tests that nothing is left behind. */
#ifndef MUR_TEST_MEMORY_USE_H
#define MUR_TEST_MEMORY_USE_H

#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

/* How many pieces of memory are mapped. */
static inline int count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    int count = 0;

    for (int c; file && (c = fgetc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

/* The value of a line of the process's status, in KiB; -1: the kernel does not tell. */
static inline long status_kib(pid_t pid, const char *format)
{
    char path[64], line[256];
    long kib = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, format, &kib);
    if (file)
        fclose(file);
    return kib;
}

/* KiB of the shared memory that this process has touched and still holds. */
static inline long shared_kib(void)
{
    return status_kib(getpid(), "RssShmem: %ld");
}

/* KiB of the process's memory. */
static inline long memory_of(pid_t pid)
{
    return status_kib(pid, "VmRSS: %ld");
}

#endif
