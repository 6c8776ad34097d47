/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

int mur_signals_open(const int *signals)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    for (; *signals; signals++)
        sigaddset(&set, *signals);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
