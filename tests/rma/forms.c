/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of windows in every form: what is known of a window, its attributes, names, hints and handlers, and
 * the large-count forms of the operations. */
#include "rma/share.h"

static int rank, size;

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

static void *attribute(MPI_Win win, int key)
{
    void *value = NULL;
    int flag = 0;

    CHECK(MPI_Win_get_attr(win, key, &value, &flag) == MPI_SUCCESS && flag);
    return value;
}

static void check_known(MPI_Win win, const void *base, MPI_Aint bytes, int unit, int flavor)
{
    MPI_Group group, world;
    int result;

    CHECK(attribute(win, MPI_WIN_BASE) == base);
    CHECK(*(MPI_Aint *)attribute(win, MPI_WIN_SIZE) == bytes);
    CHECK(*(int *)attribute(win, MPI_WIN_DISP_UNIT) == unit);
    CHECK(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR) == flavor);
    CHECK(*(int *)attribute(win, MPI_WIN_MODEL) == MPI_WIN_UNIFIED);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

/* ---- attributes, names, handlers, hints ---- */

static int deleted;

static int on_delete(MPI_Win win, int key, void *value, void *extra)
{
    (void)win;
    (void)key;
    (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key, one = 1, ten = 10, flag;
    void *value;
    MPI_Win win;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Win_set_attr(win, key, &one);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag && value == &one);
    MPI_Win_set_attr(win, key, &ten);
    CHECK(deleted == 1);
    MPI_Win_delete_attr(win, key);
    CHECK(deleted == 11);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(win, key, &one);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Win_set_attr(win, MPI_WIN_BASE, &one)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Win_delete_attr(win, MPI_WIN_SIZE)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Win_get_attr(win, MPI_TAG_UB, &value, &flag)) == MPI_ERR_KEYVAL);
    MPI_Win_free(&win);
    CHECK(deleted == 12);
    MPI_Win_free_keyval(&key);
}

static int called_with;
static MPI_Win called_for;

static void handler(MPI_Win *win, int *code, ...)
{
    called_for = *win;
    called_with = class_of(*code);
}

static void names_and_handlers(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, value = 0;
    MPI_Errhandler made, got;
    MPI_Win win;

    MPI_Win_get_name(MPI_WIN_NULL, name, &length);
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0);
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 0 && !*name);
    MPI_Win_set_name(win, "wind in the window");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 18 && strcmp(name, "wind in the window") == 0);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Win_create_errhandler(handler, &made);
    MPI_Win_set_errhandler(win, made);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == made);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&made);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(called_for == win && called_with == MPI_ERR_OTHER);
    CHECK(class_of(MPI_Win_unlock(0, win)) == MPI_ERR_RMA_SYNC);
    CHECK(called_with == MPI_ERR_RMA_SYNC);
    MPI_Win_free(&win);
}

static void check_hint(MPI_Win win, const char *key, const char *expected)
{
    char value[64];
    int flag, length = sizeof value;
    MPI_Info info;

    MPI_Win_get_info(win, &info);
    MPI_Info_get_string(info, key, &length, value, &flag);
    CHECK(flag && strcmp(value, expected) == 0);
    MPI_Info_free(&info);
}

static void hints(void)
{
    MPI_Info info;
    MPI_Win win;

    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "mpi_accumulate_granularity", "4096");
    MPI_Info_set(info, "nonsense", "true");
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    check_hint(win, "no_locks", "true");
    check_hint(win, "accumulate_ordering", "none");
    check_hint(win, "accumulate_ops", "same_op_no_op");
    check_hint(win, "same_size", "false");
    check_hint(win, "same_disp_unit", "false");
    check_hint(win, "mpi_accumulate_granularity", "4096");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Win_lock_all(0, win)) == MPI_ERR_RMA_SYNC);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(win, info);
    check_hint(win, "no_locks", "false");
    MPI_Info_set(info, "accumulate_ordering", "rar,wow");
    MPI_Win_set_info(win, info);
    check_hint(win, "accumulate_ordering", "none");
    MPI_Info_set(info, "accumulate_ordering", "rar,waw");
    MPI_Win_set_info(win, info);
    check_hint(win, "accumulate_ordering", "rar,raw,war,waw"); /* all of it is granted */
    MPI_Win_free(&win);
    MPI_Info_free(&info);
}

/* ---- memory ---- */

static void created(void)
{
    int numbers[4] = {0};
    MPI_Aint bytes;
    MPI_Win win;
    void *base;
    int unit;

    MPI_Win_create_c(numbers, sizeof numbers, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_known(win, numbers, sizeof numbers, 4, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_shared_query(win, rank, &bytes, &unit, &base);
    CHECK(bytes == sizeof numbers && unit == 4 && base == numbers);
    MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &base);
    CHECK(size == 1 || (bytes == 0 && base == NULL));
    MPI_Win_free(&win);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_known(win, NULL, 0, 1, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_free(&win);
}

static void dynamic(void)
{
    char pieces[3][8];
    MPI_Win win;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_known(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    for (int i = 2; i >= 0; i--)
        CHECK(MPI_Win_attach(win, pieces[i], 8) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        CHECK(MPI_Win_detach(win, pieces[i]) == MPI_SUCCESS);
    MPI_Win_free(&win);
}

/* Everyone writes into everyone's memory, through the pointers only. */
static void check_shared(MPI_Win win, int *mine, int count, int is_contiguous)
{
    MPI_Aint bytes, large_unit;
    int unit, *first, *theirs;

    for (int i = 0; i < count; i++)
        mine[i] = rank * 100 + i;
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
    for (int r = 0; r < size; r++) {
        MPI_Win_shared_query_c(win, r, &bytes, &large_unit, &theirs);
        CHECK(bytes == count * 4 && large_unit == 4);
        CHECK(!is_contiguous || theirs == first + r * count);
        for (int i = 0; i < count; i++)
            CHECK(theirs[i] == r * 100 + i);
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs);
    CHECK(bytes == count * 4 && theirs == first);
    MPI_Win_fence(0, win);
}

static void shared(void)
{
    MPI_Info info;
    MPI_Win win;
    int *mine;

    MPI_Win_allocate(44, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    check_known(win, mine, 44, 4, MPI_WIN_FLAVOR_ALLOCATE);
    check_shared(win, mine, 11, 0);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(44, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    check_known(win, mine, 44, 4, MPI_WIN_FLAVOR_SHARED);
    check_hint(win, "alloc_shared_noncontig", "false");
    check_shared(win, mine, 11, 1);
    MPI_Win_free(&win);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared_c(44, 4, info, MPI_COMM_WORLD, &mine, &win);
    check_hint(win, "alloc_shared_noncontig", "true");
    check_shared(win, mine, 11, 0);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    /* only the last rank has memory */
    MPI_Win_allocate_shared(rank == size - 1 ? 8 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    if (rank == size - 1)
        mine[0] = 77;
    MPI_Win_fence(0, win);
    {
        MPI_Aint bytes;
        int unit, *theirs;

        MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs);
        CHECK(bytes == 8 && unit == 1 && theirs[0] == 77);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void unshared(void)
{
    MPI_Aint bytes;
    MPI_Win win;
    int *mine, *theirs, unit;

    MPI_Win_allocate(44, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    check_known(win, mine, 44, 4, MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_shared_query(win, rank, &bytes, &unit, &theirs);
    CHECK(bytes == 44 && theirs == mine);
    MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Win_allocate_shared(44, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win)) == MPI_ERR_RMA_SHARED);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* ---- operations, by both forms, on the right neighbour ---- */

static void operations(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, *mine, got[2] = {-1, -1}, value[2] = {rank, 5};
    MPI_Request requests[4];
    MPI_Win win;

    MPI_Win_allocate_c(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    MPI_Put_c(value, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    MPI_Accumulate_c(value, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, win);
    MPI_Rput_c(value, 1, MPI_INT, right, 3, 1, MPI_INT, win, &requests[0]);
    MPI_Raccumulate_c(value, 1, MPI_INT, right, 4, 1, MPI_INT, MPI_SUM, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Win_sync(win);
    MPI_Get_c(got, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    MPI_Win_flush_local(right, win);
    CHECK(got[0] == rank && got[1] == 5);
    MPI_Get_accumulate_c(value, 1, MPI_INT, got, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, win);
    MPI_Rget_accumulate_c(value, 1, MPI_INT, got + 1, 1, MPI_INT, right, 4, 1, MPI_INT, MPI_SUM, win, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    CHECK(got[0] == rank && got[1] == rank);
    MPI_Rget_c(got, 2, MPI_INT, right, 2, 2, MPI_INT, win, &requests[3]);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    CHECK(got[0] == 2 * rank && got[1] == rank);
    /* with MPI_NO_OP, nothing about the origin means anything */
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, got, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_NO_OP, win);
    MPI_Win_flush_local_all(win);
    CHECK(got[0] == 5);
    /* on nobody */
    MPI_Put(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Rput(value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[0] == left && mine[1] == 5 && mine[2] == 2 * left && mine[3] == left && mine[4] == 2 * left);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    attributes();
    names_and_handlers();
    hints();
    created();
    dynamic();
    if (all_share(MPI_COMM_WORLD))
        shared();
    else
        unshared();
    operations();
    MPI_Finalize();
    return 0;
}
