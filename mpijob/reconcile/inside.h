/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the reconciler share. */
#ifndef MUR_MPIJOB_RECONCILE_INSIDE_H
#define MUR_MPIJOB_RECONCILE_INSIDE_H

#include "mpijob/reconcile/reconcile.h"

#define MUR_LABEL_ROLE  "training.kubeflow.org/job-role"
#define MUR_LABEL_INDEX "training.kubeflow.org/replica-index"

enum mur_restart { MUR_RESTART_NEVER, MUR_RESTART_ON_FAILURE, MUR_RESTART_ALWAYS, MUR_RESTART_EXIT_CODE };

/* Of one role. */
struct mur_role_facts {
    const struct mur_value **pods;
    int count, pending, running, succeeded, failed, evicted;
};

struct mur_facts {
    const struct mur_observed *observed;
    const struct mur_value *job;
    const char *name, *space;
    bool is_v1, is_suspended, waits_for_workers, launcher_works;
    long long worker_count, slots, backoff_limit, deadline, ttl; /* deadline and ttl: -1 for none */
    const char *clean_policy;
    enum mur_restart restart;

    struct mur_role_facts workers, launchers;
    const struct mur_value *launcher; /* the latest */
    long long failures;               /* of launchers, in pods that are gone on and in restarts */
    int exit_code;                    /* of the latest failure */
    double failed_at, started;        /* 0: not */
    bool is_finished, has_succeeded;
    double completed;
};

enum mur_state {
    MUR_STATE_SUSPENDED,
    MUR_STATE_STARTING, /* workers, or launcher, do not run yet */
    MUR_STATE_RUNNING,
    MUR_STATE_WAITING, /* for the time of the next try of the launcher */
    MUR_STATE_SUCCEEDED,
    MUR_STATE_EXHAUSTED, /* no try is left */
    MUR_STATE_PERMANENT, /* an exit code that another try would not change */
    MUR_STATE_LATE,      /* beyond the deadline */
    MUR_STATE_EVICTED,
    MUR_STATE_FINISHED, /* the status says so already */
    MUR_STATE_EXPIRED   /* finished, and its time to live is over */
};

/* What there must be of something. */
enum mur_want {
    MUR_WANT_ALL,
    MUR_WANT_AS_IS,
    MUR_WANT_CLEAN, /* as the clean pod policy says */
    MUR_WANT_ENDED, /* those that have ended stay */
    MUR_WANT_NONE
};

/* A row of the table of states. */
struct mur_state_row {
    enum mur_want objects, workers, launcher;
};
extern const struct mur_state_row mur_state_table[];

void mur_facts_find(const struct mur_observed *observed, struct mur_facts *facts);
void mur_facts_free(struct mur_facts *facts);
enum mur_state mur_state_of(const struct mur_facts *facts, double *wake);

/* New objects, owned by the caller. */
struct mur_value *mur_make_service(const struct mur_facts *facts);
struct mur_value *mur_make_config(const struct mur_facts *facts);
struct mur_value *mur_make_secret(const struct mur_facts *facts);
struct mur_value *mur_make_worker(const struct mur_facts *facts, long long index);
struct mur_value *mur_make_launcher(const struct mur_facts *facts);
struct mur_value *mur_make_object(const struct mur_facts *facts, const char *kind, const char *name);

/* The job with the status that it must have. */
struct mur_value *mur_make_status(const struct mur_facts *facts, enum mur_state state);
const struct mur_value *mur_condition_of(const struct mur_value *job, const char *type);

#endif
