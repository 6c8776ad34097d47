/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking the agent for a new mpiexec; and, in a program that nobody launched, starting it: the one beside the library,
 * or the first in PATH. It is started by a child that ends at once, so it is nobody's zombie, and holds one end of a
 * pipe whose other end tells when it is gone. */
#define _GNU_SOURCE
#include "boot/spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/job.h"
#include "boot/process.h"
#include "mpi.h"

extern char **environ;

void mur_spawn_add(struct mur_spawn_text *text, const char *word)
{
    size_t bytes = strlen(word) + 1;

    if (text->count + bytes > text->room) {
        size_t room = 2 * (text->count + bytes);
        char *more = realloc(text->bytes, room);

        if (!more) {
            text->has_failed = true;
            return;
        }
        text->bytes = more;
        text->room = room;
    }
    memcpy(text->bytes + text->count, word, bytes);
    text->count += bytes;
}

/* ---- by the agent ---- */

/* Spawns that nobody waits for any more, whose answers are still to come. */
static struct left {
    struct left *next;
    char name[160];
} * left;

static void forget_left(void)
{
    for (struct left **link = &left; *link;) {
        struct left *one = *link;

        if (!mur_boot_has_answer(one->name)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        free(one);
    }
}

static void leave_to_agent(const struct mur_spawn *spawn)
{
    struct left *one = malloc(sizeof *one);

    if (!one)
        return; /* its answer stays where it is */
    memcpy(one->name, spawn->name, sizeof one->name);
    one->next = left;
    left = one;
}

static int ask_agent(struct mur_spawn *spawn, const struct mur_spawn_text *text)
{
    static unsigned last;
    int rc = MPI_SUCCESS;

    forget_left();
    snprintf(spawn->name, sizeof spawn->name, "spawn!%.64s.%d.%u", mur_process.job_id, mur_process.rank, ++last);
    for (size_t done = 0; !rc && done < text->count;) {
        size_t bytes = text->count - done < MUR_VALUE_MAX ? text->count - done : MUR_VALUE_MAX;

        rc = mur_boot_tell(MUR_CONTROL_SPAWN_TEXT, 0, text->bytes + done, bytes);
        done += bytes;
    }
    if (!rc)
        rc =
            mur_boot_tell(MUR_CONTROL_SPAWN, 0, spawn->name + strlen("spawn!"), strlen(spawn->name) - strlen("spawn!"));
    return rc ? rc : mur_boot_ask(spawn->name); /* the answer comes when it has ended */
}

/* ---- without one ---- */

/* The mpiexec of this library's installation, or of its build. */
static bool find_mpiexec(char path[PATH_MAX + 32])
{
    static const char *const places[] = {"../bin/mpiexec", "../../bin/mpiexec", "../../../bin/mpiexec"};
    char real[PATH_MAX];
    Dl_info library;

    if (!dladdr((void *)(uintptr_t)mur_spawn_start, &library) || !library.dli_fname ||
        !realpath(library.dli_fname, real))
        return false;
    *strrchr(real, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, PATH_MAX + 32, "%s/%s", real, places[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* What the new process needs, made before the fork: after it, only system calls are allowed. */
struct plan {
    char path[PATH_MAX + 32];
    char **argv, **environment;
    char port[1200], separator[100];
};

static bool make_plan(struct plan *plan, const struct mur_spawn_text *text)
{
    const char *at = text->bytes, *end = text->bytes + text->count;
    size_t words = 0, variables = 0, count = 0;

    for (const char *c = at; c < end; c++)
        words += *c == '\0';
    while (environ[variables])
        variables++;
    plan->argv = calloc(words + 2, sizeof *plan->argv);
    plan->environment = calloc(variables + 3, sizeof *plan->environment);
    if (!plan->argv || !plan->environment)
        return false;
    snprintf(plan->port, sizeof plan->port, MUR_ENV_SPAWN_PORT "=%s", at);
    at += strlen(at) + 1;
    snprintf(plan->separator, sizeof plan->separator, MUR_ENV_SPAWN_SEPARATOR "=%s", at);
    at += strlen(at) + 1;
    plan->argv[count++] = plan->path;
    for (; at < end; at += strlen(at) + 1)
        if (strcmp(at, MUR_SPAWN_HOSTS) != 0)
            plan->argv[count++] = (char *)(uintptr_t)at;
    memcpy(plan->environment, environ, variables * sizeof *environ);
    plan->environment[variables] = plan->port;
    plan->environment[variables + 1] = plan->separator;
    return true;
}

/* In the grandchild. */
static __attribute__((noreturn)) void become(const struct plan *plan, int tied_fd)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    fcntl(tied_fd, F_SETFD, 0);
    execvpe(plan->path, plan->argv, plan->environment);
    _exit(127);
}

static int start_alone(struct mur_spawn *spawn, const struct mur_spawn_text *text)
{
    struct plan plan = {.path = "mpiexec"};
    int ends[2], rc = MPI_SUCCESS;
    pid_t child;

    if (!find_mpiexec(plan.path))
        strcpy(plan.path, "mpiexec");
    if (!make_plan(&plan, text)) {
        rc = mur_error(MPI_ERR_NO_MEM, "no memory to start mpiexec");
    } else if (pipe2(ends, O_CLOEXEC) < 0) {
        rc = mur_error(MPI_ERR_SPAWN, "cannot make a pipe: %s", strerror(errno));
    } else if ((child = fork()) < 0) {
        rc = mur_error(MPI_ERR_SPAWN, "cannot fork: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
    } else if (child == 0) {
        if (fork() == 0)
            become(&plan, ends[1]);
        _exit(0);
    } else {
        close(ends[1]);
        waitpid(child, NULL, 0);
        *spawn = (struct mur_spawn){.fd = ends[0]};
    }
    free(plan.argv);
    free(plan.environment);
    return rc;
}

/* ---- either ---- */

int mur_spawn_start(struct mur_spawn *spawn, const struct mur_spawn_text *text)
{
    *spawn = (struct mur_spawn){.fd = -1};
    if (text->has_failed)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the description of what is to be spawned");
    return mur_process.control_fd >= 0 ? ask_agent(spawn, text) : start_alone(spawn, text);
}

bool mur_spawn_has_ended(struct mur_spawn *spawn)
{
    struct pollfd news = {.fd = spawn->fd, .events = POLLIN};

    if (spawn->fd >= 0)
        return poll(&news, 1, 0) > 0;
    spawn->has_ended = spawn->has_ended || mur_boot_has_answer(spawn->name);
    return spawn->has_ended;
}

int mur_spawn_watch(const struct mur_spawn *spawn)
{
    return spawn->fd;
}

void mur_spawn_leave(struct mur_spawn *spawn)
{
    if (spawn->fd >= 0)
        close(spawn->fd);
    else if (spawn->name[0] && !spawn->has_ended)
        leave_to_agent(spawn);
    *spawn = (struct mur_spawn){.fd = -1};
}
