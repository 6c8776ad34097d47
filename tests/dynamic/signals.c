/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal that mpiexec passes on comes to the ranks of spawned jobs, too. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "test.h"

enum { PATIENCE_S = 30 };

static volatile sig_atomic_t count;

static void note(int signal)
{
    (void)signal;
    count++;
}

/* The process above this one that is mpiexec: its agent and a guard are between. */
static int find_mpiexec(void)
{
    char path[64], name[32] = "";
    int pid = getpid();
    FILE *file;

    while (pid && strcmp(name, "mpiexec") != 0) {
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        file = fopen(path, "r");
        CHECK(file && fscanf(file, "%*d (%*[^)]) %*c %d", &pid) == 1);
        fclose(file);
        snprintf(path, sizeof path, "/proc/%d/comm", pid);
        file = fopen(path, "r");
        CHECK(file && fscanf(file, "%31s", name) == 1);
        fclose(file);
    }
    return pid;
}

static void await_signal(void)
{
    for (int left = PATIENCE_S * 1000; !count && left; left--)
        usleep(1000);
    CHECK(count == 1);
}

int main(int argc, char **argv)
{
    static char self[4096];
    MPI_Comm inter;

    signal(SIGUSR1, note);
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&inter);
    if (inter == MPI_COMM_NULL) {
        CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
        MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        MPI_Barrier(inter);
        CHECK(kill(find_mpiexec(), SIGUSR1) == 0);
    } else {
        MPI_Barrier(inter);
    }
    await_signal();
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
