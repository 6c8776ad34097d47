/* SPDX-License-Identifier: BSD-3-Clause */
/* How the machine is at this moment, without any MPI: the time a cache line takes from one process to another, each on
 * a processor of its own. Virtual machines are moved about by their hosts: when their processors come to share a cache
 * or cease to, everything that crosses them changes its speed, so bench/run compares only what was measured in between
 * equal answers of this program. Prints "line-move value ns" (one way). */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_TRIPS = 20000, REPETITIONS = 15, MAX_SPINS = 200000000 };

static _Atomic int *line;

/* keeps the calling process on the n-th processor it may use */
static int pin(int n)
{
    cpu_set_t allowed, one;

    sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && n-- == 0) {
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one);
        }
    return -1;
}

static int wait_for(int value)
{
    for (long spins = 0; spins < MAX_SPINS; spins++)
        if (atomic_load_explicit(line, memory_order_acquire) == value)
            return 0;
    return -1;
}

static void answer(void)
{
    for (int i = 0; i < ROUND_TRIPS * REPETITIONS; i++) {
        if (wait_for(2 * i + 1) != 0)
            _exit(1);
        atomic_store_explicit(line, 2 * i + 2, memory_order_release);
    }
    _exit(0);
}

/* Seconds of one repetition's round trips; negative when the other process is gone. */
static double ask(int repetition)
{
    struct timespec start, end;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = repetition * ROUND_TRIPS; i < (repetition + 1) * ROUND_TRIPS; i++) {
        atomic_store_explicit(line, 2 * i + 1, memory_order_release);
        if (wait_for(2 * i + 2) != 0)
            return -1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
}

int main(void)
{
    double best = 1e9;
    pid_t child;

    line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (line == MAP_FAILED || (child = fork()) < 0) {
        perror("machine");
        return 1;
    }
    if (pin(child ? 0 : 1) != 0) {
        fprintf(stderr, "machine: this needs two processors\n");
        if (child)
            kill(child, SIGKILL);
        return 1;
    }
    if (child == 0)
        answer();
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        double seconds = ask(repetition);

        if (seconds < 0)
            return 1;
        if (seconds < best)
            best = seconds;
    }
    waitpid(child, NULL, 0);
    printf("line-move %.4g ns\n", best / ROUND_TRIPS / 2 * 1e9);
    return 0;
}
