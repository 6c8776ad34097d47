/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of the launcher: they must find the same environment anywhere. */
#ifndef MUR_TESTS_LAUNCH_ENVIRONMENT_H
#define MUR_TESTS_LAUNCH_ENVIRONMENT_H

#include "unit.h"

extern char **environ;

/* Takes out what launchers and resource managers may have set around the test. */
static inline void clear_environment(void)
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

#endif
