/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's error codes: the class in the 7 lowest bits, above it what tells one error from another; there our own code
 * is, so that its text is found again. Codes that the program adds have bit 30. */
#include "door.h"

#include "base/error.h"

enum { CLASS_BITS = 7, CODE_SHIFT = 8, ADDED = 1 << 30 };

int mur_code_out(int code)
{
    if (code > MPI_ERR_LASTCODE)
        return ADDED + (code - MPI_ERR_LASTCODE - 1);
    return class_out(mur_error_class(code)) | (mur_error_class(code) == code ? 0 : code << CODE_SHIFT);
}

int error_in(int code)
{
    if (code >= ADDED)
        return code - ADDED + MPI_ERR_LASTCODE + 1;
    return code >> CODE_SHIFT ? code >> CODE_SHIFT : class_in(code & ((1 << CLASS_BITS) - 1));
}

int mur_code_of_text(int code)
{
    return error_in(code);
}
