/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's side of the daemon's protocol: it waits, for it has nothing else to do. */
#ifndef MUR_LAUNCH_DAEMON_CALL_H
#define MUR_LAUNCH_DAEMON_CALL_H

#include "launch/daemon/protocol.h"

struct mur_daemon_call {
    int fd;
    struct mur_seal seal;
    char message[MUR_SEAL_CHUNK + 1]; /* the latest that was heard; a NUL follows it */
    size_t bytes;
};

/* Calls the daemon on a host and proves the phrase. NULL, or why it cannot be. */
bool mur_daemon_answers(const char *host, int port, int patience_ms); /* there is one, whatever its phrase */
const char *mur_daemon_dial(struct mur_daemon_call *call, const char *host, int port, const char *user,
                            const unsigned char *phrase_key);

/* A message of words, each ended by a NUL; `first` may be NULL. False: the connection is broken. */
bool mur_daemon_say(struct mur_daemon_call *call, enum mur_daemon_kind kind, const char *first, char **words);

/* Waits at most `patience_ms` for the next message; -1: for ever. Returns its kind; 0: the connection is broken. */
int mur_daemon_hear(struct mur_daemon_call *call, int patience_ms);

/* Hears to the end of an answer: writes output to where it belongs and returns the exit code; -1: the connection has
 * broken before the end. */
int mur_daemon_relay(struct mur_daemon_call *call, const char *host);

void mur_daemon_hang_up(struct mur_daemon_call *call);

/* mpiexec -daemon-start HOST PORT USER JOB WORDS...: what mpiexec starts agents on other hosts with, as by ssh. The
 * phrase's key and then what the agent reads come by standard input. */
int mur_daemon_start_run(char **argv);

#endif
