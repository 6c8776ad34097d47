/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication (MPI-5.0 §12.3 to §12.5): the bodies of the operations and of synchronisation. */
#include "base/error.h"
#include "mpi/bodies.h"
#include "mpi/check.h"
#include "rma/quick.h"
#include "rma/rma.h"

/* ---- operations ---- */

/* Operations on MPI_PROC_NULL do nothing, and are over at once. */
static inline bool is_nobody(int rank, MPI_Request *request)
{
    if (__builtin_expect(rank != MPI_PROC_NULL, 1))
        return false;
    if (request)
        *request = (MPI_Request)mur_request_finished;
    return true;
}

static int check_passive(const struct mur_win *win)
{
    if (win->access == MUR_ACCESS_LOCK || win->access == MUR_ACCESS_LOCK_ALL)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_RMA_SYNC,
                     "no rank is locked: operations with a request are for epochs of MPI_Win_lock and "
                     "MPI_Win_lock_all");
}

/* What all operations have. */
static inline struct mur_rma_arguments on(struct mur_win *win, int rank, MPI_Aint displacement, MPI_Count count,
                                          struct mur_type *type)
{
    return (struct mur_rma_arguments){
        .win = win, .rank = rank, .displacement = displacement, .target_count = count, .target_type = type};
}

static inline void set_origin(struct mur_rma_arguments *a, const void *buffer, MPI_Count count, struct mur_type *type)
{
    a->origin = buffer;
    a->origin_count = count;
    a->origin_type = type;
}

static inline void set_result(struct mur_rma_arguments *a, void *buffer, MPI_Count count, struct mur_type *type)
{
    a->result = buffer;
    a->result_count = count;
    a->result_type = type;
}

typedef int operation(struct mur_rma_arguments *arguments, struct mur_request **request_p);

/* The forms with a request. */
static int start(operation *perform, struct mur_rma_arguments *arguments, MPI_Request *request)
{
    struct mur_request *started = NULL;
    int rc = check_passive(arguments->win);

    if (!rc)
        rc = perform(arguments, &started);
    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

int mur_mpi_put(const void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype, int target_rank,
                MPI_Aint target_disp, MPI_Count target_count, struct mur_type *target_datatype, struct mur_win *win)
{
    struct mur_rma_arguments a;

    if (mur_quick_put(win, target_rank, target_disp, origin_addr, origin_count, origin_datatype, target_count,
                      target_datatype))
        return MPI_SUCCESS;
    a = on(win, target_rank, target_disp, target_count, target_datatype);
    set_origin(&a, origin_addr, origin_count, origin_datatype);
    return is_nobody(target_rank, NULL) ? MPI_SUCCESS : mur_called(mur_rma_put(&a, NULL));
}

int mur_mpi_rput(const void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Count target_count, struct mur_type *target_datatype, struct mur_win *win,
                 MPI_Request *request)
{
    struct mur_rma_arguments a = on(win, target_rank, target_disp, target_count, target_datatype);

    set_origin(&a, origin_addr, origin_count, origin_datatype);
    return is_nobody(target_rank, request) ? MPI_SUCCESS : start(mur_rma_put, &a, request);
}

int mur_mpi_get(void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype, int target_rank,
                MPI_Aint target_disp, MPI_Count target_count, struct mur_type *target_datatype, struct mur_win *win)
{
    struct mur_rma_arguments a;

    if (mur_quick_get(win, target_rank, target_disp, origin_addr, origin_count, origin_datatype, target_count,
                      target_datatype))
        return MPI_SUCCESS;
    a = on(win, target_rank, target_disp, target_count, target_datatype);
    set_origin(&a, origin_addr, origin_count, origin_datatype);
    return is_nobody(target_rank, NULL) ? MPI_SUCCESS : mur_called(mur_rma_get(&a, NULL));
}

int mur_mpi_rget(void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Count target_count, struct mur_type *target_datatype, struct mur_win *win,
                 MPI_Request *request)
{
    struct mur_rma_arguments a = on(win, target_rank, target_disp, target_count, target_datatype);

    set_origin(&a, origin_addr, origin_count, origin_datatype);
    return is_nobody(target_rank, request) ? MPI_SUCCESS : start(mur_rma_get, &a, request);
}

int mur_mpi_accumulate(const void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count, struct mur_type *target_datatype,
                       struct mur_op *op, struct mur_win *win)
{
    struct mur_rma_arguments a;

    if (origin_count == 1 && target_count == 1 && origin_datatype == target_datatype &&
        op->reduction != MUR_REDUCE_NO_OP &&
        mur_quick_fetch(win, target_rank, target_disp, target_datatype, op, origin_addr, NULL))
        return MPI_SUCCESS;
    a = on(win, target_rank, target_disp, target_count, target_datatype);
    set_origin(&a, origin_addr, origin_count, origin_datatype);
    a.op = op;
    return is_nobody(target_rank, NULL) ? MPI_SUCCESS : mur_called(mur_rma_accumulate(&a, NULL));
}

int mur_mpi_raccumulate(const void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype,
                        int target_rank, MPI_Aint target_disp, MPI_Count target_count, struct mur_type *target_datatype,
                        struct mur_op *op, struct mur_win *win, MPI_Request *request)
{
    struct mur_rma_arguments a = on(win, target_rank, target_disp, target_count, target_datatype);

    set_origin(&a, origin_addr, origin_count, origin_datatype);
    a.op = op;
    return is_nobody(target_rank, request) ? MPI_SUCCESS : start(mur_rma_accumulate, &a, request);
}

/* With MPI_NO_OP nothing about the origin means anything, even its datatype may be the null handle. */
static int check_origin_type(struct mur_type *type, const struct mur_op *op)
{
    if (op->object.predefined && op->reduction == MUR_REDUCE_NO_OP)
        return MPI_SUCCESS;
    if (type && type->is_supported && type->is_committed)
        return MPI_SUCCESS;
    return mur_fault_type("origin_datatype", type ? mur_object_handle(type) : MPI_DATATYPE_NULL);
}

int mur_mpi_get_accumulate(const void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype,
                           void *result_addr, MPI_Count result_count, struct mur_type *result_datatype, int target_rank,
                           MPI_Aint target_disp, MPI_Count target_count, struct mur_type *target_datatype,
                           struct mur_op *op, struct mur_win *win)
{
    struct mur_rma_arguments a = on(win, target_rank, target_disp, target_count, target_datatype);
    int rc = check_origin_type(origin_datatype, op);

    set_origin(&a, origin_addr, origin_count, origin_datatype);
    set_result(&a, result_addr, result_count, result_datatype);
    a.op = op;
    return rc || is_nobody(target_rank, NULL) ? rc : mur_rma_get_accumulate(&a, NULL);
}

int mur_mpi_rget_accumulate(const void *origin_addr, MPI_Count origin_count, struct mur_type *origin_datatype,
                            void *result_addr, MPI_Count result_count, struct mur_type *result_datatype,
                            int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                            struct mur_type *target_datatype, struct mur_op *op, struct mur_win *win,
                            MPI_Request *request)
{
    struct mur_rma_arguments a = on(win, target_rank, target_disp, target_count, target_datatype);
    int rc = check_origin_type(origin_datatype, op);

    set_origin(&a, origin_addr, origin_count, origin_datatype);
    set_result(&a, result_addr, result_count, result_datatype);
    a.op = op;
    return rc || is_nobody(target_rank, request) ? rc : start(mur_rma_get_accumulate, &a, request);
}

int mur_mpi_fetch_and_op(const void *origin_addr, void *result_addr, struct mur_type *datatype, int target_rank,
                         MPI_Aint target_disp, struct mur_op *op, struct mur_win *win)
{
    struct mur_rma_arguments a;

    if (mur_quick_fetch(win, target_rank, target_disp, datatype, op, origin_addr, result_addr))
        return MPI_SUCCESS;
    a = on(win, target_rank, target_disp, 1, datatype);
    set_origin(&a, origin_addr, 1, datatype);
    set_result(&a, result_addr, 1, datatype);
    a.op = op;
    return is_nobody(target_rank, NULL) ? MPI_SUCCESS : mur_called(mur_rma_fetch_and_op(&a));
}

int mur_mpi_compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                             struct mur_type *datatype, int target_rank, MPI_Aint target_disp, struct mur_win *win)
{
    struct mur_rma_arguments a;

    if (mur_quick_swap(win, target_rank, target_disp, datatype, compare_addr, origin_addr, result_addr))
        return MPI_SUCCESS;
    a = on(win, target_rank, target_disp, 1, datatype);
    set_origin(&a, origin_addr, 1, datatype);
    set_result(&a, result_addr, 1, datatype);
    a.compare = compare_addr;
    return is_nobody(target_rank, NULL) ? MPI_SUCCESS : mur_called(mur_rma_compare_and_swap(&a));
}

/* ---- synchronisation ---- */

static int check_assertion(int assertion, int allowed)
{
    return assertion & ~allowed
               ? mur_error(MPI_ERR_ASSERT, "assert is %d, which has flags that this call does not know", assertion)
               : MPI_SUCCESS;
}

static inline int check_rank(const struct mur_win *win, int rank)
{
    return __builtin_expect((unsigned)rank < (unsigned)win->size, 1)
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_RANK, "rank is %d, but must be a rank of the window (0 to %d) or MPI_PROC_NULL",
                           rank, win->size - 1);
}

int mur_mpi_win_fence(int assert, struct mur_win *win)
{
    int rc = check_assertion(assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);

    return rc ? rc : mur_rma_fence(win, assert);
}

int mur_mpi_win_post(struct mur_group *group, int assert, struct mur_win *win)
{
    int rc = check_assertion(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);

    return rc ? rc : mur_rma_post(win, group, assert);
}

int mur_mpi_win_start(struct mur_group *group, int assert, struct mur_win *win)
{
    int rc = check_assertion(assert, MPI_MODE_NOCHECK);

    return rc ? rc : mur_rma_start(win, group, assert);
}

int mur_mpi_win_complete(struct mur_win *win)
{
    return mur_rma_complete(win);
}

int mur_mpi_win_wait(struct mur_win *win)
{
    return mur_rma_wait(win);
}

int mur_mpi_win_test(struct mur_win *win, int *flag)
{
    return mur_rma_test(win, flag);
}

int mur_mpi_win_lock(int lock_type, int rank, int assert, struct mur_win *win)
{
    int rc;

    if (!assert && ((lock_type == MPI_LOCK_EXCLUSIVE && mur_quick_lock(win, rank, true)) ||
                    (lock_type == MPI_LOCK_SHARED && mur_quick_lock(win, rank, false))))
        return MPI_SUCCESS;
    rc = check_assertion(assert, MPI_MODE_NOCHECK);
    if (rc)
        return rc;
    if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
        return mur_error(MPI_ERR_LOCKTYPE, "lock_type is %d, but must be MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED",
                         lock_type);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    rc = check_rank(win, rank);
    return rc ? rc : mur_rma_lock(win, rank, lock_type == MPI_LOCK_EXCLUSIVE, assert);
}

/* With a count of its own: passes that other calls make may all fall where the lock is held, and ranks that have asked
 * for it by message would never get it. Taking a lock that is free is not counted: this follows. */
static inline void count_unlock(struct mur_win *win)
{
    if (__builtin_expect(++win->unlocks % (MUR_CALLS_A_PASS / 2) == 0, 0))
        mur_engine_pass();
}

int mur_mpi_win_unlock(int rank, struct mur_win *win)
{
    int rc = MPI_SUCCESS;

    if (!mur_quick_unlock(win, rank) && rank != MPI_PROC_NULL && !(rc = check_rank(win, rank)))
        rc = mur_rma_unlock(win, rank);
    count_unlock(win);
    return rc;
}

int mur_mpi_win_lock_all(int assert, struct mur_win *win)
{
    int rc = check_assertion(assert, MPI_MODE_NOCHECK);

    return rc ? rc : mur_rma_lock_all(win, assert);
}

int mur_mpi_win_unlock_all(struct mur_win *win)
{
    int rc = mur_rma_unlock_all(win);

    count_unlock(win);
    return rc;
}

/* Programs flush in loops while they wait for others, so a flush counts as a long call: such loops must make progress
 * soon, and hand their core on where it is shared. */
static inline int flush(struct mur_win *win, int rank, bool is_local)
{
    int rc;

    mur_engine_called(MUR_CALL_LONG);
    if (__builtin_expect(rank == MPI_PROC_NULL, 0) || mur_quick_flush(win, rank, is_local))
        return MPI_SUCCESS;
    rc = check_rank(win, rank);
    return rc ? rc : mur_rma_flush(win, rank, is_local);
}

static int flush_all(struct mur_win *win, bool is_local)
{
    mur_engine_called(MUR_CALL_LONG);
    return mur_rma_flush(win, MUR_RMA_ALL, is_local);
}

int mur_mpi_win_flush(int rank, struct mur_win *win)
{
    return flush(win, rank, false);
}

int mur_mpi_win_flush_local(int rank, struct mur_win *win)
{
    return flush(win, rank, true);
}

int mur_mpi_win_flush_all(struct mur_win *win)
{
    return flush_all(win, false);
}

int mur_mpi_win_flush_local_all(struct mur_win *win)
{
    return flush_all(win, true);
}

/* The two copies of a window are one here: what others have stored becomes visible in order. Programs call it in loops
 * that wait for that. */
int mur_mpi_win_sync(struct mur_win *win)
{
    (void)win;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    mur_engine_poke();
    return MPI_SUCCESS;
}
