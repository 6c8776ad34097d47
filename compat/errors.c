/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes, codes and their texts. */
#include <stdio.h>

#include "door.h"

int mur_callback_in(int code)
{
    if (!code || error_out(error_in(code)) == code)
        return code ? error_in(code) : MPI_SUCCESS;
    return code > 0 && code < MUR_NUMBERS_FROM ? MUR_NUMBERS_FROM + code : MPI_ERR_OTHER;
}

int mur_door_raise(int error_class)
{
    murmur_door.Comm_call_errhandler(MPI_COMM_SELF, error_class);
    return error_out(error_class);
}

MUR_DOOR(int, Error_class, int errorcode, int *errorclass)
{
    int code = murmur_door.Error_class(error_in(errorcode), errorclass);

    if (!code)
        *errorclass = error_out(*errorclass);
    return error_out(code);
}

/* Where there is not enough room the arguments of the call go first: "MPI_Send(...): reason". */
static void shorten(char *text)
{
    char *arguments = strchr(text, '('), *reason = arguments ? strstr(arguments, "): ") : NULL;

    if (!reason || (size_t)(reason - arguments) <= strlen("(..."))
        return;
    memcpy(arguments, "(...", strlen("(..."));
    memmove(arguments + strlen("(..."), reason, strlen(reason) + 1);
}

MUR_DOOR(int, Error_string, int errorcode, char *string, int *resultlen)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    int code = murmur_door.Error_string(mur_code_of_text(errorcode), string ? text : NULL, resultlen ? &length : NULL);

    if (!code) {
        if (length >= THEIR_MAX_ERROR_STRING)
            shorten(text);
        mur_text_out(string, text, THEIR_MAX_ERROR_STRING, NULL);
        *resultlen = (int)strlen(string);
    }
    return error_out(code);
}

MUR_DOOR(int, Add_error_class, int *errorclass)
{
    int code = murmur_door.Add_error_class(errorclass);

    if (!code)
        *errorclass = error_out(*errorclass);
    return error_out(code);
}

MUR_DOOR(int, Add_error_code, int errorclass, int *errorcode)
{
    int code = murmur_door.Add_error_code(error_in(errorclass), errorcode);

    if (!code)
        *errorcode = error_out(*errorcode);
    return error_out(code);
}

/* The code is the exit code of the job. */
MUR_DOOR(int, Abort, their_comm comm, int errorcode)
{
    return error_out(murmur_door.Abort(comm_in(comm), errorcode));
}

MUR_DOOR(int, Pcontrol, const int level, ...)
{
    return error_out(murmur_door.Pcontrol(level));
}

MUR_DOOR(int, Get_library_version, char *version, int *resultlen)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], whole[MPI_MAX_LIBRARY_VERSION_STRING + 64];
    int code = murmur_door.Get_library_version(version ? text : NULL, resultlen);

    if (!code) {
        *resultlen = snprintf(whole, sizeof whole, "%s, here with the binary interface of " MUR_FAMILY_NAME, text);
        mur_text_out(version, whole, THEIR_MAX_LIBRARY_VERSION_STRING, resultlen);
    }
    return error_out(code);
}
