/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -ckpoint-check: a small job is saved, ended and restarted, by this very program. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/checkpoint/checkpoint.h"
#include "launch/checkpoint/pack.h"
#include "launch/say.h"

/* Runs mpiexec with these words, after `signal` if that is not 0; returns its exit code. */
static int run(char *const words[], int signal)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        execv("/proc/self/exe", words);
        _exit(127);
    }
    if (pid < 0)
        return -1;
    if (signal) {
        usleep(300000); /* a signal that comes before mpiexec reads them ends it: then this is no test of CRIU */
        kill(pid, signal);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int mur_checkpoint_try(void)
{
    const char *temporary = getenv("TMPDIR");
    char *folder = mur_alloc_text("%s/murmur-check-XXXXXX", temporary ? temporary : "/tmp"), text[MUR_PACK_TEXT];
    char *const save[] = {"mpiexec", "-ckpointlib", "criu", "-ckpoint-prefix", folder, "-ckpoint-on-term", "-n", "2",
                          "sleep",   "2",           NULL};
    char *const restart[] = {"mpiexec", "-restart", folder, NULL};
    int code;

    if (!mur_pack_load(text)) {
        mur_say("%s", text);
        return MUR_EXIT_TROUBLE;
    }
    if (!mkdtemp(folder)) {
        mur_say("cannot make '%s': %s", folder, strerror(errno));
        return MUR_EXIT_TROUBLE;
    }
    code = run(save, SIGTERM);
    if (code == MUR_EXIT_REQUEUE)
        code = run(restart, 0);
    mur_pack_remove(folder);
    free(folder);
    puts(code ? "FAIL: snapshots cannot be taken here; the message above says why"
              : "SUCCESS: snapshots can be taken here, and jobs be restarted from them");
    return code ? MUR_EXIT_TROUBLE : 0;
}
