/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the constants that a Fortran program has with those of mpi.h; all must come. */
#include "constants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int seen, wrong;

void check_constant_(const char *name, const int64_t *value, size_t length)
{
    for (int i = 0; i < constant_count; i++) {
        long expected = constants[i].value - (constants[i].is_length ? 1 : 0);

        if (strlen(constants[i].name) != length || memcmp(constants[i].name, name, length) != 0)
            continue;
        seen++;
        if (*value != expected) {
            printf("%s is %ld, but should be %ld\n", constants[i].name, (long)*value, expected);
            wrong++;
        }
        return;
    }
    printf("%.*s is no constant of mpi.h\n", (int)length, name);
    wrong++;
}

void check_all_(void)
{
    printf("%d of %d constants, %d wrong\n", seen, constant_count, wrong);
    exit(wrong || seen != constant_count);
}
