/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in lines: words move to the next line where they do not fit. */
#include "launch/wrap.h"

#include <stdio.h>
#include <string.h>

void mur_wrap_print(const char *text, int at, int indent, int width)
{
    int column = at;

    while (*text) {
        int length = (int)strcspn(text, " \n");

        if (column > at && column > indent && column + 1 + length > width) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length;
        if (*text == '\n') {
            printf("\n%*s", indent, "");
            column = indent;
        }
        text += *text != '\0';
    }
    putchar('\n');
}
