/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command on a terminal of its own: our stdin is what is typed there, our stdout what is shown there.
 *
 * Usage: terminal PROMPT command...  Typing starts when PROMPT has been shown. Exits with the command's code. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shows what the terminal has; returns whether `prompt` has been seen so far. Ends the program at the end. */
static int show(int terminal, pid_t pid, const char *prompt)
{
    static char seen[65536];
    static size_t length;
    ssize_t size = length < sizeof seen - 1 ? read(terminal, seen + length, sizeof seen - 1 - length) : -1;
    int status;

    if (size <= 0) {
        waitpid(pid, &status, 0);
        exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    if (write(STDOUT_FILENO, seen + length, (size_t)size) != size)
        exit(1);
    length += (size_t)size;
    seen[length] = 0;
    return strstr(seen, prompt) != NULL;
}

static void type(int terminal, int *is_typing)
{
    char keys[1024];
    ssize_t size = read(STDIN_FILENO, keys, sizeof keys);

    if (size <= 0)
        *is_typing = 0;
    else if (write(terminal, keys, (size_t)size) != size)
        exit(1);
}

int main(int argc, char **argv)
{
    int terminal;
    int is_typing = 1;
    int is_prompted = 0;
    pid_t pid;

    if (argc < 3)
        return 1;
    pid = forkpty(&terminal, NULL, NULL, NULL);
    if (pid < 0) {
        perror("forkpty");
        return 77; /* no terminals here: the test is skipped */
    }
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    for (;;) {
        struct pollfd ready[2] = {{.fd = terminal, .events = POLLIN},
                                  {.fd = is_typing && is_prompted ? STDIN_FILENO : -1, .events = POLLIN}};

        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            return 1;
        if (ready[0].revents)
            is_prompted |= show(terminal, pid, argv[1]);
        if (ready[1].revents)
            type(terminal, &is_typing);
    }
}
