/* SPDX-License-Identifier: BSD-3-Clause */
/* The constants of Fortran with their values in C. */
#ifndef TESTS_FORTRAN_CONSTANTS_H
#define TESTS_FORTRAN_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"

struct constant {
    const char *name;
    long value;
    bool is_length; /* of a string: one less in Fortran, which has no NUL */
};
extern const struct constant constants[];
extern const int constant_count;

#endif
