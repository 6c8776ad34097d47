/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of handles in Fortran: handles are numbers already, but for files. */
#ifndef MUR_COMPAT_INTEGERS_H
#define MUR_COMPAT_INTEGERS_H

#define MUR_NUMBERS(lower)                                                                                             \
    static inline int lower##_number_out(their_##lower handle)                                                         \
    {                                                                                                                  \
        return handle;                                                                                                 \
    }                                                                                                                  \
    static inline their_##lower lower##_number_in(int number)                                                          \
    {                                                                                                                  \
        return number;                                                                                                 \
    }
MUR_NUMBERS(comm)
MUR_NUMBERS(errhandler)
MUR_NUMBERS(group)
MUR_NUMBERS(info)
MUR_NUMBERS(message)
MUR_NUMBERS(op)
MUR_NUMBERS(request)
MUR_NUMBERS(session)
MUR_NUMBERS(type)
MUR_NUMBERS(win)

static inline int file_number_out(their_file handle)
{
    return handle ? murmur_door.File_toint((MPI_File)handle) : 0;
}

static inline their_file file_number_in(int number)
{
    return file_out(murmur_door.File_fromint(number));
}

#endif
