/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and statuses as Fortran has them, and handles as integers. */
#include "door.h"
#include "integers.h"

#define MUR_INTEGERS(Stem, lower)                                                                                      \
    MUR_DOOR(int, Stem##_c2f, their_##lower handle)                                                                    \
    {                                                                                                                  \
        return lower##_number_out(handle);                                                                             \
    }                                                                                                                  \
    MUR_DOOR(their_##lower, Stem##_f2c, int number)                                                                    \
    {                                                                                                                  \
        return lower##_number_in(number);                                                                              \
    }                                                                                                                  \
    MUR_DOOR(int, Stem##_toint, their_##lower handle)                                                                  \
    {                                                                                                                  \
        return lower##_number_out(handle);                                                                             \
    }                                                                                                                  \
    MUR_DOOR(their_##lower, Stem##_fromint, int number)                                                                \
    {                                                                                                                  \
        return lower##_number_in(number);                                                                              \
    }
MUR_INTEGERS(Comm, comm)
MUR_INTEGERS(Errhandler, errhandler)
MUR_INTEGERS(File, file)
MUR_INTEGERS(Group, group)
MUR_INTEGERS(Info, info)
MUR_INTEGERS(Message, message)
MUR_INTEGERS(Op, op)
MUR_INTEGERS(Request, request)
MUR_INTEGERS(Session, session)
MUR_INTEGERS(Type, type)
MUR_INTEGERS(Win, win)

/* Statuses have one layout in all languages. */
#define MUR_STATUS_COPY(short_name)                                                                                    \
    MUR_DOOR(int, short_name, const struct their_status *from, struct their_status *to)                                \
    {                                                                                                                  \
        memcpy(to, from, sizeof *to);                                                                                  \
        return MPI_SUCCESS;                                                                                            \
    }
MUR_STATUS_COPY(Status_c2f)
MUR_STATUS_COPY(Status_f2c)
MUR_STATUS_COPY(Status_c2f08)
MUR_STATUS_COPY(Status_f082c)
MUR_STATUS_COPY(Status_f2f08)
MUR_STATUS_COPY(Status_f082f)
