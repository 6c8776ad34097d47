/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's error codes are the classes themselves, and programs compare them so. What the core says about an error is
 * kept, per thread, for MPI_Error_string of the latest error. */
#include "door.h"

#include "base/error.h"

static _Thread_local int latest;

int mur_code_out(int code)
{
    if (code > MPI_ERR_LASTCODE)
        return THEIR_ERR_LASTCODE + (code - MPI_ERR_LASTCODE);
    if (mur_error_class(code) != code)
        latest = code;
    return class_out(mur_error_class(code));
}

int error_in(int code)
{
    return code > THEIR_ERR_LASTCODE ? code - THEIR_ERR_LASTCODE + MPI_ERR_LASTCODE : class_in(code);
}

int mur_code_of_text(int code)
{
    return code && code == class_out(mur_error_class(latest)) ? latest : error_in(code);
}
