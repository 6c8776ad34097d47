/* SPDX-License-Identifier: BSD-3-Clause */
/* mpijob console: where the API is; if nobody says so, `mpijob serve` is started for it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/cli/cli.h"
#include "mpijob/console/console.h"

enum { SESSION = 8 * 3600, MOST_WORDS = 64 }; /* seconds */

static struct {
    const char *kubeconfig, *server, *space, *certificate, *key;
    const char *serve[MOST_WORDS]; /* the command line of `mpijob serve` */
    int serve_count;
} words_of = {.serve = {"mpijob", "serve", "--listen", "127.0.0.1:0"}, .serve_count = 4};

static bool is(const char *word, const char *option, const char *value)
{
    return strcmp(word + (strncmp(word, "--", 2) == 0), option) == 0 && value;
}

static void pass(const char *word)
{
    if (words_of.serve_count + 1 >= MOST_WORDS)
        mur_quit(MUR_EXIT_USAGE, "console: more than %d words are for mpijob serve", MOST_WORDS);
    words_of.serve[words_of.serve_count++] = word;
}

static void read_words(int count, char **words)
{
    for (int i = 0; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;

        if (is(word, "-no-namespaces", word)) {
            pass(word);
            continue;
        }
        if (is(word, "-listen", value))
            mur_console.listen = value;
        else if (is(word, "-kubeconfig", value))
            words_of.kubeconfig = value;
        else if (is(word, "-api", value))
            words_of.server = value;
        else if (is(word, "-namespace", value) || is(word, "-n", value))
            words_of.space = value;
        else if (is(word, "-token-file", value))
            mur_console.token_file = value;
        else if (is(word, "-tls-certificate", value))
            words_of.certificate = value;
        else if (is(word, "-tls-key", value))
            words_of.key = value;
        else if (is(word, "-session", value))
            mur_console.session = (long long)mur_cli_seconds("--session", value);
        else if (is(word, "-data", value) || is(word, "-image", value) || is(word, "-restart-delay", value))
            pass(word), pass(value);
        else
            mur_quit(MUR_EXIT_USAGE, "console: unknown or incomplete: %s; see mpijob help", word);
        i++;
    }
    if (!words_of.certificate != !words_of.key)
        mur_quit(MUR_EXIT_USAGE, "console: --tls-certificate and --tls-key belong together");
    if (!strchr(mur_console.listen, ':'))
        mur_quit(MUR_EXIT_USAGE, "--listen %s: HOST:PORT is expected", mur_console.listen);
    if (words_of.server && words_of.kubeconfig)
        mur_quit(MUR_EXIT_USAGE, "console: either --api or --kubeconfig says where the API is");
}

static char *read_pem(const char *path)
{
    char *text = path ? mur_text_read(path) : NULL;

    if (path && !text)
        mur_quit(MUR_EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    return text;
}

static pid_t fork_serve(int *out)
{
    int ends[2];
    pid_t parent = getpid(), child;

    if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot start mpijob serve: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1);
        setpgid(0, 0); /* Ctrl-C is for the console, which ends it */
        dup2(ends[1], 2);
        execv("/proc/self/exe", (char **)words_of.serve);
        _exit(MUR_EXIT_NOT_FOUND);
    }
    close(ends[1]);
    *out = ends[0];
    return child;
}

/* Reads what serve says until it says where its kubeconfig is. */
static pid_t start_serve(void)
{
    pid_t child = fork_serve(&mur_console.serve);
    FILE *said = fdopen(dup(mur_console.serve), "r");
    char line[4096], *at = NULL;

    setvbuf(said, NULL, _IONBF, 0); /* what follows that line stays in the pipe */
    while (!at && fgets(line, sizeof line, said)) {
        mur_say_raw(line, strlen(line));
        at = strstr(line, "KUBECONFIG=");
    }
    fclose(said);
    if (!at)
        mur_quit(MUR_EXIT_TROUBLE, "mpijob serve has not started; if one runs already, name its kubeconfig by "
                                   "--kubeconfig");
    at += strlen("KUBECONFIG=");
    at[strcspn(at, "\n")] = '\0';
    mur_cluster_load(&mur_console.cluster, at);
    return child;
}

static void end_serve(pid_t child)
{
    char text[4096];
    ssize_t got;

    kill(child, SIGTERM);
    while ((got = read(mur_console.serve, text, sizeof text)) > 0)
        mur_say_raw(text, (size_t)got);
    waitpid(child, NULL, 0);
}

int mur_cli_console(int count, char **words)
{
    pid_t serve = 0;
    int code;

    mur_console = (struct mur_console_plan){.listen = "127.0.0.1:8080", .session = SESSION, .serve = -1};
    read_words(count, words);
    mur_say_name = "mpijob console";
    mur_console.certificate = read_pem(words_of.certificate);
    mur_console.key = read_pem(words_of.key);
    if (words_of.server)
        mur_console.cluster =
            (struct mur_cluster){.server = (char *)words_of.server, .space = mur_alloc_text("default")};
    else if (words_of.kubeconfig || mur_cluster_is_named())
        mur_cluster_load(&mur_console.cluster, words_of.kubeconfig);
    else
        serve = start_serve();
    mur_console.space = words_of.space ? words_of.space : mur_console.cluster.space;
    code = mur_console_run();
    if (serve)
        end_serve(serve);
    return code;
}
