/* SPDX-License-Identifier: BSD-3-Clause */
/* What those above want of the network beside frames. There is one network, so these are plain functions (transport/tcp
 * has them); but for the first two, the network must be open (mur_engine.network).
 *
 * A port is where processes of other jobs may come in. It has a number and a fresh secret. Its name says both, and the
 * addresses of its process: whoever knows the name may connect, and nobody else. Who calls proves that (tcp/greet.c)
 * and waits, as a connection, until the port's process takes it. What the two then say to each other is up to those who
 * use the port; they get keys of this connection to seal that. */
#ifndef MUR_TRANSPORT_PORT_H
#define MUR_TRANSPORT_PORT_H

#include <stddef.h>

#include "transport/foreign.h"
#include "transport/transport.h"

/* ---- the launcher's answers, which the network takes when it makes progress ---- */

/* Somebody else has waited for the launcher: takes the answers to other questions that came meanwhile, and that nothing
 * tells of any more. Does nothing while the network is not open. */
void mur_port_take_answers(void);

/* From now on the launcher's answers end a sleep, whatever they are about. Does nothing while the network is not open:
 * then nobody waits in it. */
void mur_port_hear_launcher(void);

/* ---- sleeping ---- */

/* From now on a sleep also ends when these events of epoll are there, for a caller who looks himself. */
void mur_port_watch(int fd, uint32_t events);
void mur_port_unwatch(int fd);

/* ---- ports ---- */

struct mur_port;

/* Makes a port and writes its name, of `room` bytes at most. NULL: no memory. */
struct mur_port *mur_port_open(char *name, size_t room);
struct mur_port *mur_port_find(const char *name); /* of this process; NULL: it has none of that name */
void mur_port_close(struct mur_port *port);       /* those who wait are sent away */

/* A connection by a port, and the keys that its two ends have for it, one each way. */
struct mur_port_line {
    int fd;
    unsigned char send_key[MUR_MAC_BYTES], receive_key[MUR_MAC_BYTES];
};

/* The connection that waits for longest. False: none does. */
bool mur_port_take(struct mur_port *port, struct mur_port_line *line);

/* Calls the port of that name: 0, or an errno; EINVAL: it is no name of a port; EPROTONOSUPPORT: its process has
 * another MUR_TCP_SEAL. Makes progress meanwhile by `pass`. */
int mur_port_call(const char *name, struct mur_port_line *line, void (*pass)(void));

/* ---- processes of other jobs ---- */

/* Who this process is to them. */
const struct mur_identity *mur_port_identity(void);

/* Looks for the peer: finds out whether it is there. */
void mur_port_look_for(struct mur_peer *peer);

/* Parts from the peer; asked again until it is true. */
bool mur_port_part(struct mur_peer *peer);

/* The peer, of which somebody says that it has ended, is lost. */
void mur_port_lose(struct mur_peer *peer);

/* Whether nothing connects this process with the peer, nor is under way to it; then its number may be another's. */
bool mur_port_has_parted(const struct mur_peer *peer);
void mur_port_forget(struct mur_peer *peer);

#endif
