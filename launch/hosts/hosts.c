/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of hosts, and which of them are this machine.
 *
 * Nothing is looked up in the network for that: a name server that does not answer must not hold up a job on one
 * machine. A host whose name tells nothing is taken for another one, and reaching ourselves that way works as well. */
#include "launch/hosts/hosts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launch/alloc.h"

bool mur_problem_set(struct mur_problem *problem, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    return false;
}

/* ---- the list ---- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static struct mur_host *find(const struct mur_hosts *hosts, const struct mur_host *host)
{
    for (int i = hosts->count - 1; i >= 0; i--) { /* most often it is the last one */
        struct mur_host *other = &hosts->items[i];

        if (other->port == host->port && strcmp(other->name, host->name) == 0 && is_same_text(other->user, host->user))
            return other;
    }
    return NULL;
}

static bool add_slots(struct mur_host *known, const struct mur_host *more, struct mur_problem *problem)
{
    if (known->slots > MUR_SLOTS_MAX - more->slots)
        return mur_problem_set(problem, "host %s has more than %d slots in all", known->name, MUR_SLOTS_MAX);
    known->slots += more->slots;
    known->has_slots |= more->has_slots;
    if (more->max_slots)
        known->max_slots = more->max_slots;
    return true;
}

bool mur_hosts_add(struct mur_hosts *hosts, const struct mur_host *host, struct mur_problem *problem)
{
    struct mur_host *known = find(hosts, host);

    if (known)
        return add_slots(known, host, problem);
    if (hosts->count == MUR_HOSTS_MAX)
        return mur_problem_set(problem, "there are more than %d hosts", MUR_HOSTS_MAX);
    if (hosts->count == hosts->space) {
        hosts->space = hosts->space ? hosts->space * 2 : 16;
        hosts->items = mur_alloc_again(hosts->items, (size_t)hosts->space, sizeof *hosts->items);
    }
    known = &hosts->items[hosts->count++];
    *known = *host;
    known->name = mur_alloc_text("%s", host->name);
    known->user = host->user ? mur_alloc_text("%s", host->user) : NULL;
    return true;
}

/* ---- this machine ---- */

static bool is_loopback(const char *name)
{
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, name, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, name, &six) == 1)
        return IN6_IS_ADDR_LOOPBACK(&six);
    return strcasecmp(name, "localhost") == 0 || strcasecmp(name, "localhost.localdomain") == 0;
}

static bool has_address(const struct ifaddrs *interface, const char *name)
{
    char text[INET6_ADDRSTRLEN];
    const void *address;

    if (!interface->ifa_addr)
        return false;
    if (interface->ifa_addr->sa_family == AF_INET)
        address = &((const struct sockaddr_in *)(const void *)interface->ifa_addr)->sin_addr;
    else if (interface->ifa_addr->sa_family == AF_INET6)
        address = &((const struct sockaddr_in6 *)(const void *)interface->ifa_addr)->sin6_addr;
    else
        return false;
    return inet_ntop(interface->ifa_addr->sa_family, address, text, sizeof text) && strcasecmp(text, name) == 0;
}

/* Whether one of our interfaces has this address, however it is written. */
static bool is_own_address(const struct ifaddrs *interfaces, const char *name)
{
    unsigned char binary[sizeof(struct in6_addr)];
    char text[INET6_ADDRSTRLEN];
    int family = strchr(name, ':') ? AF_INET6 : AF_INET;

    if (inet_pton(family, name, binary) != 1 || !inet_ntop(family, binary, text, sizeof text))
        return false;
    for (; interfaces; interfaces = interfaces->ifa_next)
        if (has_address(interfaces, text))
            return true;
    return false;
}

/* Equal, or one is the other without its domain. */
static bool is_same_name(const char *a, const char *b)
{
    size_t length_a = strcspn(a, ".");
    size_t length_b = strcspn(b, ".");

    if (strcasecmp(a, b) == 0)
        return true;
    return length_a == length_b && (!a[length_a] || !b[length_b]) && strncasecmp(a, b, length_a) == 0;
}

static bool is_local(const struct mur_host *host, const char *own_name, const struct ifaddrs *interfaces)
{
    const char *own_user = getenv("LOGNAME");
    const char *slurm_name = getenv("SLURMD_NODENAME"); /* Slurm's names of nodes need not be hostnames */

    if (host->port || (host->user && (!own_user || strcmp(host->user, own_user) != 0)))
        return false;
    return is_loopback(host->name) || is_same_name(host->name, own_name) || is_own_address(interfaces, host->name) ||
           (slurm_name && strcmp(host->name, slurm_name) == 0);
}

void mur_hosts_find_local(struct mur_hosts *hosts, const char *own_name)
{
    struct mur_problem ignored; /* too many slots: then the first names have enough */
    struct mur_host *first = NULL;
    struct ifaddrs *interfaces = NULL; /* stays so where they cannot be had: then names must do */
    int kept = 0;

    getifaddrs(&interfaces);
    for (int i = 0; i < hosts->count; i++) {
        struct mur_host host = hosts->items[i];

        host.is_local = is_local(&host, own_name, interfaces);
        if (host.is_local && first) {
            add_slots(first, &host, &ignored);
            continue;
        }
        hosts->items[kept] = host;
        if (host.is_local)
            first = &hosts->items[kept];
        kept++;
    }
    hosts->count = kept;
    if (interfaces)
        freeifaddrs(interfaces);
}
