/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's library for C++ (MPI-2's classes), libmpi_cxx.so.40. Its headers have nearly all of the classes inline, so
 * a program carries them itself, tables of virtual functions included, and calls C. Every C++ program that included
 * mpi.h wants this library, whether it uses the classes or not. What is left is written here in C, under the names that
 * C++ compilers make: the predefined objects, and the functions that are not inline.
 *
 * An object of a class is the address of its table and a handle. The tables are the program's. Left out are error
 * handlers, keys of attributes and data representations whose functions are C++'s. */
#include <stddef.h>
#include <stdint.h>

typedef void *handle;

struct object {
    void **table;
    handle handle;
};

/* The first two entries of a table of virtual functions are not functions. */
enum { FIRST_FUNCTION = 2 };

int MPI_Type_free(handle *type);
int MPI_Win_free(handle *win);
int MPI_File_close(handle *file);

#define MUR_CLASS(Name, mangled) extern void *table_##Name[] __asm__("_ZTVN3MPI" mangled "E") __attribute__((weak));
MUR_CLASS(Comm, "4Comm")
MUR_CLASS(Comm_Null, "9Comm_Null")
MUR_CLASS(Intracomm, "9Intracomm")
MUR_CLASS(Datatype, "8Datatype")
MUR_CLASS(Op, "2Op")
MUR_CLASS(Group, "5Group")
MUR_CLASS(Request, "7Request")
MUR_CLASS(Errhandler, "10Errhandler")
MUR_CLASS(Info, "4Info")
MUR_CLASS(Win, "3Win")
MUR_CLASS(File, "4File")

/* ---- Predefined objects: each(object, length of its name, class, the C library's object) */
#define MUR_OBJECTS(each)                                                                                              \
    each(COMM_WORLD, "10", Intracomm, mpi_comm_world) each(COMM_SELF, "9", Intracomm, mpi_comm_self)                   \
        each(COMM_NULL, "9", Comm_Null, mpi_comm_null) each(GROUP_NULL, "10", Group, mpi_group_null)                   \
            each(GROUP_EMPTY, "11", Group, mpi_group_empty) each(REQUEST_NULL, "12", Request, request_null)            \
                each(OP_NULL, "7", Op, mpi_op_null) each(ERRHANDLER_NULL, "15", Errhandler, mpi_errhandler_null)       \
                    each(INFO_NULL, "9", Info, mpi_info_null) each(WIN_NULL, "8", Win, mpi_win_null)                   \
                        each(FILE_NULL, "9", File, mpi_file_null)                                                      \
                            each(ERRORS_ARE_FATAL, "16", Errhandler, mpi_errors_are_fatal)                             \
                                each(ERRORS_RETURN, "13", Errhandler, mpi_errors_return)                               \
                                    each(ERRORS_THROW_EXCEPTIONS, "23", Errhandler, mpi_errors_throw_exceptions)       \
                                        each(MAX, "3", Op, mpi_op_max) each(MIN, "3", Op, mpi_op_min)                  \
                                            each(SUM, "3", Op, mpi_op_sum) each(PROD, "4", Op, mpi_op_prod)            \
                                                each(LAND, "4", Op, mpi_op_land) each(BAND, "4", Op, mpi_op_band)      \
                                                    each(LOR, "3", Op, mpi_op_lor) each(BOR, "3", Op, mpi_op_bor)      \
                                                        each(LXOR, "4", Op, mpi_op_lxor)                               \
                                                            each(BXOR, "4", Op, mpi_op_bxor)                           \
                                                                each(MINLOC, "6", Op, mpi_op_minloc)                   \
                                                                    each(MAXLOC, "6", Op, mpi_op_maxloc)               \
                                                                        each(REPLACE, "7", Op, mpi_op_replace)         \
                                                                            MUR_DATATYPES(each)
#define MUR_DATATYPES(each)                                                                                            \
    each(DATATYPE_NULL, "13", Datatype, mpi_datatype_null) each(CHAR, "4", Datatype, mpi_char) each(                   \
        SHORT, "5", Datatype, mpi_short) each(INT, "3", Datatype, mpi_int) each(LONG, "4", Datatype, mpi_long)         \
        each(SIGNED_CHAR, "11", Datatype, mpi_signed_char) each(UNSIGNED_CHAR, "13", Datatype, mpi_unsigned_char)      \
            each(UNSIGNED_SHORT, "14", Datatype, mpi_unsigned_short) each(UNSIGNED, "8", Datatype, mpi_unsigned) each( \
                UNSIGNED_LONG, "13", Datatype, mpi_unsigned_long) each(FLOAT, "5", Datatype, mpi_float)                \
                each(DOUBLE, "6", Datatype, mpi_double) each(LONG_DOUBLE, "11", Datatype, mpi_long_double) each(       \
                    BYTE, "4", Datatype, mpi_byte) each(PACKED, "6", Datatype, mpi_packed)                             \
                    each(WCHAR, "5", Datatype, mpi_wchar) each(FLOAT_INT, "9", Datatype, mpi_float_int)                \
                        each(DOUBLE_INT, "10", Datatype, mpi_double_int) each(LONG_INT, "8", Datatype, mpi_long_int)   \
                            each(TWOINT, "6", Datatype, mpi_2int) each(SHORT_INT, "9", Datatype, mpi_short_int)        \
                                each(LONG_DOUBLE_INT, "15", Datatype, mpi_longdbl_int) each(LONG_LONG, "9", Datatype,  \
                                                                                            mpi_long_long_int)         \
                                    each(LONG_LONG_INT, "13", Datatype, mpi_long_long_int)                             \
                                        each(UNSIGNED_LONG_LONG, "18", Datatype,                                       \
                                             mpi_unsigned_long_long) each(BOOL, "4", Datatype, mpi_cxx_bool)           \
                                            each(COMPLEX, "7", Datatype,                                               \
                                                 mpi_cxx_cplex) each(DOUBLE_COMPLEX, "14", Datatype, mpi_cxx_dblcplex) \
                                                each(LONG_DOUBLE_COMPLEX, "19", Datatype, mpi_cxx_ldblcplex) each(     \
                                                    F_COMPLEX, "9", Datatype, mpi_cplex) each(F_DOUBLE_COMPLEX, "16",  \
                                                                                              Datatype, mpi_dblcplex)  \
                                                    each(INTEGER, "7", Datatype, mpi_integer) each(                    \
                                                        REAL, "4", Datatype,                                           \
                                                        mpi_real) each(DOUBLE_PRECISION, "16", Datatype, mpi_dblprec)  \
                                                        each(CHARACTER, "9", Datatype,                                 \
                                                             mpi_character) each(LOGICAL, "7", Datatype, mpi_logical)  \
                                                            each(INTEGER1, "8", Datatype, mpi_integer1)                \
                                                                each(INTEGER2, "8", Datatype, mpi_integer2)            \
                                                                    each(INTEGER4, "8", Datatype, mpi_integer4)        \
                                                                        each(REAL2, "5", Datatype, mpi_real2) each(    \
                                                                            REAL4, "5", Datatype, mpi_real4)           \
                                                                            each(REAL8, "5", Datatype, mpi_real8)      \
                                                                                each(TWOREAL, "7", Datatype,           \
                                                                                     mpi_2real)                        \
                                                                                    each(TWODOUBLE_PRECISION, "19",    \
                                                                                         Datatype, mpi_2dblprec)       \
                                                                                        each(TWOINTEGER, "10",         \
                                                                                             Datatype, mpi_2integer)

#define MUR_DECLARE(NAME, length, Class, symbol)                                                                       \
    extern char ompi_##symbol[];                                                                                       \
    struct object object_##NAME __asm__("_ZN3MPI" length #NAME "E");
MUR_OBJECTS(MUR_DECLARE)

/* Before the program's own objects are made: a program may have copies of all of these in its memory. */
__attribute__((constructor)) static void make_objects(void)
{
#define MUR_MAKE(NAME, length, Class, symbol)                                                                          \
    object_##NAME = (struct object){table_##Class + FIRST_FUNCTION, ompi_##symbol};
    MUR_OBJECTS(MUR_MAKE)
}

void *const bottom __asm__("_ZN3MPI6BOTTOME") = NULL;
void *const in_place __asm__("_ZN3MPI8IN_PLACEE") = (void *)1;
const char **argv_null __asm__("_ZN3MPI9ARGV_NULLE");
const char ***argvs_null __asm__("_ZN3MPI10ARGVS_NULLE");
int mpi_errno __asm__("_ZN3MPI9mpi_errnoE");

/* ---- Functions */

void comm_new(struct object *comm) __asm__("_ZN3MPI4CommC1Ev");
void comm_new(struct object *comm)
{
    *comm = (struct object){table_Comm + FIRST_FUNCTION, ompi_mpi_comm_null};
}
extern __typeof__(comm_new) comm_new_base __asm__("_ZN3MPI4CommC2Ev") __attribute__((alias("_ZN3MPI4CommC1Ev")));

void comm_of(struct object *comm, const struct object *other) __asm__("_ZN3MPI4CommC1ERKNS_9Comm_NullE");
void comm_of(struct object *comm, const struct object *other)
{
    *comm = (struct object){table_Comm + FIRST_FUNCTION, other->handle};
}
extern __typeof__(comm_of) comm_of_base __asm__("_ZN3MPI4CommC2ERKNS_9Comm_NullE")
    __attribute__((alias("_ZN3MPI4CommC1ERKNS_9Comm_NullE")));

void type_free(struct object *type) __asm__("_ZN3MPI8Datatype4FreeEv");
void type_free(struct object *type)
{
    MPI_Type_free(&type->handle);
}

void win_free(struct object *win) __asm__("_ZN3MPI3Win4FreeEv");
void win_free(struct object *win)
{
    MPI_Win_free(&win->handle);
}

void file_close(struct object *file) __asm__("_ZN3MPI4File5CloseEv");
void file_close(struct object *file)
{
    MPI_File_close(&file->handle);
}

/* MPI::Init calls it; there is nothing to prepare. */
void initialize_intercepts(void) __asm__("_ZN3MPI20InitializeInterceptsEv");
void initialize_intercepts(void)
{
}

/* The function of every reduction operation of C++; the C library passes the program's (ompi_op_set_cxx_callback). */
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, handle *type,
                               void (*user)(const void *, void *, int, const struct object *));
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, handle *type,
                               void (*user)(const void *, void *, int, const struct object *))
{
    const struct object datatype = {table_Datatype + FIRST_FUNCTION, *type};

    user(in, inout, *count, &datatype);
}
