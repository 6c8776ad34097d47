/* SPDX-License-Identifier: BSD-3-Clause */
/* The basic types: one row for each predefined datatype of the ABI. A row says how the type lies in memory (its
 * machine type, which picks the reduction kernel) and which operations the standard allows on it (its class). */
#ifndef MUR_DATATYPE_BASIC_H
#define MUR_DATATYPE_BASIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

/* Index of a row; MUR_BASIC_MIXED stands for 'more than one' in derived types. */
enum mur_basic {
    MUR_BASIC_MIXED,
    MUR_BASIC_SHORT,
    MUR_BASIC_INT,
    MUR_BASIC_LONG,
    MUR_BASIC_LONG_LONG_INT,
    MUR_BASIC_UNSIGNED_SHORT,
    MUR_BASIC_UNSIGNED,
    MUR_BASIC_UNSIGNED_LONG,
    MUR_BASIC_UNSIGNED_LONG_LONG,
    MUR_BASIC_SIGNED_CHAR,
    MUR_BASIC_UNSIGNED_CHAR,
    MUR_BASIC_INT8_T,
    MUR_BASIC_UINT8_T,
    MUR_BASIC_INT16_T,
    MUR_BASIC_UINT16_T,
    MUR_BASIC_INT32_T,
    MUR_BASIC_UINT32_T,
    MUR_BASIC_INT64_T,
    MUR_BASIC_UINT64_T,
    MUR_BASIC_AINT,
    MUR_BASIC_COUNT,
    MUR_BASIC_OFFSET,
    MUR_BASIC_CHAR,
    MUR_BASIC_WCHAR,
    MUR_BASIC_CHARACTER,
    MUR_BASIC_BYTE,
    MUR_BASIC_PACKED,
    MUR_BASIC_FLOAT,
    MUR_BASIC_DOUBLE,
    MUR_BASIC_LONG_DOUBLE,
    MUR_BASIC_REAL,
    MUR_BASIC_DOUBLE_PRECISION,
    MUR_BASIC_REAL4,
    MUR_BASIC_REAL8,
    MUR_BASIC_C_COMPLEX,
    MUR_BASIC_C_DOUBLE_COMPLEX,
    MUR_BASIC_C_LONG_DOUBLE_COMPLEX,
    MUR_BASIC_CXX_FLOAT_COMPLEX,
    MUR_BASIC_CXX_DOUBLE_COMPLEX,
    MUR_BASIC_CXX_LONG_DOUBLE_COMPLEX,
    MUR_BASIC_COMPLEX,
    MUR_BASIC_DOUBLE_COMPLEX,
    MUR_BASIC_COMPLEX8,
    MUR_BASIC_COMPLEX16,
    MUR_BASIC_C_BOOL,
    MUR_BASIC_CXX_BOOL,
    MUR_BASIC_LOGICAL,
    MUR_BASIC_LOGICAL1,
    MUR_BASIC_LOGICAL2,
    MUR_BASIC_LOGICAL4,
    MUR_BASIC_LOGICAL8,
    MUR_BASIC_INTEGER,
    MUR_BASIC_INTEGER1,
    MUR_BASIC_INTEGER2,
    MUR_BASIC_INTEGER4,
    MUR_BASIC_INTEGER8,
    MUR_BASIC_FLOAT_INT,
    MUR_BASIC_DOUBLE_INT,
    MUR_BASIC_LONG_INT,
    MUR_BASIC_2INT,
    MUR_BASIC_SHORT_INT,
    MUR_BASIC_LONG_DOUBLE_INT,
    MUR_BASIC_2REAL,
    MUR_BASIC_2DOUBLE_PRECISION,
    MUR_BASIC_2INTEGER,
    MUR_BASIC_LOGICAL16,
    MUR_BASIC_INTEGER16,
    MUR_BASIC_REAL16,
    MUR_BASIC_COMPLEX32,
    MUR_BASIC_REAL2,
    MUR_BASIC_COMPLEX4,
    MUR_BASICS
};

/* The groups of MPI-5.0 §6.9.2, which decide what operations a type takes. */
enum mur_class {
    MUR_CLASS_C_INTEGER,
    MUR_CLASS_FORTRAN_INTEGER,
    MUR_CLASS_ANY_INTEGER, /* MPI_AINT, MPI_COUNT, MPI_OFFSET: of both languages */
    MUR_CLASS_FLOATING,
    MUR_CLASS_COMPLEX,
    MUR_CLASS_LOGICAL,
    MUR_CLASS_BYTE,
    MUR_CLASS_PAIR,   /* value and index, for MINLOC and MAXLOC */
    MUR_CLASS_CHAR,   /* MPI_CHAR: no arithmetic by the standard; by MPICH and Open MPI an integer of C */
    MUR_CLASS_TEXT,   /* no arithmetic */
    MUR_CLASS_PACKED, /* no arithmetic */
};

/* What the processor sees. Logicals are unsigned integers of their width. */
enum mur_machine {
    MUR_MACHINE_NONE, /* never computed with */
    MUR_MACHINE_INT8,
    MUR_MACHINE_INT16,
    MUR_MACHINE_INT32,
    MUR_MACHINE_INT64,
    MUR_MACHINE_INT128,
    MUR_MACHINE_UINT8,
    MUR_MACHINE_UINT16,
    MUR_MACHINE_UINT32,
    MUR_MACHINE_UINT64,
    MUR_MACHINE_UINT128,
    MUR_MACHINE_FLOAT,
    MUR_MACHINE_DOUBLE,
    MUR_MACHINE_LONG_DOUBLE,
    MUR_MACHINE_FLOAT128,
    MUR_MACHINE_FLOAT_COMPLEX,
    MUR_MACHINE_DOUBLE_COMPLEX,
    MUR_MACHINE_LONG_DOUBLE_COMPLEX,
    MUR_MACHINE_FLOAT128_COMPLEX,
    MUR_MACHINE_FLOAT_INT,
    MUR_MACHINE_DOUBLE_INT,
    MUR_MACHINE_LONG_INT,
    MUR_MACHINE_INT_INT,
    MUR_MACHINE_SHORT_INT,
    MUR_MACHINE_LONG_DOUBLE_INT,
    MUR_MACHINE_FLOAT_FLOAT,
    MUR_MACHINE_DOUBLE_DOUBLE,
    MUR_MACHINES
};

/* REAL*16: a type of its own where long double is another. A scalar, so a typedef is the only way to name it. */
#if __LDBL_MANT_DIG__ == 113
#define MUR_HAVE_FLOAT128 1
typedef long double mur_float128;
#elif defined __SIZEOF_FLOAT128__
#define MUR_HAVE_FLOAT128 1
typedef __float128 mur_float128;
#else
#define MUR_HAVE_FLOAT128 0
#endif
#if MUR_HAVE_FLOAT128
struct mur_float128_complex {
    mur_float128 re, im;
};
#endif

/* Complex numbers as pairs: one form for C, C++ and Fortran, laid out as all three lay them out. */
struct mur_float_complex {
    float re, im;
};
struct mur_double_complex {
    double re, im;
};
struct mur_long_double_complex {
    long double re, im;
};

struct mur_float_int {
    float value;
    int index;
};
struct mur_double_int {
    double value;
    int index;
};
struct mur_long_int {
    long value;
    int index;
};
struct mur_int_int {
    int value;
    int index;
};
struct mur_short_int {
    short value;
    int index;
};
struct mur_long_double_int {
    long double value;
    int index;
};
struct mur_float_float {
    float value;
    float index;
};
struct mur_double_double {
    double value;
    double index;
};

struct mur_basic_row {
    MPI_Datatype handle;
    const char *name;
    enum mur_class class;
    enum mur_machine machine;
    bool is_supported;
    int size;   /* bytes of data */
    int extent; /* with padding at the end */
    int alignment;
    int index_offset; /* of the second part of a pair, and */
    int index_size;   /* its bytes; 0 for all others */
};

extern const struct mur_basic_row mur_basics[MUR_BASICS]; /* row 0, MUR_BASIC_MIXED, is empty */

#endif
