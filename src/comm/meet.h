/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of two jobs meet, and make an intercommunicator (MPI-5.0 §11.9, §11.10). */
#ifndef MUR_COMM_MEET_H
#define MUR_COMM_MEET_H

#include "object/comm.h"

/* Opens a port and writes its name, which has room for MPI_MAX_PORT_NAME bytes; and closes it. */
int mur_comm_open_port(char *name);
int mur_comm_close_port(const char *name);

/* Collective over `comm`; the name matters at the root, and so does how many seconds to wait to be accepted, a number
 * in text; NULL: as is set. */
int mur_comm_accept(const char *name, int root, struct mur_comm *comm, struct mur_comm **newcomm);
int mur_comm_connect(const char *name, const char *timeout, int root, struct mur_comm *comm, struct mur_comm **newcomm);

/* Like accept, but fails when `error` is one already, or has_failed returns one: asked again when `fd` (unless -1) can
 * be read.
 */
struct mur_doubt {
    int error;
    int (*has_failed)(void *owner);
    void *owner;
    int fd;
};
int mur_comm_await(const char *name, int root, struct mur_comm *comm, const struct mur_doubt *doubt,
                   struct mur_comm **newcomm);

/* This process and the one at the other end of the socket. */
int mur_comm_join(int fd, struct mur_comm **newcomm);

/* All members wait for each other, the communicator is given up, and those that no other one connects part. */
int mur_comm_disconnect(struct mur_comm *comm);

#endif
