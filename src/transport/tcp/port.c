/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of this process, and calling another's. A name is
 *   murmur:<number>:<secret, in hexadecimal>:<machine>:<address>,<address>,... */
#include "transport/tcp/port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"

#define PREFIX "murmur:"

enum { WAITING_MAX = 1024 }; /* callers that wait at a port; further ones are sent away */

struct mur_port {
    LIST_ENTRY(mur_port) in_ports;
    int number;
    unsigned char secret[MUR_MAC_BYTES];
    char *name;
    struct mur_port_line *waiting; /* oldest first */
    int waiting_count;
};

static LIST_HEAD(, mur_port) ports = LIST_HEAD_INITIALIZER(ports);

/* ---- names ---- */

static void write_name(const struct mur_port *port, char *name, size_t room)
{
    const struct mur_identity *own = &mur_tcp.own;
    char secret[2 * MUR_MAC_BYTES + 1];
    size_t used;

    mur_secret_write(secret, port->secret, sizeof port->secret);
    used = (size_t)snprintf(name, room, PREFIX "%d:%s:%llx:", port->number, secret, (unsigned long long)own->machine);
    for (int i = 0; i < own->address_count; i++) {
        char address[64];

        mur_address_text(&own->addresses[i], address);
        if (used + strlen(address) + 2 > room)
            break;
        used += (size_t)snprintf(name + used, room - used, "%s%s", i ? "," : "", address);
    }
}

struct destination {
    int number;
    unsigned char secret[MUR_MAC_BYTES];
    struct mur_address addresses[MUR_ADDRESSES_MAX];
    int count;
};

static bool read_name(const char *name, struct destination *to)
{
    char copy[1024], *rest, *word;
    unsigned long long machine;
    int secret = 0, addresses = 0;

    *to = (struct destination){.number = -1};
    if (strlen(name) >= sizeof copy || sscanf(name, PREFIX "%9d:%n", &to->number, &secret) != 1 || !secret ||
        !mur_secret_read(name + secret, to->secret, sizeof to->secret) ||
        sscanf(name + secret + 2 * MUR_MAC_BYTES, ":%16llx:%n", &machine, &addresses) != 1 || !addresses)
        return false;
    strcpy(copy, name + secret + 2 * MUR_MAC_BYTES + addresses);
    for (word = strtok_r(copy, ",", &rest); word && to->count < MUR_ADDRESSES_MAX; word = strtok_r(NULL, ",", &rest))
        if (!mur_address_read(word, &to->addresses[to->count++]))
            return false;
    to->count = mur_addresses_order(to->addresses, to->count, machine == mur_tcp.own.machine);
    return to->count > 0;
}

/* ---- the ports of this process ---- */

struct mur_port *mur_port_open(char *name, size_t room)
{
    struct mur_port *port = calloc(1, sizeof *port);
    static int last;

    if (!port)
        return NULL;
    port->number = ++last;
    mur_secret_random(port->secret, sizeof port->secret);
    write_name(port, name, room);
    port->name = strdup(name);
    if (!port->name) {
        free(port);
        return NULL;
    }
    LIST_INSERT_HEAD(&ports, port, in_ports);
    return port;
}

struct mur_port *mur_port_find(const char *name)
{
    struct mur_port *port;

    LIST_FOREACH(port, &ports, in_ports)
    if (strcmp(port->name, name) == 0)
        return port;
    return NULL;
}

static struct mur_port *find_number(int number)
{
    struct mur_port *port;

    LIST_FOREACH(port, &ports, in_ports)
    if (port->number == number)
        return port;
    return NULL;
}

void mur_port_close(struct mur_port *port)
{
    for (int i = 0; i < port->waiting_count; i++)
        close(port->waiting[i].fd);
    LIST_REMOVE(port, in_ports);
    free(port->waiting);
    free(port->name);
    free(port);
}

bool mur_port_take(struct mur_port *port, struct mur_port_line *line)
{
    if (!port->waiting_count)
        return false;
    *line = port->waiting[0];
    memmove(port->waiting, port->waiting + 1, (size_t)--port->waiting_count * sizeof *port->waiting);
    return true;
}

const unsigned char *mur_port_secret(int number)
{
    const struct mur_port *port = find_number(number);

    return port && port->waiting_count < WAITING_MAX ? port->secret : NULL;
}

void mur_port_arrived(int number, const struct mur_port_line *line)
{
    struct mur_port *port = find_number(number);
    struct mur_port_line *more = port ? realloc(port->waiting, (size_t)(port->waiting_count + 1) * sizeof *more) : NULL;

    if (!more) {
        close(line->fd);
        return;
    }
    port->waiting = more;
    port->waiting[port->waiting_count++] = *line;
}

/* ---- calling ---- */

int mur_port_call(const char *name, struct mur_port_line *line, void (*pass)(void))
{
    struct destination to;
    int error = 0;

    if (!read_name(name, &to))
        return EINVAL;
    for (int i = 0; i < to.count; i++) {
        struct mur_port_call call = {.address = to.addresses[i], .port = to.number};

        memcpy(call.secret, to.secret, sizeof call.secret);
        if (!mur_greet_call_port(&call, 1000u * (uint64_t)mur_settings.tcp_timeout)) {
            error = errno;
            continue;
        }
        while (!call.is_over)
            pass();
        if (!call.error) {
            *line = call.line;
            return 0;
        }
        error = call.error;
    }
    return error;
}

/* ---- what else is wanted of the network ---- */

void mur_port_take_answers(void)
{
    if (mur_engine.network)
        mur_link_answers();
}

void mur_port_watch(int fd, uint32_t events)
{
    mur_tcp_watch(fd, events, MUR_TCP_TALK, &mur_tcp, true);
}

void mur_port_unwatch(int fd)
{
    mur_tcp_unwatch(fd);
}

const struct mur_identity *mur_port_identity(void)
{
    return &mur_tcp.own;
}

void mur_port_look_for(struct mur_peer *peer)
{
    mur_link_of(peer);
}

bool mur_port_has_parted(const struct mur_peer *peer)
{
    return mur_link_is_over(peer->link);
}
