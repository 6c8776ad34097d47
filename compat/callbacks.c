/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program that MPI calls: they must see handles, codes and statuses of theirs. The core gets a
 * function of ours and a state, in which the program's function is. */
#include <stdlib.h>

#include "door.h"

/* ---- Reduction operations */

struct op_state {
    void (*user)(void *in, void *inout, int *count, their_type *datatype);
    void (*user_large)(void *in, void *inout, MPI_Count *count, their_type *datatype);
    void (*of_cxx)(void); /* the program's function in C++, which `user` calls with its last argument; NULL: none */
};

typedef void cxx_intercept(void *in, void *inout, int *count, their_type *datatype, void (*user)(void));

/* The operation that this thread has created last. */
static _Thread_local struct {
    struct op_state *state;
    their_op op;
} newest;

static void reduce(void *state, void *in, void *inout, MPI_Count count, MPI_Datatype datatype)
{
    const struct op_state *op = state;
    their_type type = type_out(datatype);
    int small = (int)count;

    if (op->of_cxx)
        ((cxx_intercept *)(void (*)(void))op->user)(in, inout, &small, &type, op->of_cxx);
    else if (op->user)
        op->user(in, inout, &small, &type);
    else
        op->user_large(in, inout, &count, &type);
}

static int op_create(struct op_state functions, int commute, their_op *op)
{
    struct mur_stateful_op stateful = {.function = reduce, .takes_large = functions.user_large != NULL};
    MPI_Op handle;
    int code;

    if (!op || (!functions.user && !functions.user_large))
        return mur_door_raise(MPI_ERR_ARG);
    stateful.state = malloc(sizeof functions);
    if (!stateful.state)
        return mur_door_raise(MPI_ERR_NO_MEM);
    *(struct op_state *)stateful.state = functions;
    code = murmur_door.op_create(&stateful, commute, &handle);
    if (code) {
        free(stateful.state);
        return error_out(code);
    }
    *op = op_out(handle);
    newest.state = stateful.state;
    newest.op = *op;
    return MPI_SUCCESS;
}

void mur_op_of_cxx(their_op op, void (*function)(void))
{
    if (newest.state && newest.op == op)
        newest.state->of_cxx = function;
}

MUR_DOOR(int, Op_create, void (*user)(void *, void *, int *, their_type *), int commute, their_op *op)
{
    return op_create((struct op_state){.user = user}, commute, op);
}

MUR_DOOR(int, Op_create_c, void (*user)(void *, void *, MPI_Count *, their_type *), int commute, their_op *op)
{
    return op_create((struct op_state){.user_large = user}, commute, op);
}

/* ---- Error handlers. The function may change the code that the call returns; as long as it does not, the code keeps
 * its text. */

#define MUR_ERRHANDLER(Name, lower, null)                                                                              \
    typedef void lower##_handler(their_##lower *handle, int *code, ...);                                               \
                                                                                                                       \
    static int lower##_failed(void *state, void *handle, int code)                                                     \
    {                                                                                                                  \
        their_##lower theirs = lower##_out(handle);                                                                    \
        const int before = error_out(code);                                                                            \
        int after = before;                                                                                            \
                                                                                                                       \
        (*(lower##_handler **)state)(&theirs, &after, NULL);                                                           \
        return after == before ? code : error_in(after);                                                               \
    }                                                                                                                  \
                                                                                                                       \
    MUR_DOOR(int, Name##_create_errhandler, lower##_handler *function, their_errhandler *errhandler)                   \
    {                                                                                                                  \
        lower##_handler **state;                                                                                       \
        MPI_Errhandler handle;                                                                                         \
        int code;                                                                                                      \
                                                                                                                       \
        if (!function || !errhandler)                                                                                  \
            return mur_door_raise(MPI_ERR_ARG);                                                                        \
        state = malloc(sizeof *state);                                                                                 \
        if (!state)                                                                                                    \
            return mur_door_raise(MPI_ERR_NO_MEM);                                                                     \
        *state = function;                                                                                             \
        code = murmur_door.errhandler_create(lower##_failed, state, null, &handle);                                    \
        if (code)                                                                                                      \
            free(state);                                                                                               \
        else                                                                                                           \
            *errhandler = errhandler_out(handle);                                                                      \
        return error_out(code);                                                                                        \
    }
MUR_ERRHANDLER(Comm, comm, MPI_COMM_NULL)
MUR_ERRHANDLER(File, file, MPI_FILE_NULL)
MUR_ERRHANDLER(Session, session, MPI_SESSION_NULL)
MUR_ERRHANDLER(Win, win, MPI_WIN_NULL)

/* ---- Generalized requests */

struct grequest { /* freed with the request */
    int (*query)(void *state, struct their_status *status);
    int (*free)(void *state);
    int (*cancel)(void *state, int complete);
    void *state;
};

static int grequest_query(void *state, MPI_Status *status)
{
    const struct grequest *grequest = state;
    struct their_status theirs;
    int code;

    memset(&theirs, 0, sizeof theirs);
    code = mur_callback_in(grequest->query(grequest->state, &theirs));
    status_in(&theirs, status);
    return code;
}

static int grequest_free(void *state)
{
    struct grequest *grequest = state;
    int code = mur_callback_in(grequest->free(grequest->state));

    free(grequest);
    return code;
}

static int grequest_cancel(void *state, int complete)
{
    const struct grequest *grequest = state;

    return mur_callback_in(grequest->cancel(grequest->state, complete));
}

MUR_DOOR(int, Grequest_start, int (*query)(void *, struct their_status *), int (*free_one)(void *),
         int (*cancel)(void *, int), void *extra_state, their_request *request)
{
    struct grequest *grequest = malloc(sizeof *grequest);
    MPI_Request handle;
    int code;

    if (!grequest)
        return mur_door_raise(MPI_ERR_NO_MEM);
    *grequest = (struct grequest){query, free_one, cancel, extra_state};
    code = murmur_door.Grequest_start(query ? grequest_query : NULL, free_one ? grequest_free : NULL,
                                      cancel ? grequest_cancel : NULL, grequest, request ? &handle : NULL);
    if (code)
        free(grequest);
    else
        *request = request_out(handle);
    return error_out(code);
}

/* ---- Data representations, which stay as long as the program */

typedef int conversion(void *userbuf, their_type datatype, int count, void *filebuf, MPI_Offset position, void *state);
typedef int conversion_c(void *userbuf, their_type datatype, MPI_Count count, void *filebuf, MPI_Offset position,
                         void *state);
typedef int extent_function(their_type datatype, MPI_Aint *extent, void *state);

struct datarep {
    conversion *read, *write;
    conversion_c *read_c, *write_c;
    extent_function *extent;
    void *state;
};

static int datarep_extent(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    const struct datarep *datarep = state;

    return mur_callback_in(datarep->extent(type_out(datatype), extent, datarep->state));
}

#define MUR_CONVERSION(which, count_type)                                                                              \
    static int datarep_##which(void *userbuf, MPI_Datatype datatype, count_type count, void *filebuf,                  \
                               MPI_Offset position, void *state)                                                       \
    {                                                                                                                  \
        const struct datarep *datarep = state;                                                                         \
                                                                                                                       \
        return mur_callback_in(datarep->which(userbuf, type_out(datatype), count, filebuf, position, datarep->state)); \
    }
MUR_CONVERSION(read, int)
MUR_CONVERSION(write, int)
MUR_CONVERSION(read_c, MPI_Count)
MUR_CONVERSION(write_c, MPI_Count)

static struct datarep *datarep_new(struct datarep functions)
{
    struct datarep *datarep = malloc(sizeof *datarep);

    if (datarep)
        *datarep = functions;
    return datarep;
}

MUR_DOOR(int, Register_datarep, const char *name, conversion *read, conversion *write, extent_function *extent,
         void *extra_state)
{
    struct datarep *datarep =
        datarep_new((struct datarep){.read = read, .write = write, .extent = extent, .state = extra_state});
    int code;

    if (!datarep)
        return mur_door_raise(MPI_ERR_NO_MEM);
    code = murmur_door.Register_datarep(name, read ? datarep_read : NULL, write ? datarep_write : NULL,
                                        extent ? datarep_extent : NULL, datarep);
    if (code)
        free(datarep);
    return error_out(code);
}

MUR_DOOR(int, Register_datarep_c, const char *name, conversion_c *read, conversion_c *write, extent_function *extent,
         void *extra_state)
{
    struct datarep *datarep =
        datarep_new((struct datarep){.read_c = read, .write_c = write, .extent = extent, .state = extra_state});
    int code;

    if (!datarep)
        return mur_door_raise(MPI_ERR_NO_MEM);
    code = murmur_door.Register_datarep_c(name, read ? datarep_read_c : NULL, write ? datarep_write_c : NULL,
                                          extent ? datarep_extent : NULL, datarep);
    if (code)
        free(datarep);
    return error_out(code);
}
