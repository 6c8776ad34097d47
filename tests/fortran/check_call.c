/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of a Fortran procedure succeeds, or the text of its error begins with its name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

void check_call_(const char *name, const int *code, size_t length)
{
    char text[MPI_MAX_ERROR_STRING];
    int text_length;

    if (*code == MPI_SUCCESS)
        return;
    MPI_Error_string(*code, text, &text_length);
    if (strncmp(text, name, length) == 0 && text[length] == '(')
        return;
    printf("%.*s: got the error \"%s\"\n", (int)length, name, text);
    exit(1);
}
