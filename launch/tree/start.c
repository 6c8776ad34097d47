/* SPDX-License-Identifier: BSD-3-Clause */
/* The command that starts an agent on another host: ssh, or another of its kind, which is called as
 *
 *     COMMAND [OPTIONS] [-p PORT] HOST 'exec /path/of/mpiexec -agent PLACE PARENT ADDRESS...'
 *
 * so that a script which takes a host and a command for the shell there will do; or, where a resource manager has given
 * the hosts, the manager's own (srun, blaunch, qrsh), which gets the command word by word: srun executes it, of
 * the others some pass it to a shell; or `mpiexec -daemon-start` (daemon/call.c), which asks the daemon that stands on
 * the host. The addresses are those at which the agent calls back. Nothing secret stands
 * there: what proves the agent's right comes by its standard input, or, where the command has none to pass on, in a
 * file of the home directory that only the user can read, and that the agent removes (pbs_tmrsh), or by an exchange of
 * keys (any command of the user's: keys.h). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/secret.h"
#include "launch/alloc.h"
#include "launch/daemon/call.h"
#include "launch/daemon/phrase.h"
#include "launch/daemon/protocol.h"
#include "launch/say.h"
#include "launch/tree/tree.h"

enum { ANSWER_MS = 300 }; /* of a daemon that nobody has promised */

/* Those that are no rsh: what stands between their name and the host, and before the command. */
static const struct manager {
    const char *launcher, *program;
    const char *gives;     /* whose hosts it starts agents on by itself; NULL: only if it is asked for */
    const char *before[8]; /* a last word that ends in '=' is followed by the host at once */
    bool has_shell;        /* a shell on the other side reads the words */
    bool has_input;        /* it passes standard input on */
} managers[] = {
    {"slurm", "srun", "Slurm", {"--mpi=none", "--overlap", "-Q", "-N1", "-n1", "--nodelist="}, false, true},
    {"lsf", "blaunch", "LSF", {NULL}, true, true},
    {"sge", "qrsh", "Grid Engine", {"-inherit", "-V"}, true, true},
    {"pbs", "pbs_tmrsh", NULL, {NULL}, false, false}, /* ssh works in all versions */
};

/* By -launcher, else by the source of the list of hosts. */
static const struct manager *find_manager(const struct mur_jobspec *job)
{
    if (job->launcher.command)
        return NULL;
    for (size_t i = 0; i < sizeof managers / sizeof managers[0]; i++)
        if (job->launcher.name ? strcmp(job->launcher.name, managers[i].launcher) == 0
                               : job->manager && managers[i].gives && strcmp(job->manager, managers[i].gives) == 0)
            return &managers[i];
    return NULL;
}

bool mur_start_is_by_daemon(const struct mur_jobspec *job)
{
    return !job->launcher.command && job->launcher.name && strcmp(job->launcher.name, "smpd") == 0;
}

static int daemon_port(const struct mur_jobspec *job, const struct mur_host *host)
{
    int port = host->port ? host->port : job->launcher.port;

    return port ? port : MUR_DAEMON_PORT;
}

/* Without a phrase nothing is tried, so that a start by ssh loses no time; with one, the first host that does not
 * answer ends it. A port that is told is ssh's. */
void mur_start_choose(struct mur_jobspec *job)
{
    struct mur_launcher *launcher = &job->launcher;
    char complaint[400];
    bool has_others = false;

    if (launcher->name || launcher->command || launcher->options || launcher->port || job->manager ||
        !mur_phrase_is_there(launcher) || !mur_seal_open(complaint, sizeof complaint))
        return;
    for (int i = 0; i < job->hosts.count; i++) {
        const struct mur_host *host = &job->hosts.items[i];

        if (i == job->local_node)
            continue;
        if (host->port || !mur_daemon_answers(host->name, MUR_DAEMON_PORT, ANSWER_MS))
            return;
        has_others = true;
    }
    if (has_others)
        launcher->name = "smpd";
}

const char *mur_start_name(const struct mur_jobspec *job)
{
    const struct mur_launcher *launcher = &job->launcher;

    if (launcher->command)
        return launcher->command[0];
    if (find_manager(job))
        return find_manager(job)->program;
    if (mur_start_is_by_daemon(job))
        return "smpd";
    if (launcher->name && strcmp(launcher->name, "rsh") == 0)
        return "rsh";
    return "ssh";
}

static const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/* Pods that were started by an operator of Kubernetes can be reached from the launcher's pod only. */
int mur_start_width(const struct mur_jobspec *job)
{
    enum { WIDTH = 16 };

    return strncmp(base_name(mur_start_name(job)), "kubexec", 7) == 0 ? MUR_HOSTS_MAX : WIDTH;
}

static bool is_ssh(const struct mur_jobspec *job)
{
    return strcmp(base_name(mur_start_name(job)), "ssh") == 0;
}

/* A word for the login shell on the other side, which may be any: brackets are patterns for csh and zsh, a first '=' is
 * a command for zsh, and what '!' and '\\' mean between quotes differs, so these stand outside of them. */
static char *quoted(const char *word)
{
    char *text = mur_alloc(4 * strlen(word) + 3, 1), *at = text;

    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@") == strlen(word))
        return strcpy(text, word);
    *at++ = '\'';
    for (; *word; word++)
        if (*word == '\'' || *word == '!' || *word == '\\')
            at += sprintf(at, "'\\%c'", *word);
        else
            *at++ = *word;
    *at++ = '\'';
    return text;
}

/* Our own file. */
static char *own_path(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length < 0)
        return mur_alloc_text("mpiexec");
    path[length] = '\0';
    return path;
}

/* It is expected at the same place on all hosts, unless the options say otherwise. */
char *mur_start_path(const struct mur_jobspec *job)
{
    if (job->launcher.prefix)
        return mur_alloc_text("%s/bin/mpiexec", job->launcher.prefix);
    return job->launcher.is_hybrid ? mur_alloc_text("mpiexec") : mur_alloc_text("%s", own_path());
}

static void add(char **argv, int *count, char *word)
{
    if (*count < 250)
        argv[(*count)++] = word;
}

static void add_all(char **argv, int *count, char **words)
{
    for (; words && *words; words++)
        add(argv, count, *words);
}

/* What mpiexec's options are on the other side. */
static char **agent_words(struct mur_child *child, uint16_t port)
{
    struct mur_address addresses[MUR_ADDRESSES_MAX];
    size_t address_count = mur_addresses_own(addresses, MUR_ADDRESSES_MAX, port);
    char **words = mur_alloc(MUR_ADDRESSES_MAX + 6, sizeof *words), address[64];
    int count = 0;

    words[count++] = mur_alloc_text("-agent");
    words[count++] = mur_alloc_text("%d", child->place);
    words[count++] = mur_alloc_text("%d", child->tree->place);
    if (child->secret_file)
        words[count++] = mur_alloc_text("%s", child->secret_file);
    if (child->tree->job->launcher.command)
        words[count++] = mur_keys_word(&child->tree->keys);
    for (size_t i = 0; i < address_count; i++)
        words[count++] = mur_alloc_text("%s", mur_address_text(&addresses[i], address));
    return words;
}

/* For a shell. */
static char *remote_command(const struct mur_jobspec *job, char **words)
{
    char *path = quoted(mur_start_path(job)), *line = mur_alloc_text("exec %s", path);

    free(path);
    for (; *words; words++) {
        char *word = quoted(*words), *longer = mur_alloc_text("%s %s", line, word);

        free(word);
        free(line);
        line = longer;
    }
    return line;
}

static void make_manager_command(const struct mur_jobspec *job, const struct mur_host *host,
                                 const struct manager *manager, char **words, char **argv)
{
    int count = 0, i;

    add(argv, &count, mur_alloc_text("%s", manager->program));
    if (manager == &managers[0])
        add_all(argv, &count, job->launcher.slurm_options);
    add_all(argv, &count, job->launcher.options);
    for (i = 0; manager->before[i] && manager->before[i][strlen(manager->before[i]) - 1] != '='; i++)
        add(argv, &count, mur_alloc_text("%s", manager->before[i]));
    add(argv, &count, mur_alloc_text("%s%s", manager->before[i] ? manager->before[i] : "", host->name));
    add(argv, &count, manager->has_shell ? quoted(mur_start_path(job)) : mur_start_path(job));
    for (; *words; words++)
        add(argv, &count, manager->has_shell ? quoted(*words) : mur_alloc_text("%s", *words));
    argv[count] = NULL;
}

static void make_rsh_command(const struct mur_jobspec *job, const struct mur_host *host, char **words, char **argv)
{
    const struct mur_launcher *launcher = &job->launcher;
    int host_port = host->port ? host->port : launcher->port, count = 0;

    if (launcher->command)
        add_all(argv, &count, launcher->command);
    else
        add(argv, &count, mur_alloc_text("%s", mur_start_name(job)));
    if (is_ssh(job)) { /* without a terminal to ask, a question would wait for ever */
        add(argv, &count, mur_alloc_text("-x"));
        add(argv, &count, mur_alloc_text("-oBatchMode=yes"));
        if (launcher->wait_ms) /* a host that does not answer is to be tried again, too */
            add(argv, &count, mur_alloc_text("-oConnectTimeout=10"));
        if (host_port) {
            add(argv, &count, mur_alloc_text("-p"));
            add(argv, &count, mur_alloc_text("%d", host_port));
        }
    }
    add_all(argv, &count, launcher->options);
    add(argv, &count, host->user ? mur_alloc_text("%s@%s", host->user, host->name) : mur_alloc_text("%s", host->name));
    add(argv, &count, remote_command(job, words));
    argv[count] = NULL;
}

static void make_daemon_command(const struct mur_jobspec *job, const struct mur_host *host, char **words, char **argv)
{
    const struct passwd *own = host->user ? NULL : getpwuid(geteuid());
    int count = 0;

    add(argv, &count, mur_alloc_text("%s", own_path()));
    add(argv, &count, mur_alloc_text("-daemon-start"));
    add(argv, &count, mur_alloc_text("%s", host->name));
    add(argv, &count, mur_alloc_text("%d", daemon_port(job, host)));
    add(argv, &count, mur_alloc_text("%s", host->user ? host->user : own ? own->pw_name : ""));
    add(argv, &count, mur_alloc_text("%s", job->id));
    for (; *words; words++)
        add(argv, &count, mur_alloc_text("%s", *words));
    argv[count] = NULL;
}

/* The command that runs mpiexec with these options on the host. */
static char **make_command(const struct mur_jobspec *job, const struct mur_host *host, char **words)
{
    const struct manager *manager = find_manager(job);
    char **argv = mur_alloc(256, sizeof *argv);

    if (mur_start_is_by_daemon(job))
        make_daemon_command(job, host, words, argv);
    else if (manager)
        make_manager_command(job, host, manager, words, argv);
    else
        make_rsh_command(job, host, words, argv);
    return argv;
}

/* The secret, as a line of hexadecimal digits. */
static bool write_secret(int fd, const unsigned char *secret, size_t bytes)
{
    char line[160];
    size_t length = 2 * bytes;

    mur_secret_write(line, secret, bytes);
    line[length++] = '\n';
    return write(fd, line, length) == (ssize_t)length; /* a pipe has room for it */
}

/* What the daemon is to be asked with comes first. */
static bool write_key(int fd, const struct mur_jobspec *job)
{
    return !mur_start_is_by_daemon(job) ||
           write_secret(fd, mur_phrase_key(&job->launcher), sizeof job->launcher.key->bytes);
}

/* False with errno. */
static bool make_secret_file(struct mur_child *child)
{
    const char *home = getenv("HOME");
    const struct mur_jobspec *job = child->tree->job;
    int fd;
    bool is_written;

    child->secret_file = mur_alloc_text("%s/.murmur-XXXXXX", home ? home : ".");
    fd = mkostemp(child->secret_file, O_CLOEXEC); /* readable by the user alone */
    if (fd < 0) {
        free(child->secret_file);
        child->secret_file = NULL;
        return false;
    }
    is_written = write_secret(fd, job->secret, sizeof job->secret);
    close(fd);
    return is_written;
}

static _Noreturn void run_command(char **argv, int input, int output, bool is_muted)
{
    int nothing = is_muted ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    if (nothing >= 0)
        dup2(nothing, STDERR_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* the terminal's signals are ours to handle */
    execvp(argv[0], argv);
    mur_quit(errno == ENOENT ? MUR_EXIT_NOT_FOUND : MUR_EXIT_NOT_EXECUTABLE,
             "cannot execute '%s', which is to start an agent on another host: %s", argv[0], strerror(errno));
}

void mur_start_forget(struct mur_child *child)
{
    if (!child->secret_file)
        return;
    unlink(child->secret_file); /* the agent has done so already, unless it never came up */
    free(child->secret_file);
    child->secret_file = NULL;
}

bool mur_start_agent(struct mur_child *child, uint16_t port, struct mur_tree_frame *failure)
{
    const struct manager *manager = find_manager(child->tree->job);
    char **words, **argv;
    int ends[2] = {-1, -1}, heard[2] = {-1, -1};
    pid_t pid = -1;

    if (manager && !manager->has_input && !make_secret_file(child)) {
        mur_frame_set_failure(failure, "cannot write a file into the home directory for the agent on %s: %s",
                              child->host->name, strerror(errno));
        return false;
    }
    words = agent_words(child, port);
    argv = make_command(child->tree->job, child->host, words);
    if (pipe2(ends, O_CLOEXEC) == 0 && write_key(ends[1], child->tree->job) &&
        write_secret(ends[1], child->tree->job->secret, sizeof child->tree->job->secret) &&
        (!child->tree->job->launcher.command || pipe2(heard, O_CLOEXEC) == 0))
        pid = fork();
    if (pid == 0) /* what a login script prints is no output of the job's */
        run_command(argv, ends[0], heard[1] >= 0 ? heard[1] : STDERR_FILENO, child->is_muted);
    if (pid < 0)
        mur_frame_set_failure(failure, "cannot start %s for host %s: %s", argv[0], child->host->name, strerror(errno));
    if (ends[0] >= 0) {
        close(ends[0]);
        close(ends[1]);
    }
    if (heard[1] >= 0) {
        close(heard[1]);
        mur_keys_listen(&child->keys, &child->tree->keys, child->tree->loop, heard[0], child->is_muted);
    }
    child->starter = pid > 0 ? pid : 0;
    free(words);
    free(argv);
    return pid > 0;
}

pid_t mur_start_question(const struct mur_jobspec *job, const struct mur_host *host, const char *part, int *answer)
{
    char *words[] = {mur_alloc_text("-survey"), mur_alloc_text("%s", part), NULL};
    char **argv = make_command(job, host, words);
    int input[2] = {-1, -1}, ends[2];
    pid_t pid = -1;

    if (pipe2(input, O_CLOEXEC) == 0 && write_key(input[1], job) && pipe2(ends, O_CLOEXEC) == 0) {
        pid = fork();
        if (pid == 0)
            run_command(argv, input[0], ends[1], false);
        close(ends[1]);
        *answer = ends[0];
        if (pid < 0)
            close(ends[0]);
    }
    for (int i = 0; i < 2; i++)
        if (input[i] >= 0)
            close(input[i]);
    for (int i = 0; words[i]; i++)
        free(words[i]);
    free(argv);
    return pid;
}
