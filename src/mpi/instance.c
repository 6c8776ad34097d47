/* SPDX-License-Identifier: BSD-3-Clause */
/* Start-up talks to no other rank: each maps the node's memory and is ready. */
#include "mpi/instance.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/error.h"
#include "base/settings.h"
#include "boot/process.h"
#include "coll/board/board.h"
#include "coll/choose.h"
#include "coll/collective.h"
#include "engine/background.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "io/access.h"
#include "io/pointer.h"
#include "match/match.h"
#include "mpi.h"
#include "mpi/check.h"
#include "mpi/information.h"
#include "object/comm.h"
#include "object/group.h"
#include "object/info.h"
#include "object/op.h"
#include "object/request.h"
#include "object/type.h"
#include "pt2pt/pt2pt.h"
#include "rma/rma.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static int start_objects(void)
{
    int rc;

    if ((rc = mur_group_setup()) || (rc = mur_type_setup()) || (rc = mur_op_setup()) || (rc = mur_request_setup()))
        return rc;
    rc = mur_comm_setup(mur_process.rank, mur_process.size);
    return rc ? rc : mur_collective_setup();
}

/* In a child that this process has forked. It has copies of the memory, of the descriptors and of whatever this process
 * was about to do; if it went on with that, peers would take it for this process. So every call fails from now on
 * (mur_check_running), nothing is left to be done at the child's exit, and the connections are closed in the child. */
static void forked(void)
{
    mur_boot_forked();
    mur_engine_forked();
}

static int start(void)
{
    const char *complaint = mur_settings_read(), *override = mur_override_read();
    int rc;

    if ((rc = mur_boot_start()))
        return rc;
    if (pthread_atfork(NULL, NULL, forked))
        return mur_error(MPI_ERR_NO_MEM, "no memory to watch for forked children");
    if (complaint && mur_process.rank == 0)
        fprintf(stderr, "Murmur: %s\n", complaint);
    if (override && mur_process.rank == 0)
        fprintf(stderr, "Murmur: %s\n", override);
    mur_pointer_setup();
    mur_access_setup();
    if ((rc = mur_match_setup()) || (rc = mur_pt2pt_setup()) || (rc = mur_rma_setup()) ||
        (rc = mur_engine_start(mur_process.size, mur_board_bytes(mur_process.size))) || (rc = start_objects()))
        return rc;
    if (mur_settings.info && mur_process.rank == 0)
        mur_information_print(stderr);
    return MPI_SUCCESS;
}

static bool is_started;
static _Atomic(pthread_t) latest; /* thread that has started an instance */

static int acquire(void)
{
    int rc = MPI_SUCCESS;

    if (!is_started)
        rc = start();
    else if (!mur_process.instances)
        rc = mur_boot_resume();
    if (rc)
        return rc;
    if (is_started && !mur_process.instances)
        mur_engine_come_back();
    is_started = true;
    if (!mur_process.instances && (rc = mur_background_start()))
        return rc;
    mur_process.instances++;
    return MPI_SUCCESS;
}

/* Another thread may be inside, by an instance that only that thread uses. It is waited for before the guard is taken,
 * which it may want. */
static void prepare_lock(int required_thread_level)
{
    pthread_t before = atomic_exchange(&latest, pthread_self());

    if (!before)
        mur_engine_lock_setup(required_thread_level > MPI_THREAD_SINGLE);
    if (required_thread_level == MPI_THREAD_MULTIPLE || (before && !pthread_equal(before, pthread_self())))
        mur_engine_share();
}

int mur_instance_acquire(int required_thread_level)
{
    int rc;

    if (mur_process.is_forked)
        return mur_fault_phase();
    prepare_lock(required_thread_level);
    pthread_mutex_lock(&guard);
    rc = acquire();
    pthread_mutex_unlock(&guard);
    return rc;
}

void mur_instance_release(bool is_world)
{
    if (mur_process.instances == 1) {
        mur_engine_drain();
        mur_background_stop();
    }
    pthread_mutex_lock(&guard);
    if (--mur_process.instances == 0) {
        mur_engine_leave_mpi(is_world);
        mur_boot_finish();
    }
    pthread_mutex_unlock(&guard);
}
