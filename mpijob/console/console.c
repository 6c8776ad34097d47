/* SPDX-License-Identifier: BSD-3-Clause */
/* The console's start, its one loop, and its end. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/signals.h"
#include "mpijob/console/console.h"

#define TICK 1.0 /* seconds: expiry of sessions, and beats of feeds */

struct mur_console_plan mur_console;

/* Each browser that looks takes two descriptors or more. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool is_local(void)
{
    return strncmp(mur_console.listen, "127.", 4) == 0 || strncmp(mur_console.listen, "[::1]:", 6) == 0 ||
           strncmp(mur_console.listen, "localhost:", 10) == 0;
}

static char *find_origin(void)
{
    int length = (int)(strrchr(mur_console.listen, ':') - mur_console.listen);
    bool is_any =
        length == 0 || strncmp(mur_console.listen, "0.0.0.0:", 8) == 0 || strncmp(mur_console.listen, "[::]:", 5) == 0;
    char host[256] = "localhost";

    if (is_any)
        gethostname(host, sizeof host - 1);
    else
        snprintf(host, sizeof host, "%.*s", length, mur_console.listen);
    return mur_alloc_text("http%s://%s:%d", mur_console.certificate ? "s" : "", host, mur_console.port);
}

/* What `mpijob serve` says goes on to stderr. Returns false when it has ended. */
static bool pass_words(void)
{
    char text[4096];
    ssize_t got = read(mur_console.serve, text, sizeof text);

    if (got > 0)
        mur_say_raw(text, (size_t)got);
    return got > 0;
}

static int loop(struct MHD_Daemon *daemon, int signals)
{
    for (;;) {
        MHD_UNSIGNED_LONG_LONG due;
        bool has_due = MHD_get_timeout(daemon, &due) == MHD_YES;
        struct curl_waitfd others[] = {{mur_streams_descriptor(), CURL_WAIT_POLLIN, 0},
                                       {signals, CURL_WAIT_POLLIN, 0},
                                       {mur_console.serve, CURL_WAIT_POLLIN, 0}};

        mur_fetches_wait(others, mur_console.serve < 0 ? 2 : 3,
                         has_due && (double)due / 1000 < TICK ? (double)due / 1000 : TICK);
        if (others[1].revents)
            return 0;
        if (others[2].revents && !pass_words()) {
            mur_say("mpijob serve, which this console has started, has ended");
            return MUR_EXIT_TROUBLE;
        }
        mur_fetches_step();
        mur_streams_step(daemon, mur_steady_clock());
    }
}

int mur_console_run(void)
{
    int listener = mur_http_listen(mur_console.listen, &mur_console.port),
        signals = mur_signals_open((const int[]){SIGINT, SIGTERM, 0}), code;
    struct MHD_Daemon *daemon;
    char *origin = find_origin();

    raise_limit();
    daemon = mur_visits_start(listener);
    mur_streams_start(daemon);
    if (mur_console.token_file)
        mur_users_read(mur_console.token_file);
    else
        mur_users_make(origin);
    mur_say("the console is at %s/, for the namespace %s of %s", origin, mur_console.space, mur_console.cluster.server);
    if (!mur_console.certificate && !is_local())
        mur_say("tokens and logs pass unprotected: give --tls-certificate and --tls-key, or put a proxy before it");
    code = loop(daemon, signals);
    mur_visits_stop();
    mur_streams_stop(daemon);
    MHD_stop_daemon(daemon);
    free(origin);
    return code;
}
