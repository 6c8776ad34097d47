/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of basic types. Fortran's types have the sizes that its compilers give them on this platform by default
 * (INTEGER, REAL and LOGICAL 4 bytes). 16-bit floats are left out: not every compiler we build with has them. */
#include "datatype/basic.h"

#include <limits.h>
#include <stddef.h>
#include <wchar.h>

#define ROW(name_, class_, machine_, type_)                                                                            \
    [MUR_BASIC_##name_] = {.handle = MPI_##name_,                                                                      \
                           .name = "MPI_" #name_,                                                                      \
                           .class = MUR_CLASS_##class_,                                                                \
                           .machine = MUR_MACHINE_##machine_,                                                          \
                           .is_supported = true,                                                                       \
                           .size = sizeof(type_),                                                                      \
                           .extent = sizeof(type_),                                                                    \
                           .alignment = _Alignof(type_)}

#define PAIR(name_, machine_, type_)                                                                                   \
    [MUR_BASIC_##name_] = {.handle = MPI_##name_,                                                                      \
                           .name = "MPI_" #name_,                                                                      \
                           .class = MUR_CLASS_PAIR,                                                                    \
                           .machine = MUR_MACHINE_##machine_,                                                          \
                           .is_supported = true,                                                                       \
                           .size = sizeof(((type_ *)0)->value) + sizeof(((type_ *)0)->index),                          \
                           .extent = sizeof(type_),                                                                    \
                           .alignment = _Alignof(type_),                                                               \
                           .index_offset = offsetof(type_, index),                                                     \
                           .index_size = sizeof(((type_ *)0)->index)}

#define UNSUPPORTED(name_, class_)                                                                                     \
    [MUR_BASIC_##name_] = {.handle = MPI_##name_,                                                                      \
                           .name = "MPI_" #name_,                                                                      \
                           .class = MUR_CLASS_##class_,                                                                \
                           .size = MPI_UNDEFINED,                                                                      \
                           .alignment = 1}

const struct mur_basic_row mur_basics[MUR_BASICS] = {
    /* integers of C */
    ROW(SHORT, C_INTEGER, INT16, short),
    ROW(INT, C_INTEGER, INT32, int),
    ROW(LONG, C_INTEGER, INT64, long),
    ROW(LONG_LONG_INT, C_INTEGER, INT64, long long),
    ROW(UNSIGNED_SHORT, C_INTEGER, UINT16, unsigned short),
    ROW(UNSIGNED, C_INTEGER, UINT32, unsigned),
    ROW(UNSIGNED_LONG, C_INTEGER, UINT64, unsigned long),
    ROW(UNSIGNED_LONG_LONG, C_INTEGER, UINT64, unsigned long long),
    ROW(SIGNED_CHAR, C_INTEGER, INT8, signed char),
    ROW(UNSIGNED_CHAR, C_INTEGER, UINT8, unsigned char),
    ROW(INT8_T, C_INTEGER, INT8, int8_t),
    ROW(UINT8_T, C_INTEGER, UINT8, uint8_t),
    ROW(INT16_T, C_INTEGER, INT16, int16_t),
    ROW(UINT16_T, C_INTEGER, UINT16, uint16_t),
    ROW(INT32_T, C_INTEGER, INT32, int32_t),
    ROW(UINT32_T, C_INTEGER, UINT32, uint32_t),
    ROW(INT64_T, C_INTEGER, INT64, int64_t),
    ROW(UINT64_T, C_INTEGER, UINT64, uint64_t),
    /* integers of both languages */
    ROW(AINT, ANY_INTEGER, INT64, MPI_Aint),
    ROW(COUNT, ANY_INTEGER, INT64, MPI_Count),
    ROW(OFFSET, ANY_INTEGER, INT64, MPI_Offset),
/* text and plain bytes */
#if CHAR_MIN < 0
    ROW(CHAR, CHAR, INT8, char),
#else
    ROW(CHAR, CHAR, UINT8, char),
#endif
    ROW(WCHAR, TEXT, NONE, wchar_t),
    ROW(CHARACTER, TEXT, NONE, char),
    ROW(BYTE, BYTE, UINT8, unsigned char),
    ROW(PACKED, PACKED, NONE, unsigned char),
    /* floating point */
    ROW(FLOAT, FLOATING, FLOAT, float),
    ROW(DOUBLE, FLOATING, DOUBLE, double),
    ROW(LONG_DOUBLE, FLOATING, LONG_DOUBLE, long double),
    ROW(REAL, FLOATING, FLOAT, float),
    ROW(DOUBLE_PRECISION, FLOATING, DOUBLE, double),
    ROW(REAL4, FLOATING, FLOAT, float),
    ROW(REAL8, FLOATING, DOUBLE, double),
    ROW(C_COMPLEX, COMPLEX, FLOAT_COMPLEX, struct mur_float_complex),
    ROW(C_DOUBLE_COMPLEX, COMPLEX, DOUBLE_COMPLEX, struct mur_double_complex),
    ROW(C_LONG_DOUBLE_COMPLEX, COMPLEX, LONG_DOUBLE_COMPLEX, struct mur_long_double_complex),
    ROW(CXX_FLOAT_COMPLEX, COMPLEX, FLOAT_COMPLEX, struct mur_float_complex),
    ROW(CXX_DOUBLE_COMPLEX, COMPLEX, DOUBLE_COMPLEX, struct mur_double_complex),
    ROW(CXX_LONG_DOUBLE_COMPLEX, COMPLEX, LONG_DOUBLE_COMPLEX, struct mur_long_double_complex),
    ROW(COMPLEX, COMPLEX, FLOAT_COMPLEX, struct mur_float_complex),
    ROW(DOUBLE_COMPLEX, COMPLEX, DOUBLE_COMPLEX, struct mur_double_complex),
    ROW(COMPLEX8, COMPLEX, FLOAT_COMPLEX, struct mur_float_complex),
    ROW(COMPLEX16, COMPLEX, DOUBLE_COMPLEX, struct mur_double_complex),
    /* logicals */
    ROW(C_BOOL, LOGICAL, UINT8, bool),
    ROW(CXX_BOOL, LOGICAL, UINT8, bool),
    ROW(LOGICAL, LOGICAL, UINT32, int32_t),
    ROW(LOGICAL1, LOGICAL, UINT8, int8_t),
    ROW(LOGICAL2, LOGICAL, UINT16, int16_t),
    ROW(LOGICAL4, LOGICAL, UINT32, int32_t),
    ROW(LOGICAL8, LOGICAL, UINT64, int64_t),
    /* integers of Fortran */
    ROW(INTEGER, FORTRAN_INTEGER, INT32, int32_t),
    ROW(INTEGER1, FORTRAN_INTEGER, INT8, int8_t),
    ROW(INTEGER2, FORTRAN_INTEGER, INT16, int16_t),
    ROW(INTEGER4, FORTRAN_INTEGER, INT32, int32_t),
    ROW(INTEGER8, FORTRAN_INTEGER, INT64, int64_t),
    /* pairs of a value and an index */
    PAIR(FLOAT_INT, FLOAT_INT, struct mur_float_int),
    PAIR(DOUBLE_INT, DOUBLE_INT, struct mur_double_int),
    PAIR(LONG_INT, LONG_INT, struct mur_long_int),
    PAIR(2INT, INT_INT, struct mur_int_int),
    PAIR(SHORT_INT, SHORT_INT, struct mur_short_int),
    PAIR(LONG_DOUBLE_INT, LONG_DOUBLE_INT, struct mur_long_double_int),
    PAIR(2REAL, FLOAT_FLOAT, struct mur_float_float),
    PAIR(2DOUBLE_PRECISION, DOUBLE_DOUBLE, struct mur_double_double),
    PAIR(2INTEGER, INT_INT, struct mur_int_int),
/* what not every compiler or processor has */
#ifdef __SIZEOF_INT128__
    ROW(INTEGER16, FORTRAN_INTEGER, INT128, __int128),
    ROW(LOGICAL16, LOGICAL, UINT128, __int128),
#else
    UNSUPPORTED(INTEGER16, FORTRAN_INTEGER),
    UNSUPPORTED(LOGICAL16, LOGICAL),
#endif
#if MUR_HAVE_FLOAT128
    ROW(REAL16, FLOATING, FLOAT128, mur_float128),
    ROW(COMPLEX32, COMPLEX, FLOAT128_COMPLEX, struct mur_float128_complex),
#else
    UNSUPPORTED(REAL16, FLOATING),
    UNSUPPORTED(COMPLEX32, COMPLEX),
#endif
    UNSUPPORTED(REAL2, FLOATING),
    UNSUPPORTED(COMPLEX4, COMPLEX),
};
