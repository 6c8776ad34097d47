/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending from the user's memory without a copy.
 *
 * The pages of the memory go into a pipe (vmsplice), and from there into the socket (splice), which refers to them
 * until the peer's system has them: over a loopback device the only copy is the receiver's, and a network card reads
 * them itself. The memory must stay as it is meanwhile, which sends that are straight promise until the peer has
 * acknowledged them; by then its TCP has all, and a late retransmission of changed bytes is of no interest to it.
 *
 * What a full socket leaves in the pipe stays there, in front of the stream: a link keeps its pipe until that is empty.
 * Where the system does not let us splice, everything is sent by copies. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/counters.h"
#include "transport/tcp/tcp.h"

enum {
    PIPE_BYTES = 512 << 10, /* the system's own 64 KiB cost a call for each */
    SPLICE_MIN = 32 << 10,  /* below, two calls cost more than a copy */
    SPARE_PIPES = 4,
};

struct mur_pipe {
    int in, out;
    size_t bytes; /* that it holds */
    struct mur_pipe *next;
};

static struct mur_pipe *spare;
static int spare_count;
static bool is_refused; /* the system does not let us */

/* ---- pipes ---- */

static struct mur_pipe *pipe_get(void)
{
    struct mur_pipe *pipe = spare;
    int ends[2];

    if (pipe) {
        spare = pipe->next;
        spare_count--;
        return pipe;
    }
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return NULL;
    pipe = malloc(sizeof *pipe);
    if (!pipe) {
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* if not, it is as large as it is */
    *pipe = (struct mur_pipe){.out = ends[0], .in = ends[1]};
    return pipe;
}

static void pipe_close(struct mur_pipe *pipe)
{
    close(pipe->in);
    close(pipe->out);
    free(pipe);
}

static void pipe_put(struct mur_pipe *pipe)
{
    if (pipe->bytes || spare_count == SPARE_PIPES) {
        pipe_close(pipe);
        return;
    }
    pipe->next = spare;
    spare = pipe;
    spare_count++;
}

void mur_splice_drop(struct mur_link *link)
{
    if (link->pipe)
        pipe_put(link->pipe);
    link->pipe = NULL;
}

void mur_splice_trim(void)
{
    while (spare) {
        struct mur_pipe *pipe = spare;

        spare = pipe->next;
        pipe_close(pipe);
    }
    spare_count = 0;
}

/* ---- splicing ---- */

bool mur_splice_serves(const struct mur_link *link, const struct mur_out_segment *segment)
{
    size_t skip = link->sent > segment->start ? (size_t)(link->sent - segment->start) : 0;

    if (!segment->sent || is_refused)
        return false;
    return segment->bytes - skip >= SPLICE_MIN || (skip && link->pipe);
}

/* There is no flag that keeps a splice to a broken connection from raising SIGPIPE, so it is blocked, and taken; also
 * when the connection broke after a part. */
static ssize_t splice_quietly(int from, int to, size_t bytes, unsigned flags)
{
    const struct timespec at_once = {0};
    sigset_t signals, before;
    ssize_t moved;
    int error;

    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    moved = splice(from, NULL, to, NULL, bytes, flags);
    error = errno;
    if (moved < (ssize_t)bytes)
        sigtimedwait(&signals, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return moved;
}

/* Puts the pages of what comes next into the empty pipe. */
static bool fill(struct mur_pipe *pipe, const char *data, size_t bytes)
{
    struct iovec vector = {(void *)(uintptr_t)data, bytes};
    ssize_t got = vmsplice(pipe->in, &vector, 1, SPLICE_F_NONBLOCK);

    if (got <= 0)
        return false;
    pipe->bytes = (size_t)got;
    return true;
}

ssize_t mur_splice_write(struct mur_link *link)
{
    const struct mur_out_segment *segment = link->next;
    size_t skip = (size_t)(link->sent - segment->start);
    ssize_t moved;

    if (!link->pipe && !(link->pipe = pipe_get()))
        return MUR_SPLICE_REFUSED;
    if (!link->pipe->bytes && !fill(link->pipe, segment->data + skip, segment->bytes - skip)) {
        mur_splice_drop(link);
        return MUR_SPLICE_REFUSED;
    }
    moved = splice_quietly(link->pipe->out, link->fd, link->pipe->bytes,
                           SPLICE_F_NONBLOCK | (skip + link->pipe->bytes < segment->bytes ? SPLICE_F_MORE : 0));
    if (moved < 0) {
        if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
            return -1;
        is_refused = true;
        mur_splice_drop(link);
        return MUR_SPLICE_REFUSED;
    }
    mur_counters.spliced_bytes += (uint64_t)moved;
    link->pipe->bytes -= (size_t)moved;
    if (!link->pipe->bytes && skip + (size_t)moved == segment->bytes)
        mur_splice_drop(link);
    return moved;
}
