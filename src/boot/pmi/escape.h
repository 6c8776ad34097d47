/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as one word of PMI: blanks, semicolons, percent and backslash signs, and all that is not ASCII's visible
 * part become %XX. No text at all becomes %-, since some launchers take an empty word for an error. Ordinary text stays
 * as it is, so names published by other implementations read the same. */
#ifndef MUR_BOOT_PMI_ESCAPE_H
#define MUR_BOOT_PMI_ESCAPE_H

char *mur_pmi_escape(const char *text); /* NULL: no memory; the caller frees it */
void mur_pmi_unescape(char *text);      /* in place; any other % stands for itself */

#endif
