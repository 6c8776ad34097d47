/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of the launcher: a check that counts, and random numbers from a printed seed. */
#ifndef MUR_TESTS_LAUNCH_CHECK_H
#define MUR_TESTS_LAUNCH_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Takes out what launchers and resource managers may have set around the test. */
static inline void check_clear_environment(void)
{
    static const char *const beginnings[] = {"MPIEXEC_", "HYDRA_",   "I_MPI_", "OMPI_", "PRTE_",
                                             "SLURM",    "LSB_",     "PBS_",   "PE_",   "COBALT_",
                                             "LOADL_",   "MPI_HOST", "VC_",    "VK_",   "MUR_HOSTFILE"};

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        for (char **variable = environ; *variable;) {
            char name[256];

            snprintf(name, sizeof name, "%.*s", (int)strcspn(*variable, "="), *variable);
            if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0 && unsetenv(name) == 0)
                variable = environ; /* the list has moved up */
            else
                variable++;
        }
}

/* Seeds rand() from the first argument, or with 1, and prints the seed. */
static inline void check_seed(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

    printf("seed %u\n", seed);
    srand(seed);
}

#endif
