/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank without MPI that does what its arguments say, in order, and speaks the launcher's contract of boot/job.h.
 *
 * An argument is VERB or VERB:VALUE; with "R/" before it, only rank R does it, with "^R/" all but rank R. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "boot/job.h"

static int number(const char *name)
{
    const char *text = getenv(name);

    if (!text) {
        fprintf(stderr, "puppet: %s is not set\n", name);
        exit(99);
    }
    return atoi(text);
}

static void tell(uint32_t kind, int value, const char *text)
{
    struct mur_control_message message = {.kind = kind, .value = value, .length = (uint32_t)strlen(text)};

    memcpy(message.text, text, message.length);
    if (send(number(MUR_ENV_CONTROL_FD), &message, offsetof(struct mur_control_message, text) + message.length, 0) < 0)
        exit(98);
}

/* abort:CODE:TEXT */
static void do_abort(char *value)
{
    char *text = strchr(value, ':');

    tell(MUR_CONTROL_ABORT, atoi(value), text ? text + 1 : "");
}

/* Packets no library of ours would send: too short, and with a length beyond their end. */
static void do_junk(char *value)
{
    struct mur_control_message message = {.kind = MUR_CONTROL_ABORT, .length = 5000};

    (void)value;
    if (send(number(MUR_ENV_CONTROL_FD), &message, 3, 0) < 0 ||
        send(number(MUR_ENV_CONTROL_FD), &message, offsetof(struct mur_control_message, text) + 10, 0) < 0)
        exit(98);
}

static void do_exit(char *value)
{
    exit(atoi(value));
}

static void do_kill(char *value)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    fflush(NULL);
    kill(getpid(), atoi(value));
    for (;;)
        pause();
}

/* Until somebody continues it. */
static void do_stop(char *value)
{
    (void)value;
    fflush(NULL);
    raise(SIGSTOP);
}

static void do_wait(char *value)
{
    (void)value;
    for (;;)
        pause();
}

static void do_say(char *value)
{
    fputs(value, stdout);
    fflush(stdout);
}

static void do_line(char *value)
{
    puts(value);
    fflush(stdout);
}

static void do_error(char *value)
{
    fprintf(stderr, "%s\n", value);
}

/* Ends the job's easy ways to reach it: a session of its own, no parent, no ear for signals. It keeps stdout open. */
static void do_daemon(char *value)
{
    pid_t pid = fork();

    (void)value;
    if (pid == 0) {
        setsid();
        if (fork() > 0)
            _exit(0);
        for (int signal = 1; signal < 32; signal++)
            sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
        for (;;)
            pause();
    }
    waitpid(pid, NULL, 0);
}

/* Blocks a signal, so that a later `await` can take it. */
static void do_block(char *value)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, atoi(value));
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void do_await(char *value)
{
    sigset_t set;
    int got;

    sigemptyset(&set);
    sigaddset(&set, atoi(value));
    if (sigwait(&set, &got) != 0)
        exit(97);
}

/* compute:MS, of a core's time */
static void do_compute(char *value)
{
    clock_t end = clock() + atoi(value) * (clock_t)(CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        continue;
}

/* nap:MS */
static void do_nap(char *value)
{
    usleep((useconds_t)atoi(value) * 1000);
}

static void do_ignore(char *value)
{
    sigaction(atoi(value), &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}

/* Prints the open descriptors, with the names of those that are ours. */
static void do_descriptors(char *value)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;

    (void)value;
    while (directory && (entry = readdir(directory))) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] == '.' || fd == dirfd(directory))
            continue;
        if (fd == number(MUR_ENV_CONTROL_FD))
            puts("control");
        else if (fd == number(MUR_ENV_NODE_FD))
            puts("node");
        else if (fd == number("PMI_FD"))
            puts("pmi");
        else if (fcntl(fd, F_GETFL) & O_ASYNC)
            puts("life");
        else
            printf("%d\n", fd);
    }
}

/* Checks that the node's memory has its size, is shared, and is zero behind the job; as a rank, sets its own byte. */
static void do_node(char *value)
{
    int fd = number(MUR_ENV_NODE_FD);
    int ranks = number(MUR_ENV_LOCAL_SIZE);
    off_t start = (off_t)mur_job_bytes(number(MUR_ENV_SIZE));
    struct stat status;
    char byte = 1;

    (void)value;
    if (fstat(fd, &status) < 0 || (uint64_t)status.st_size != mur_node_bytes(number(MUR_ENV_SIZE), ranks))
        exit(96);
    if (pread(fd, &byte, 1, start + number(MUR_ENV_LOCAL_RANK)) != 1 || byte != 0)
        exit(95);
    byte = 1;
    if (pwrite(fd, &byte, 1, start + number(MUR_ENV_LOCAL_RANK)) != 1)
        exit(94);
    for (int i = 0; i < ranks; i++) /* ends when all have written, by the launcher's or the test's patience */
        do
            if (pread(fd, &byte, 1, start + i) != 1)
                exit(93);
        while (byte != 1);
    puts("shared");
}

/* Prints which signals are blocked or ignored at the start, and what ties the rank to its agent. */
static void do_signals(char *value)
{
    sigset_t mask;
    int tied = 0;
    int odd = 0;

    (void)value;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int signal = 1; signal < 32; signal++) {
        struct sigaction action;

        sigaction(signal, NULL, &action);
        odd += sigismember(&mask, signal) || (signal != SIGKILL && signal != SIGSTOP && action.sa_handler != SIG_DFL);
    }
    prctl(PR_GET_PDEATHSIG, &tied);
    printf("odd %d tied %d leader %d\n", odd, tied, getpgrp() == getpid());
}

/* flood:COUNT writes that many lines of 1 to about 3000 bytes, each of one letter and one rank. */
static void do_flood(char *value)
{
    int rank = number(MUR_ENV_RANK);

    for (int i = 0; i < atoi(value); i++) {
        int length = 1 + (i * 7919 + rank * 104729) % 3000;
        char line[3100];
        int start = sprintf(line, "%d %d ", rank, length);

        memset(line + start, 'a' + rank % 26, (size_t)length);
        line[start + length] = '\n';
        for (int done = 0; done <= start + length;) {
            ssize_t written = write(STDOUT_FILENO, line + done, (size_t)(start + length + 1 - done));

            if (written < 0)
                exit(92);
            done += (int)written;
        }
    }
}

/* init:GENERATION; like the library below a script, it goes on when the agent watches it, which the answer shows. */
static void do_init(char *value)
{
    struct mur_control_message answer;

    tell(MUR_CONTROL_INIT, atoi(value), "");
    tell(MUR_CONTROL_MEMORY, atoi(value), "");
    if (recv(number(MUR_ENV_CONTROL_FD), &answer, sizeof answer, 0) < 0 || answer.kind != MUR_CONTROL_MEMORY)
        exit(90);
}

static void do_finalized(char *value)
{
    (void)value;
    tell(MUR_CONTROL_FINALIZED, 0, "");
}

static const struct verb {
    const char *name;
    void (*perform)(char *value);
} verbs[] = {
    {"init", do_init},   {"finalized", do_finalized}, {"abort", do_abort},     {"junk", do_junk},
    {"exit", do_exit},   {"kill", do_kill},           {"wait", do_wait},       {"say", do_say},
    {"line", do_line},   {"error", do_error},         {"daemon", do_daemon},   {"block", do_block},
    {"await", do_await}, {"ignore", do_ignore},       {"node", do_node},       {"descriptors", do_descriptors},
    {"flood", do_flood}, {"signals", do_signals},     {"compute", do_compute}, {"nap", do_nap},
    {"stop", do_stop},
};

static void perform(char *word)
{
    char *slash = strchr(word, '/');
    char *value;

    if (slash && strspn(word, "^0123456789") == (size_t)(slash - word)) {
        int is_rank = atoi(word + (*word == '^')) == number(MUR_ENV_RANK);

        if (is_rank == (*word == '^'))
            return;
        word = slash + 1;
    }
    value = strchr(word, ':');
    if (value)
        *value++ = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verbs[i].name, word) == 0) {
            verbs[i].perform(value ? value : word + strlen(word));
            return;
        }
    fprintf(stderr, "puppet: unknown verb %s\n", word);
    exit(91);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        perform(argv[i]);
    return 0;
}
