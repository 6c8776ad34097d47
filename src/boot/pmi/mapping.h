/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI_process_mapping: which node each rank is on, as launchers write it. Client and server share this file; it needs
 * nothing but the C library. */
#ifndef MUR_BOOT_PMI_MAPPING_H
#define MUR_BOOT_PMI_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

/* Fills node_of[0..size-1]. False when the text is malformed, or empty, which means unknown; node_of is then of no
 * use. The numbers are the launcher's: they need not begin at 0. */
bool mur_pmi_mapping_read(const char *text, int size, int *node_of);

/* Writes the shortest form that every reader understands; false when it does not fit (or no memory is left). */
bool mur_pmi_mapping_write(const int *node_of, int size, char *text, size_t bytes);

#endif
