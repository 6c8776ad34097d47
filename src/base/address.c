/* SPDX-License-Identifier: BSD-3-Clause */
/* Own addresses, their order, and listening.
 *
 * All addresses of interfaces that are up are published. MUR_TCP_INCLUDE and MUR_TCP_EXCLUDE are lists of interfaces'
 * names, or of networks like 10.1.0.0/16 or fd00::/8: with the first, only those that match are used, with the second,
 * none that match. A peer's addresses in a network that this host is in too come first; those of bridges that
 * virtual machines and containers make, which are often the same on every host, come last. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"

enum { LISTEN_QUEUE = 1024, ANY_PORT_TRIES = 16 };

static const char *const own_bridges[] = {"docker", "virbr", "br-", "veth", "cni", "lxc", "podman", "cali", "flannel"};

static bool read_socket(const struct sockaddr *in, struct mur_address *out)
{
    *out = (struct mur_address){.family = in->sa_family};
    if (in->sa_family == AF_INET)
        memcpy(out->bytes, &((const struct sockaddr_in *)(const void *)in)->sin_addr, 4);
    else if (in->sa_family == AF_INET6)
        memcpy(out->bytes, &((const struct sockaddr_in6 *)(const void *)in)->sin6_addr, 16);
    else
        return false;
    return true;
}

socklen_t mur_address_socket(const struct mur_address *address, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof *out);
    out->ss_family = address->family;
    if (address->family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;

        in->sin_port = htons(address->port);
        memcpy(&in->sin_addr, address->bytes, 4);
        return sizeof *in;
    } else {
        struct sockaddr_in6 *in = (struct sockaddr_in6 *)out;

        in->sin6_port = htons(address->port);
        memcpy(&in->sin6_addr, address->bytes, 16);
        return sizeof *in;
    }
}

bool mur_address_of_socket(struct mur_address *address, const struct sockaddr_storage *in)
{
    *address = (struct mur_address){.family = in->ss_family};
    if (in->ss_family == AF_INET) {
        const struct sockaddr_in *name = (const struct sockaddr_in *)in;

        address->port = ntohs(name->sin_port);
        memcpy(address->bytes, &name->sin_addr, 4);
    } else if (in->ss_family == AF_INET6) {
        const struct sockaddr_in6 *name = (const struct sockaddr_in6 *)in;
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(&name->sin6_addr);

        address->family = is_mapped ? AF_INET : AF_INET6;
        address->port = ntohs(name->sin6_port);
        if (is_mapped)
            memcpy(address->bytes, &name->sin6_addr.s6_addr[12], 4);
        else
            memcpy(address->bytes, &name->sin6_addr, 16);
    }
    return in->ss_family == AF_INET || in->ss_family == AF_INET6;
}

const char *mur_address_text(const struct mur_address *address, char text[64])
{
    char name[INET6_ADDRSTRLEN] = "?";

    inet_ntop(address->family, address->bytes, name, sizeof name);
    snprintf(text, 64, address->family == AF_INET6 ? "[%s]:%u" : "%s:%u", name, address->port);
    return text;
}

bool mur_address_read(const char *text, struct mur_address *address)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    char name[INET6_ADDRSTRLEN + 2], *end;
    unsigned long port;

    if (!colon || length < 2 || length >= sizeof name)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    port = strtoul(colon + 1, &end, 10);
    if (*end || end == colon + 1 || !port || port > 65535)
        return false;
    *address = (struct mur_address){.family = *name == '[' ? AF_INET6 : AF_INET, .port = (uint16_t)port};
    if (*name != '[')
        return inet_pton(AF_INET, name, address->bytes) == 1;
    if (name[length - 1] != ']')
        return false;
    name[length - 1] = '\0';
    return inet_pton(AF_INET6, name + 1, address->bytes) == 1;
}

static bool is_loopback(const struct mur_address *address)
{
    static const unsigned char one[16] = {[15] = 1};

    return address->family == AF_INET ? address->bytes[0] == 127 : memcmp(address->bytes, one, 16) == 0;
}

/* fe80::/10 needs the name of an interface of this host to be used. */
static bool is_link_local(const struct mur_address *address)
{
    return address->family == AF_INET6 && address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

static bool same_network(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    if (memcmp(a, b, bits / 8) != 0)
        return false;
    return bits % 8 == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - bits % 8)) == 0;
}

static unsigned mask_bits(const struct sockaddr *mask)
{
    struct mur_address address;
    unsigned bits = 0;

    if (!mask || !read_socket(mask, &address))
        return 128;
    while (bits < 128 && address.bytes[bits / 8] & (0x80 >> bits % 8))
        bits++;
    return bits;
}

/* Whether an item of a list, "eth0" or "10.0.0.0/8", means this address of this interface. */
static bool item_matches(const char *item, size_t length, const char *interface, const struct mur_address *address)
{
    unsigned char network[16];
    char text[80];
    char *slash, *end;
    unsigned long bits;

    if (strlen(interface) == length && strncmp(item, interface, length) == 0)
        return true;
    if (length >= sizeof text)
        return false;
    memcpy(text, item, length);
    text[length] = '\0';
    slash = strchr(text, '/');
    if (slash)
        *slash++ = '\0';
    if (inet_pton(address->family, text, network) != 1)
        return false;
    bits = slash ? strtoul(slash, &end, 10) : 128;
    if (slash && (*end || end == slash))
        return false;
    if (bits > (address->family == AF_INET ? 32u : 128u))
        bits = address->family == AF_INET ? 32 : 128;
    return same_network(network, address->bytes, (unsigned)bits);
}

static bool list_matches(const char *list, const char *interface, const struct mur_address *address)
{
    while (*list) {
        size_t length = strcspn(list, ",");

        if (item_matches(list, length, interface, address))
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static const char *list_of(const char *name)
{
    const char *text = getenv(name);

    return text ? text : "";
}

static bool is_wanted(const char *interface, const struct mur_address *address)
{
    const char *include = list_of("MUR_TCP_INCLUDE");

    if (*include && !list_matches(include, interface, address))
        return false;
    return !list_matches(list_of("MUR_TCP_EXCLUDE"), interface, address);
}

/* Less is better. */
static int rank_of_interface(const char *interface, const struct mur_address *address)
{
    if (is_loopback(address))
        return 3;
    for (size_t i = 0; i < sizeof own_bridges / sizeof own_bridges[0]; i++)
        if (strncmp(interface, own_bridges[i], strlen(own_bridges[i])) == 0)
            return 2;
    return address->family == AF_INET6;
}

size_t mur_addresses_own(struct mur_address *addresses, size_t room, uint16_t port)
{
    struct ifaddrs *list = NULL;
    size_t count = 0;

    if (getifaddrs(&list))
        return 0;
    for (int rank = 0; rank < 4; rank++)
        for (struct ifaddrs *at = list; at && count < room; at = at->ifa_next) {
            struct mur_address address;

            if (!at->ifa_addr || !(at->ifa_flags & IFF_UP) || !read_socket(at->ifa_addr, &address) ||
                is_link_local(&address) || rank_of_interface(at->ifa_name, &address) != rank ||
                !is_wanted(at->ifa_name, &address))
                continue;
            address.port = port;
            addresses[count++] = address;
        }
    freeifaddrs(list);
    return count;
}

/* Whether this host is in the address's network; on the loopback interface, all hosts are. */
static bool is_near(const struct mur_address *address, const struct ifaddrs *list)
{
    for (const struct ifaddrs *at = list; at; at = at->ifa_next) {
        struct mur_address own;

        if (at->ifa_addr && at->ifa_flags & IFF_UP && read_socket(at->ifa_addr, &own) &&
            own.family == address->family && same_network(own.bytes, address->bytes, mask_bits(at->ifa_netmask)))
            return true;
    }
    return false;
}

/* Loopback addresses lead to this very host: they come first for peers on it, and are the last resort otherwise, where
 * whoever answers can hardly prove that it is the peer. */
static int place_of(const struct mur_address *address, const struct ifaddrs *list, bool is_same_host)
{
    if (is_loopback(address))
        return is_same_host ? 0 : 3;
    return is_near(address, list) ? 1 : 2;
}

int mur_addresses_order(struct mur_address *addresses, int count, bool is_same_host)
{
    struct mur_address ordered[MUR_ADDRESSES_MAX];
    struct ifaddrs *list = NULL;
    int kept = 0;

    if (getifaddrs(&list))
        list = NULL;
    for (int place = 0; place < 3 || (place < 4 && !kept); place++)
        for (int i = 0; i < count; i++)
            if (place_of(&addresses[i], list, is_same_host) == place)
                ordered[kept++] = addresses[i];
    freeifaddrs(list);
    memcpy(addresses, ordered, (size_t)kept * sizeof *addresses);
    return kept;
}

/* ---- listening ---- */

/* The ports that may be used, by MUR_TCP_PORTS or MPICH's name for it, "first:last"; 0 to 0: any. */
static bool port_range(unsigned *first, unsigned *last)
{
    const char *text = getenv("MUR_TCP_PORTS");

    *first = *last = 0;
    if (!text || !*text)
        text = getenv("MPIEXEC_PORT_RANGE");
    if (!text || !*text)
        return true;
    return (sscanf(text, "%u:%u", first, last) == 2 || sscanf(text, "%u-%u", first, last) == 2) && *first &&
           *first <= *last && *last <= 65535;
}

/* One socket for both families where the system has IPv6. */
static int open_for_all(struct mur_address *address)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), off = 0;

    *address = (struct mur_address){.family = AF_INET6};
    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    address->family = AF_INET;
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int open_for_one(const struct mur_address *address)
{
    int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd >= 0 && address->family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    return fd;
}

/* Connections that were accepted here and closed from here stay known to the system for a minute; only if they and the
 * listener allow others to share the port can the listener listen again meanwhile. Said after bind, so that bind itself
 * shares no port with another process. */
static bool listen_on(int fd)
{
    int on = 1;

    return listen(fd, LISTEN_QUEUE) == 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
}

/* At this address, or at all (NULL). `is_again`: connections that an earlier listener left behind there are no
 * obstacle, another listener still is. -1 with errno. */
static int listen_at(const struct mur_address *at, uint16_t port, bool is_again)
{
    struct mur_address address;
    struct sockaddr_storage name;
    socklen_t length;
    int fd, error, on = 1;

    if (at)
        address = *at;
    fd = at ? open_for_one(at) : open_for_all(&address);
    if (fd < 0)
        return -1;
    address.port = port;
    length = mur_address_socket(&address, &name);
    if (is_again)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&name, length) == 0 && listen_on(fd))
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool mur_address_listen_again(int fd)
{
    return listen_on(fd);
}

/* At all these addresses, with one port. An address that the host has lost meanwhile is left out. Returns how many
 * sockets; 0 with errno. */
static int listen_at_all(const struct mur_address *addresses, size_t count, int fds[MUR_ADDRESSES_MAX], uint16_t port,
                         bool is_again)
{
    int opened = 0, error = EADDRNOTAVAIL;

    for (size_t i = 0; i < count; i++) {
        int fd = listen_at(&addresses[i], port, is_again);

        if (fd >= 0) {
            fds[opened++] = fd;
        } else if (errno != EADDRNOTAVAIL) {
            error = errno;
            while (opened)
                close(fds[--opened]);
            errno = error;
            return 0;
        }
    }
    errno = error;
    return opened;
}

/* One that is free now; 0 with errno. A socket that is then bound to it by its number keeps it while it does not
 * listen, which one that was bound to any port does not. */
static uint16_t free_port(void)
{
    struct mur_address address;
    struct sockaddr_storage name;
    socklen_t length;
    int fd = open_for_all(&address);
    uint16_t port = 0;

    if (fd < 0)
        return 0;
    length = mur_address_socket(&address, &name);
    if (bind(fd, (struct sockaddr *)&name, length) == 0 && getsockname(fd, (struct sockaddr *)&name, &length) == 0)
        port = ntohs(address.family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
                                                : ((struct sockaddr_in *)&name)->sin_port);
    close(fd);
    return port;
}

static int listen_everywhere(int fds[MUR_ADDRESSES_MAX], uint16_t port, bool is_again)
{
    struct mur_address own[MUR_ADDRESSES_MAX];

    if (*list_of("MUR_TCP_INCLUDE") || *list_of("MUR_TCP_EXCLUDE"))
        return listen_at_all(own, mur_addresses_own(own, MUR_ADDRESSES_MAX, 0), fds, port, is_again);
    return (fds[0] = listen_at(NULL, port, is_again)) >= 0;
}

int mur_addresses_listen_at(int fds[MUR_ADDRESSES_MAX], uint16_t port)
{
    return listen_everywhere(fds, port, true);
}

int mur_addresses_listen(int fds[MUR_ADDRESSES_MAX], uint16_t *port)
{
    unsigned first, last;
    int opened = 0;

    if (!port_range(&first, &last)) {
        errno = EINVAL;
        return 0;
    }
    if (!first) /* any; somebody else may take it at once */
        last = ANY_PORT_TRIES;
    errno = EADDRINUSE;
    for (unsigned at = first; at <= last && !opened && errno == EADDRINUSE; at++) {
        *port = first ? (uint16_t)at : free_port();
        if (!*port)
            return 0;
        opened = listen_everywhere(fds, *port, false);
    }
    return opened;
}
