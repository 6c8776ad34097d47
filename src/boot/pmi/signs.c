/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of a launcher that cannot be reached. Without this, a job of N processes would run as N worlds of one, and
 * nobody would notice but by its results. */
#include <stdio.h>
#include <stdlib.h>

#include "boot/pmi/pmi.h"
#include "boot/pmi/words.h"

struct sign {
    const char *rank; /* set in each process, */
    const char *size; /* and this tells of more than one, or is missing */
    const char *launcher;
    const char *remedy;
};

/* A batch script has SLURM_PROCID and SLURM_NTASKS too, and may run programs by themselves; only what srun starts has
 * srun_size. What a launcher starts under another has the signs of both: the inner ones are first. */
static const char srun_size[] = "SLURM_STEP_NUM_TASKS";
static const struct sign signs[] = {
    {"PMI_RANK", "PMI_SIZE", "a launcher that speaks PMI",
     "neither PMI_FD nor PMI_PORT leads to it; start the program directly, not from a script that closes descriptors"},
    {"PMIX_RANK", NULL, "a launcher that speaks PMIx", "PMIX_NAMESPACE is missing; keep the environment it made"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun",
     "it left no PMIx; start with the mpiexec of Murmur"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MVAPICH's launcher",
     "it left no PMI; start with the mpiexec of Murmur"},
    {"PALS_RANKID", "PALS_SIZE", "PALS",
     "it speaks PMI only through its own library; start with the mpiexec of Murmur"},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "Flux", "it left no PMI_FD; run with -o pmi=simple"},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "jsrun", "it left no PMIx; start with the mpiexec of Murmur"},
    {"SLURM_PROCID", srun_size, "srun",
     "it serves no PMI; use srun --mpi=pmi2 (or pmix), or the mpiexec of Murmur inside the allocation"},
};

static bool is_shown(const struct sign *sign)
{
    const char *size_text = sign->size ? getenv(sign->size) : NULL;
    int rank, size;

    if (!mur_pmi_number(getenv(sign->rank), &rank) || rank < 0)
        return false;
    return mur_pmi_number(size_text, &size) ? size > 1 : sign->size != srun_size;
}

bool mur_pmi_unreachable(char *text, size_t bytes)
{
    const char *fd = getenv("PMI_FD");

    if (fd) {
        snprintf(text, bytes,
                 "a launcher that speaks PMI started this process (PMI_FD=%.20s), but that descriptor is no socket "
                 "any more; start the program directly, not from a program or script that closes descriptors",
                 fd);
        return true;
    }
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        const struct sign *sign = &signs[i];

        if (!is_shown(sign))
            continue;
        snprintf(text, bytes, "%s started this process (%s=%.20s), but cannot be reached: %s", sign->launcher,
                 sign->rank, getenv(sign->rank), sign->remedy);
        return true;
    }
    return false;
}
