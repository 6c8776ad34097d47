/* SPDX-License-Identifier: BSD-3-Clause */
/* The reconciler: from the objects that are observed to what is to be done about them.
 *
 * mur_reconcile changes nothing and remembers nothing. It finds the facts (facts.c), from them the state of the job
 * (states.c), and looks the state up in a table whose row says which objects, workers and launcher there must be. What
 * is missing or too much becomes actions; what the job's status must be, too (status.c). Whoever carries the actions
 * out asks again when an object has changed, or when `wake` has come. */
#ifndef MUR_MPIJOB_RECONCILE_H
#define MUR_MPIJOB_RECONCILE_H

#include "mpijob/store/store.h"

/* What is observed. */
struct mur_observed {
    const struct mur_value *job;
    const struct mur_store *store;        /* all objects, of which those with the job's label belong to it */
    double now;                           /* seconds since 1970 */
    double retry_delay;                   /* before the first retry of a launcher */
    const char *agent;                    /* the command that enters pods, in place of ssh or kubectl; NULL: ssh */
    const char *private_key, *public_key; /* of the Secret: what is random comes from outside */
};

enum mur_verb { MUR_VERB_CREATE, MUR_VERB_DELETE, MUR_VERB_UPDATE, MUR_VERB_STATUS };

struct mur_action {
    enum mur_verb verb;
    struct mur_value *object; /* owned by the plan; of a deletion only kind and name count */
};

struct mur_actions {
    struct mur_action *actions;
    int count;
    double wake; /* 0: nothing is due */
};

void mur_reconcile(const struct mur_observed *observed, struct mur_actions *plan);
void mur_plan_free(struct mur_actions *plan);

/* The type of the most telling of the conditions that hold; empty: none does. */
const char *mur_conditions_state(const struct mur_value *job);

/* The conditions that a change of a job's status has brought, and that are true. */
void mur_conditions_tell(const struct mur_value *before, const struct mur_value *after,
                         void (*tell)(void *whom, const struct mur_value *condition), void *whom);
/* The labels that the objects of a job have. */
#define MUR_LABEL_OPERATOR "training.kubeflow.org/operator-name"
#define MUR_LABEL_JOB      "training.kubeflow.org/job-name"

#endif
