/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory this process uses, as the kernel tells it: for tests that nothing is left behind. */
#ifndef MUR_TEST_MEMORY_USE_H
#define MUR_TEST_MEMORY_USE_H

#include <stdio.h>

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

/* KiB of the shared memory that this process has touched and still holds; -1: the kernel does not tell. */
static inline long shared_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (file && fgets(line, sizeof line, file))
        sscanf(line, "RssShmem: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

#endif
