/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's own life. It forks itself into the background when it listens, so that whoever starts it knows that it
 * does. SIGHUP reads the settings again; SIGTERM, SIGINT and `shutdown` end it; `restart` executes it anew, with the
 * same process number. Its agents are not ended by any of these. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/secret.h"
#include "launch/alloc.h"
#include "launch/daemon/daemon.h"
#include "launch/say.h"
#include "launch/signals.h"

enum { TICK_MS = 500, UNPROVEN_MAX = 256, SILENT_MS = 100, FAREWELL_MS = 1000 };

/* ---- settings ---- */

static char *find_phrase(const struct mur_daemon_options *options, struct mur_problem *problem)
{
    char *path = mur_smpdfile_path(options->smpdfile), *phrase;
    const char *variable = getenv("MUR_PHRASE_FILE"), *file = options->phrase_file;

    problem->text[0] = '\0';
    if (!file && variable && *variable)
        file = variable;
    if (options->phrase)
        phrase = mur_alloc_text("%s", options->phrase);
    else if (file)
        phrase = mur_phrase_read(file, NULL, problem);
    else
        phrase = mur_smpdfile_get(path, geteuid(), "phrase", problem);
    if (!phrase && !problem->text[0])
        snprintf(problem->text, sizeof problem->text,
                 "there is no phrase, so nobody could prove to know it: write a line phrase=... into %s (smpd -set "
                 "phrase X does), or give -phrase-file FILE",
                 path);
    free(path);
    return phrase;
}

bool mur_daemon_load(struct mur_daemon *daemon, struct mur_problem *problem)
{
    char *phrase = find_phrase(daemon->options, problem);

    if (phrase && !*phrase) {
        free(phrase);
        phrase = NULL;
        snprintf(problem->text, sizeof problem->text, "an empty phrase is none");
    }
    if (!phrase)
        return false;
    daemon->has_key = mur_phrase_stretch(daemon->key, phrase);
    if (!daemon->has_key)
        snprintf(problem->text, sizeof problem->text, "there is no memory to stretch the phrase (64 MiB)");
    return daemon->has_key;
}

bool mur_daemon_trace_to(struct mur_daemon *daemon, const char *path)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;

    if (path && !file)
        return false;
    if (daemon->trace)
        fclose(daemon->trace);
    daemon->trace = file;
    return true;
}

static void load_again(struct mur_daemon *daemon)
{
    struct mur_problem problem;

    if (!mur_daemon_load(daemon, &problem))
        mur_say("SIGHUP: %s; the phrase stays as it was", problem.text);
}

/* ---- what happens ---- */

static void agent_ended(struct mur_daemon *daemon, pid_t pid, int status)
{
    struct mur_visit *visit;

    TAILQ_FOREACH(visit, &daemon->visits, in_visits)
    if (visit->agent == pid) {
        visit->agent = 0;
        visit->agent_status = status;
        mur_visit_event(visit, MUR_EVENT_AGENT_ENDS);
        return;
    }
}

static void signal_came(void *owner)
{
    struct mur_daemon *daemon = owner;
    struct signalfd_siginfo info;
    int status;
    pid_t pid;

    while (read(daemon->signals.fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGHUP)
            load_again(daemon);
        else if (info.ssi_signo != SIGCHLD)
            daemon->is_over = true;
    }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        agent_ended(daemon, pid, status);
}

static void tick(void *owner)
{
    struct mur_daemon *daemon = owner;
    struct mur_visit *visit = TAILQ_FIRST(&daemon->visits), *next;

    for (; visit; visit = next) {
        next = TAILQ_NEXT(visit, in_visits);
        if (visit->due && visit->due <= mur_loop_now())
            mur_visit_event(visit, MUR_EVENT_LATE);
    }
    mur_visits_free_gone(daemon);
    if (!TAILQ_EMPTY(&daemon->visits))
        mur_timer_set(&daemon->timer, TICK_MS);
}

/* There are at most UNPROVEN_MAX visitors who have not proved themselves. For one more the oldest of them has to go,
 * but not before it has had SILENT_MS: a flood of strangers ends no greeting that goes on. */
static int64_t full_for(void *owner)
{
    struct mur_daemon *daemon = owner;
    struct mur_visit *visit;
    int64_t left;

    if (daemon->unproven < UNPROVEN_MAX)
        return 0;
    TAILQ_FOREACH(visit, &daemon->visits, in_visits)
    if (mur_visit_is_unproven(visit))
        break;
    left = visit->since + SILENT_MS - mur_loop_now();
    if (left <= 0)
        mur_visit_event(visit, MUR_EVENT_CROWDED);
    return left > 0 ? left : 0;
}

static void visitor_came(void *owner, int fd)
{
    struct mur_daemon *daemon = owner;

    mur_visit_begin(daemon, fd);
    if (!daemon->timer.deadline)
        mur_timer_set(&daemon->timer, TICK_MS);
}

/* ---- beginning ---- */

static void watch_signals(struct mur_daemon *daemon)
{
    static const int signals[] = {SIGCHLD, SIGHUP, SIGTERM, SIGINT, 0};

    daemon->signals = (struct mur_watch){.fd = mur_signals_open(signals), .ready = signal_came, .owner = daemon};
    if (daemon->signals.fd < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot receive signals: %s", strerror(errno));
    mur_loop_watch(&daemon->loop, &daemon->signals, EPOLLIN);
}

/* The sockets that listen. */
static int open_port(struct mur_daemon *daemon, int fds[MUR_ADDRESSES_MAX])
{
    struct mur_daemon_options *options = daemon->options;
    int count;

    daemon->port = options->port;
    if (options->is_any_port)
        count = mur_addresses_listen(fds, &daemon->port);
    else
        count = mur_addresses_listen_at(fds, options->port);
    if (!count)
        mur_quit(MUR_EXIT_TROUBLE, "cannot listen at port %d: %s%s", options->port, strerror(errno),
                 errno == EADDRINUSE ? "; does a daemon run already? `smpd -status` tells" : "");
    if (options->is_any_port) {
        printf("%d\n", daemon->port);
        fflush(stdout);
    }
    return count;
}

/* The child goes on; the parent has told what there was to tell. */
static void go_to_background(void)
{
    pid_t pid = fork();
    int null;

    if (pid < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot go into the background: %s", strerror(errno));
    if (pid > 0)
        _exit(0);
    setsid();
    null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

static char *own_path(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot find this program: %s", strerror(errno));
    path[length] = '\0';
    return mur_alloc_text("%s", path);
}

static void begin(struct mur_daemon *daemon)
{
    struct mur_problem problem;
    char complaint[400];

    if (!mur_seal_open(complaint, sizeof complaint))
        mur_quit(MUR_EXIT_TROUBLE, "%s", complaint);
    prctl(PR_SET_DUMPABLE, 0); /* its keys are in no core file, and no other process of the user reads them */
    mur_secret_random(daemon->decoy, sizeof daemon->decoy);
    if (!mur_daemon_load(daemon, &problem))
        mur_quit(MUR_EXIT_USAGE, "%s", problem.text);
    daemon->path = own_path();
    daemon->started_at = mur_loop_now();
    TAILQ_INIT(&daemon->visits);
    TAILQ_INIT(&daemon->gone);
}

/* ---- the end ---- */

static bool has_words(const struct mur_daemon *daemon)
{
    const struct mur_visit *visit;

    TAILQ_FOREACH(visit, &daemon->visits, in_visits)
    if (visit->queue_start < visit->queue_end)
        return true;
    return false;
}

static void end(struct mur_daemon *daemon)
{
    int64_t limit = mur_loop_now() + FAREWELL_MS;
    struct mur_visit *visit;

    mur_timer_set(&daemon->timer, FAREWELL_MS); /* wakes the loop */
    while (has_words(daemon) && mur_loop_now() < limit)
        mur_loop_turn(&daemon->loop);
    while ((visit = TAILQ_FIRST(&daemon->visits)))
        mur_visit_event(visit, MUR_EVENT_END);
    mur_visits_free_gone(daemon);
}

/* A phrase that stood on the command line stands there no more, and goes on by a pipe. */
static void pass_phrase(const char *phrase, char **argv)
{
    int ends[2];

    if (!phrase || pipe(ends) < 0 || write(ends[1], phrase, strlen(phrase)) != (ssize_t)strlen(phrase))
        return;
    close(ends[1]);
    for (char **word = argv; *word; word++)
        if (strncmp(*word, "-phrase", 7) == 0 && strcmp(*word, "-phrase-file") != 0) {
            word[0] = mur_alloc_text("-phrase-fd");
            word[1] = mur_alloc_text("%d", ends[0]);
        }
}

static void execute_again(struct mur_daemon *daemon, char **argv)
{
    char *port = mur_alloc_text("%d", daemon->port);
    sigset_t none;

    pass_phrase(daemon->options->phrase, argv);
    setenv(MUR_DAEMON_RESTARTED, port, 1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(daemon->path, argv);
    mur_quit(MUR_EXIT_TROUBLE, "cannot execute %s again: %s", daemon->path, strerror(errno));
}

int mur_daemon_serve(struct mur_daemon_options *options, char **argv, bool stays)
{
    static struct mur_daemon daemon;
    int fds[MUR_ADDRESSES_MAX], count;

    daemon.options = options;
    begin(&daemon);
    count = open_port(&daemon, fds);
    if (!stays)
        go_to_background();
    mur_loop_init(&daemon.loop);
    watch_signals(&daemon);
    daemon.timer = (struct mur_timer){.fire = tick, .owner = &daemon};
    mur_loop_add_timer(&daemon.loop, &daemon.timer);
    daemon.listener = (struct mur_listener){.full_for = full_for, .arrived = visitor_came, .owner = &daemon};
    mur_listener_open(&daemon.listener, &daemon.loop, fds, count);
    while (!daemon.is_over)
        mur_loop_turn(&daemon.loop);
    end(&daemon);
    if (daemon.is_to_restart)
        execute_again(&daemon, argv);
    return 0;
}
