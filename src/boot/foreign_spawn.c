/* SPDX-License-Identifier: BSD-3-Clause */
/* What launchers take of a command differs: none takes variables of the environment, some take no empty arguments, no
 * line ends or no semicolons, or drop backslashes. A command that has any of these is told as
 *
 *     /bin/sh -c 'eval "$(awk PROGRAM)"'
 *
 * where what awk prints is "exec env NAME=value PROGRAM ARGUMENTS": only awk makes any byte without a backslash. */
#include "boot/foreign_spawn.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/settings.h"
#include "boot/foreign.h"
#include "boot/job.h"
#include "boot/pmi/pmi.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

#define PARENT_KEY       "murmur_parent_port"    /* PMIx passes it on as a variable: as shells let pass, too */
#define OTHER_PARENT_KEY "PARENT_ROOT_PORT_NAME" /* MPICH's */

enum { INFO_MAX = 4 };

/* One command as the launcher is told, with the memory that it needs. */
struct told {
    struct mur_pmi_pair info[INFO_MAX];
    int info_count;
    char *program, *script;
    char *shell_arguments[3];
};

/* ---- finding the program ---- */

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* A name in a directory; a directory that is relative is seen from `wdir`, if there is one. */
static char *join(const char *wdir, const char *directory, int length, const char *name)
{
    struct mur_pmi_text text = {0};

    if (wdir && directory[0] != '/')
        mur_pmi_text_add(&text, "%s/", wdir);
    mur_pmi_text_add(&text, length ? "%.*s/%s" : "%.*s./%s", length, directory, name);
    return text.failed ? NULL : text.at;
}

static char *search(const char *wdir, const char *path, const char *name)
{
    while (path) {
        int length = (int)strcspn(path, ":");
        char *candidate = join(wdir, path, length, name);

        if (candidate && is_program(candidate))
            return candidate;
        free(candidate);
        path = path[length] ? path + length + 1 : NULL;
    }
    return NULL;
}

/* The file, as it is seen from here; NULL: there is none. */
static char *find_program(const struct mur_foreign_command *command)
{
    const char *path = getenv("PATH"), *name = command->program;
    char *found;

    if (strchr(name, '/')) {
        found = name[0] == '/' || !command->wdir ? strdup(name)
                                                 : join(NULL, command->wdir, (int)strlen(command->wdir), name);
        if (found && is_program(found))
            return found;
        free(found);
        return NULL;
    }
    found = search(command->wdir, command->path, name);
    return found ? found : search(command->wdir, path ? path : "/usr/local/bin:/usr/bin:/bin", name);
}

/* ---- what launchers do not take ---- */

static bool is_plain(const char *argument)
{
    return *argument && !argument[strcspn(argument, "\n;\\")];
}

static bool needs_shell(const struct mur_foreign_command *command)
{
    for (char *const *argument = command->arguments; argument && *argument; argument++)
        if (!is_plain(*argument))
            return true;
    return command->environment || command->errhandler;
}

/* The shell's line, written as what awk prints: in pieces, since awks have limits. */
struct script {
    struct mur_pmi_text text, signs; /* of the piece: the signs are its numbers */
    int count;
};

static void end_piece(struct script *script)
{
    if (script->count)
        mur_pmi_text_add(&script->text, "\"%s}", script->signs.at);
    free(script->signs.at);
    script->signs = (struct mur_pmi_text){0};
    script->count = 0;
}

static void add_byte(struct script *script, char byte)
{
    if (script->count == 0) {
        mur_pmi_text_add(&script->text, "BEGIN{printf \"");
        mur_pmi_text_add(&script->signs, "%s", "");
    }
    if (isalnum((unsigned char)byte) || (unsigned char)byte >= 128 || strchr("/._=-+,: @", byte)) {
        mur_pmi_text_add(&script->text, "%c", byte);
    } else {
        mur_pmi_text_add(&script->text, "%%c");
        mur_pmi_text_add(&script->signs, ",%d", byte);
    }
    script->text.failed |= script->signs.failed;
    if (++script->count == 60)
        end_piece(script);
}

static void add_quoted(struct script *script, const char *word, size_t length)
{
    add_byte(script, ' ');
    add_byte(script, '\'');
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\'')
            for (const char *c = "'\\''"; *c; c++)
                add_byte(script, *c);
        else
            add_byte(script, word[i]);
    add_byte(script, '\'');
}

static char *write_script(const struct mur_foreign_command *command, const char *program)
{
    static const char start[] = "exec env", errhandler[] = MUR_ENV_ERRHANDLER "=";
    struct script script = {0};

    mur_pmi_text_add(&script.text, "eval \"$(awk '");
    for (const char *c = start; *c; c++)
        add_byte(&script, *c);
    for (const char *line = command->environment; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n"), name = strcspn(line, "=\n");

        if (name && name < length)
            add_quoted(&script, line, length);
    }
    if (command->errhandler) {
        add_byte(&script, ' ');
        for (const char *c = errhandler; *c; c++)
            add_byte(&script, *c);
        for (const char *c = command->errhandler; *c; c++)
            add_byte(&script, *c);
    }
    add_quoted(&script, program, strlen(program));
    for (char *const *argument = command->arguments; argument && *argument; argument++)
        add_quoted(&script, *argument, strlen(*argument));
    end_piece(&script);
    mur_pmi_text_add(&script.text, "')\"");
    return script.text.failed ? NULL : script.text.at;
}

/* ---- telling the launcher ---- */

static void add_info(struct told *told, const char *key, const char *value)
{
    if (value)
        told->info[told->info_count++] = (struct mur_pmi_pair){key, value};
}

static int describe(struct told *told, struct mur_pmi_command *to, const struct mur_foreign_command *from)
{
    const char *program;

    told->program = find_program(from);
    if (!told->program && !from->host && !from->hostfile) /* other hosts may have others */
        return mur_error(MPI_ERR_SPAWN, "there is no program '%s'%s%s", from->program, from->path ? " in PATH or " : "",
                         from->path ? from->path : "");
    program = told->program ? told->program : from->program;
    *to = (struct mur_pmi_command){.program = program, .arguments = from->arguments, .ranks = from->ranks};
    if (needs_shell(from)) {
        told->script = write_script(from, program);
        if (!told->script)
            return mur_pmi_no_memory();
        told->shell_arguments[0] = "-c";
        told->shell_arguments[1] = told->script;
        to->program = "/bin/sh";
        to->arguments = told->shell_arguments;
    }
    add_info(told, "wdir", from->wdir);
    add_info(told, "path", told->program ? NULL : from->path);
    add_info(told, "host", from->host);
    add_info(told, "hostfile", from->hostfile);
    to->info = told->info;
    to->info_count = told->info_count;
    return MPI_SUCCESS;
}

/* Can be read when the time is over. */
static int open_timer(struct mur_spawn *spawn)
{
    const struct itimerspec when = {.it_value.tv_sec = mur_settings.spawn_timeout};

    spawn->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (spawn->fd < 0)
        return mur_error(MPI_ERR_SPAWN, "cannot make a timer: %s", strerror(errno));
    timerfd_settime(spawn->fd, 0, &when, NULL);
    return MPI_SUCCESS;
}

int mur_foreign_spawn(struct mur_spawn *spawn, const char *port, const struct mur_foreign_command *commands, int count)
{
    const struct mur_pmi_pair preput = {PARENT_KEY, port};
    struct mur_pmi_command *to = calloc((size_t)count + 1, sizeof *to);
    struct told *told = calloc((size_t)count + 1, sizeof *told);
    int rc = to && told ? MPI_SUCCESS : mur_pmi_no_memory();

    *spawn = (struct mur_spawn){.fd = -1};
    for (int i = 0; i < count && !rc; i++)
        rc = describe(&told[i], &to[i], &commands[i]);
    if (!rc)
        rc = mur_pmi_spawn(mur_foreign_pmi(), to, count, &preput, 1);
    for (int i = 0; i < count && told; i++) {
        free(told[i].program);
        free(told[i].script);
    }
    free(told);
    free(to);
    return rc ? rc : open_timer(spawn);
}

int mur_foreign_parent(char **port)
{
    struct mur_pmi *pmi = mur_foreign_pmi();
    char *other = NULL;
    int rc;

    *port = NULL;
    if (pmi->kind == MUR_PMI_NONE || !pmi->is_spawned)
        return MPI_SUCCESS;
    rc = mur_pmi_get(pmi, MUR_PMI_JOB, PARENT_KEY, port);
    if (rc || *port)
        return rc;
    rc = mur_pmi_get(pmi, MUR_PMI_JOB, OTHER_PARENT_KEY, &other);
    if (!rc && other)
        rc = mur_error(MPI_ERR_SPAWN, "a program of another MPI library has spawned this one, and no messages can be "
                                      "exchanged with it; both must use the same library");
    free(other);
    return rc;
}
