/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing what this library is and how it is set: murmur-info, and MUR_INFO=1 in a job. */
#define _GNU_SOURCE
#include "mpi/information.h"

#include <limits.h>
#include <sched.h>

#include "base/settings.h"
#include "boot/process.h"
#include "engine/cores.h"
#include "mpi/bodies.h"

static void print_cores(FILE *out)
{
    int quota = mur_cores_quota();
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        fprintf(out, "cores        %d in this process's affinity mask", CPU_COUNT(&set));
    if (quota < INT_MAX)
        fprintf(out, ", %d by the control group's quota", quota);
    fputc('\n', out);
}

void mur_information_print(FILE *out)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    mur_mpi_get_library_version(version, &length);
    fprintf(out, "%s\ntransports   shm\n", version);
    print_cores(out);
    if (mur_process.phase == MUR_PHASE_RUNNING)
        fprintf(out, "job          %s, %d ranks, host %s\n", mur_process.job_id, mur_process.size, mur_process.host);
    fprintf(out, "\n%-22s %10s %10s  %-12s  %s\n", "setting", "value", "default", "unit", "meaning");
    for (size_t i = 0; i < mur_setting_count; i++) {
        const struct mur_setting *setting = &mur_setting_table[i];

        fprintf(out, "%-22s %10ld %10ld  %-12s  %s\n", setting->name, *mur_setting_value(setting),
                setting->default_value, setting->unit, setting->meaning);
    }
}
