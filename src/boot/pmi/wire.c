/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes to and from the launcher.
 *
 * The descriptor may have been made non-blocking by the launcher or by another program that shares it, so every wait
 * is a poll. Answers are read into one buffer that grows up to a limit; bytes beyond the answer asked for stay for the
 * next one. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

enum { LONGEST_REPLY = 4 << 20, FIRST_BUFFER = 4096 };

static int wait_for(struct mur_pmi *pmi, short event)
{
    struct pollfd wait = {.fd = pmi->fd, .events = event};
    int ready;

    do
        ready = poll(&wait, 1, pmi->deadline_ms);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return mur_error(MPI_ERR_OTHER, "the launcher did not answer within %d seconds", pmi->deadline_ms / 1000);
    if (ready < 0)
        return mur_error(MPI_ERR_OTHER, "cannot wait for the launcher: %s", strerror(errno));
    return MPI_SUCCESS;
}

int mur_pmi_wire_send(struct mur_pmi *pmi, const char *command, size_t length)
{
    int rc;

    while (length > 0) {
        ssize_t sent = send(pmi->fd, command, length, MSG_NOSIGNAL);

        if (sent >= 0) {
            command += sent;
            length -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            rc = wait_for(pmi, POLLOUT);
            if (rc)
                return rc;
        } else if (errno != EINTR) {
            return mur_error(MPI_ERR_OTHER, "cannot send to the launcher: %s", strerror(errno));
        }
    }
    return MPI_SUCCESS;
}

/* Makes room for `more` bytes behind those that are not read yet. */
static int make_room(struct mur_pmi *pmi, size_t more)
{
    size_t kept = pmi->reply_end - pmi->reply_at, size = pmi->reply_size ? pmi->reply_size : FIRST_BUFFER;
    char *moved;

    if (pmi->reply_at > 0)
        memmove(pmi->reply, pmi->reply + pmi->reply_at, kept);
    pmi->reply_at = 0;
    pmi->reply_end = kept;
    if (kept + more > LONGEST_REPLY)
        return mur_error(MPI_ERR_OTHER, "the launcher's answer is longer than %d bytes", LONGEST_REPLY);
    while (size < kept + more)
        size *= 2;
    if (size == pmi->reply_size)
        return MPI_SUCCESS;
    moved = realloc(pmi->reply, size);
    if (!moved)
        return mur_pmi_no_memory();
    pmi->reply = moved;
    pmi->reply_size = size;
    return MPI_SUCCESS;
}

static int read_more(struct mur_pmi *pmi)
{
    int rc = wait_for(pmi, POLLIN);
    ssize_t got;

    if (rc)
        return rc;
    got = read(pmi->fd, pmi->reply + pmi->reply_end, pmi->reply_size - pmi->reply_end);
    if (got > 0) {
        pmi->reply_end += (size_t)got;
        return MPI_SUCCESS;
    }
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return MPI_SUCCESS;
    if (got < 0)
        return mur_error(MPI_ERR_OTHER, "cannot read the launcher's answer: %s", strerror(errno));
    return mur_error(MPI_ERR_OTHER, "the launcher closed its connection to this process");
}

int mur_pmi_wire_line(struct mur_pmi *pmi, char **line)
{
    size_t searched = 0;
    char *end = NULL;
    int rc;

    for (;;) {
        if (pmi->reply_end > pmi->reply_at + searched)
            end = memchr(pmi->reply + pmi->reply_at + searched, '\n', pmi->reply_end - pmi->reply_at - searched);
        if (end)
            break;
        searched = pmi->reply_end - pmi->reply_at;
        rc = make_room(pmi, 1024);
        if (!rc)
            rc = read_more(pmi);
        if (rc)
            return rc;
    }
    *line = pmi->reply + pmi->reply_at;
    pmi->reply_at = (size_t)(end + 1 - pmi->reply);
    *end = '\0';
    if (strlen(*line) != (size_t)(end - *line))
        return mur_error(MPI_ERR_OTHER, "the launcher's answer has a zero byte in it");
    return MPI_SUCCESS;
}

/* The byte behind the text may be the next answer's first: it is moved on by one, which make_room left space for. */
int mur_pmi_wire_bytes(struct mur_pmi *pmi, size_t length, char **text)
{
    int rc = make_room(pmi, length + 1);

    while (!rc && pmi->reply_end - pmi->reply_at < length)
        rc = read_more(pmi);
    if (rc)
        return rc;
    if (pmi->reply_end == pmi->reply_size) {
        rc = make_room(pmi, 1);
        if (rc)
            return rc;
    }
    *text = pmi->reply + pmi->reply_at;
    memmove(*text + length + 1, *text + length, pmi->reply_end - pmi->reply_at - length);
    (*text)[length] = '\0';
    pmi->reply_at += length + 1;
    pmi->reply_end++;
    return MPI_SUCCESS;
}

static int split_address(const char *address, char *host, size_t bytes, const char **port)
{
    const char *colon = strrchr(address, ':');

    if (!colon || colon == address || (size_t)(colon - address) >= bytes || !colon[1])
        return mur_error(MPI_ERR_OTHER, "the launcher's variable PMI_PORT is '%s', but must be HOST:PORT", address);
    *port = colon + 1;
    if (address[0] == '[' && colon[-1] == ']')
        address++, colon--; /* an IPv6 address */
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = '\0';
    return MPI_SUCCESS;
}

/* Some containers cannot find their own name: then it is this machine. Returns as getaddrinfo does. */
static int look_up(const char *host, const char *port, struct addrinfo **found)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    int rc = getaddrinfo(host, port, &hints, found);
    char own[256] = "";

    if (rc && gethostname(own, sizeof own - 1) == 0 && strcmp(host, own) == 0)
        return getaddrinfo(NULL, port, &hints, found);
    return rc;
}

int mur_pmi_wire_connect(struct mur_pmi *pmi, const char *address)
{
    struct addrinfo *found;
    const char *port = NULL;
    char host[256];
    int rc = split_address(address, host, sizeof host, &port), error = 0;

    if (rc)
        return rc;
    rc = look_up(host, port, &found);
    if (rc)
        return mur_error(MPI_ERR_OTHER, "cannot find the launcher's host '%s' (PMI_PORT=%s): %s", host, address,
                         gai_strerror(rc));
    for (struct addrinfo *one = found; one && pmi->fd < 0; one = one->ai_next) {
        pmi->fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (pmi->fd >= 0 && connect(pmi->fd, one->ai_addr, one->ai_addrlen) == 0)
            break;
        error = errno;
        mur_pmi_wire_close(pmi);
    }
    freeaddrinfo(found);
    if (pmi->fd < 0)
        return mur_error(MPI_ERR_OTHER, "cannot connect to the launcher at PMI_PORT=%s: %s", address, strerror(error));
    return MPI_SUCCESS;
}

void mur_pmi_wire_close(struct mur_pmi *pmi)
{
    if (pmi->fd >= 0)
        close(pmi->fd);
    pmi->fd = -1;
}
