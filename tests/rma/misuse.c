/* SPDX-License-Identifier: BSD-3-Clause */
/* What windows refuse, with which class of error and which words; and that they still work afterwards. */
#include "test.h"

static int rank, size, value = 1, got[4];
static MPI_Win win, dynamic;
static int *memory;

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

#define FAILS(call, class) CHECK(class_of(call) == (class))

/* The text names the call, an argument, and what is wrong. */
static void says(int code, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    MPI_Error_string(code, text, &length);
    if (!strstr(text, words))
        fprintf(stderr, "%s\n", text);
    CHECK(strstr(text, words) != NULL);
}

static void making(void)
{
    MPI_Win made;
    MPI_Comm both, half;
    char bytes[8];
    void *base;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of handles that are no window's */
    FAILS(MPI_Win_create(bytes, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(bytes, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_DISP);
    FAILS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_BUFFER);
    FAILS(MPI_Win_allocate(rank == size - 1 ? -5 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made), MPI_ERR_SIZE);
    FAILS(MPI_Win_allocate(rank ? 8 : (MPI_Aint)1 << 62, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made),
          MPI_ERR_NO_MEM);
    FAILS(MPI_Win_create(bytes, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &made), MPI_ERR_COMM);
    if (size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
        MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
        FAILS(MPI_Win_create(bytes, 8, 1, MPI_INFO_NULL, both, &made), MPI_ERR_COMM);
        MPI_Comm_free(&both);
        MPI_Comm_free(&half);
    }
}

static void outside_epochs(void)
{
    MPI_Request request;
    MPI_Group all;
    int flag, code;

    code = MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    FAILS(code, MPI_ERR_RMA_SYNC);
    says(code, "MPI_Put(");
    says(code, "no epoch has begun");
    FAILS(MPI_Get(got, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Fetch_and_op(&value, got, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Compare_and_swap(&value, &value, got, MPI_INT, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_local(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    MPI_Win_get_group(win, &all);
    MPI_Win_post(all, 0, win);
    FAILS(MPI_Win_post(all, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win), MPI_ERR_RMA_CONFLICT);
    MPI_Win_start(all, 0, win);
    FAILS(MPI_Win_start(all, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
}

static void in_wrong_epochs(void)
{
    MPI_Request request;
    MPI_Group none = MPI_GROUP_EMPTY;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_start(none, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        FAILS(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_unlock(1, win), MPI_ERR_RMA_SYNC);
    }
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, win);
    FAILS(MPI_Rget(got, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    MPI_Get(got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(0, win); /* without anything started, a lock may follow */
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
}

static void arguments(void)
{
    MPI_Datatype mixed, raw;
    MPI_Op own;
    int lengths[2] = {1, 1}, code;
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};

    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Op_create((MPI_User_function *)(void *)making, 1, &own);
    MPI_Win_lock_all(0, win);
    code = MPI_Put(got, 3, MPI_INT, size - 1, 2, 3, MPI_INT, win);
    FAILS(code, MPI_ERR_RMA_RANGE);
    says(code, "16 bytes");
    says(code, "target_disp");
    FAILS(MPI_Get(got, 1, MPI_INT, 0, 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, INT64_MAX / 2, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, INT64_MAX / 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Accumulate(got, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Fetch_and_op(&value, got, MPI_INT, 0, 4, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Compare_and_swap(&value, &value, got, MPI_INT, 0, 4, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    FAILS(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    FAILS(MPI_Put(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    FAILS(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    FAILS(MPI_Put(&value, 1, raw, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    FAILS(MPI_Put(got, 2, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
    FAILS(MPI_Get(got, 1, MPI_INT, 0, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
    FAILS(MPI_Accumulate(got, 2, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TRUNCATE);
    FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, own, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&value, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
    FAILS(MPI_Accumulate(got, 1, mixed, 0, 0, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE);
    FAILS(MPI_Get_accumulate(&value, 1, MPI_DATATYPE_NULL, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win),
          MPI_ERR_TYPE);
    FAILS(MPI_Get_accumulate(got, 2, MPI_INT, got + 2, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TRUNCATE);
    FAILS(MPI_Fetch_and_op(&value, got, mixed, 0, 0, MPI_SUM, win), MPI_ERR_TYPE);
    FAILS(MPI_Compare_and_swap(&value, &value, got, MPI_FLOAT, 0, 0, win), MPI_ERR_TYPE);
    MPI_Win_unlock_all(win);
    FAILS(MPI_Win_lock(7, 0, 0, win), MPI_ERR_LOCKTYPE);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_lock_all(12345, win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOSUCCEED, win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    MPI_Op_free(&own);
    MPI_Type_free(&mixed);
    MPI_Type_free(&raw);
}

static void attaching(void)
{
    static char pieces[64], more[64];
    char *base;
    int unit, code;
    MPI_Aint bytes, here;

    FAILS(MPI_Win_attach(win, pieces, 64), MPI_ERR_RMA_FLAVOR);
    FAILS(MPI_Win_detach(win, pieces), MPI_ERR_RMA_FLAVOR);
    FAILS(MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &base), MPI_ERR_RMA_FLAVOR);
    FAILS(MPI_Win_shared_query(win, size, &bytes, &unit, &base), MPI_ERR_RANK);
    CHECK(MPI_Win_attach(dynamic, pieces + 8, 16) == MPI_SUCCESS);
    FAILS(MPI_Win_attach(dynamic, pieces + 8, 4), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_attach(dynamic, pieces + 23, 4), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_attach(dynamic, pieces, 9), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_attach(dynamic, pieces, 64), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_attach(dynamic, NULL, 64), MPI_ERR_BUFFER);
    FAILS(MPI_Win_attach(dynamic, pieces, -1), MPI_ERR_SIZE);
    FAILS(MPI_Win_detach(dynamic, pieces), MPI_ERR_RMA_ATTACH);
    CHECK(MPI_Win_attach(dynamic, pieces + 24, 8) == MPI_SUCCESS);
    MPI_Get_address(pieces, &here);
    MPI_Bcast(&here, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Win_fence(0, dynamic);
    /* Rank 0 answers by message in some runs: the error then comes with the flush. */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, dynamic);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic);
    CHECK(MPI_Get(got, 12, MPI_BYTE, 0, here + 16, 12, MPI_BYTE, dynamic) == MPI_SUCCESS); /* two that touch */
    CHECK(MPI_Win_flush(0, dynamic) == MPI_SUCCESS);
    code = MPI_Put(&value, 1, MPI_INT, 0, here + 30, 1, MPI_INT, dynamic);
    code = code ? code : MPI_Win_flush(0, dynamic);
    FAILS(code, MPI_ERR_RMA_RANGE);
    code = MPI_Get(got, 1, MPI_INT, 0, here, 1, MPI_INT, dynamic);
    code = code ? code : MPI_Win_flush(0, dynamic);
    FAILS(code, MPI_ERR_RMA_RANGE);
    CHECK(MPI_Win_unlock(0, dynamic) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Win_detach(dynamic, pieces + 8) == MPI_SUCCESS);
    CHECK(MPI_Win_attach(dynamic, more, 64) == MPI_SUCCESS);
    FAILS(MPI_Win_detach(dynamic, pieces + 8), MPI_ERR_RMA_ATTACH);
}

static void handles(void)
{
    MPI_Win old = win, null = MPI_WIN_NULL;

    CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL);
    FAILS(MPI_Win_free(&old), MPI_ERR_WIN);
    FAILS(MPI_Win_free(&null), MPI_ERR_WIN);
    FAILS(MPI_Win_fence(0, old), MPI_ERR_WIN);
    FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, old), MPI_ERR_WIN);
    FAILS(MPI_Win_lock_all(0, (MPI_Win)MPI_COMM_WORLD), MPI_ERR_WIN);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    making();
    MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
    outside_epochs();
    in_wrong_epochs();
    arguments();
    attaching();
    MPI_Win_free(&dynamic);
    handles();
    MPI_Finalize();
    return 0;
}
