/* SPDX-License-Identifier: BSD-3-Clause */
/* The error classes and codes that users add (MPI-5.0 §9.4, §9.5). They are numbered from MPI_ERR_LASTCODE + 1, in one
 * sequence, and listed in one table whose index is the number. All of this is legal at any time and from any thread: a
 * mutex guards the table. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "mpi/errors.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

/* The value of a call that is made with the table to itself. */
#define GUARDED(call)                                                                                                  \
    ({                                                                                                                 \
        pthread_mutex_lock(&guard);                                                                                    \
        __typeof__(call) guarded_result = (call);                                                                      \
        pthread_mutex_unlock(&guard);                                                                                  \
        guarded_result;                                                                                                \
    })

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
    int row = code > MPI_ERR_LASTCODE ? code - MPI_ERR_LASTCODE - 1 : -1;

    return row >= 0 && row < user_errors.count && user_errors.rows[row].error_class >= 0 ? &user_errors.rows[row]
                                                                                         : NULL;
}

/* A copy, which is this thread's until its next call: the text itself may be removed at any time. */
static const char *text_of(int code)
{
    static _Thread_local char copy[MPI_MAX_ERROR_STRING];
    const struct user_error *row = user_error(code);

    if (!row)
        return NULL;
    snprintf(copy, sizeof copy, "%s", row->text ? row->text : "");
    return copy;
}

int mur_user_error_class(int code)
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

static int add_class(int *errorclass)
{
    return add(-1, errorclass);
}

static bool is_class(int error_class)
{
    return error_class == mur_user_error_class(error_class) &&
           (user_error(error_class) || mur_constant_name(MUR_SHOW_ERROR, error_class));
}

static int add_code(int errorclass, int *errorcode)
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

static int add_string(int errorcode, const char *string)
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

static int remove_string(int errorcode)
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

static int remove_code(int errorcode)
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

static int remove_class(int errorclass)
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

static int look_up(int errorcode, int *errorclass)
{
    *errorclass = mur_user_error_class(errorcode);
    if (!is_class(*errorclass))
        return mur_error(MPI_ERR_ARG, "errorcode is %d, which is no error code", errorcode);
    return MPI_SUCCESS;
}

const char *mur_user_error_text(int code)
{
    return GUARDED(text_of(code));
}

int mur_errors_last_used(void)
{
    return GUARDED(MPI_ERR_LASTCODE + user_errors.count);
}

int mur_mpi_add_error_class(int *errorclass)
{
    return GUARDED(add_class(errorclass));
}

int mur_mpi_add_error_code(int errorclass, int *errorcode)
{
    return GUARDED(add_code(errorclass, errorcode));
}

int mur_mpi_add_error_string(int errorcode, const char *string)
{
    return GUARDED(add_string(errorcode, string));
}

int mur_mpi_remove_error_string(int errorcode)
{
    return GUARDED(remove_string(errorcode));
}

int mur_mpi_remove_error_code(int errorcode)
{
    return GUARDED(remove_code(errorcode));
}

int mur_mpi_remove_error_class(int errorclass)
{
    return GUARDED(remove_class(errorclass));
}

int mur_mpi_error_class(int errorcode, int *errorclass)
{
    return GUARDED(look_up(errorcode, errorclass));
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
