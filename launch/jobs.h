/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that ranks spawn: each is an mpiexec of its own, which mpiexec's own agent starts and tends like a rank. Its
 * output goes where the ranks' goes; over a socket it asks for names (boot/names.h). */
#ifndef MUR_LAUNCH_JOBS_H
#define MUR_LAUNCH_JOBS_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "launch/jobspec.h"
#include "launch/loop.h"
#include "launch/output.h"
#include "launch/packets.h"

#define MUR_JOB_QUESTION "spawn?" /* keys of what to spawn, with a name that the rank gave to it, */
#define MUR_JOB_ANSWER   "spawn!" /* and of what is put when that has ended, */
#define MUR_JOB_RUNS     "runs"   /* or, where the spawned programs are of other libraries, when one has come up */

struct mur_jobs;

struct mur_child_job {
    LIST_ENTRY(mur_child_job) in_jobs;
    struct mur_jobs *jobs;
    pid_t pid;                  /* of its mpiexec; 0: ended */
    bool is_foreign;            /* a program of another library has spawned it, */
    bool has_run;               /* and one of it has come up */
    char *name;                 /* as the rank calls it */
    struct mur_watch line;      /* to it */
    struct mur_packets answers; /* that wait to be sent over it */
    struct mur_stream out;
    struct mur_stream err;
};

struct mur_jobs {
    LIST_HEAD(, mur_child_job) list;
    LIST_HEAD(, mur_child_job) spare; /* records that are used again: what has their addresses may live on */
    const struct mur_jobspec *job;
    struct mur_loop *loop;
    struct mur_output *output;
    struct rlimit files;                                                                       /* that they get back */
    void (*message)(void *owner, struct mur_child_job *child, const void *data, size_t bytes); /* over a line */
    void *owner;
};

bool mur_jobs_is_question(const char *key);
bool mur_jobs_is_answer(const char *key);

/* The text of a spawn has NULs, which values cannot have: the same without, and back in place. */
char *mur_jobs_encode(const char *text, size_t bytes);
size_t mur_jobs_decode(char *text);

/* Starts one, from the text that boot/spawn.h describes. False: it cannot be started, and mpiexec has said why. */
bool mur_jobs_start(struct mur_jobs *jobs, const char *name, const char *text, size_t bytes);

struct mur_child_job *mur_jobs_find(struct mur_jobs *jobs, pid_t pid);
void mur_jobs_signal(struct mur_jobs *jobs, int signal);

/* Takes the records of those that have ended, and whose output is out, out of use. */
void mur_jobs_sweep(struct mur_jobs *jobs);

#endif
