/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks without an extra state: reduction operations and error handlers. C gets one function of a table; its number
 * in the table says which procedure of the program it calls. A procedure keeps its number for good, so that one that is
 * used again needs no other, and an operation that is still under way finds its procedure after MPI_Op_free. */
#include <pthread.h>

#include "fortran/fortran.h"

enum { SLOTS = 256 };
typedef void procedure(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The number of a procedure in a table; -1: the table is full. */
static int slot_of(procedure **table, procedure *wanted)
{
    int slot = 0;

    pthread_mutex_lock(&lock);
    while (slot < SLOTS && table[slot] && table[slot] != wanted)
        slot++;
    if (slot < SLOTS)
        table[slot] = wanted;
    pthread_mutex_unlock(&lock);
    return slot < SLOTS ? slot : -1;
}

static int too_many(void)
{
    static const char text[] =
        "Fortran procedures that are error handlers or reduction operations: there are more than "
        "256 different ones of a kind, which is the limit";
    int code;

    if (PMPI_Add_error_code(MPI_ERR_OTHER, &code) || PMPI_Add_error_string(code, text))
        code = MPI_ERR_OTHER;
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}

/* All numbers below SLOTS, in hexadecimal digits. */
#define MUR_DIGITS(each, first)                                                                                        \
    each(first##0) each(first##1) each(first##2) each(first##3) each(first##4) each(first##5) each(first##6)           \
        each(first##7) each(first##8) each(first##9) each(first##a) each(first##b) each(first##c) each(first##d)       \
            each(first##e) each(first##f)
#define MUR_SLOTS(each)                                                                                                \
    MUR_DIGITS(each, 0x0)                                                                                              \
    MUR_DIGITS(each, 0x1)                                                                                              \
    MUR_DIGITS(each, 0x2)                                                                                              \
    MUR_DIGITS(each, 0x3)                                                                                              \
    MUR_DIGITS(each, 0x4)                                                                                              \
    MUR_DIGITS(each, 0x5)                                                                                              \
    MUR_DIGITS(each, 0x6)                                                                                              \
    MUR_DIGITS(each, 0x7)                                                                                              \
    MUR_DIGITS(each, 0x8)                                                                                              \
    MUR_DIGITS(each, 0x9)                                                                                              \
    MUR_DIGITS(each, 0xa)                                                                                              \
    MUR_DIGITS(each, 0xb)                                                                                              \
    MUR_DIGITS(each, 0xc)                                                                                              \
    MUR_DIGITS(each, 0xd)                                                                                              \
    MUR_DIGITS(each, 0xe)                                                                                              \
    MUR_DIGITS(each, 0xf)

/* ---- Reduction operations */

static procedure *ops[SLOTS], *ops_c[SLOTS];

static void run_op(int slot, void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    MPI_Fint number = mur_datatype_out(*datatype);

    ((void (*)(void *, void *, int *, MPI_Fint *))ops[slot])(in, inout, len, &number);
}

static void run_op_c(int slot, void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)
{
    MPI_Fint number = mur_datatype_out(*datatype);

    ((void (*)(void *, void *, MPI_Count *, MPI_Fint *))ops_c[slot])(in, inout, len, &number);
}

#define MUR_OP(slot)                                                                                                   \
    static void op_##slot(void *in, void *inout, int *len, MPI_Datatype *datatype)                                     \
    {                                                                                                                  \
        run_op(slot, in, inout, len, datatype);                                                                        \
    }                                                                                                                  \
    static void op_c_##slot(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)                             \
    {                                                                                                                  \
        run_op_c(slot, in, inout, len, datatype);                                                                      \
    }
MUR_SLOTS(MUR_OP)

#define MUR_OP_ADDRESS(slot)   op_##slot,
#define MUR_OP_C_ADDRESS(slot) op_c_##slot,
static MPI_User_function *const op_table[] = {MUR_SLOTS(MUR_OP_ADDRESS)};
static MPI_User_function_c *const op_c_table[] = {MUR_SLOTS(MUR_OP_C_ADDRESS)};

void pmpi_op_create_(procedure *function, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
    int slot = slot_of(ops, function);
    MPI_Op op_value;
    int code = slot < 0 ? too_many() : PMPI_Op_create(op_table[slot], mur_logical_in(*commute), &op_value);

    if (!code)
        *op = mur_op_out(op_value);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_op_create_, op_create, OP_CREATE)
MUR_ALL_NAMES(pmpi_op_create_, op_create_f08, OP_CREATE_F08)

void pmpi_op_create_c_f08_(procedure *function, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
    int slot = slot_of(ops_c, function);
    MPI_Op op_value;
    int code = slot < 0 ? too_many() : PMPI_Op_create_c(op_c_table[slot], mur_logical_in(*commute), &op_value);

    if (!code)
        *op = mur_op_out(op_value);
    mur_give(ierror, code);
}
MUR_LARGE_NAMES(pmpi_op_create_c_f08_, op_create, OP_CREATE)

/* ---- Error handlers of the four kinds of objects */

#define MUR_ERRHANDLER(slot, lower, Name)                                                                              \
    static void lower##_handler_##slot(MPI_##Name *handle, int *error_code, ...)                                       \
    {                                                                                                                  \
        MPI_Fint number = mur_##lower##_out(*handle);                                                                  \
                                                                                                                       \
        ((void (*)(MPI_Fint *, MPI_Fint *))lower##_handlers[slot])(&number, error_code);                               \
    }

#define MUR_ERRHANDLERS(Name, lower, UPPER, each, address)                                                             \
    static procedure *lower##_handlers[SLOTS];                                                                         \
    MUR_SLOTS(each)                                                                                                    \
    static MPI_##Name##_errhandler_function *const lower##_handler_table[] = {MUR_SLOTS(address)};                     \
    void pmpi_##lower##_create_errhandler_(procedure *function, MPI_Fint *errhandler, MPI_Fint *ierror)                \
    {                                                                                                                  \
        int slot = slot_of(lower##_handlers, function);                                                                \
        MPI_Errhandler value;                                                                                          \
        int code = slot < 0 ? too_many() : PMPI_##Name##_create_errhandler(lower##_handler_table[slot], &value);       \
                                                                                                                       \
        if (!code)                                                                                                     \
            *errhandler = mur_errhandler_out(value);                                                                   \
        mur_give(ierror, code);                                                                                        \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_##lower##_create_errhandler_, lower##_create_errhandler, UPPER##_CREATE_ERRHANDLER)           \
    MUR_ALL_NAMES(pmpi_##lower##_create_errhandler_, lower##_create_errhandler_f08, UPPER##_CREATE_ERRHANDLER_F08)

#define MUR_COMM_HANDLER(slot) MUR_ERRHANDLER(slot, comm, Comm)
#define MUR_COMM_ADDRESS(slot) comm_handler_##slot,
MUR_ERRHANDLERS(Comm, comm, COMM, MUR_COMM_HANDLER, MUR_COMM_ADDRESS)

#define MUR_FILE_HANDLER(slot) MUR_ERRHANDLER(slot, file, File)
#define MUR_FILE_ADDRESS(slot) file_handler_##slot,
MUR_ERRHANDLERS(File, file, FILE, MUR_FILE_HANDLER, MUR_FILE_ADDRESS)

#define MUR_WIN_HANDLER(slot) MUR_ERRHANDLER(slot, win, Win)
#define MUR_WIN_ADDRESS(slot) win_handler_##slot,
MUR_ERRHANDLERS(Win, win, WIN, MUR_WIN_HANDLER, MUR_WIN_ADDRESS)

#define MUR_SESSION_HANDLER(slot) MUR_ERRHANDLER(slot, session, Session)
#define MUR_SESSION_ADDRESS(slot) session_handler_##slot,
MUR_ERRHANDLERS(Session, session, SESSION, MUR_SESSION_HANDLER, MUR_SESSION_ADDRESS)
