/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks with an extra state: generalized requests (MPI-5.0 §13.2) and data representations (§14.5.3). C gets
 * functions of ours that call the program's with Fortran's arguments; the extra state says which. */
#include <stdlib.h>

#include "fortran/fortran.h"

/* ---- Generalized requests */

typedef void query_function(MPI_Aint *extra_state, MPI_Fint *status, MPI_Fint *ierror);
typedef void free_function(MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void cancel_function(MPI_Aint *extra_state, MPI_Fint *complete, MPI_Fint *ierror);

struct grequest { /* freed with the request */
    query_function *query;
    free_function *free;
    cancel_function *cancel;
    MPI_Aint extra_state;
};

static int grequest_query(void *state, MPI_Status *status)
{
    struct grequest *grequest = state;
    MPI_Fint ierror = MPI_SUCCESS;

    grequest->query(&grequest->extra_state, (MPI_Fint *)status, &ierror);
    return ierror;
}

static int grequest_free(void *state)
{
    struct grequest *grequest = state;
    MPI_Fint ierror = MPI_SUCCESS;

    grequest->free(&grequest->extra_state, &ierror);
    free(grequest);
    return ierror;
}

static int grequest_cancel(void *state, int complete)
{
    struct grequest *grequest = state;
    MPI_Fint ierror = MPI_SUCCESS, is_complete = mur_logical_out(complete);

    grequest->cancel(&grequest->extra_state, &is_complete, &ierror);
    return ierror;
}

void pmpi_grequest_start_(query_function *query, free_function *free_one, cancel_function *cancel,
                          const MPI_Aint *extra_state, MPI_Fint *request, MPI_Fint *ierror)
{
    struct grequest *grequest = malloc(sizeof *grequest);
    MPI_Request request_value;
    int code;

    if (!grequest) {
        mur_give(ierror, mur_no_memory());
        return;
    }
    *grequest = (struct grequest){query, free_one, cancel, *extra_state};
    code = PMPI_Grequest_start(grequest_query, grequest_free, grequest_cancel, grequest, &request_value);
    if (code)
        free(grequest);
    else
        *request = mur_request_out(request_value);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_grequest_start_, grequest_start, GREQUEST_START)
MUR_ALL_NAMES(pmpi_grequest_start_, grequest_start_f08, GREQUEST_START_F08)

/* ---- Data representations, which stay as long as the program */

typedef void extent_function(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void conversion_function(void *userbuf, MPI_Fint *datatype, MPI_Fint *count, void *filebuf,
                                 MPI_Offset *position, MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void conversion_function_c(void *userbuf, MPI_Fint *datatype, MPI_Count *count, void *filebuf,
                                   MPI_Offset *position, MPI_Aint *extra_state, MPI_Fint *ierror);

struct datarep {
    conversion_function *read, *write; /* of the plain form */
    conversion_function_c *read_c, *write_c;
    extent_function *extent;
    MPI_Aint extra_state;
};

static int datarep_extent(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    struct datarep *datarep = state;
    MPI_Fint ierror = MPI_SUCCESS, number = mur_datatype_out(datatype);

    datarep->extent(&number, extent, &datarep->extra_state, &ierror);
    return ierror;
}

#define MUR_CONVERSION(name, which, count_type)                                                                        \
    static int name(void *userbuf, MPI_Datatype datatype, count_type count, void *filebuf, MPI_Offset position,        \
                    void *state)                                                                                       \
    {                                                                                                                  \
        struct datarep *datarep = state;                                                                               \
        MPI_Fint ierror = MPI_SUCCESS, number = mur_datatype_out(datatype);                                            \
                                                                                                                       \
        datarep->which(userbuf, &number, &count, filebuf, &position, &datarep->extra_state, &ierror);                  \
        return ierror;                                                                                                 \
    }
MUR_CONVERSION(datarep_read, read, int)
MUR_CONVERSION(datarep_write, write, int)
MUR_CONVERSION(datarep_read_c, read_c, MPI_Count)
MUR_CONVERSION(datarep_write_c, write_c, MPI_Count)

/* Defined in conversion_null.c. */
extern void mpi_conversion_fn_null_(void), mpi_conversion_fn_null__(void), mpi_conversion_fn_null(void),
    FORTRAN_CONVERSION_FN_NULL(void) __asm__("MPI_CONVERSION_FN_NULL");
extern void mpi_conversion_fn_null_c_(void), mpi_conversion_fn_null_c__(void), mpi_conversion_fn_null_c(void),
    FORTRAN_CONVERSION_FN_NULL_C(void) __asm__("MPI_CONVERSION_FN_NULL_C");

static bool is_null_conversion(void (*function)(void))
{
    return function == mpi_conversion_fn_null_ || function == mpi_conversion_fn_null__ ||
           function == mpi_conversion_fn_null || function == FORTRAN_CONVERSION_FN_NULL ||
           function == mpi_conversion_fn_null_c_ || function == mpi_conversion_fn_null_c__ ||
           function == mpi_conversion_fn_null_c || function == FORTRAN_CONVERSION_FN_NULL_C ||
           mur_is_module_null(function);
}

void pmpi_register_datarep_(const char *name, conversion_function *read, conversion_function *write,
                            extent_function *extent, const MPI_Aint *extra_state, MPI_Fint *ierror, size_t name_length)
{
    struct datarep *datarep = calloc(1, sizeof *datarep);
    struct mur_text text;

    if (!datarep) {
        mur_give(ierror, mur_no_memory());
        return;
    }
    *datarep = (struct datarep){.read = read, .write = write, .extent = extent, .extra_state = *extra_state};
    mur_give(ierror, PMPI_Register_datarep(mur_text_in(&text, name, name_length),
                                           is_null_conversion((void (*)(void))read) ? NULL : datarep_read,
                                           is_null_conversion((void (*)(void))write) ? NULL : datarep_write,
                                           datarep_extent, datarep));
    mur_text_free(&text);
}
MUR_OTHER_NAMES(pmpi_register_datarep_, register_datarep, REGISTER_DATAREP)
MUR_ALL_NAMES(pmpi_register_datarep_, register_datarep_f08, REGISTER_DATAREP_F08)

void pmpi_register_datarep_c_f08_(const char *name, conversion_function_c *read, conversion_function_c *write,
                                  extent_function *extent, const MPI_Aint *extra_state, MPI_Fint *ierror,
                                  size_t name_length)
{
    struct datarep *datarep = calloc(1, sizeof *datarep);
    struct mur_text text;

    if (!datarep) {
        mur_give(ierror, mur_no_memory());
        return;
    }
    *datarep = (struct datarep){.read_c = read, .write_c = write, .extent = extent, .extra_state = *extra_state};
    mur_give(ierror, PMPI_Register_datarep_c(mur_text_in(&text, name, name_length),
                                             is_null_conversion((void (*)(void))read) ? NULL : datarep_read_c,
                                             is_null_conversion((void (*)(void))write) ? NULL : datarep_write_c,
                                             datarep_extent, datarep));
    mur_text_free(&text);
}
MUR_LARGE_NAMES(pmpi_register_datarep_c_f08_, register_datarep, REGISTER_DATAREP)
