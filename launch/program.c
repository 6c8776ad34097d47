/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds programs as the shell does: a name with a '/' is a file seen from the ranks' directory, any other is looked for
 * in the directories of -path, then along mpiexec's own PATH. */
#include "launch/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"

/* Opens the directory the context's ranks start in, for the *at calls. */
static int open_directory(const struct mur_context *context)
{
    int directory;

    if (!context->wdir)
        return AT_FDCWD;
    directory = open(context->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        mur_quit(MUR_EXIT_NOT_FOUND, "the directory of -wdir, '%s', cannot be used: %s", context->wdir,
                 strerror(errno));
    if (faccessat(directory, ".", X_OK, AT_EACCESS) < 0)
        mur_quit(MUR_EXIT_NOT_EXECUTABLE, "the directory of -wdir, '%s', cannot be entered: %s", context->wdir,
                 strerror(errno));
    return directory;
}

/* 0 when `path` can be executed, else an errno. */
static int executable_check(int directory, const char *path)
{
    struct stat status;

    if (fstatat(directory, path, &status, 0) < 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode))
        return EACCES;
    return faccessat(directory, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* The first executable `name` along `path`, or NULL with *problem set to why the best candidate will not do. */
static char *search_path(const char *path, int directory, const char *name, int *problem)
{
    for (;;) {
        size_t length = strcspn(path, ":");
        char *candidate = length ? mur_alloc_text("%.*s/%s", (int)length, path, name) : mur_alloc_text("./%s", name);
        int rc = executable_check(directory, candidate);

        if (rc == 0)
            return candidate;
        /* A directory that may not be searched has no programs for this user. */
        if (rc != ENOENT && rc != ENOTDIR && faccessat(directory, candidate, F_OK, AT_EACCESS) == 0)
            *problem = rc;
        free(candidate);
        if (!path[length])
            return NULL;
        path += length + 1;
    }
}

static void find_program(struct mur_context *context)
{
    const char *name = context->argv[0];
    const char *path = getenv("PATH");
    const char *where = context->wdir ? context->wdir : "the current directory";
    int directory = open_directory(context);
    int problem = 0;

    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    if (strchr(name, '/')) {
        context->path = mur_alloc_text("%s", name);
        problem = executable_check(directory, name);
    } else {
        problem = ENOENT;
        if (context->search)
            context->path = search_path(context->search, directory, name, &problem);
        if (!context->path)
            context->path = search_path(path, directory, name, &problem);
        if (context->path)
            problem = 0;
    }
    if (problem == EISDIR)
        mur_quit(MUR_EXIT_NOT_EXECUTABLE, "'%s' is a directory, not a program", name);
    if (problem == EACCES)
        mur_quit(MUR_EXIT_NOT_EXECUTABLE, "'%s' is not executable; if it is a program, chmod +x may help", name);
    if (problem && strchr(name, '/'))
        mur_quit(MUR_EXIT_NOT_FOUND, "no program '%s', looked for from %s: %s", name, where, strerror(problem));
    if (problem)
        mur_quit(MUR_EXIT_NOT_FOUND, "no program '%s' in PATH%s%s; for one in %s write ./%s", name,
                 context->search ? " or -path " : "", context->search ? context->search : "", where, name);
    if (directory != AT_FDCWD)
        close(directory);
}

void mur_programs_find(struct mur_jobspec *job, int node)
{
    int rank = 0;

    for (int i = 0; i < job->context_count; i++) {
        bool is_here = false;

        for (int left = job->contexts[i].ranks; left > 0; left--)
            is_here |= job->node_of[rank++] == node;
        if (is_here)
            find_program(&job->contexts[i]);
    }
}
