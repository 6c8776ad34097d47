/* SPDX-License-Identifier: BSD-3-Clause */
/* The options are those of CRIU 4 (criu(8)). Connections are not saved: the library makes them anew. */
#include "launch/checkpoint/criu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"

enum { LINE_BYTES = 1024, GHOST_LIMIT = 1 << 30 }; /* bytes of a file that processes have open and nobody can name */

void mur_words_add(struct mur_words *words, const char *format, ...)
{
    char text[4096 + LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    words->items = mur_alloc_again(words->items, (size_t)words->count + 2, sizeof *words->items);
    words->items[words->count++] = mur_alloc_text("%s", text);
    words->items[words->count] = NULL;
}

void mur_words_free(struct mur_words *words)
{
    for (int i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct mur_words){0};
}

bool mur_criu_begin(struct mur_words *words, const char *action, char *text, size_t bytes)
{
    const char *own = getenv("MUR_CRIU");
    char **command = mur_words_split(own && *own ? own : "criu", strlen(own && *own ? own : "criu"));

    *words = (struct mur_words){0};
    for (int i = 0; command && command[i]; i++)
        mur_words_add(words, "%s", command[i]);
    if (!words->count) {
        snprintf(text, bytes, "MUR_CRIU is '%s', but must be a command: the program criu, and words before it", own);
        return false;
    }
    mur_words_add(words, "%s", action);
    return true;
}

void mur_criu_add_dump(struct mur_words *words, const char *folder)
{
    mur_words_add(words, "-D");
    mur_words_add(words, "%s", folder);
    mur_words_add(words, "-o");
    mur_words_add(words, "dump.log");
    mur_words_add(words, "-v2");
    mur_words_add(words, "--leave-running");
    mur_words_add(words, "--tcp-close");
    mur_words_add(words, "--skip-in-flight");
    mur_words_add(words, "--file-locks");
    mur_words_add(words, "--link-remap");
    mur_words_add(words, "--ghost-limit=%d", GHOST_LIMIT);
    mur_words_add(words, "--manage-cgroups=ignore");
}

void mur_criu_add_restore(struct mur_words *words, const char *folder)
{
    mur_words_add(words, "-D");
    mur_words_add(words, "%s", folder);
    mur_words_add(words, "-o");
    mur_words_add(words, "restore.log");
    mur_words_add(words, "-v2");
    mur_words_add(words, "--restore-detached");
    mur_words_add(words, "--tcp-close");
    mur_words_add(words, "--file-locks");
    mur_words_add(words, "--manage-cgroups=ignore");
}

_Noreturn void mur_criu_become(const struct mur_words *words, int log)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(words->items[0], words->items);
    dprintf(STDERR_FILENO, "cannot execute '%s': %s\n", words->items[0], strerror(errno));
    _exit(127);
}

/* The last line of a file. */
static bool find_line(const char *folder, const char *name, char line[LINE_BYTES])
{
    char *path = mur_alloc_text("%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    char next[LINE_BYTES];
    bool is_found = false;

    free(path);
    while (file && fgets(next, sizeof next, file)) {
        next[strcspn(next, "\n")] = '\0';
        if (!*next)
            continue;
        memcpy(line, next, strlen(next) + 1);
        is_found = true;
    }
    if (file)
        fclose(file);
    return is_found;
}

/* CRIU's last words tell that it failed; what it failed at stands before them. */
static bool find_error(const char *folder, const char *log, char line[LINE_BYTES])
{
    static const char word[] = "Error (";
    char *path = mur_alloc_text("%s/%s", folder, log);
    FILE *file = fopen(path, "re");
    bool is_found = false;

    free(path);
    while (file && !is_found && fgets(line, LINE_BYTES, file)) {
        char *at = strstr(line, word), *message = at ? strstr(at, "): ") : NULL;

        if (!message || strstr(message, "rlimit: Can't setup"))
            continue; /* which it gets along without */
        message += 3;
        message[strcspn(message, "\n")] = '\0';
        memmove(line, message, strlen(message) + 1);
        is_found = true;
    }
    if (file)
        fclose(file);
    return is_found;
}

void mur_criu_explain(const char *folder, const char *log, int status, char *text, size_t bytes)
{
    char line[LINE_BYTES] = "";

    if (find_error(folder, log, line) || find_line(folder, "complaints", line))
        snprintf(text, bytes, "CRIU failed: %s", line);
    else if (status != -1 && WIFSIGNALED(status))
        snprintf(text, bytes, "CRIU was killed by signal %d", WTERMSIG(status));
    else if (status == -1)
        snprintf(text, bytes, "CRIU cannot be started");
    else
        snprintf(text, bytes, "CRIU ended with code %d and no message", WEXITSTATUS(status));
}
