/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting agents: this program itself, with the words that the caller says, as the user whose phrase was proved. A
 * daemon of root's starts nothing as root for another user, and one of another user's starts all as that user. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/daemon/daemon.h"
#include "launch/say.h"

enum { WORDS_MAX = 300 };

/* ---- whose phrase ---- */

static bool load_user_key(struct mur_user_key *key, const struct passwd *entry, const struct stat *status)
{
    char *path = mur_alloc_text("%s/.smpd", entry->pw_dir), *phrase;
    struct mur_problem problem;
    bool is_there;

    phrase = mur_smpdfile_get(path, entry->pw_uid, "phrase", &problem);
    is_there = phrase && *phrase && mur_phrase_stretch(key->bytes, phrase);
    if (!is_there && problem.text[0])
        mur_say("no phrase of user %s: %s", entry->pw_name, problem.text);
    free(path);
    key->uid = entry->pw_uid;
    key->changed = status->st_mtim;
    return is_there;
}

/* Stretching takes time: a user's key is kept until his file changes. NULL: he has none. */
static const unsigned char *key_of_other(struct mur_daemon *daemon, const struct passwd *entry)
{
    char *path = mur_alloc_text("%s/.smpd", entry->pw_dir);
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    struct mur_user_key *key = NULL;

    free(path);
    for (int i = 0; i < daemon->user_count && !key; i++)
        if (daemon->users[i].uid == entry->pw_uid)
            key = &daemon->users[i];
    if (!is_there)
        return NULL;
    if (key && key->changed.tv_sec == status.st_mtim.tv_sec && key->changed.tv_nsec == status.st_mtim.tv_nsec)
        return key->bytes;
    if (!key) {
        daemon->users = mur_alloc_again(daemon->users, (size_t)daemon->user_count + 1, sizeof *daemon->users);
        key = &daemon->users[daemon->user_count++];
    }
    if (!load_user_key(key, entry, &status))
        memcpy(key->bytes, daemon->decoy, sizeof key->bytes);
    return key->bytes;
}

/* The key that a caller must know who names this user. A user without a phrase gets a random key that nobody knows: a
 * stranger does not learn which users there are. */
const unsigned char *mur_daemon_key_of(struct mur_daemon *daemon, const char *user, uid_t *uid)
{
    const struct passwd *entry = geteuid() == 0 && *user ? getpwnam(user) : NULL;
    const unsigned char *key = NULL;

    *uid = geteuid();
    if (entry && entry->pw_uid != 0) {
        *uid = entry->pw_uid;
        key = key_of_other(daemon, entry);
    } else if (daemon->has_key && (geteuid() != 0 || !*user || entry)) {
        key = daemon->key;
    }
    return key ? key : daemon->decoy;
}

/* ---- the process ---- */

struct order { /* what a START says */
    const char *job, *input;
    char *words[WORDS_MAX + 2];
};

static bool read_order(const struct mur_visit *visit, struct order *order)
{
    const char *at = visit->message + 1, *end = visit->message + visit->bytes;
    int count = 0;

    *order = (struct order){.job = at};
    at += strlen(at) + 1;
    if (at >= end)
        return false;
    order->input = at;
    at += strlen(at) + 1;
    order->words[count++] = visit->daemon->path;
    for (; at < end && count <= WORDS_MAX; at += strlen(at) + 1)
        order->words[count++] = (char *)(uintptr_t)at;
    return at == end && count > 1 &&
           (strcmp(order->words[1], "-agent") == 0 || strcmp(order->words[1], "-survey") == 0);
}

/* Becomes the user, where that is another. */
static void become(uid_t uid)
{
    const struct passwd *entry = getpwuid(uid);

    if (uid == geteuid())
        return;
    if (!entry || initgroups(entry->pw_name, entry->pw_gid) < 0 || setgid(entry->pw_gid) < 0 || setuid(uid) < 0)
        mur_quit(MUR_EXIT_NOT_EXECUTABLE, "the daemon cannot become user %d: %s", (int)uid, strerror(errno));
    setenv("HOME", entry->pw_dir, 1);
    setenv("USER", entry->pw_name, 1);
    setenv("LOGNAME", entry->pw_name, 1);
    setenv("SHELL", entry->pw_shell, 1);
    if (chdir(entry->pw_dir) < 0 && chdir("/") < 0)
        _exit(MUR_EXIT_NOT_FOUND);
}

static _Noreturn void run(const struct mur_visit *visit, char **words, const int *ends)
{
    sigset_t none;

    dup2(ends[0], STDIN_FILENO);
    dup2(ends[3], STDOUT_FILENO);
    dup2(ends[5], STDERR_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    become(visit->uid);
    execv(words[0], words);
    mur_quit(errno == ENOENT ? MUR_EXIT_NOT_FOUND : MUR_EXIT_NOT_EXECUTABLE, "the daemon cannot execute %s: %s",
             words[0], strerror(errno));
}

static bool open_pipes(int ends[6])
{
    for (int i = 0; i < 6; i++)
        ends[i] = -1;
    return pipe2(ends, O_CLOEXEC) == 0 && pipe2(ends + 2, O_CLOEXEC) == 0 && pipe2(ends + 4, O_CLOEXEC) == 0 &&
           fcntl(ends[2], F_SETFL, O_NONBLOCK) == 0 && fcntl(ends[4], F_SETFL, O_NONBLOCK) == 0;
}

static void close_ends(int ends[6], bool keeps_outputs)
{
    for (int i = 0; i < 6; i++)
        if (ends[i] >= 0 && !(keeps_outputs && (i == 2 || i == 4)))
            close(ends[i]);
}

bool mur_agent_launch(struct mur_visit *visit)
{
    struct order order;
    int ends[6]; /* of the pipes for stdin, stdout, stderr */
    size_t bytes;

    if (!read_order(visit, &order)) {
        snprintf(visit->trouble, sizeof visit->trouble, "it starts agents of mpiexec and nothing else");
        return false;
    }
    bytes = strlen(order.input);
    if (open_pipes(ends) && write(ends[1], order.input, bytes) == (ssize_t)bytes)
        visit->agent = fork();
    else
        visit->agent = -1;
    if (visit->agent == 0)
        run(visit, order.words, ends);
    close_ends(ends, visit->agent > 0);
    if (visit->agent < 0) {
        visit->agent = 0;
        snprintf(visit->trouble, sizeof visit->trouble, "it cannot start an agent: %s", strerror(errno));
        return false;
    }
    visit->job = mur_alloc_text("%s", order.job);
    visit->pipes[0].watch.fd = ends[2];
    visit->pipes[1].watch.fd = ends[4];
    return true;
}

bool mur_agent_relay(struct mur_visit_pipe *pipe)
{
    struct mur_visit *visit = pipe->visit;
    char text[4096];
    ssize_t got = read(pipe->watch.fd, text + 1, sizeof text - 1);

    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0)
        return got < 0 && errno == EAGAIN && visit->agent > 0; /* of one that has ended, nothing more comes */
    text[0] = pipe == &visit->pipes[0] ? 1 : 2;
    mur_visit_say(visit, MUR_DAEMON_OUTPUT, text, (size_t)got + 1);
    return true;
}
