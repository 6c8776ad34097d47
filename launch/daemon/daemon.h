/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the daemon share; not for others.
 *
 * The daemon (smpd) stands on a host, listens on one port, and starts agents of jobs for whoever proves to know its
 * phrase. Its jobs do not depend on it: an agent speaks to the agent above it by the tree, so a daemon that ends or
 * starts anew ends no job.
 *
 *   states.c    a visitor's life, as a table
 *   visit.c     visits: what happens on a connection becomes an event, and what the table says is done
 *   agents.c    starting agents, as which user
 *   commands.c  what visitors may ask
 *   serve.c     the daemon's own life: listening, signals, settings
 *   phrase.c    the phrase and ~/.smpd
 *   protocol.h  what is said;  call.c  the caller's side;  options/smpd.c  the command line */
#ifndef MUR_LAUNCH_DAEMON_DAEMON_H
#define MUR_LAUNCH_DAEMON_DAEMON_H

#include <stdio.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "launch/daemon/phrase.h"
#include "launch/daemon/protocol.h"
#include "launch/daemon/states.h"
#include "launch/listener.h"
#include "launch/loop.h"

/* Of the environment: the port of a daemon that has executed itself anew, and so is where it is to be. */
#define MUR_DAEMON_RESTARTED "MUR_DAEMON_RESTARTED"

struct mur_daemon_options { /* of smpd's command line */
    uint16_t port;
    bool is_any_port;
    char *phrase, *phrase_file, *smpdfile;
    int level; /* of what is said on stderr: 0 little, 1 visits, 2 each transition */
};

struct mur_user_key { /* of a user, who has a ~/.smpd of his own */
    uid_t uid;
    struct timespec changed;
    unsigned char bytes[MUR_SEAL_KEY_BYTES];
};

struct mur_visit {
    struct mur_daemon *daemon;
    enum mur_visit_state state;
    struct mur_watch watch; /* the connection; fd -1: closed */
    uint32_t watched;       /* which events */
    int64_t since, due;     /* when it began, when the time of its state is over; 0: never */
    uid_t uid;              /* who has to prove himself */
    size_t got;             /* of the hello */
    struct mur_daemon_hello hello;
    struct mur_seal seal;
    char *queue; /* messages to be said, each behind its length as a uint32_t */
    size_t queue_start, queue_end, queue_space;
    const char *message; /* the one that is in hand */
    size_t bytes;
    char *job;   /* the name of the job whose agent this is */
    pid_t agent; /* 0: none, or it has ended */
    int agent_status;
    struct mur_visit_pipe { /* its stdout and stderr */
        struct mur_visit *visit;
        struct mur_watch watch; /* fd -1: none */
    } pipes[2], *speaking;
    char trouble[400]; /* why the agent cannot be started */
    TAILQ_ENTRY(mur_visit) in_visits;
};

struct mur_daemon {
    struct mur_loop loop;
    struct mur_listener listener;
    struct mur_timer timer;   /* for those who are late */
    struct mur_watch signals; /* a signalfd */
    struct mur_daemon_options *options;
    uint16_t port;
    char *path;                              /* of this program */
    unsigned char key[MUR_SEAL_KEY_BYTES];   /* of this user's phrase */
    unsigned char decoy[MUR_SEAL_KEY_BYTES]; /* of those who have none: nobody knows its phrase */
    bool has_key, is_over, is_to_restart;
    struct mur_user_key *users;
    int user_count;
    TAILQ_HEAD(mur_visits, mur_visit) visits, gone; /* oldest first; those to be freed */
    int unproven;
    int64_t started_at;
    long started_agents;
    FILE *trace; /* NULL: none */
};

/* visit.c */
struct mur_visit *mur_visit_begin(struct mur_daemon *daemon, int fd);
void mur_visit_event(struct mur_visit *visit, enum mur_visit_event event);
void mur_visit_say(struct mur_visit *visit, enum mur_daemon_kind kind, const void *data, size_t bytes);
void mur_visit_print(struct mur_visit *visit, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mur_visit_end_answer(struct mur_visit *visit, int code);
void mur_visits_free_gone(struct mur_daemon *daemon);
bool mur_visit_is_unproven(const struct mur_visit *visit);

/* agents.c: starts what the message asks for. False with `trouble` filled. */
bool mur_agent_launch(struct mur_visit *visit);
bool mur_agent_relay(struct mur_visit_pipe *pipe); /* what it has written now; false: that was the end */
const unsigned char *mur_daemon_key_of(struct mur_daemon *daemon, const char *user, uid_t *uid);

/* commands.c */
void mur_daemon_obey(struct mur_visit *visit);

/* serve.c */
int mur_daemon_serve(struct mur_daemon_options *options, char **argv, bool stays);
bool mur_daemon_load(struct mur_daemon *daemon, struct mur_problem *problem); /* the phrase, from where it stands */
bool mur_daemon_trace_to(struct mur_daemon *daemon, const char *path);        /* NULL: to nowhere; false with errno */

#endif
