/* SPDX-License-Identifier: BSD-3-Clause */
/* The command that `mpijob run` puts into pods: it enters another pod, as ssh or `kubectl exec` would.
 *
 *     agent [OPTION OF SSH...] HOST [--] COMMAND WORD...    runs it there, by a shell if it is one word
 *     sshd ANYTHING                                         waits until the pod ends
 *
 * The run's socket lies beside the program. It is linked without shared libraries, so it runs in any image. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpijob/agent/protocol.h"

/* How many words an option of ssh takes; *tries is what it says of connecting. */
static int option_length(char **words, int count, int *tries)
{
    static const char with_value[] = "BbcDEeFIiJLlmOopQRSWw";

    if (words[0][1] == 'o' && count > 1)
        sscanf(words[0][2] ? words[0] + 2 : words[1], "ConnectionAttempts=%d", tries);
    return words[0][1] && strchr(with_value, words[0][1]) && !words[0][2] ? 2 : 1;
}

/* ssh joins its words and gives them to a shell, while a command behind -- is run as it is. */
static int enter(const char *socket, int count, char **words, int tries)
{
    char **ask = calloc((size_t)count + 5, sizeof *ask);
    int length = 0, status, is_plain = count > 1 && strcmp(words[1], "--") == 0;

    if (!ask)
        return 255;
    ask[length++] = "exec";
    ask[length++] = words[0];
    ask[length++] = is_plain ? "plain" : "shell";
    for (int i = 1 + is_plain; i < count; i++)
        ask[length++] = words[i];
    while (((status = mur_ask(socket, length, ask)) == MUR_ASK_NOT_RUNNING || status == MUR_ASK_NOBODY) && --tries > 0)
        sleep(1); /* the pod may not run yet, or what runs pods is being started again */
    free(ask);
    if (status == MUR_ASK_NOBODY || status == MUR_ASK_LOST)
        fprintf(stderr, "%s: nobody answers at %s: has mpijob ended?\n", words[0], socket);
    if (status == MUR_ASK_NOT_RUNNING)
        fprintf(stderr, "%s: no pod of this name runs\n", words[0]);
    return status < 0 ? 255 : status;
}

int main(int count, char **words)
{
    char path[4096];
    const char *name = strrchr(words[0], '/');
    int at = 1, tries = 10;

    name = name ? name + 1 : words[0];
    if (strcmp(name, "sshd") == 0)
        for (;;)
            pause();
    while (at < count && words[at][0] == '-' && strcmp(words[at], "--") != 0)
        at += option_length(words + at, count - at, &tries);
    if (at >= count) {
        fprintf(stderr, "usage: %s HOST COMMAND\n", words[0]);
        return 255;
    }
    if (name == words[0] ||
        (size_t)snprintf(path, sizeof path, "%.*s/socket", (int)(name - words[0] - 1), words[0]) >= sizeof path) {
        fprintf(stderr, "%s: call it by its whole path\n", words[0]);
        return 255;
    }
    return enter(path, count - at, words + at, tries);
}
