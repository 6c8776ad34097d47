/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/flaw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool mur_flaw_set(struct mur_flaw *flaw, const char *format, ...)
{
    va_list arguments;

    if (flaw->text[0])
        return false;
    va_start(arguments, format);
    vsnprintf(flaw->text, sizeof flaw->text, format, arguments);
    va_end(arguments);
    return false;
}

bool mur_flaw_of_mpi(struct mur_flaw *flaw, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &length);
    return mur_flaw_set(flaw, "%.100s: %.450s", what, text);
}

bool mur_flaw_agree(struct mur_flaw *flaw, MPI_Comm comm)
{
    char text[sizeof flaw->text];
    int rank, size, first;

    if (flaw->is_known)
        return false;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    first = flaw->text[0] ? rank : size;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == size)
        return true;
    snprintf(text, sizeof text, "%s", flaw->text);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, comm);
    snprintf(flaw->text, sizeof flaw->text, "rank %d: %.580s", first, text);
    flaw->is_known = true;
    return false;
}

int mur_flaw_raise(const struct mur_flaw *flaw, MPI_Comm comm, int error_class)
{
    char text[MPI_MAX_ERROR_STRING];
    int code;

    snprintf(text, sizeof text, "%.*s", MPI_MAX_ERROR_STRING - 1, flaw->text);
    if (MPI_Add_error_code(error_class, &code) != MPI_SUCCESS || MPI_Add_error_string(code, text) != MPI_SUCCESS)
        code = error_class;
    MPI_Comm_call_errhandler(comm, code);
    return code;
}
