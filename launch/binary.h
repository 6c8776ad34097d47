/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI a program was built for, as its file tells: by the libraries that it names and the symbols that it lacks.
 */
#ifndef MUR_LAUNCH_BINARY_H
#define MUR_LAUNCH_BINARY_H

#include <stdbool.h>

enum mur_family {
    MUR_FAMILY_UNKNOWN, /* it names no MPI library: a script, a static program, one that loads MPI by another library */
    MUR_FAMILY_STANDARD, /* the standard ABI: ours */
    MUR_FAMILY_MPICH,
    MUR_FAMILY_OPENMPI,
    MUR_FAMILY_OTHER, /* of which we have no library */
};

struct mur_binary {
    enum mur_family family;
    const char *what;      /* of an MPI that we have no library for: its name */
    char library[64];      /* the first MPI library that it names */
    bool is_object;        /* a dynamically linked file of this machine's kind; else nothing below is known */
    bool ignores_path;     /* it names directories (DT_RPATH) that count before LD_LIBRARY_PATH */
    char libraries[8][64]; /* all MPI libraries that it names */
    int library_count;
};

/* Reads the file `path`, seen from `directory` (AT_FDCWD: the current one). False: it cannot be read. */
bool mur_binary_read(int directory, const char *path, struct mur_binary *binary);

/* What the name of a library's file alone tells, which may be a longer one than programs ask for (libmpi.so.40.30.4):
 * family and what. */
void mur_binary_of_library(const char *library, struct mur_binary *binary);

/* Calls `each` with the symbols that the file looks for elsewhere. False: it cannot be read, or has none. */
bool mur_binary_wants(const char *path, void (*each)(void *owner, const char *symbol), void *owner);

/* The folder of the libraries of other ABIs, beside the program that calls this; "" where there is none. */
const char *mur_doors_folder(void);

/* "MPICH", "Open MPI", "the standard ABI". */
const char *mur_family_name(enum mur_family family);

#endif
