/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 chapter 9.3 to 9.5: error handlers, error classes and codes.
 *
 * The classes and codes of users are numbered from MPI_ERR_LASTCODE + 1, in one sequence, and listed in one table
 * whose index is the number. */
#include "mpi/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/lock.h"
#include "io/file.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "object/comm.h"
#include "object/errhandler.h"

static struct mur_errhandler *file_null_errhandler = &mur_errors_return;

struct mur_errhandler **mur_file_errhandler(MPI_File file)
{
    struct mur_file *object;

    if (!file || file == MPI_FILE_NULL)
        return &file_null_errhandler;
    object = mur_object_find(file, MUR_KIND_FILE);
    return object ? &object->errhandler : NULL;
}

static struct mur_errhandler **slot_of_file(struct mur_file *file)
{
    return file ? &file->errhandler : &file_null_errhandler;
}

/* NULL for want of memory. */
static struct mur_errhandler *create(uint32_t serves, MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = mur_errhandler_create(serves);

    if (handler)
        *errhandler = mur_object_handle(handler);
    return handler;
}

static int set(struct mur_errhandler **slot_p, struct mur_errhandler *handler, uint32_t kind, const char *noun)
{
    if (handler->serves && handler->serves != kind)
        return mur_error(MPI_ERR_ERRHANDLER, "errhandler was made for another kind of object than a %s", noun);
    mur_errhandler_attach(slot_p, handler);
    return MPI_SUCCESS;
}

/* The handle counts as a reference of its own, which MPI_Errhandler_free drops. */
static int get(struct mur_errhandler *handler, MPI_Errhandler *errhandler)
{
    mur_errhandler_retain(handler);
    *errhandler = mur_object_handle(handler);
    return MPI_SUCCESS;
}

int mur_mpi_comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = create(MUR_KIND_COMM, errhandler);

    if (!handler)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->function.comm = comm_errhandler_fn;
    return MPI_SUCCESS;
}

/* The handler of MPI_COMM_SELF is also the initial one (MPI-5.0 §9.3). */
int mur_mpi_comm_set_errhandler(struct mur_comm *comm, struct mur_errhandler *errhandler)
{
    int rc = set(&comm->errhandler, errhandler, MUR_KIND_COMM, "communicator");

    if (!rc && comm == &mur_comm_self)
        mur_errhandler_attach(&mur_errhandler_initial, errhandler);
    return rc;
}

int mur_mpi_comm_get_errhandler(struct mur_comm *comm, MPI_Errhandler *errhandler)
{
    return get(comm->errhandler, errhandler);
}

int mur_mpi_comm_call_errhandler(struct mur_comm *comm, int errorcode)
{
    mur_errhandler_raise(MUR_KIND_COMM, mur_object_handle(comm), comm->errhandler, errorcode);
    return MPI_SUCCESS;
}

int mur_mpi_file_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = create(MUR_KIND_FILE, errhandler);

    if (!handler)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->function.file = file_errhandler_fn;
    return MPI_SUCCESS;
}

int mur_mpi_file_set_errhandler(struct mur_file *file, struct mur_errhandler *errhandler)
{
    return set(slot_of_file(file), errhandler, MUR_KIND_FILE, "file");
}

int mur_mpi_file_get_errhandler(struct mur_file *file, MPI_Errhandler *errhandler)
{
    return get(*slot_of_file(file), errhandler);
}

int mur_mpi_file_call_errhandler(struct mur_file *fh, int errorcode)
{
    void *handle = fh ? mur_object_handle(fh) : MPI_FILE_NULL;

    mur_errhandler_raise(MUR_KIND_FILE, handle, *slot_of_file(fh), errorcode);
    return MPI_SUCCESS;
}

int mur_mpi_errhandler_free(MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = mur_errhandler_find(*errhandler);

    if (!handler)
        return mur_error(MPI_ERR_ERRHANDLER, "*errhandler is not a live error handler: freed, or never one");
    mur_engine_lock(); /* legal at any time, so the entry point does not take it */
    mur_errhandler_release(handler);
    mur_engine_unlock();
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

/* A class or code of a user's. `error_class` is -1 where the number is free again. */
struct user_error {
    int error_class; /* a class is its own class */
    int codes;       /* that a class has */
    char *text;      /* NULL: none was added */
};

static struct {
    struct user_error *rows;
    int count;
} user_errors;

static struct user_error *user_error(int code)
{
    int row = code - MPI_ERR_LASTCODE - 1;

    return row >= 0 && row < user_errors.count && user_errors.rows[row].error_class >= 0 ? &user_errors.rows[row]
                                                                                         : NULL;
}

const char *mur_user_error_text(int code)
{
    const struct user_error *row = user_error(code);

    return !row ? NULL : row->text ? row->text : "";
}

int mur_error_class_of(int code)
{
    const struct user_error *row = user_error(code);

    return row ? row->error_class : mur_error_class(code);
}

/* A new number; its class is `error_class`, or itself where that is -1. */
static int add(int error_class, int *code)
{
    struct user_error *rows = realloc(user_errors.rows, (size_t)(user_errors.count + 1) * sizeof *rows);

    if (!rows)
        return mur_error(MPI_ERR_NO_MEM, "no memory for %d error classes and codes", user_errors.count + 1);
    *code = MPI_ERR_LASTCODE + 1 + user_errors.count;
    rows[user_errors.count++] = (struct user_error){.error_class = error_class < 0 ? *code : error_class};
    user_errors.rows = rows;
    return MPI_SUCCESS;
}

int mur_mpi_add_error_class(int *errorclass)
{
    return add(-1, errorclass);
}

static bool is_class(int error_class)
{
    return error_class == mur_error_class_of(error_class) &&
           (user_error(error_class) || mur_constant_name(MUR_SHOW_ERROR, error_class));
}

int mur_mpi_add_error_code(int errorclass, int *errorcode)
{
    int rc;

    if (!is_class(errorclass))
        return mur_error(MPI_ERR_ARG, "errorclass is %d, which is no error class", errorclass);
    rc = add(errorclass, errorcode);
    if (!rc && user_error(errorclass))
        user_error(errorclass)->codes++;
    return rc;
}

static int find_user_error(int code, const char *name, struct user_error **row_p)
{
    *row_p = user_error(code);
    return *row_p
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_ARG, "%s is %d, which no call of MPI_Add_error_class or _code has made", name, code);
}

int mur_mpi_add_error_string(int errorcode, const char *string)
{
    struct user_error *row;
    int rc = find_user_error(errorcode, "errorcode", &row);
    char *text;

    if (rc)
        return rc;
    text = strndup(string, MPI_MAX_ERROR_STRING - 1);
    if (!text)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error string");
    free(row->text);
    row->text = text;
    return MPI_SUCCESS;
}

int mur_mpi_remove_error_string(int errorcode)
{
    struct user_error *row;
    int rc = find_user_error(errorcode, "errorcode", &row);

    if (rc)
        return rc;
    if (!row->text)
        return mur_error(MPI_ERR_ARG, "errorcode is %d, which has no string", errorcode);
    free(row->text);
    row->text = NULL;
    return MPI_SUCCESS;
}

/* Strings are removed before codes, and codes before classes (MPI-5.0 §9.5). */
static int remove_row(struct user_error *row, int code, const char *name)
{
    if (row->text)
        return mur_error(MPI_ERR_ARG, "%s %d still has a string: call MPI_Remove_error_string first", name, code);
    row->error_class = -1;
    return MPI_SUCCESS;
}

int mur_mpi_remove_error_code(int errorcode)
{
    struct user_error *row, *class_row;
    int rc = find_user_error(errorcode, "errorcode", &row);

    if (rc)
        return rc;
    if (row->error_class == errorcode)
        return mur_error(MPI_ERR_ARG, "errorcode is %d, which is a class: call MPI_Remove_error_class", errorcode);
    class_row = user_error(row->error_class);
    rc = remove_row(row, errorcode, "errorcode");
    if (!rc && class_row)
        class_row->codes--;
    return rc;
}

int mur_mpi_remove_error_class(int errorclass)
{
    struct user_error *row;
    int rc = find_user_error(errorclass, "errorclass", &row);

    if (rc)
        return rc;
    if (row->error_class != errorclass)
        return mur_error(MPI_ERR_ARG, "errorclass is %d, which is a code: call MPI_Remove_error_code", errorclass);
    if (row->codes)
        return mur_error(MPI_ERR_ARG, "errorclass is %d, which still has %d codes: call MPI_Remove_error_code first",
                         errorclass, row->codes);
    return remove_row(row, errorclass, "errorclass");
}

int mur_mpi_error_class(int errorcode, int *errorclass)
{
    *errorclass = mur_error_class_of(errorcode);
    if (!is_class(*errorclass))
        return mur_error(MPI_ERR_ARG, "errorcode is %d, which is no error code", errorcode);
    return MPI_SUCCESS;
}

/* A plain class is told with its name: "MPI_ERR_TAG: a tag is out of range". */
int mur_mpi_error_string(int errorcode, char *string, int *resultlen)
{
    const char *name = mur_constant_name(MUR_SHOW_ERROR, errorcode);

    *resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "%s%s%s", name ? name : "", name ? ": " : "",
                          mur_error_describe(errorcode));
    if (*resultlen >= MPI_MAX_ERROR_STRING)
        *resultlen = MPI_MAX_ERROR_STRING - 1;
    return MPI_SUCCESS;
}
