/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI at a port (-pmi-port): programs of other libraries find it by PMI_PORT and say which rank they are (PMI_ID) in
 * the first line, "cmd=initack pmiid=3", instead of inheriting a descriptor. The port is this host's alone (127.0.0.1),
 * and only processes of this user are heard. The first line stays in the socket, for the rank's server to read. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/say.h"

struct caller { /* that has not said yet who it is */
    struct mur_agent *agent;
    struct mur_watch watch;
};

/* The user whose socket the other end is, as the kernel's table of connections says. */
static bool is_own_user(const struct sockaddr_in *caller, uint16_t port)
{
    char line[256];
    FILE *table = fopen("/proc/net/tcp", "re");
    bool is_own = false;

    while (table && fgets(line, sizeof line, table)) {
        unsigned local, local_port, remote, remote_port, state, user;

        if (sscanf(line, "%*d: %x:%x %x:%x %x %*x:%*x %*x:%*x %*x %u", &local, &local_port, &remote, &remote_port,
                   &state, &user) == 6 &&
            local == caller->sin_addr.s_addr && local_port == ntohs(caller->sin_port) && remote_port == port)
            is_own = user == geteuid();
    }
    if (table)
        fclose(table);
    return is_own;
}

static void forget(struct caller *caller)
{
    mur_loop_unwatch(caller->agent->loop, &caller->watch);
    free(caller);
}

static int appnum_of(const struct mur_jobspec *job, int rank)
{
    int appnum = 0;

    while (rank >= job->contexts[appnum].ranks)
        rank -= job->contexts[appnum++].ranks;
    return appnum;
}

/* Gives the connection to the rank, unless that has one, or is none of ours. */
static bool connect_rank(struct mur_agent *agent, int number, int fd)
{
    const struct mur_jobspec *job = agent->job;
    int index;

    if (number < 0 || number >= job->size || job->node_of[number] != agent->node)
        return false;
    index = job->local_of[number];
    if (agent->pmi.ranks[index].server || !agent->ranks[index].pid)
        return false;
    mur_pmi_ranks_add(&agent->pmi, index, number, appnum_of(job, number), fd);
    return true;
}

static void caller_ready(void *owner)
{
    struct caller *caller = owner;
    struct mur_agent *agent = caller->agent;
    int fd = caller->watch.fd, number = -1;
    char line[128], *id;
    ssize_t got = recv(fd, line, sizeof line - 1, MSG_PEEK | MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    line[got > 0 ? got : 0] = '\0';
    id = strncmp(line, "cmd=initack", 11) == 0 && strchr(line, '\n') ? strstr(line, "pmiid=") : NULL;
    if (id)
        number = atoi(id + 6);
    forget(caller);
    if (!id || !connect_rank(agent, number, fd))
        close(fd);
}

static void port_ready(void *owner)
{
    struct mur_agent *agent = owner;
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    int fd = accept4(agent->pmi_port.fd, (struct sockaddr *)&name, &length, SOCK_CLOEXEC);
    struct caller *caller;

    if (fd < 0)
        return;
    if (!is_own_user(&name, agent->pmi_port_number)) {
        close(fd);
        return;
    }
    caller = mur_alloc(1, sizeof *caller);
    *caller = (struct caller){.agent = agent};
    caller->watch = (struct mur_watch){.fd = fd, .ready = caller_ready, .owner = caller};
    mur_loop_watch(agent->loop, &caller->watch, EPOLLIN);
}

int mur_agent_pmi_port(struct mur_agent *agent)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int fd;

    if (!agent->job->starting.has_pmi_port)
        return 0;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, length) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &length) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot open a port for PMI: %s", strerror(errno));
    agent->pmi_port = (struct mur_watch){.fd = fd, .ready = port_ready, .owner = agent};
    agent->pmi_port_number = ntohs(name.sin_port);
    mur_loop_watch(agent->loop, &agent->pmi_port, EPOLLIN);
    return agent->pmi_port_number;
}
