/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and ending the world (MPI-5.0 §11.2, §11.4), and MPI_Abort. Finalize waits for what others still need from
 * this process, and for nothing else. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/process.h"
#include "mpi/bodies.h"
#include "mpi/check.h"
#include "mpi/instance.h"
#include "mpi/parent.h"
#include "object/attribute.h"
#include "object/comm.h"
#include "object/info.h"
#include "object/type.h"

static int start(int required)
{
    int rc;

    if (mur_process.is_forked)
        return mur_fault_phase();
    if (mur_process.phase == MUR_PHASE_FINALIZED)
        return mur_error(MPI_ERR_OTHER, "MPI cannot be initialised again after MPI_Finalize");
    if (mur_process.phase == MUR_PHASE_RUNNING)
        return mur_error(MPI_ERR_OTHER, "MPI is initialised already; call MPI_Init or MPI_Init_thread once only");
    if ((rc = mur_instance_acquire(required)) || (rc = mur_info_env_setup(required)))
        return rc;
    mur_comm_publish();
    mur_process.main_thread = pthread_self();
    mur_process.thread_level = required;
    mur_process.phase = MUR_PHASE_RUNNING;
    return mur_parent_meet();
}

int mur_mpi_init(int *argc, char ***argv)
{
    int provided;

    return mur_mpi_init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int mur_mpi_init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc;

    (void)argc;
    (void)argv;
    if (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED && required != MPI_THREAD_SERIALIZED &&
        required != MPI_THREAD_MULTIPLE)
        return mur_error(MPI_ERR_ARG,
                         "required is %d, but must be MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE",
                         required);
    rc = start(required);
    if (rc)
        return rc;
    *provided = mur_process.thread_level;
    return MPI_SUCCESS;
}

int mur_mpi_query_thread(int *provided)
{
    *provided = mur_process.thread_level;
    return MPI_SUCCESS;
}

int mur_mpi_is_thread_main(int *flag)
{
    *flag = pthread_equal(pthread_self(), mur_process.main_thread) != 0;
    return MPI_SUCCESS;
}

/* The first act of finalizing is like freeing MPI_COMM_SELF: its attributes' callbacks may still use MPI (MPI-5.0
 * §11.2.4). Returns the first error of one. */
static int delete_attributes(void)
{
    int self = mur_attributes_delete(&mur_comm_self.attributes, &mur_comm_self);
    int world = mur_attributes_delete(&mur_comm_world.attributes, &mur_comm_world);
    int types = mur_type_delete_predefined_attributes();

    return self ? self : world ? world : types;
}

int mur_mpi_finalize(void)
{
    int rc = delete_attributes();

    if (rc)
        return rc;
    mur_instance_release(true);
    mur_process.phase = MUR_PHASE_FINALIZED;
    mur_comm_unpublish();
    return MPI_SUCCESS;
}

/* Under mpiexec, its one line says who called it and with what code. */
int mur_mpi_abort(struct mur_comm *comm, int errorcode)
{
    char text[320] = "";

    if (mur_process.control_fd < 0)
        snprintf(text, sizeof text, "MPI_Abort(%s, %d) was called (host %s, pid %d)",
                 comm->name[0] ? comm->name : "a communicator", errorcode, mur_process.host, (int)getpid());
    mur_boot_abort(errorcode, text);
}
