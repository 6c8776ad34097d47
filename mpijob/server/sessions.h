/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that serves a command in a pod. */
#ifndef MUR_MPIJOB_SESSIONS_H
#define MUR_MPIJOB_SESSIONS_H

#include "mpijob/server/session.h"

struct mur_session_plan {
    const struct mur_protocol *protocol;
    bool wants[MUR_CHANNELS], has_terminal;
    char *socket, *host; /* of the node, and the pod's name there */
    char **words;
    int count;
};

/* `extra` is what has come on the connection already. Returns the process, or -1. */
pid_t mur_session_fork(const struct mur_session_plan *plan, int socket, const char *extra, size_t length);

#endif
