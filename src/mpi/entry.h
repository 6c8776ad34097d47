/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated entry points share: the description of a call, and the way of an error from where it was found
 * to the error handler. All of this is off the path of a call that succeeds.
 *
 * An entry point (build/generated/mpi/entry_<chapter>.c) checks the phase, decodes the handles, checks the arguments
 * and calls the body, mur_mpi_<name>. Whichever of them fails returns a code of mur_error; the entry point hands it to
 * mur_entry_fail together with its arguments. */
#ifndef MUR_MPI_ENTRY_H
#define MUR_MPI_ENTRY_H

#include <stddef.h>
#include <stdint.h>

struct mur_comm;

/* How a message prints an argument. Most are groups of api/constants.txt: values in the group print by name. */
enum mur_show {
    MUR_SHOW_NUMBER,
    MUR_SHOW_POINTER,
    MUR_SHOW_STRING,
    MUR_SHOW_STATUS,
    MUR_SHOW_BUFFER,
    /* handles */
    MUR_SHOW_COMM,
    MUR_SHOW_ERRHANDLER,
    MUR_SHOW_FILE,
    MUR_SHOW_GROUP,
    MUR_SHOW_INFO,
    MUR_SHOW_MESSAGE,
    MUR_SHOW_OP,
    MUR_SHOW_REQUEST,
    MUR_SHOW_SESSION,
    MUR_SHOW_TYPE,
    MUR_SHOW_WIN,
    /* numbers */
    MUR_SHOW_DISTRIBUTION,
    MUR_SHOW_ERROR,
    MUR_SHOW_KEYVAL,
    MUR_SHOW_LOCK_TYPE,
    MUR_SHOW_ORDER,
    MUR_SHOW_RANK,
    MUR_SHOW_SPLIT_TYPE,
    MUR_SHOW_TAG,
    MUR_SHOW_THREADS,
    MUR_SHOW_TYPECLASS,
    MUR_SHOW_UNDEFINED,
    MUR_SHOW_WHENCE,
    /* sums of flags */
    MUR_SHOW_AMODE,
    MUR_SHOW_ASSERTION,
};

struct mur_parameter {
    const char *name;
    uint8_t show;       /* enum mur_show */
    uint8_t is_pointer; /* the argument is the address of such a value, which the call also reads */
};

/* Where the error handler of a call comes from, when it is not one of its arguments. */
enum { MUR_OWNER_SELF = -1, MUR_OWNER_FILE_NULL = -2 };

struct mur_call {
    const char *name; /* "MPI_Send" */
    const struct mur_parameter *parameters;
    int parameter_count;
    int owner; /* index of the argument whose error handler applies, or MUR_OWNER_... */
};

/* Makes the full text of an error (the call, its arguments, what is wrong) and takes it to the error handler. Returns
 * the code that the call returns, unless the handler ends the job. `values` are the arguments: numbers, and pointers
 * as numbers. */
int mur_entry_fail(const struct mur_call *call, int code, const int64_t *values) __attribute__((cold));

/* For calls that complete requests: the error `code` that the body is about to return belongs to this communicator, of
 * which a reference is kept until mur_entry_fail. Of several the first counts; MPI_SUCCESS is no error. Returns the
 * code. */
int mur_entry_blame(struct mur_comm *comm, int code);

/* The text of an error code: that of the ring, else that of a user's code or class, else the meaning of the class.
 * Never NULL. */
const char *mur_error_describe(int code);

/* The name of a constant ("MPI_ERR_COUNT"), or NULL. */
const char *mur_constant_name(enum mur_show group, int64_t value);

/* One row of the table that is generated from api/constants.txt. */
struct mur_constant {
    const char *name;
    const char *meaning; /* of error classes; else NULL */
    int value;
    uint8_t group; /* enum mur_show */
};
extern const struct mur_constant mur_constants[];
extern const size_t mur_constant_count;

#endif
