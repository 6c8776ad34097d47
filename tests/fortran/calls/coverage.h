/* SPDX-License-Identifier: BSD-3-Clause */
/* The procedures that a program calls, between it and MPI's: coverage_<interface>.c, which generate.py writes, has one
 * for each, which calls MPI's by its PMPI_ name and notes whether it succeeded. */
#ifndef MURMUR_TESTS_FORTRAN_COVERAGE_H
#define MURMUR_TESTS_FORTRAN_COVERAGE_H

struct procedure {
    const char *name;
    int is_wanted; /* this interface has it */
    int successes;
};
extern struct procedure procedures[];
extern const int procedure_count;

static inline void note(int procedure, int code)
{
    procedures[procedure].successes += code == 0;
}

/* Before MPI ends: rank 0 ends the job with an error if no rank called a procedure with success. */
void check_coverage(void);

#endif
