/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of things that must be there, in the order in which they depend on each other: each is looked at by the
 * commands of OpenSSH, and some can be mended by them. A host that can be logged in to needs no look at how. */
#include "launch/commands/setup_ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/tree/tree.h"

enum { ANSWER_MS = 10000 };

struct visit {
    const struct mur_host *host;
    char **options; /* of -launcher-args; NULL: none */
    char *login;    /* [user@]host */
    char *port;
    char *known;   /* as known_hosts has it: "host", or "[host]:port" */
    char *folder;  /* ssh's own, of the user's home as the system has it, whatever HOME says */
    char *mpiexec; /* there */
    char reason[256];
};

/* ---- commands ---- */

static _Noreturn void become(char **argv, int output, bool is_shown)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (!is_shown) {
        dup2(nothing, STDIN_FILENO);
        dup2(output >= 0 ? output : nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    execvp(argv[0], argv);
    _exit(MUR_EXIT_NOT_FOUND);
}

/* Runs it and returns its exit code. What it prints goes to `text`, unless that is NULL, or to the terminal. */
static int run(char **argv, char *text, size_t size, bool is_shown)
{
    int ends[2] = {-1, -1}, status = 0;
    size_t length = 0;
    ssize_t got;
    pid_t pid;

    if (text && pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        become(argv, ends[1], is_shown);
    if (text) {
        close(ends[1]);
        while (pid > 0 && length < size - 1 && (got = read(ends[0], text + length, size - 1 - length)) > 0)
            length += (size_t)got;
        text[length] = '\0';
        close(ends[0]);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define COMMAND(...) ((char *[]){__VA_ARGS__, NULL})

static int on_host(struct visit *visit, char *command, char *text, size_t size)
{
    char *first[] = {"ssh", "-x", "-oBatchMode=yes", "-oConnectTimeout=10", "-p", visit->port}, *argv[256];
    size_t count = sizeof first / sizeof first[0];

    memcpy(argv, first, sizeof first);
    for (char **option = visit->options; option && *option && count < 250; option++)
        argv[count++] = *option;
    argv[count++] = visit->login;
    argv[count++] = command;
    argv[count] = NULL;
    return run(argv, text, size, false);
}

/* ---- what must be there ---- */

static bool has_ssh(struct visit *visit)
{
    (void)visit;
    return run(COMMAND("ssh", "-V"), NULL, 0, false) == 0;
}

static bool can_log_in(struct visit *visit)
{
    return on_host(visit, "true", NULL, 0) == 0;
}

static bool has_key(struct visit *visit)
{
    static const char *const names[] = {"id_ed25519", "id_ecdsa", "id_rsa", "id_ed25519_sk", "id_ecdsa_sk"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = mur_alloc_text("%s/%s", visit->folder, names[i]);
        bool is_there = access(path, R_OK) == 0;

        free(path);
        if (is_there)
            return true;
    }
    return run(COMMAND("ssh-add", "-l"), NULL, 0, false) == 0;
}

static bool make_key(struct visit *visit)
{
    mkdir(visit->folder, 0700);
    return run(COMMAND("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                       mur_alloc_text("%s/id_ed25519", visit->folder)),
               NULL, 0, false) == 0;
}

static bool reaches(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = errno;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    socklen_t length = sizeof error;

    if (fd < 0)
        return false;
    error = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? errno : 0;
    if (error == EINPROGRESS) {
        error = ETIMEDOUT;
        if (poll(&wait, 1, ANSWER_MS) > 0)
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    close(fd);
    errno = error;
    return error == 0;
}

static bool has_port(struct visit *visit)
{
    struct addrinfo wish = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int rc = getaddrinfo(visit->host->name, visit->port, &wish, &found);
    bool is_there = false;

    if (rc) {
        snprintf(visit->reason, sizeof visit->reason, "its name: %s", gai_strerror(rc));
        return false;
    }
    for (const struct addrinfo *at = found; at && !is_there; at = at->ai_next)
        is_there = reaches(at);
    if (!is_there)
        snprintf(visit->reason, sizeof visit->reason, "port %s: %s", visit->port, strerror(errno));
    freeaddrinfo(found);
    return is_there;
}

static bool is_known(struct visit *visit)
{
    return run(COMMAND("ssh-keygen", "-F", visit->known), NULL, 0, false) == 0;
}

/* Takes what the host says it is, as the first login by hand would after a "yes". */
static bool learn_host(struct visit *visit)
{
    char text[65536], *path = mur_alloc_text("%s/known_hosts", visit->folder);
    bool is_good = run(COMMAND("ssh-keyscan", "-p", visit->port, visit->host->name), text, sizeof text, false) == 0;
    FILE *file;

    if (!is_good || !*text)
        return false;
    mkdir(visit->folder, 0700);
    file = fopen(path, "ae");
    is_good = file && fputs(text, file) >= 0;
    is_good = file && fclose(file) == 0 && is_good;
    free(path);
    return is_good;
}

static bool allow_key(struct visit *visit)
{
    return run(COMMAND("ssh-copy-id", "-p", visit->port, visit->login), NULL, 0, true) == 0 && can_log_in(visit);
}

static bool has_mpiexec(struct visit *visit)
{
    char *command = mur_alloc_text("command -v '%s'", visit->mpiexec), text[512];

    return on_host(visit, command, text, sizeof text) == 0;
}

static bool has_version(struct visit *visit)
{
    char *command = mur_alloc_text("'%s' -version", visit->mpiexec), text[4096], *other;

    if (on_host(visit, command, text, sizeof text) == 0 && strstr(text, "mpiexec (Murmur) " MUR_VERSION "\n"))
        return true;
    other = strstr(text, "(Murmur) ");
    snprintf(visit->reason, sizeof visit->reason, "Murmur %s: there is %.*s", MUR_VERSION,
             other ? (int)strcspn(other + 9, "\n") : 10, other ? other + 9 : "another MPI");
    return false;
}

struct thing {
    const char *name;
    bool (*is_there)(struct visit *visit);
    bool (*mend)(struct visit *visit); /* NULL: the user must */
    const char *advice;
    bool is_of_login; /* needed only where one cannot log in */
};

static const struct thing things[] = {
    {"ssh", has_ssh, NULL, "install OpenSSH's client here", false},
    {"a key of yours", has_key, make_key, "ssh-keygen -t ed25519", true},
    {"the host", has_port, NULL, "sshd must run there, and the network lead to it; -launcher-port tells another port",
     true},
    {"the host's own key", is_known, learn_host, "log in once by ssh and say yes, or ssh-keyscan", true},
    {"your key, on that host", can_log_in, allow_key, "ssh-copy-id, which asks for your password there", true},
    {"Murmur, on that host", has_mpiexec, NULL, "install it there at the same place, or say where: -prefix DIR", false},
    {"the same version of Murmur", has_version, NULL, "install the same version on all hosts", false},
};

static bool look_at(struct visit *visit, bool mends)
{
    bool has_login = has_ssh(visit) && can_log_in(visit);
    const char *name = visit->host->name;

    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        const struct thing *thing = &things[i];

        visit->reason[0] = '\0';
        if ((thing->is_of_login && has_login) || thing->is_there(visit))
            continue;
        if (mends && thing->mend && thing->mend(visit)) {
            printf("%s: done: %s\n", name, thing->name);
            continue;
        }
        printf("%s: missing: %s; %s\n", name, visit->reason[0] ? visit->reason : thing->name, thing->advice);
        return false;
    }
    printf("%s: ready\n", name);
    return true;
}

bool mur_setup_ssh(const struct mur_jobspec *job, const struct mur_hosts *hosts, bool mends)
{
    const struct passwd *own = getpwuid(geteuid());
    const char *home = own ? own->pw_dir : getenv("HOME");
    bool is_ready = true;

    for (int i = 0; i < hosts->count; i++) {
        const struct mur_host *host = &hosts->items[i];
        int port = host->port ? host->port : job->launcher.port ? job->launcher.port : 22;
        struct visit visit = {.host = host, .options = job->launcher.options, .mpiexec = mur_start_path(job)};

        if (host->is_local) {
            printf("%s: is this machine, which needs no ssh\n", host->name);
            continue;
        }
        visit.login = mur_alloc_text("%s%s%s", host->user ? host->user : "", host->user ? "@" : "", host->name);
        visit.port = mur_alloc_text("%d", port);
        visit.known = port == 22 ? mur_alloc_text("%s", host->name) : mur_alloc_text("[%s]:%d", host->name, port);
        visit.folder = mur_alloc_text("%s/.ssh", home ? home : ".");
        fflush(stdout);
        is_ready &= look_at(&visit, mends);
    }
    return is_ready;
}
