/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the program in its arguments while it is in MPI itself, and then instead of itself after MPI_Finalize. The
 * first one, if it uses MPI, must be refused; the second one is the rank's next MPI program. */
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static int run(char **argv)
{
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        execv(argv[0], argv);
        _exit(126);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    char *plain[] = {"/bin/true", NULL};

    MPI_Init(&argc, &argv);
    CHECK(run(plain) == 0);
    CHECK(run(argv + 1) == 1);
    MPI_Finalize();
    execv(argv[1], argv + 1);
    return 126;
}
