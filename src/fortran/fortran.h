/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Fortran procedures are made of: names, truth values, strings, lists. special.h has the rest, handles and
 * special addresses.
 *
 * This part is a library of its own, libmpi_abi_fortran. It sees the core through mpi.h alone, so it works with any MPI
 * that has the standard ABI, and programs in C do not carry it. The libraries for Fortran of other MPIs (compat/) are
 * made of the same files, with another mpi.h and another special.h. Fortran passes addresses. An INTEGER is a C int; a
 * handle is the number that MPI_X_toint gives; a status has the layout of MPI_Status; the lengths of strings come last,
 * as size_t. The same C function serves mpif.h, module mpi and module mpi_f08; only what has choice buffers in mpi_f08
 * has a second one (section.h).
 *
 * The generated wrappers (build/generated/fortran/) call PMPI_ names: a tool that intercepts Fortran's MPI_Send and C's
 * MPI_Send sees each call once. */
#ifndef MUR_FORTRAN_FORTRAN_H
#define MUR_FORTRAN_FORTRAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

/* Nobody includes prototypes of these functions: Fortran has interfaces of its own. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define MUR_SLOW  __attribute__((noinline, cold))
#define MUR_APART __attribute__((noinline)) /* keeps a short way short */
#ifdef __clang__
#define MUR_NO_PLT
#else
#define MUR_NO_PLT __attribute__((noplt)) /* calls another library without a detour */
#endif
#define MUR_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* ---- Names. Compilers append one underscore (most), two (-fsecond-underscore, where there is one already), none, or
 * use capitals. `target` is pmpi_<lower>_, or another function of this file. */
#define MUR_STRONG(name, target) extern __typeof__(target) name __attribute__((alias(#target)));
#define MUR_WEAK(name, target)   extern __typeof__(target) name __attribute__((weak, alias(#target)));
#define MUR_OTHER_NAMES(target, lower, upper)                                                                          \
    MUR_STRONG(pmpi_##lower##__, target)                                                                               \
    MUR_STRONG(pmpi_##lower, target)                                                                                   \
    MUR_STRONG(PMPI_##upper, target)                                                                                   \
    MUR_WEAK(mpi_##lower##_, target)                                                                                   \
    MUR_WEAK(mpi_##lower##__, target) MUR_WEAK(mpi_##lower, target) MUR_WEAK(MPI_##upper, target)
#define MUR_FOUR_NAMES(target, lower, upper)                                                                           \
    MUR_WEAK(lower##_, target) MUR_WEAK(lower##__, target) MUR_WEAK(lower, target) MUR_WEAK(upper, target)
/* The capitals of predefined callbacks are macros of mpi.h. */
#define MUR_PREDEFINED(target, lower, UPPER)                                                                           \
    MUR_WEAK(mpi_##lower##_, target)                                                                                   \
    MUR_WEAK(mpi_##lower##__, target)                                                                                  \
    MUR_WEAK(mpi_##lower, target)                                                                                      \
    MUR_MODULE_NAME(target, lower)                                                                                     \
    extern __typeof__(target) upper_##lower __asm__("MPI_" #UPPER) __attribute__((weak, alias(#target)));
#define MUR_ALL_NAMES(target, lower, upper)                                                                            \
    MUR_STRONG(pmpi_##lower##_, target)                                                                                \
    MUR_MORE_NAMES(target, lower)                                                                                      \
    MUR_OTHER_NAMES(target, lower, upper)

#include "fortran/special.h"

/* ---- Truth values: 1 and 0, unless MPI_Abi_set_fortran_booleans said otherwise. What is not false is true. */
extern MPI_Fint mur_fortran_true, mur_fortran_false;

static inline int mur_logical_in(MPI_Fint value)
{
    return value != mur_fortran_false;
}

static inline MPI_Fint mur_logical_out(int value)
{
    return value ? mur_fortran_true : mur_fortran_false;
}

void mur_logicals_out(MPI_Fint *values, int count);

/* ---- Lists: arrays of handles or truth values as C has them. The elements of short ones are in the struct itself, the
 * others are allocated; without memory for them the result is NULL, which the C call reports. A negative count is none,
 * and reported by the C call as well. */
struct mur_list {
    void *all;
    void *few[32];
};

MPI_Request *mur_requests_in(struct mur_list *list, const MPI_Fint *numbers, int count);
MPI_Datatype *mur_datatypes_in(struct mur_list *list, const MPI_Fint *numbers, int count);
MPI_Info *mur_infos_in(struct mur_list *list, const MPI_Fint *numbers, int count);
int *mur_logicals_in(struct mur_list *list, const MPI_Fint *values, int count);
void mur_list_free(struct mur_list *list);

/* Completed requests become MPI_REQUEST_NULL. */
void mur_requests_out(MPI_Fint *numbers, const MPI_Request *requests, int count);

/* Fortran counts from one. MPI_UNDEFINED stays. */
void mur_indices_out(MPI_Fint *indices, int count);

/* The number of elements of arrays with one for each rank that the communicator talks to, or for each neighbour. An
 * invalid communicator has none. */
int mur_peers(MPI_Comm comm);
int mur_neighbors(MPI_Comm comm, bool are_sent_to);

/* ---- Strings. Trailing blanks are padding; of the keys and values of info objects so are leading ones. */
struct mur_text {
    char *all;
    char few[256];
};
char *mur_text_in(struct mur_text *text, const char *string, size_t length);
char *mur_text_in_stripped(struct mur_text *text, const char *string, size_t length);
void mur_text_free(struct mur_text *text);

/* Copies a C string into a Fortran one: cut, or padded with blanks. */
void mur_text_out(char *string, size_t length, const char *text);

/* How many characters of a text a Fortran string of this length can show. */
static inline int mur_text_shown(int wanted, size_t length)
{
    return (size_t)wanted < length ? wanted : (int)length;
}

/* ---- Results. In mpi_f08 `ierror` is optional. An error that nobody gets is told on standard error. */
MUR_SLOW void mur_error_lost(int code);

/* Raises MPI_ERR_NO_MEM with MPI_COMM_SELF, and returns it. */
MUR_SLOW int mur_no_memory(void);

static inline void mur_give(MPI_Fint *ierror, int code)
{
    if (MUR_LIKELY(ierror != NULL))
        *ierror = code;
    else if (code)
        mur_error_lost(code);
}

/* ---- Requests whose buffers were copied (pending.c), before and after the calls that use them. The functions that do
 * the work are called only if there is such a request. */
extern int mur_pending_count;
void mur_pending_mark_all(const MPI_Fint *numbers, int count);
void mur_pending_settle_all(const MPI_Fint *numbers, const MPI_Request *requests, int count);
void mur_pending_start_all(const MPI_Fint *numbers, int count);
void mur_pending_ready_range(MPI_Fint number, MPI_Fint low, MPI_Fint high);
void mur_pending_arrived_one(MPI_Fint number, MPI_Fint partition);
void mur_pending_forget_one(MPI_Fint number);

static inline bool mur_are_pending(void)
{
    return __builtin_expect(__atomic_load_n(&mur_pending_count, __ATOMIC_RELAXED), 0);
}

/* Before a call that completes requests. */
static inline void mur_pending_mark(const MPI_Fint *numbers, int count)
{
    if (mur_are_pending())
        mur_pending_mark_all(numbers, count);
}

/* After it, with the handles as it left them. */
static inline void mur_pending_settle(const MPI_Fint *numbers, const MPI_Request *requests, int count)
{
    if (mur_are_pending())
        mur_pending_settle_all(numbers, requests, count);
}

/* Before persistent requests are started. */
static inline void mur_pending_start(const MPI_Fint *numbers, int count)
{
    if (mur_are_pending())
        mur_pending_start_all(numbers, count);
}

/* Before partitions are ready to be sent, and after one has arrived. */
static inline void mur_pending_ready(const MPI_Fint *number, MPI_Fint low, MPI_Fint high)
{
    if (mur_are_pending())
        mur_pending_ready_range(*number, low, high);
}

static inline void mur_pending_arrived(const MPI_Fint *number, MPI_Fint partition)
{
    if (mur_are_pending())
        mur_pending_arrived_one(*number, partition);
}

/* Before a request is freed. */
static inline void mur_pending_forget(const MPI_Fint *number)
{
    if (mur_are_pending())
        mur_pending_forget_one(*number);
}

#endif
