/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and ending MPI (MPI-5.0 §11.2, §11.4), and MPI_Abort.
 *
 * Start-up talks to no other rank: each maps the node's memory and is ready. Finalize waits for what others still
 * need from this process, and for nothing else. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/settings.h"
#include "boot/process.h"
#include "engine/board.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "match/match.h"
#include "mpi/bodies.h"
#include "mpi/information.h"
#include "object/attribute.h"
#include "object/comm.h"
#include "object/errhandler.h"
#include "object/group.h"
#include "object/info.h"
#include "object/op.h"
#include "object/request.h"
#include "object/type.h"
#include "pt2pt/pt2pt.h"

static int start_objects(int required)
{
    int rc;

    if ((rc = mur_errhandler_setup()) || (rc = mur_group_setup()) || (rc = mur_type_setup()) || (rc = mur_op_setup()) ||
        (rc = mur_request_setup()) || (rc = mur_comm_setup(mur_process.rank, mur_process.size)))
        return rc;
    return mur_info_env_setup(required);
}

static int start(int required)
{
    char complaint[256];
    int rc, complaints;

    if (mur_process.phase == MUR_PHASE_FINALIZED)
        return mur_error(MPI_ERR_OTHER, "MPI cannot be initialised again after MPI_Finalize");
    if (mur_process.phase == MUR_PHASE_RUNNING)
        return mur_error(MPI_ERR_OTHER, "MPI is initialised already; call MPI_Init or MPI_Init_thread once only");
    complaints = mur_settings_read(complaint, sizeof complaint);
    if ((rc = mur_boot_start()))
        return rc;
    if (complaints && mur_process.rank == 0)
        fprintf(stderr, "Murmur: %s\n", complaint);
    if ((rc = mur_match_setup()) || (rc = mur_pt2pt_setup()) ||
        (rc = mur_engine_start(mur_process.size, mur_board_bytes(mur_process.size))) || (rc = start_objects(required)))
        return rc;
    mur_process.main_thread = pthread_self();
    mur_process.phase = MUR_PHASE_RUNNING;
    if (mur_settings.info && mur_process.rank == 0)
        mur_information_print(stderr);
    return MPI_SUCCESS;
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
    mur_process.thread_level = required;
    mur_lock.is_used = required == MPI_THREAD_MULTIPLE; /* this call itself does not hold the lock */
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
    mur_engine_stop();
    mur_process.phase = MUR_PHASE_FINALIZED;
    mur_comm_teardown();
    mur_match_teardown();
    mur_boot_finish();
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
