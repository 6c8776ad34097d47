/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of open files. Connections must not take the descriptors that the program has for itself: its soft limit is
 * raised by as many as this transport opens, and no further. So programs that the rank starts, which inherit the limit,
 * do not meet a very large one (some close every descriptor up to it). Where the hard limit is reached, or the system
 * has no more, opening is tried again for a while; then the job ends with a text that says what to do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "boot/process.h"
#include "transport/tcp/tcp.h"

enum {
    STEP = 64, /* by which the limit is raised */
    PATIENCE_MS = 5000,
};

static int raised;                       /* by so many, so far */
static uint64_t short_since, short_last; /* ms */

/* False: it is the hard one already. */
static bool raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max - limit.rlim_cur < STEP ? limit.rlim_max : limit.rlim_cur + STEP;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        return false;
    raised += STEP;
    return true;
}

void mur_files_reserve(void)
{
    if (mur_tcp.descriptors >= raised)
        raise_limit();
}

bool mur_files_more(void)
{
    int error = errno;
    bool is_raised = error == EMFILE && raise_limit();

    errno = error;
    return is_raised;
}

static __attribute__((noreturn, cold)) void give_up(int error)
{
    struct rlimit limit = {0};
    char text[500];

    getrlimit(RLIMIT_NOFILE, &limit);
    if (error == EMFILE)
        snprintf(text, sizeof text,
                 "rank %d on %s has reached its limit of %llu open files, %d of which are of connections to other "
                 "processes, and cannot make more connections; raise the hard limit (ulimit -Hn on that host, or "
                 "LimitNOFILE of the service that starts its processes), or use fewer ranks",
                 mur_process.rank, mur_process.host, (unsigned long long)limit.rlim_cur, mur_tcp.descriptors);
    else
        snprintf(text, sizeof text,
                 "rank %d cannot make more connections, since host %s has no more open files for anybody; raise the "
                 "system's limit there (sysctl fs.file-max)",
                 mur_process.rank, mur_process.host);
    mur_boot_abort(1, text);
}

void mur_files_are_short(int error)
{
    uint64_t now = mur_tcp_now();

    if (!short_since || now - short_last >= PATIENCE_MS) /* it was another time */
        short_since = now;
    short_last = now;
    if (now - short_since >= PATIENCE_MS)
        give_up(error);
}

void mur_files_suffice(void)
{
    short_since = 0;
}
