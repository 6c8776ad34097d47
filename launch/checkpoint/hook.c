/* SPDX-License-Identifier: BSD-3-Clause */
/* CRIU runs this program (--action-script) at each step. At two of them the tree stands still, and the agent decides
 * when it goes on: when it is frozen and written, and when it is restored and does not run yet. CRIU leaves the hook no
 * descriptor, so the two pipes between it and the process that has started CRIU have names, in the folder of CRIU's
 * files: by one it tells that the tree stands still, by the other it gets a byte, 0: go on. When that process is dead,
 * or the agent, the byte does not come, and CRIU takes the step for failed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/checkpoint/checkpoint.h"
#include "launch/checkpoint/saver.h"
#include "launch/pidfd.h"

#define ENV_FOLDER "MUR_CHECKPOINT_HOOK"

enum { FAILED = 1 }; /* the byte, or the hook's exit code */

/* ---- the hook ---- */

static const char *action(void)
{
    return getenv("CRTOOLS_SCRIPT_ACTION");
}

bool mur_hook_is_meant(void)
{
    return getenv(ENV_FOLDER) && action();
}

/* The name begins with a dot: it is none of CRIU's files. */
static int open_pipe(const char *folder, const char *name, int flags)
{
    char *path = mur_alloc_text("%s/.%s", folder, name);
    int fd = open(path, flags | O_CLOEXEC);

    free(path);
    return fd;
}

int mur_hook_run(void)
{
    const char *folder = getenv(ENV_FOLDER);
    char answer = FAILED;
    int tell, hear;

    if (strcmp(action(), "post-dump") != 0 && strcmp(action(), "pre-resume") != 0)
        return 0;
    hear = open_pipe(folder, "go", O_RDONLY);
    tell = open_pipe(folder, "frozen", O_WRONLY);
    if (hear < 0 || tell < 0 || write(tell, "", 1) != 1)
        return FAILED;
    while (read(hear, &answer, 1) < 0 && errno == EINTR)
        continue;
    return answer;
}

/* ---- who has started CRIU ---- */

static bool make_pipes(const char *folder, int *hear, int *tell)
{
    static const char *const names[] = {"frozen", "go"};

    for (int i = 0; i < 2; i++) {
        char *path = mur_alloc_text("%s/.%s", folder, names[i]);
        int rc = mkfifo(path, 0600);

        free(path);
        if (rc < 0)
            return false;
    }
    *hear = open_pipe(folder, "frozen", O_RDWR); /* both ways: neither open waits for the hook, */
    *tell = open_pipe(folder, "go", O_RDWR);     /* and it does not for this process */
    return *hear >= 0 && *tell >= 0;
}

/* The agent is asked, and the hook told. */
static void pass_on(int line, int hear, int tell)
{
    struct mur_saver_message message = {.kind = MUR_SAVER_FROZEN};
    char answer = FAILED;

    if (read(hear, &answer, 1) != 1)
        return;
    answer = FAILED;
    if (send(line, &message, sizeof message, MSG_NOSIGNAL) > 0)
        while (recv(line, &answer, 1, 0) < 0 && errno == EINTR)
            continue;
    if (write(tell, &answer, 1) != 1)
        _exit(FAILED);
}

static pid_t start(const struct mur_words *words, int complaints)
{
    pid_t pid = fork();

    if (pid == 0)
        mur_criu_become(words, complaints);
    return pid;
}

void mur_hook_add(struct mur_words *words)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    path[length > 0 ? length : 0] = '\0';
    mur_words_add(words, "--action-script");
    mur_words_add(words, "%s", path);
}

int mur_hook_serve(const struct mur_words *words, const char *folder, int line)
{
    struct pollfd ready[2] = {{.events = POLLIN}, {.events = POLLIN}};
    int complaints = mur_saver_open_complaints(folder), tell = -1, status = -1;
    pid_t pid;

    setenv(ENV_FOLDER, folder, 1);
    if (!make_pipes(folder, &ready[0].fd, &tell))
        return -1;
    pid = start(words, complaints);
    ready[1].fd = pid < 0 ? -1 : mur_pidfd_open(pid);
    while (ready[1].fd >= 0 && !(ready[1].revents & POLLIN))
        if (poll(ready, 2, -1) > 0 && ready[0].revents & POLLIN)
            pass_on(line, ready[0].fd, tell);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(complaints);
    return status;
}
