/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of agents, seen from one of them: the agents that it starts, and what passes through it to and from those
 * below.
 *
 * Agents have places: 0 is that of mpiexec's own, and the hosts that it does not serve itself have 1, 2, ... An agent
 * is given a range of places, takes those apart into as many parts as the width allows, and starts the first of each
 * part, which does the same with the rest. So a job on many hosts starts in a few steps.
 *
 *   branch.c   the connection between a parent and a child, which may break and heal
 *   acceptor.c     letting children in, calling the parent
 *   spec.c     the job as bytes
 *   start.c    the command that starts an agent on a host
 *   survey.c   before all that: what parts the hosts have, where the ranks' places depend on it
 *   tree.c     the parent's side: children, their output, their end
 *   parent_link.c   the child's side: what goes up, and how it finds its parent again
 *   call.c     ... by a call in the loop, which the parent's acceptor answers */
#ifndef MUR_LAUNCH_TREE_TREE_H
#define MUR_LAUNCH_TREE_TREE_H

#include "launch/frame.h"
#include "launch/input.h"
#include "launch/jobspec.h"
#include "launch/loop.h"
#include "launch/output.h"
#include "launch/tree/branch.h"
#include "launch/tree/acceptor.h"
#include "launch/tree/spec.h"

enum { MUR_START_MS = 60000 }; /* until an agent must have called */

enum mur_child_state {
    MUR_CHILD_STARTING, /* it has not called yet */
    MUR_CHILD_UP,
    MUR_CHILD_CUT,  /* the connection is broken; it may call again */
    MUR_CHILD_DONE, /* all of its part of the job has ended */
    MUR_CHILD_GONE, /* lost */
};

struct mur_agent_tree;

struct mur_child {
    struct mur_agent_tree *tree;
    enum mur_child_state state;
    int place, end; /* it looks after the places [place, end) */
    const struct mur_host *host;
    pid_t starter; /* the command that started it; 0: it has ended */
    int starter_status;
    char *secret_file;          /* where the start command passes no input on; else NULL */
    int64_t retry_at;           /* when the host is tried again (waiting.c); 0: it is not */
    int pause_ms;               /* before that; 0: it has not failed yet */
    bool is_muted;              /* the start command's messages are dropped, for they have been seen */
    bool is_announced;          /* mpiexec has said that it waits */
    int64_t due;                /* when a child that starts or is cut off is taken for lost */
    bool is_altered;            /* the latest connection has broken for that */
    struct mur_keys_heard keys; /* of an agent that gets no standard input */
    struct mur_branch branch;
    struct mur_stream streams[2]; /* its output, read by output.c from pipes */
    int pipes[2];                 /* which this agent fills */
    struct mur_watch input;       /* where standard input for ranks below comes from; fd -1: nowhere */
    bool is_fed;                  /* the latest piece of it is still on its way */
};

struct mur_tree_calls {
    void (*frame)(void *owner, const struct mur_tree_frame *frame);     /* of a child, for this agent's parent */
    void (*put)(void *owner, const char *text);                         /* a key, a NUL, a value */
    void (*get)(void *owner, struct mur_child *child, const char *key); /* answered when there is a value */
    void (*ask)(void *owner, struct mur_child *child, const char *key); /* answered by what there is now */
    void (*barrier)(void *owner);                                       /* all ranks below a child are in it */
    void (*changed)(void *owner);                                       /* a child is done, or gone */
};

struct mur_agent_tree {
    struct mur_loop *loop;
    const struct mur_jobspec *job;
    struct mur_output *output;
    struct mur_input *input;
    const struct mur_tree_calls *calls;
    void *owner;
    int place, end;
    struct mur_spec spec;
    int64_t wait_until; /* hosts are tried again until then */
    struct mur_acceptor acceptor;
    struct mur_keys keys;
    struct mur_timer timer;
    struct mur_child *children;
    int child_count;
    struct mur_tree_frame ending; /* the latest MUR_FRAME_END; kind 0: none yet */
    int ended, killed;            /* ranks below, as MUR_FRAME_DONE told */
};

/* Nothing happens where no places are below. False with *failure filled: a child cannot be started. */
bool mur_tree_open(struct mur_agent_tree *tree, struct mur_tree_frame *failure);

/* Passes a frame on to all children. */
void mur_tree_pass(struct mur_agent_tree *tree, const struct mur_tree_frame *frame);

void mur_tree_release(struct mur_agent_tree *tree); /* the barrier is over */

/* The answer to a child's question; NULL: there is no value. */
void mur_tree_value(struct mur_child *child, const char *key, const char *value);

/* A process that this agent has started has ended: true if it was one of the tree's. */
bool mur_tree_reap(struct mur_agent_tree *tree, pid_t pid, int status);

bool mur_tree_is_done(const struct mur_agent_tree *tree);
void mur_tree_starters(const struct mur_agent_tree *tree, pid_t *pids, int *count); /* room for child_count */

/* The number of the host that the agent of a place serves, and back; -1: none. */
int mur_place_node(const struct mur_jobspec *job, int place);
int mur_node_place(const struct mur_jobspec *job, int node);
int mur_place_count(const struct mur_jobspec *job); /* places are below this */

/* start.c: starts the agent of the child, by whatever command reaches its host. The secret goes through the command's
 * standard input; an agent that gets none of a user's own command fetches it (keys.h). */
bool mur_start_agent(struct mur_child *child, uint16_t port, struct mur_tree_frame *failure);
void mur_start_forget(struct mur_child *child);            /* the command has ended */
const char *mur_start_name(const struct mur_jobspec *job); /* of the command, for messages */
bool mur_start_is_by_daemon(const struct mur_jobspec *job);
int mur_start_width(const struct mur_jobspec *job); /* children of an agent, unless -agent-width says otherwise */

/* Decides for the daemons where nobody has said how agents are to be started, a phrase is written somewhere, and a
 * daemon answers on every host. */
void mur_start_choose(struct mur_jobspec *job);
/* Where mpiexec is expected on other hosts. */
char *mur_start_path(const struct mur_jobspec *job);
/* Runs `mpiexec -survey PART` on the host, by the same command, and returns that command's process; what it prints can
 * be read from *answer. -1 with errno: it cannot be started. */
pid_t mur_start_question(const struct mur_jobspec *job, const struct mur_host *host, const char *part, int *answer);

/* waiting.c: hosts that cannot be reached yet. False: the start that has failed with this status is final. */
bool mur_wait_again(struct mur_child *child, int status);
void mur_wait_tick(struct mur_agent_tree *tree); /* tries those whose time has come */
/* The pause behind another one. */
int mur_wait_pause(int pause_ms);

/* survey.c: a mur_part_counter (placement.h), which ends mpiexec where a host does not answer; and what `mpiexec
 * -survey PART` does. */
/* How many hardware threads each host has; those that do not answer stay MUR_PART_UNKNOWN, and a message tells why. */
void mur_survey_reach(const struct mur_jobspec *job, const struct mur_hosts *hosts, int *counts);
bool mur_survey_ask(const struct mur_jobspec *job, const struct mur_hosts *hosts, enum mur_part part, int *counts,
                    struct mur_problem *problem);
int mur_survey_answer(const char *part);

#endif
