/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the ports (transport/port.h): what they and the greetings know of each other. */
#ifndef MUR_TRANSPORT_TCP_PORT_H
#define MUR_TRANSPORT_TCP_PORT_H

#include "transport/port.h"
#include "transport/tcp/tcp.h"

/* A call to a port. The greeting ends it: with a connection, or an errno. */
struct mur_port_call {
    struct mur_address address;
    unsigned char secret[MUR_MAC_BYTES];
    int port;
    bool is_over;
    int error;
    struct mur_port_line line;
};

/* For greetings: the secret of the port of that number, or NULL; and a caller who has proved to know it. */
const unsigned char *mur_port_secret(int number);
void mur_port_arrived(int number, const struct mur_port_line *line);

#endif
