/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of services: which port belongs to each. mpiexec's own agent keeps them for its job and for all jobs that are
 * spawned from it; a program that nobody launched keeps its own.
 *
 * A rank puts its question under the key MUR_NAME_QUESTION and a number of its own (see boot/process.h), and asks for
 * the value of MUR_NAME_ANSWER with the same number. A question is a letter of enum mur_name_act, the length of the
 * service's name, ':', that name, and the port's. An answer is a letter of enum mur_name_result and the port's name. */
#ifndef MUR_BOOT_NAMES_H
#define MUR_BOOT_NAMES_H

#include <stddef.h>

#define MUR_NAME_QUESTION "name?"
#define MUR_NAME_ANSWER   "name!"

enum mur_name_act { MUR_NAME_PUBLISH = 'p', MUR_NAME_UNPUBLISH = 'u', MUR_NAME_LOOKUP = 'l' };
enum mur_name_result { MUR_NAME_FINE = 'f', MUR_NAME_TAKEN = 't', MUR_NAME_UNKNOWN = 'u', MUR_NAME_OTHER_PORT = 'o' };

enum { MUR_NAME_PORT_MAX = 1024, MUR_NAME_SERVICE_MAX = 800 }; /* bytes */

/* Asks, and waits for the answer. `port` has MUR_NAME_PORT_MAX bytes; a lookup writes it. Returns an error code; the
 * answer is *result. */
int mur_boot_name(enum mur_name_act act, const char *service, char *port, enum mur_name_result *result);

#endif
