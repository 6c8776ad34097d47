/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets in CRIU's image. */
#ifndef MUR_LAUNCH_CHECKPOINT_SOCKETS_H
#define MUR_LAUNCH_CHECKPOINT_SOCKETS_H

#include <stdbool.h>

/* Makes of all TCP sockets in the file `files.img` of this folder new ones, which are not bound, listen to nobody and
 * are not connected. False with errno (0: the file has another form than this knows). */
bool mur_sockets_close(const char *folder);

#endif
