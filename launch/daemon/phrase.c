/* SPDX-License-Identifier: BSD-3-Clause */
/* Phrases from files, arguments and the terminal. */
#include "launch/daemon/phrase.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"

static void set_problem(struct mur_problem *problem, const char *path, const char *what)
{
    snprintf(problem->text, sizeof problem->text, "the file %s %s", path, what);
}

char *mur_smpdfile_path(const char *given)
{
    const char *home = getenv("HOME");

    return given ? mur_alloc_text("%s", given) : mur_alloc_text("%s/.smpd", home && *home ? home : ".");
}

/* Opens the file if it is one for `owner` alone. NULL where it is not there, or with a problem. */
static FILE *open_own(const char *path, uid_t owner, struct mur_problem *problem)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;

    problem->text[0] = '\0';
    if (fd < 0 && errno == ENOENT)
        return NULL;
    if (fd < 0)
        set_problem(problem, path, strerror(errno));
    else if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        set_problem(problem, path, "is no regular file");
    else if (status.st_uid != owner)
        set_problem(problem, path, "belongs to another user: it is not read");
    else if (status.st_mode & (S_IRWXG | S_IRWXO))
        set_problem(problem, path, "can be read or changed by others: it is not read (chmod 600 makes it yours alone)");
    else
        return fdopen(fd, "r");
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* A line "KEY=VALUE", perhaps with blanks around the '=', whose key this is: its value, cut out of it. */
static char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);
    char *at = line + strspn(line, " \t");

    if (strncmp(at, key, length) != 0)
        return NULL;
    at += length;
    at += strspn(at, " \t");
    if (*at++ != '=')
        return NULL;
    at += strspn(at, " \t");
    at[strcspn(at, "\r\n")] = '\0';
    return at;
}

char *mur_smpdfile_get(const char *path, uid_t owner, const char *key, struct mur_problem *problem)
{
    FILE *file = open_own(path, owner, problem);
    char line[MUR_PHRASE_MAX + 64], *value, *found = NULL;

    if (!file)
        return NULL;
    while (!found && fgets(line, sizeof line, file))
        if ((value = value_of(line, key)))
            found = mur_alloc_text("%s", value);
    explicit_bzero(line, sizeof line);
    fclose(file);
    return found;
}

/* Copies what is not of the key. */
static void copy_others(FILE *from, FILE *to, const char *key)
{
    char line[MUR_PHRASE_MAX + 64], copy[sizeof line];

    while (from && fgets(line, sizeof line, from)) {
        memcpy(copy, line, sizeof line);
        if (!value_of(copy, key))
            fputs(line, to);
    }
    explicit_bzero(line, sizeof line);
    explicit_bzero(copy, sizeof copy);
}

bool mur_smpdfile_set(const char *path, const char *key, const char *value, struct mur_problem *problem)
{
    FILE *old = open_own(path, geteuid(), problem), *file = NULL;
    char *next = mur_alloc_text("%s.XXXXXX", path);
    bool is_written = false;
    int fd = problem->text[0] ? -1 : mkostemp(next, O_CLOEXEC); /* with mode 0600 */

    if (fd >= 0 && (file = fdopen(fd, "w"))) {
        copy_others(old, file, key);
        if (value)
            fprintf(file, "%s=%s\n", key, value);
        is_written = fclose(file) == 0 && rename(next, path) == 0;
        if (!is_written)
            unlink(next);
    }
    if (old)
        fclose(old);
    if (!is_written && !problem->text[0])
        set_problem(problem, path, strerror(errno));
    free(next);
    return is_written;
}

static char *read_line(FILE *file)
{
    char line[MUR_PHRASE_MAX + 2], *text = NULL;

    if (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        text = *line ? mur_alloc_text("%s", line) : NULL;
    }
    explicit_bzero(line, sizeof line);
    return text;
}

char *mur_phrase_read(const char *path, char **user, struct mur_problem *problem)
{
    FILE *file = fopen(path, "re");
    char *first, *second;

    if (!file) {
        snprintf(problem->text, sizeof problem->text, "cannot read the phrase from %s: %s", path, strerror(errno));
        return NULL;
    }
    first = read_line(file);
    second = first ? read_line(file) : NULL;
    fclose(file);
    if (!first)
        snprintf(problem->text, sizeof problem->text, "the first line of %s is empty: it is to be the phrase", path);
    if (!second)
        return first;
    if (user)
        *user = first;
    return second;
}

char *mur_phrase_ask(const char *prompt)
{
    FILE *terminal = fopen("/dev/tty", "r+e");
    struct termios before, silent;
    char *phrase;

    if (!terminal)
        return NULL;
    if (tcgetattr(fileno(terminal), &before) < 0) {
        fclose(terminal);
        return NULL;
    }
    silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(fileno(terminal), TCSAFLUSH,
              &silent); /* before the prompt: who answers it at once is not echoed or lost */
    fputs(prompt, terminal);
    fflush(terminal);
    phrase = read_line(terminal);
    tcsetattr(fileno(terminal), TCSAFLUSH, &before);
    fputc('\n', terminal);
    fclose(terminal);
    return phrase;
}

char *mur_phrase_take(char *argument)
{
    char *phrase = mur_alloc_text("%s", argument);

    memset(argument, 'x', strlen(argument));
    return phrase;
}

bool mur_phrase_stretch(unsigned char key[MUR_SEAL_KEY_BYTES], char *phrase)
{
    bool is_done = mur_seal_stretch(key, phrase);

    mur_seal_wipe(phrase, strlen(phrase));
    free(phrase);
    return is_done;
}

/* ---- mpiexec's ---- */

static char *written_phrase(const struct mur_launcher *launcher, struct mur_problem *problem)
{
    const char *variable = getenv("MUR_PHRASE_FILE"), *file = launcher->phrase_file;
    char *phrase = launcher->phrase, *path = mur_smpdfile_path(launcher->smpdfile);
    char *key =
        launcher->phrase_number ? mur_alloc_text("phrase.%d", launcher->phrase_number) : mur_alloc_text("phrase");

    if (!phrase && !file && variable && *variable)
        file = variable;
    if (!phrase && file)
        phrase = mur_phrase_read(file, NULL, problem);
    if (!phrase && !file)
        phrase = mur_smpdfile_get(path, geteuid(), key, problem);
    free(path);
    free(key);
    return phrase;
}

bool mur_phrase_is_there(const struct mur_launcher *launcher)
{
    struct mur_problem problem = {.text = ""};
    char *phrase = written_phrase(launcher, &problem);

    if (phrase && phrase != launcher->phrase) {
        explicit_bzero(phrase, strlen(phrase)); /* sodium need not be there */
        free(phrase);
    }
    return phrase && !problem.text[0];
}

static char *find_phrase(const struct mur_launcher *launcher)
{
    static const char question[] = "The phrase of the daemons (smpd): ";
    struct mur_problem problem = {.text = ""};
    char *phrase = launcher->asks_first ? mur_phrase_ask(question) : NULL;

    if (!phrase)
        phrase = written_phrase(launcher, &problem);
    if (problem.text[0])
        mur_quit(MUR_EXIT_USAGE, "%s", problem.text);
    if (!phrase && !launcher->asks_nobody)
        phrase = mur_phrase_ask(question);
    if (!phrase || !*phrase)
        mur_quit(MUR_EXIT_USAGE, "no phrase for the daemons (smpd) of other hosts: ~/.smpd with a line phrase=..., "
                                 "-pwdfile FILE or MUR_PHRASE_FILE tells it");
    return phrase;
}

const unsigned char *mur_phrase_key(const struct mur_launcher *launcher)
{
    struct mur_phrase_key *key = launcher->key;
    char complaint[400];

    if (key->is_known)
        return key->bytes;
    if (!mur_seal_open(complaint, sizeof complaint))
        mur_quit(MUR_EXIT_TROUBLE, "%s", complaint);
    if (!mur_phrase_stretch(key->bytes, find_phrase(launcher)))
        mur_quit(MUR_EXIT_TROUBLE, "no memory to stretch the phrase of the daemons (64 MiB)");
    key->is_known = true;
    return key->bytes;
}
