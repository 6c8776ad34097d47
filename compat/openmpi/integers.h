/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of handles in Fortran: the family's own small ones for predefined handles, the core's for all others, which
 * are larger. What stands for no handle becomes the null handle. */
#ifndef MUR_COMPAT_INTEGERS_H
#define MUR_COMPAT_INTEGERS_H

static inline int constant_number(const void *handle)
{
    for (size_t i = 0; i < sizeof mur_symbols / sizeof mur_symbols[0]; i++)
        if (mur_symbols[i].address == handle)
            return mur_symbols[i].number;
    return -1;
}

#define MUR_NUMBERS(Name, Stem, lower)                                                                                 \
    static inline int lower##_number_out(their_##lower handle)                                                         \
    {                                                                                                                  \
        MPI_##Name ours = lower##_in(handle);                                                                          \
                                                                                                                       \
        return (uintptr_t)ours < MUR_PREDEFINED_LIMIT ? constant_number(handle) : murmur_door.Stem##_toint(ours);      \
    }                                                                                                                  \
    static inline their_##lower lower##_number_in(int number)                                                          \
    {                                                                                                                  \
        their_##lower constant = lower##_of_number(number);                                                            \
                                                                                                                       \
        return constant ? constant                                                                                     \
                        : lower##_out(murmur_door.Stem##_fromint(number < MUR_PREDEFINED_LIMIT ? -1 : number));        \
    }
MUR_NUMBERS(Comm, Comm, comm)
MUR_NUMBERS(Errhandler, Errhandler, errhandler)
MUR_NUMBERS(File, File, file)
MUR_NUMBERS(Group, Group, group)
MUR_NUMBERS(Info, Info, info)
MUR_NUMBERS(Message, Message, message)
MUR_NUMBERS(Op, Op, op)
MUR_NUMBERS(Request, Request, request)
MUR_NUMBERS(Session, Session, session)
MUR_NUMBERS(Datatype, Type, type)
MUR_NUMBERS(Win, Win, win)

#endif
