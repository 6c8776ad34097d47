/* SPDX-License-Identifier: BSD-3-Clause */
/* How many descriptors this process has open (a few more, always as many): for tests that nothing is left behind. */
#ifndef MUR_TEST_DESCRIPTORS_H
#define MUR_TEST_DESCRIPTORS_H

#include <dirent.h>

#include "test.h"

static inline int count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    CHECK(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

#endif
