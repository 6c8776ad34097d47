/* SPDX-License-Identifier: BSD-3-Clause */
/* A bad network for whole programs: a library to be loaded before others (LD_PRELOAD), which stands between the ranks'
 * TCP sockets and the system. By chance it
 *   splits  moves a part of what was asked for, often one byte;
 *   delays  says that nothing can be moved now, so that connections overtake each other;
 *   cuts    breaks the connection, with what is under way in both directions.
 * TEST_FAULTS has how often: SPLIT:DELAY:CUT, one in so many calls each; 0 is never. MUR_TEST_SEED chooses the numbers;
 * each process has its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "draw.h"

enum fault { PASS, SPLIT, DELAY, CUT };

static unsigned one_in[CUT + 1], state;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_recv)(int fd, void *data, size_t bytes, int flags);
static ssize_t (*real_readv)(int fd, const struct iovec *vectors, int count);
static ssize_t (*real_send)(int fd, const void *data, size_t bytes, int flags);
static ssize_t (*real_sendmsg)(int fd, const struct msghdr *message, int flags);
static ssize_t (*real_splice)(int in, off64_t *in_at, int out, off64_t *out_at, size_t bytes, unsigned flags);

static void find(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
    if (!*(void **)function)
        abort();
}

__attribute__((constructor)) static void start(void)
{
    const char *faults = getenv("TEST_FAULTS"), *rank = getenv("PMI_RANK");

    if (faults)
        sscanf(faults, "%u:%u:%u", &one_in[SPLIT], &one_in[DELAY], &one_in[CUT]);
    state = draw_seed() + 7919u * (rank ? (unsigned)atoi(rank) + 1 : 0);
    find(&real_recv, "recv");
    find(&real_readv, "readv");
    find(&real_send, "send");
    find(&real_sendmsg, "sendmsg");
    find(&real_splice, "splice");
}

static bool is_tcp(int fd)
{
    int domain = 0, type = 0;
    socklen_t length = sizeof domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && (domain == AF_INET || domain == AF_INET6) &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

/* What happens to a call that would move `bytes`; *bytes is then what it may move. A call that may wait is no link's.
 */
static enum fault next(int fd, size_t *bytes, bool may_wait)
{
    enum fault fault = PASS;
    int number = errno;

    if (may_wait || *bytes == 0 || !is_tcp(fd)) {
        errno = number;
        return PASS;
    }
    pthread_mutex_lock(&guard);
    for (int i = SPLIT; i <= CUT; i++)
        if (one_in[i] && draw_next(&state) % one_in[i] == 0)
            fault = (enum fault)i;
    if (fault == SPLIT)
        *bytes = draw_next(&state) % 4 ? 1 + draw_next(&state) % *bytes : 1;
    pthread_mutex_unlock(&guard);
    if (fault == CUT)
        shutdown(fd, SHUT_RDWR);
    errno = fault == DELAY ? EAGAIN : number;
    return fault;
}

static bool is_blocking(int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static size_t sum_of(const struct iovec *vectors, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += vectors[i].iov_len;
    return bytes;
}

/* The first `bytes` of a list of vectors, which are more. Returns how many of `out` they need. */
static size_t cut_vectors(const struct iovec *vectors, size_t count, size_t bytes, struct iovec *out)
{
    size_t used = 0;

    for (; used < count && bytes; used++) {
        out[used] = vectors[used];
        if (out[used].iov_len > bytes)
            out[used].iov_len = bytes;
        bytes -= out[used].iov_len;
    }
    return used;
}

ssize_t recv(int fd, void *data, size_t bytes, int flags)
{
    if (!(flags & MSG_PEEK) && next(fd, &bytes, is_blocking(fd, flags)) == DELAY)
        return -1;
    return real_recv(fd, data, bytes, flags);
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    return next(fd, &bytes, is_blocking(fd, flags)) == DELAY ? -1 : real_send(fd, data, bytes, flags);
}

ssize_t readv(int fd, const struct iovec *vectors, int count)
{
    size_t bytes = sum_of(vectors, (size_t)count);
    struct iovec part[IOV_MAX];
    enum fault fault = next(fd, &bytes, is_blocking(fd, 0));

    if (fault == DELAY)
        return -1;
    if (fault != SPLIT)
        return real_readv(fd, vectors, count);
    return real_readv(fd, part, (int)cut_vectors(vectors, (size_t)count, bytes, part));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    size_t bytes = sum_of(message->msg_iov, message->msg_iovlen);
    struct iovec part[IOV_MAX];
    struct msghdr shorter = *message;
    enum fault fault = message->msg_controllen ? PASS : next(fd, &bytes, is_blocking(fd, flags));

    if (fault == DELAY)
        return -1;
    if (fault != SPLIT)
        return real_sendmsg(fd, message, flags);
    shorter.msg_iov = part;
    shorter.msg_iovlen = cut_vectors(message->msg_iov, message->msg_iovlen, bytes, part);
    return real_sendmsg(fd, &shorter, flags);
}

ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t bytes, unsigned flags)
{
    const int socket = is_tcp(in) ? in : out;

    return next(socket, &bytes, !(flags & SPLICE_F_NONBLOCK)) == DELAY
               ? -1
               : real_splice(in, in_at, out, out_at, bytes, flags);
}
