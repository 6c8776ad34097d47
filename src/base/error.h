/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes that carry their text.
 *
 * A function that fails returns mur_error(class, ...): a code that stands for the class and for a text in a ring
 * of the latest texts. Codes: 0..63 are the classes themselves; 64 * slot + class, with slot 16..255, names a text
 * of the ring (a slot keeps its text until 240 later errors have been raised); classes and codes that users add lie
 * above MPI_ERR_LASTCODE. MPI_T codes (1001..1018) lie in slot 15, which the ring leaves out. */
#ifndef MUR_BASE_ERROR_H
#define MUR_BASE_ERROR_H

/* Stores the text and returns its code. `class` is an MPI_ERR_ class; the text says what is wrong, with the value
 * and what was expected, without a final full stop or newline: "tag is -7, but must be from 0 to 2147483647". */
int mur_error(int error_class, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The class of a code of the library's own (not of one that users added). */
static inline int mur_error_class(int code)
{
    return code < 1024 || code > 16383 ? code : code & 63;
}

/* The text of a code of the ring, or NULL where the code carries none. It is good until this thread asks again. */
const char *mur_error_text(int code);

/* Puts `text` in the place of the code's text: the entry points add call and arguments this way. */
void mur_error_set_text(int code, const char *text);

#endif
