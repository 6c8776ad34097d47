/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated table of functions (wrong.py) and the test that calls them (wrong.c) share. */
#ifndef MUR_TESTS_API_WRONG_H
#define MUR_TESTS_API_WRONG_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum what { /* an argument is */
            BUFFER,
            POINTER,
            OUTPUT,
            STATUS,
            STRING,
            STRINGS,
            FUNCTION,
            COUNT,
            LENGTH,
            NUMBER,
            PARTNER, /* of an array whose elements the call takes: LENGTH */
            WORD_4,
            WORD_8, /* a number that goes in and out */
            ARRAY_4,
            ARRAY_8,
            PLACES_4, /* displacements: where data are, which nobody can check */
            PLACES_8,
            COMM,
            GROUP,
            OP,
            INFO,
            ERRHANDLER,
            FILE_,
            WIN,
            SESSION,
            TYPE,
            REQUEST,
            MESSAGE,
            TOOLS,
            KINDS,
            COMM_POINTER = KINDS,
            GROUP_POINTER,
            OP_POINTER,
            INFO_POINTER,
            ERRHANDLER_POINTER,
            FILE_POINTER,
            WIN_POINTER,
            SESSION_POINTER,
            TYPE_POINTER,
            REQUEST_POINTER,
            MESSAGE_POINTER,
            TOOLS_POINTER,
            POINTERS,
            ARRAY_OF_COMM = POINTERS,
            ARRAY_OF_GROUP,
            ARRAY_OF_OP,
            ARRAY_OF_INFO,
            ARRAY_OF_ERRHANDLER,
            ARRAY_OF_FILE,
            ARRAY_OF_WIN,
            ARRAY_OF_SESSION,
            ARRAY_OF_TYPE,
            ARRAY_OF_REQUEST,
            ARRAY_OF_MESSAGE,
};

union value {
    int64_t number;
    void *pointer;
};

struct slot {
    const char *name;
    enum what what;
};

struct function {
    const char *name, *chapter;
    int (*call)(const union value *v);
    const struct slot *slots;
    int slot_count;
};

extern const struct function functions[];
extern const int function_count;

#endif
