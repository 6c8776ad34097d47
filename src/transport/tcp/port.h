/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: where processes of other jobs may come in.
 *
 * A port has a number and a fresh secret. Its name says both, and the addresses of its process: whoever knows the name
 * may connect, and nobody else. Who calls proves that (greet.c) and waits, as a connection, until the port's process
 * takes it. What the two then say to each other is up to those who use the port. */
#ifndef MUR_TRANSPORT_TCP_PORT_H
#define MUR_TRANSPORT_TCP_PORT_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/tcp/tcp.h"

struct mur_port;

/* A call to a port. The greeting ends it: with a connection, or an errno. */
struct mur_port_call {
    struct mur_address address;
    unsigned char secret[MUR_MAC_BYTES];
    int port;
    bool is_over;
    int fd, error;
};

/* Makes a port and writes its name, of `room` bytes at most. NULL: no memory. */
struct mur_port *mur_port_open(char *name, size_t room);
struct mur_port *mur_port_find(const char *name); /* of this process; NULL: it has none of that name */
void mur_port_close(struct mur_port *port);       /* those who wait are sent away */

/* The connection that waits for longest; -1: none does. */
int mur_port_take(struct mur_port *port);

/* Calls the port of that name: 0, or an errno; EINVAL: it is no name of a port. Makes progress meanwhile by `pass`. */
int mur_port_call(const char *name, int *fd, void (*pass)(void));

/* For greetings: the secret of the port of that number, or NULL; and a caller who has proved to know it. */
const unsigned char *mur_port_secret(int number);
void mur_port_arrived(int number, int fd);

#endif
