/* SPDX-License-Identifier: BSD-3-Clause */
/* Delete callbacks that turn on their own attribute: they are told that it is being deleted, and nothing runs in
 * circles. And the attributes of all predefined objects, named or not, are deleted by MPI_Finalize. */
#include "test.h"

static int key, other_key, calls, finalize_calls;
static int nested_delete, nested_set, nested_free;
static void *seen;

static int turn_on_itself(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Comm copy = comm;
    int flag;

    (void)value;
    (void)extra;
    if (++calls > 1)
        return MPI_ERR_INTERN;
    CHECK(MPI_Comm_get_attr(comm, keyval, &seen, &flag) == MPI_SUCCESS && flag);
    nested_delete = MPI_Comm_delete_attr(comm, keyval);
    nested_set = MPI_Comm_set_attr(comm, keyval, &calls);
    nested_free = MPI_Comm_free(&copy);
    CHECK(copy == comm);
    CHECK(MPI_Comm_set_attr(comm, other_key, &flag) == MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(comm, other_key) == MPI_SUCCESS);
    return MPI_SUCCESS;
}

static void expect_refused(void)
{
    CHECK(calls == 1 && seen == &key);
    CHECK(nested_delete && nested_set && nested_free);
    calls = nested_delete = nested_set = nested_free = 0;
}

static void on_itself(void)
{
    MPI_Comm comm;
    void *value;
    int flag, kept;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, turn_on_itself, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other_key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    CHECK(MPI_Comm_set_attr(comm, key, &key) == MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(comm, key) == MPI_SUCCESS);
    expect_refused();
    CHECK(MPI_Comm_get_attr(comm, key, &value, &flag) == MPI_SUCCESS && !flag);

    CHECK(MPI_Comm_set_attr(comm, key, &key) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, key, &other_key) == MPI_SUCCESS); /* deletes the value before */
    expect_refused();
    CHECK(MPI_Comm_get_attr(comm, key, &value, &flag) == MPI_SUCCESS && flag && value == &other_key);

    /* By the end of the communicator, with a key that has been freed before. */
    calls = 1;
    CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS);
    calls = 0;
    kept = key;
    CHECK(MPI_Comm_delete_attr(comm, kept) == MPI_SUCCESS);
    calls = 0;
    CHECK(MPI_Comm_set_attr(comm, key, &key) == MPI_SUCCESS);
    MPI_Comm_free_keyval(&key);
    CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL && calls == 1);
    MPI_Comm_free_keyval(&other_key);
}

static int type_deletes;

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type;
    (void)keyval;
    (void)value;
    (void)extra;
    type_deletes++;
    return MPI_SUCCESS;
}

/* A handle that MPI_Type_get_contents gives is one more for the same type: its end is not that of the type. */
static void contents(void)
{
    MPI_Datatype inner, outer, again, stale;
    MPI_Aint address;
    void *value;
    int type_key, flag, count;

    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &type_key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &inner);
    MPI_Type_set_attr(inner, type_key, &inner);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_get_contents(outer, 1, 0, 1, &count, &address, &again);
    CHECK(count == 2 && MPI_Type_free(&again) == MPI_SUCCESS && type_deletes == 0);
    CHECK(MPI_Type_get_attr(inner, type_key, &value, &flag) == MPI_SUCCESS && flag && value == &inner);
    stale = inner;
    CHECK(MPI_Type_free(&inner) == MPI_SUCCESS && type_deletes == 1);
    CHECK(MPI_Type_free(&stale) != MPI_SUCCESS); /* it lives on in `outer` only */
    MPI_Type_get_contents(outer, 1, 0, 1, &count, &address, &again);
    MPI_Type_size(again, &count);
    CHECK(count == 3 * (int)sizeof(int));
    MPI_Type_free(&again);
    MPI_Type_free(&outer);
    MPI_Type_free_keyval(&type_key);
}

static int count_delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int rank;

    (void)keyval;
    (void)extra;
    CHECK(MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && value == &finalize_calls);
    finalize_calls++;
    return MPI_SUCCESS;
}

static int count_delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    int size;

    (void)keyval;
    (void)extra;
    CHECK(MPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 && value == &finalize_calls);
    finalize_calls++;
    return MPI_SUCCESS;
}

static void leave_for_finalize(void)
{
    MPI_Datatype real, pair;
    int comm_key, type_key;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete_comm, &comm_key, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_delete_type, &type_key, NULL);
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &real);
    MPI_Type_get_value_index(MPI_FLOAT, MPI_LONG, &pair);
    MPI_Comm_set_attr(MPI_COMM_SELF, comm_key, &finalize_calls);
    MPI_Comm_set_attr(MPI_COMM_WORLD, comm_key, &finalize_calls);
    MPI_Type_set_attr(MPI_INT, type_key, &finalize_calls);
    MPI_Type_set_attr(real, type_key, &finalize_calls);
    MPI_Type_set_attr(pair, type_key, &finalize_calls);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Type_free_keyval(&type_key);
}

static int refuse_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int refuse_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

/* Where a copy is refused there is no duplicate: its handle is null, whatever it was. */
static void refused_copies(void)
{
    MPI_Comm comm, copy = MPI_COMM_SELF;
    MPI_Datatype type, type_copy = MPI_INT;
    int refusing;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(refuse_comm, MPI_COMM_NULL_DELETE_FN, &refusing, NULL);
    MPI_Comm_set_attr(comm, refusing, NULL);
    CHECK(MPI_Comm_dup(comm, &copy) != MPI_SUCCESS && copy == MPI_COMM_NULL);
    MPI_Comm_free_keyval(&refusing);
    MPI_Comm_free(&comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_create_keyval(refuse_type, MPI_TYPE_NULL_DELETE_FN, &refusing, NULL);
    MPI_Type_set_attr(type, refusing, NULL);
    CHECK(MPI_Type_dup(type, &type_copy) != MPI_SUCCESS && type_copy == MPI_DATATYPE_NULL);
    MPI_Type_free_keyval(&refusing);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    on_itself();
    contents();
    refused_copies();
    leave_for_finalize();
    MPI_Finalize();
    CHECK(finalize_calls == 5);
    return 0;
}
