/* SPDX-License-Identifier: BSD-3-Clause */
/* smpd's command line. Settings come first in meaning, wherever they stand; then one thing is done: serving, asking a
 * daemon, or reading and writing ~/.smpd. */
#include "launch/options/smpd.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/daemon/call.h"
#include "launch/daemon/daemon.h"
#include "launch/options/parser.h"
#include "launch/say.h"

static const char help[] =
    "Usage: smpd -s [settings] | -d [level] [settings] | command [settings]\n"
    "The daemon of Murmur: it stands on a host and starts there what mpiexec -launcher smpd asks for, for whoever "
    "proves\n"
    "to know its phrase. mpiexec -daemon is the same program.\n"
    "\n"
    "  -s                     serve, in the background (as the first process of a container: in the foreground)\n"
    "  -d [LEVEL]             serve in the foreground; level 1 and 2 say more\n"
    "Settings\n"
    "  -port PORT, -p PORT    the port (default 8676);  -anyport: any that is free, which is printed\n"
    "  -phrase-file FILE      the phrase is the first line of FILE (also MUR_PHRASE_FILE)\n"
    "  -getphrase             ask for the phrase at the terminal;  -phrase PHRASE: for all to see for a moment\n"
    "  -smpdfile FILE         settings, as lines KEY=VALUE, of which `phrase` is one (default ~/.smpd); only if "
    "nobody\n"
    "                         else may read it; read at start and upon SIGHUP\n"
    "Commands to the daemon on HOST (default: this host)\n"
    "  -status [HOST]         whether it answers, and what it does;  -shutdown [HOST], -restart [HOST]: jobs go on\n"
    "  -console [HOST]        a prompt: status, hosts, jobs, ranks [JOB], kill JOB, get KEY, set KEY VALUE, traceon "
    "FILE,\n"
    "                         traceoff, shutdown, restart, quit\n"
    "  -traceon FILE [HOST], -traceoff [HOST]    every step of every visit, into a file there\n"
    "Others\n"
    "  -get KEY, -set KEY VALUE       of the smpdfile here;  -hosts, -sethosts HOST...: its key hosts\n"
    "  -states                the table of states;  -version;  -help\n";

enum act { NOTHING, SERVE, SERVE_HERE, ASK, CONSOLE, GET, SET, HOSTS, SET_HOSTS };

struct line { /* the command line, understood */
    struct mur_daemon_options options;
    enum act act;
    char *words[4];   /* of the command to a daemon */
    const char *host; /* NULL: this one */
    char *key, *value;
    bool asks_phrase, has_port;
    char **next;
};

bool mur_daemon_is_meant(char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];

    return strcmp(name, "smpd") == 0 ||
           (argv[1] && (strcmp(argv[1], "-daemon") == 0 || strcmp(argv[1], "--daemon") == 0));
}

static char *value_of(struct line *line, const char *option)
{
    if (!*line->next)
        mur_quit(MUR_EXIT_USAGE, "%s wants a value after it", option);
    return *line->next++;
}

/* The next word, unless it is an option. */
static char *maybe_value(struct line *line)
{
    return *line->next && **line->next != '-' ? *line->next++ : NULL;
}

static int number_of(const char *option, const char *text, int low, int high)
{
    int number;

    if (!mur_number_read(text, strlen(text), low, high, &number))
        mur_quit(MUR_EXIT_USAGE, "%s wants a number from %d to %d, not '%s'", option, low, high, text);
    return number;
}

/* ---- options ---- */

static void set_act(struct line *line, const char *option, enum act act)
{
    if (line->act)
        mur_quit(MUR_EXIT_USAGE, "%s: one thing at a time, and another was asked for before", option);
    line->act = act;
}

static bool read_setting(struct line *line, const char *name, const char *option)
{
    struct mur_daemon_options *options = &line->options;

    if (strcmp(name, "port") == 0 || strcmp(name, "p") == 0)
        options->port = (uint16_t)number_of(option, value_of(line, option), 1, 65535);
    else if (strcmp(name, "anyport") == 0)
        options->is_any_port = true;
    else if (strcmp(name, "phrase") == 0)
        options->phrase = mur_phrase_take(value_of(line, option));
    else if (strcmp(name, "phrase-file") == 0 || strcmp(name, "pwdfile") == 0)
        options->phrase_file = value_of(line, option);
    else if (strcmp(name, "smpdfile") == 0)
        options->smpdfile = value_of(line, option);
    else if (strcmp(name, "getphrase") == 0)
        line->asks_phrase = true;
    else
        return false;
    return true;
}

/* -phrase-fd N: of a daemon that executes itself anew. */
static void read_phrase(struct line *line, const char *option)
{
    char text[MUR_PHRASE_MAX + 1] = "";
    int fd = number_of(option, value_of(line, option), 3, INT_MAX);
    ssize_t got = read(fd, text, sizeof text - 1);

    close(fd);
    if (got > 0)
        line->options.phrase = mur_alloc_text("%s", text);
    explicit_bzero(text, sizeof text);
}

/* Commands to a daemon. */
static bool read_command(struct line *line, const char *name, const char *option)
{
    static const char *const commands[] = {"status", "shutdown", "restart", "traceon", "traceoff"};

    if (strcmp(name, "console") == 0) {
        set_act(line, option, CONSOLE);
        line->host = maybe_value(line);
        return true;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char directory[PATH_MAX], *file;

        if (strcmp(name, commands[i]) != 0)
            continue;
        set_act(line, option, ASK);
        line->words[0] = (char *)(uintptr_t)commands[i];
        if (strcmp(name, "traceon") == 0) {
            file = value_of(line, option);
            line->words[1] =
                *file == '/' || !getcwd(directory, sizeof directory) ? file : mur_alloc_text("%s/%s", directory, file);
        }
        line->host = maybe_value(line);
        return true;
    }
    return false;
}

static void read_option(struct line *line, const char *option)
{
    const char *name = option + strspn(option, "-"), *level;

    if (*option != '-')
        mur_quit(MUR_EXIT_USAGE, "'%s' is no option; smpd -help lists them", option);
    if (read_setting(line, name, option) || read_command(line, name, option))
        return;
    if (strcmp(name, "phrase-fd") == 0) {
        read_phrase(line, option);
    } else if (strcmp(name, "s") == 0) {
        set_act(line, option, SERVE);
    } else if (strcmp(name, "d") == 0) {
        set_act(line, option, SERVE_HERE);
        level = maybe_value(line);
        line->options.level = level ? number_of(option, level, 0, 255) : 0;
    } else if (strcmp(name, "get") == 0) {
        set_act(line, option, GET);
        line->key = value_of(line, option);
    } else if (strcmp(name, "set") == 0) {
        set_act(line, option, SET);
        line->key = value_of(line, option);
        line->value = mur_phrase_take(value_of(line, option));
    } else if (strcmp(name, "hosts") == 0) {
        set_act(line, option, HOSTS);
    } else if (strcmp(name, "sethosts") == 0) {
        set_act(line, option, SET_HOSTS);
        line->value = mur_alloc_text("%s", value_of(line, option));
        for (char *word; (word = maybe_value(line));)
            line->value = mur_alloc_text("%s,%s", line->value, word);
    } else {
        mur_quit(MUR_EXIT_USAGE, "unknown option %s; smpd -help lists them", option);
    }
}

/* ---- asking a daemon ---- */

static void dial(struct line *line, struct mur_daemon_call *call)
{
    struct mur_phrase_key key = {0};
    struct mur_launcher launcher = {.key = &key,
                                    .phrase = line->options.phrase,
                                    .phrase_file = line->options.phrase_file,
                                    .smpdfile = line->options.smpdfile};
    const struct passwd *own = getpwuid(geteuid());
    const unsigned char *bytes = mur_phrase_key(&launcher);
    const char *problem;

    line->host = line->host ? line->host : "localhost";
    problem = mur_daemon_dial(call, line->host, line->options.port, own ? own->pw_name : "", bytes);
    mur_seal_wipe(&key, sizeof key);
    if (problem)
        mur_quit(MUR_EXIT_TROUBLE, "host %s: %s", line->host, problem);
}

static int ask_daemon(struct line *line)
{
    static struct mur_daemon_call call;
    int code = -1;

    dial(line, &call);
    if (mur_daemon_say(&call, MUR_DAEMON_COMMAND, NULL, line->words))
        code = mur_daemon_relay(&call, line->host);
    if (code < 0)
        mur_quit(MUR_EXIT_TROUBLE, "host %s: the connection to its daemon has broken", line->host);
    return code;
}

static int converse(struct line *line)
{
    static struct mur_daemon_call call;
    char text[4096], **words;
    int code = 0;

    dial(line, &call);
    for (;;) {
        if (isatty(STDIN_FILENO)) {
            printf("smpd %s> ", line->host);
            fflush(stdout);
        }
        if (!fgets(text, sizeof text, stdin))
            return code;
        words = mur_words_split(text, strcspn(text, "\n"));
        if (!words || !words[0])
            continue;
        if (strcmp(words[0], "quit") == 0 || strcmp(words[0], "exit") == 0)
            return code;
        if (strcmp(words[0], "help") == 0) {
            puts(
                "status, hosts, jobs, ranks [JOB], kill JOB, get KEY, set KEY VALUE, traceon FILE, traceoff, shutdown, "
                "restart, quit");
            continue;
        }
        code = mur_daemon_say(&call, MUR_DAEMON_COMMAND, NULL, words) ? mur_daemon_relay(&call, line->host) : -1;
        if (code < 0)
            mur_quit(MUR_EXIT_TROUBLE, "host %s: the connection to its daemon has broken", line->host);
    }
}

/* ---- ~/.smpd ---- */

static int print_value(const struct line *line, const char *key)
{
    char *path = mur_smpdfile_path(line->options.smpdfile), *value;
    struct mur_problem problem;

    value = mur_smpdfile_get(path, geteuid(), key, &problem);
    if (!value)
        mur_quit(MUR_EXIT_TROUBLE, "%s%s%s%s", problem.text[0] ? problem.text : "there is no ",
                 problem.text[0] ? "" : key, problem.text[0] ? "" : " in ", problem.text[0] ? "" : path);
    puts(value);
    return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
}

static int write_value(const struct line *line, const char *key, const char *value)
{
    char *path = mur_smpdfile_path(line->options.smpdfile);
    struct mur_problem problem = {.text = ""};

    if (!mur_smpdfile_set(path, key, value, &problem))
        mur_quit(MUR_EXIT_TROUBLE, "%s", problem.text);
    return 0;
}

/* ---- serving ---- */

static int serve(struct line *line, char **argv)
{
    const char *restarted = getenv(MUR_DAEMON_RESTARTED);
    bool stays = line->act == SERVE_HERE || restarted || getpid() == 1 || getppid() <= 1;
    struct mur_daemon_options *options = &line->options;

    if (restarted) {
        options->port = (uint16_t)number_of(MUR_DAEMON_RESTARTED, restarted, 1, 65535);
        options->is_any_port = false;
        unsetenv(MUR_DAEMON_RESTARTED);
    }
    if (line->asks_phrase && !options->phrase)
        options->phrase = mur_phrase_ask("The phrase of this daemon: ");
    return mur_daemon_serve(options, argv, stays);
}

int mur_daemon_main(char **argv)
{
    bool is_named = argv[1] && (strcmp(argv[1], "-daemon") == 0 || strcmp(argv[1], "--daemon") == 0);
    struct line line = {.options.port = MUR_DAEMON_PORT, .next = argv + 1 + is_named};

    mur_say_name = "smpd";
    if (!*line.next || strcmp(*line.next, "-help") == 0 || strcmp(*line.next, "--help") == 0 ||
        strcmp(*line.next, "-h") == 0) {
        fputs(help, stdout);
        return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
    }
    if (strcmp(*line.next, "-version") == 0 || strcmp(*line.next, "--version") == 0) {
        printf("smpd (Murmur) %s\n", MUR_VERSION);
        return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
    }
    if (strcmp(*line.next, "-states") == 0) {
        mur_visit_print_table(stdout);
        return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
    }
    while (*line.next)
        read_option(&line, *line.next++);
    switch (line.act) {
    case SERVE:
    case SERVE_HERE:
        return serve(&line, argv);
    case ASK:
        return ask_daemon(&line);
    case CONSOLE:
        return converse(&line);
    case GET:
        return print_value(&line, line.key);
    case SET:
        return write_value(&line, line.key, line.value);
    case HOSTS:
        return print_value(&line, "hosts");
    case SET_HOSTS:
        return write_value(&line, "hosts", line.value);
    case NOTHING:
        break;
    }
    mur_quit(MUR_EXIT_USAGE, "nothing is asked for: -s serves; smpd -help lists what else");
}
