/* SPDX-License-Identifier: BSD-3-Clause */
/* The network addresses that a process can be called at, and the order in which to try another's.
 *
 * MUR_TCP_INCLUDE and MUR_TCP_EXCLUDE, lists of interfaces' names or of networks like 10.1.0.0/16, choose among this
 * host's; MUR_TCP_PORTS (or MPIEXEC_PORT_RANGE), first:last, among the ports. */
#ifndef MUR_BASE_ADDRESS_H
#define MUR_BASE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { MUR_ADDRESSES_MAX = 16 };

struct mur_address {
    uint16_t family; /* AF_INET, AF_INET6 */
    uint16_t port;
    unsigned char bytes[16];
};

/* This host's addresses that may be used, with that port, best first; returns how many. */
size_t mur_addresses_own(struct mur_address *addresses, size_t room, uint16_t port);

/* Puts another's addresses into the order in which to try them, and returns how many are left: loopback addresses are
 * only for who is on the same host, or has no others. */
int mur_addresses_order(struct mur_address *addresses, int count, bool is_same_host);

/* As 10.0.0.1:4000 or [fd00::1]:4000; and back. */
bool mur_address_read(const char *text, struct mur_address *address);
const char *mur_address_text(const struct mur_address *address, char text[64]);
socklen_t mur_address_socket(const struct mur_address *address, struct sockaddr_storage *out);
/* As a socket has it; an IPv4 address in IPv6's clothes becomes one of IPv4. False: of neither family. */
bool mur_address_of_socket(struct mur_address *address, const struct sockaddr_storage *in);

/* Sockets that listen at one port, non-blocking: one for all addresses, or, where MUR_TCP_INCLUDE or MUR_TCP_EXCLUDE
 * chooses, one for each address that may be used. Returns how many; 0 with errno. */
int mur_addresses_listen(int fds[MUR_ADDRESSES_MAX], uint16_t *port);
/* The same at this port and no other, even if connections to an earlier listener there are not over yet. */
int mur_addresses_listen_at(int fds[MUR_ADDRESSES_MAX], uint16_t port);
bool mur_address_listen_again(int fd); /* after it was shut down */

#endif
