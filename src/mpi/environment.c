/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 chapter 9, but for errors: versions, names, clocks, memory; and the small functions on statuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/machine.h"
#include "boot/process.h"
#include "mpi/bodies.h"
#include "object/info.h"
#include "object/request.h"
#include "object/type.h"

int mur_mpi_get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int mur_mpi_get_library_version(char *version, int *resultlen)
{
    static const char text[] = "Murmur " MUR_VERSION ", an MPI-5.0 library on the standard ABI";

    memcpy(version, text, sizeof text);
    *resultlen = (int)sizeof text - 1;
    return MPI_SUCCESS;
}

int mur_mpi_get_processor_name(char *name, int *resultlen)
{
    if (*mur_process.host)
        strcpy(name, mur_process.host);
    else if (gethostname(name, MPI_MAX_PROCESSOR_NAME))
        return mur_error(MPI_ERR_OTHER, "the host has no name");
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

/* The monotonic clock: the same for all processes of a node, and never set back. */
double mur_mpi_wtime(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double mur_mpi_wtick(void)
{
    struct timespec tick;

    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

/* Where this process is confined to (§9.1.3): empty where the machine does not tell. */
int mur_mpi_get_hw_resource_info(MPI_Info *hw_info)
{
    struct mur_info *info = NULL;
    int rc = mur_info_create(&info);

    for (int level = 0; level < MUR_LEVELS && !rc; level++) {
        char key[64];

        if (!mur_machine_instances((enum mur_level)level))
            continue;
        snprintf(key, sizeof key, "hwloc://%s", mur_level_names[level]);
        rc = mur_info_set(info, key, mur_machine_instance_here((enum mur_level)level) >= 0 ? "true" : "false");
        if (rc)
            mur_info_free(info);
    }
    if (!rc)
        *hw_info = mur_object_handle(info);
    return rc;
}

int mur_mpi_initialized(int *flag)
{
    *flag = mur_process.phase != MUR_PHASE_BEFORE_INIT;
    return MPI_SUCCESS;
}

int mur_mpi_finalized(int *flag)
{
    *flag = mur_process.phase == MUR_PHASE_FINALIZED;
    return MPI_SUCCESS;
}

int mur_mpi_pcontrol(int level)
{
    (void)level;
    return MPI_SUCCESS;
}

int mur_mpi_get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

/* Addresses wrap around where signed numbers must not. */
MPI_Aint mur_mpi_aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint mur_mpi_aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

int mur_mpi_status_get_source(const MPI_Status *status, int *source)
{
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}

int mur_mpi_status_get_tag(const MPI_Status *status, int *tag)
{
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}

int mur_mpi_status_get_error(const MPI_Status *status, int *error)
{
    *error = status->MPI_ERROR;
    return MPI_SUCCESS;
}

int mur_mpi_status_set_source(MPI_Status *status, int source)
{
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}

int mur_mpi_status_set_tag(MPI_Status *status, int tag)
{
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}

int mur_mpi_status_set_error(MPI_Status *status, int error)
{
    status->MPI_ERROR = error;
    return MPI_SUCCESS;
}

int mur_mpi_test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->MPI_internal[2]; /* as mur_status_set leaves it */
    return MPI_SUCCESS;
}

/* MPI_UNDEFINED where the bytes are no whole number of elements; elements of no bytes fit any number of times into
 * none (MPI-5.0 §3.2.5). */
int mur_mpi_get_count(const MPI_Status *status, struct mur_type *datatype, MPI_Count *count)
{
    MPI_Count bytes = mur_status_bytes(status);

    if (datatype->size == 0)
        *count = bytes ? MPI_UNDEFINED : 0;
    else
        *count = bytes % datatype->size ? MPI_UNDEFINED : bytes / datatype->size;
    return MPI_SUCCESS;
}
