/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds programs as the shell does: a name with a '/' is a file seen from the ranks' directory, any other is looked for
 * in the directories of -path, then along mpiexec's own PATH. */
#include "launch/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/binary.h"
#include "launch/say.h"

enum { IMAGES_MAX = 48 << 20 }; /* what agents are told of a job must fit into a message of theirs */

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

/* A library that the ranks load first, after those that are there. */
static void preload_file(struct mur_context *context, const char *path)
{
    context->preloaded =
        context->preloaded ? mur_alloc_text("%s:%s", context->preloaded, path) : mur_alloc_text("%s", path);
}

/* ... a library for another ABI. */
static void preload(struct mur_context *context, const char *library)
{
    char *path = mur_alloc_text("%s/%s", mur_doors_folder(), library);

    if (access(path, R_OK) == 0)
        preload_file(context, path);
    free(path);
}

/* MPI_WRAP_DLL_NAME: a library that stands before MPI's; MPI_DLL_NAME: one that takes the place of MPI's. */
static void preload_named(struct mur_context *context)
{
    static const char *const names[] = {"MPI_WRAP_DLL_NAME", "MPI_DLL_NAME"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) && *getenv(names[i]))
            preload_file(context, getenv(names[i]));
}

/* Decides how the ranks find Murmur if the program was built for another MPI. Where its own directories come before
 * LD_LIBRARY_PATH, the libraries that it names are loaded first: the dynamic linker then takes those by their names. */
static void choose_doors(struct mur_context *context, int directory, int abi)
{
    static const char *const forced[] = {[MUR_ABI_MPICH] = "libmpi.so.12", [MUR_ABI_OPENMPI] = "libmpi.so.40"};
    struct mur_binary binary;

    if (abi == MUR_ABI_NATIVE || !*mur_doors_folder())
        return;
    if (!mur_binary_read(directory, context->path, &binary))
        binary.family = MUR_FAMILY_UNKNOWN; /* it can be executed, but not read */
    if (binary.family == MUR_FAMILY_OTHER)
        mur_quit(MUR_EXIT_NOT_EXECUTABLE,
                 "'%s' was built for %s (%s), which Murmur cannot stand in for: build it anew, with mpicc, or start it "
                 "with that MPI's own mpiexec (-abi native starts it as it is)",
                 context->argv[0], binary.what, binary.library);
    context->needs_doors = abi != MUR_ABI_UNSET || binary.family != MUR_FAMILY_STANDARD;
    if (abi != MUR_ABI_UNSET)
        preload(context, forced[abi]);
    for (int i = 0; binary.is_object && binary.ignores_path && i < binary.library_count; i++)
        preload(context, binary.libraries[i]);
}

/* What was sent is executed from memory: nothing is left on the host, whatever ends the job. */
static char *keep_image(const struct mur_context *context)
{
    bool is_script = context->image_bytes > 2 && memcmp(context->image, "#!", 2) == 0; /* its interpreter opens it */
    int fd = memfd_create(context->argv[0], is_script ? 0 : MFD_CLOEXEC);
    size_t done = 0;

    while (fd >= 0 && done < context->image_bytes) {
        ssize_t written = write(fd, context->image + done, context->image_bytes - done);

        if (written < 0 && errno != EINTR)
            mur_quit(MUR_EXIT_TROUBLE, "cannot keep the program '%s', which was sent here: %s", context->argv[0],
                     strerror(errno));
        done += written > 0 ? (size_t)written : 0;
    }
    if (fd < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot keep the program '%s', which was sent here: %s", context->argv[0],
                 strerror(errno));
    return mur_alloc_text("/proc/self/fd/%d", fd);
}

static void find_program(struct mur_context *context, int abi)
{
    const char *name = context->argv[0];
    const char *path = getenv("PATH");
    const char *where = context->wdir ? context->wdir : "the current directory";
    int directory = open_directory(context);
    int problem = 0;

    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    if (context->image) {
        context->path = keep_image(context);
    } else if (strchr(name, '/')) {
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
    preload_named(context);
    choose_doors(context, directory, abi);
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
            find_program(&job->contexts[i], job->abi);
    }
}

static void read_image(struct mur_context *context)
{
    int directory = open_directory(context), fd = openat(directory, context->path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    ssize_t got = 1;

    if (fd < 0 || fstat(fd, &status) < 0)
        mur_quit(MUR_EXIT_NOT_EXECUTABLE, "-preload-binary: cannot read '%s': %s", context->path, strerror(errno));
    context->image = mur_alloc((size_t)status.st_size + 1, 1);
    while (got > 0 && context->image_bytes < (size_t)status.st_size) {
        got = read(fd, context->image + context->image_bytes, (size_t)status.st_size - context->image_bytes);
        context->image_bytes += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        mur_quit(MUR_EXIT_NOT_EXECUTABLE, "-preload-binary: cannot read '%s': %s", context->path, strerror(errno));
    close(fd);
    if (directory != AT_FDCWD)
        close(directory);
}

void mur_programs_take(struct mur_jobspec *job)
{
    size_t bytes = 0;

    for (int i = 0; i < job->context_count; i++) {
        if (!job->contexts[i].path)
            find_program(&job->contexts[i], job->abi);
        read_image(&job->contexts[i]);
        bytes += job->contexts[i].image_bytes;
    }
    if (bytes > IMAGES_MAX)
        mur_quit(MUR_EXIT_USAGE, "-preload-binary: the programs have %zu bytes, and up to %d can be sent", bytes,
                 IMAGES_MAX);
}
