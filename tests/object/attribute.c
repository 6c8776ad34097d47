/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators and datatypes: copied and deleted by the rules, callbacks that call MPI, that fail, that
 * change the list; keys freed early; the wrong kind of key; predefined attributes; deletion at MPI_Finalize. */
#include <limits.h>

#include "test.h"

static int copies, deletes, order[16];
static long fail_delete = -1; /* the value whose deletion fails */

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    int size;

    (void)keyval;
    CHECK(extra == &copies);
    CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && MPI_Barrier(MPI_COMM_SELF) == MPI_SUCCESS);
    copies++;
    *(void **)copied = (void *)((long)value + 100);
    *flag = (long)value != 3; /* 3 stays behind */
    return (long)value == 4 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    int is_finalized;

    (void)comm;
    (void)keyval;
    (void)extra;
    MPI_Finalized(&is_finalized);
    CHECK(!is_finalized);
    if ((long)value == fail_delete)
        return MPI_ERR_INTERN;
    order[deletes++ % 16] = (int)(long)value;
    return MPI_SUCCESS;
}

static long get(MPI_Comm comm, int keyval)
{
    void *value = NULL;
    int flag;

    CHECK(MPI_Comm_get_attr(comm, keyval, &value, &flag) == MPI_SUCCESS);
    return flag ? (long)value : -1;
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void communicators(void)
{
    int keys[5], freed, again;
    MPI_Comm parent, child;
    MPI_Request request;

    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5; i++)
        MPI_Comm_create_keyval(i == 4   ? MPI_COMM_DUP_FN
                               : i == 0 ? MPI_COMM_NULL_COPY_FN
                                        : copy,
                               delete, &keys[i], &copies);
    for (int i = 0; i < 5; i++) {
        CHECK(get(parent, keys[i]) == -1);
        CHECK(MPI_Comm_set_attr(parent, keys[i], (void *)(long)(i == 4 ? 9 : i)) == MPI_SUCCESS);
    }
    CHECK(get(parent, keys[2]) == 2);
    MPI_Comm_dup(parent, &child);
    CHECK(copies == 3 && deletes == 0);
    CHECK(get(child, keys[0]) == -1 && get(child, keys[1]) == 101 && get(child, keys[2]) == 102);
    CHECK(get(child, keys[3]) == -1 && get(child, keys[4]) == 9);
    MPI_Comm_free(&child);
    CHECK(deletes == 3 && order[0] == 9 && order[1] == 102 && order[2] == 101);

    /* The copy is that of the moment of the call. */
    MPI_Comm_idup(parent, &child, &request);
    deletes = 0;
    MPI_Comm_set_attr(parent, keys[1], (void *)7);
    CHECK(deletes == 1 && order[0] == 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(get(child, keys[1]) == 101 && get(parent, keys[1]) == 7);
    MPI_Comm_free(&child);

    /* A failing copy makes no communicator, and deletes what it had copied. */
    deletes = 0;
    MPI_Comm_set_attr(parent, keys[2], (void *)4);
    child = MPI_COMM_NULL;
    CHECK(MPI_Comm_dup(parent, &child) != MPI_SUCCESS && child == MPI_COMM_NULL);
    /* A failing deletion keeps the attribute. */
    fail_delete = 4;
    CHECK(class_of(MPI_Comm_delete_attr(parent, keys[2])) == MPI_ERR_INTERN && get(parent, keys[2]) == 4);
    CHECK(class_of(MPI_Comm_set_attr(parent, keys[2], (void *)5)) == MPI_ERR_INTERN && get(parent, keys[2]) == 4);
    child = parent;
    CHECK(class_of(MPI_Comm_free(&child)) == MPI_ERR_INTERN && child == parent);
    fail_delete = -1;
    CHECK(MPI_Comm_delete_attr(parent, keys[2]) == MPI_SUCCESS && get(parent, keys[2]) == -1);
    CHECK(class_of(MPI_Comm_delete_attr(parent, keys[2])) == MPI_ERR_KEYVAL);

    /* A freed key still serves the attributes that are there. */
    MPI_Comm_set_attr(parent, keys[1], (void *)6);
    freed = keys[1];
    MPI_Comm_free_keyval(&keys[1]);
    CHECK(keys[1] == MPI_KEYVAL_INVALID && get(parent, freed) == 6);
    again = freed;
    CHECK(MPI_Comm_free_keyval(&again) == MPI_SUCCESS && again == MPI_KEYVAL_INVALID && get(parent, freed) == 6);
    for (int i = 0; i < 5; i++)
        if (i != 1)
            MPI_Comm_free_keyval(&keys[i]);
    deletes = 0;
    CHECK(MPI_Comm_free(&parent) == MPI_SUCCESS && parent == MPI_COMM_NULL);
    CHECK(deletes == 4 && order[0] == 6);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_free_keyval(&freed)) == MPI_ERR_KEYVAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static int type_key, type_copies;

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)type;
    (void)extra;
    CHECK(keyval == type_key);
    type_copies++;
    *(void **)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type;
    (void)keyval;
    (void)value;
    (void)extra;
    type_copies--;
    return MPI_SUCCESS;
}

static void types(void)
{
    MPI_Datatype a, b;
    void *value;
    int flag, key, win_key;

    MPI_Type_create_keyval(copy_type, delete_type, &type_key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &a);
    MPI_Type_set_attr(a, type_key, &flag);
    MPI_Type_dup(a, &b);
    CHECK(type_copies == 1);
    MPI_Type_get_attr(b, type_key, &value, &flag);
    CHECK(flag && value == &flag);
    MPI_Type_delete_attr(b, type_key);
    MPI_Type_get_attr(b, type_key, &value, &flag);
    CHECK(!flag && type_copies == 0);
    MPI_Type_free(&b);
    MPI_Type_free(&a);
    CHECK(type_copies == -1);

    /* Keys belong to one kind of object. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL);
    CHECK(class_of(MPI_Type_set_attr(MPI_INT, key, NULL)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, type_key, NULL)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, win_key, NULL)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, NULL)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, 123456, NULL)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, MPI_TAG_UB, NULL)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_delete_attr(MPI_COMM_SELF, MPI_IO)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_free_keyval(&type_key)) == MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&key);
    MPI_Win_free_keyval(&win_key);
    MPI_Type_free_keyval(&type_key);
}

static void predefined(void)
{
    int *value, flag, size, error_class;
    MPI_Comm part;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &part);
    MPI_Comm_get_attr(part, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value == INT_MAX);
    MPI_Comm_free(&part);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    CHECK(flag && *value == MPI_ANY_SOURCE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    CHECK(flag && *value == MPI_PROC_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    CHECK(flag && *value == 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    CHECK(!flag || *value >= size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    CHECK(!flag || *value == 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= MPI_ERR_LASTCODE);
    MPI_Add_error_class(&error_class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= error_class);
    MPI_Remove_error_class(error_class);
}

/* The deprecated names work on the same keys. */
static void old_names(void)
{
    int key, flag;
    void *value;

    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, &key);
    CHECK(get(MPI_COMM_WORLD, key) == (long)&key);
    MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(flag && value == &key);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(!flag);
    MPI_Keyval_free(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
}

int main(int argc, char **argv)
{
    int keys[3];

    MPI_Init(&argc, &argv);
    communicators();
    types();
    predefined();
    old_names();
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(long)(i + 20));
    }
    deletes = 0;
    MPI_Finalize();
    return deletes == 3 && order[0] == 22 && order[1] == 21 && order[2] == 20 ? 0 : 1;
}
