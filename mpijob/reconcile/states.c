/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a job, and what there must be in each. */
#include <string.h>

#include "mpijob/reconcile/inside.h"

const struct mur_state_row mur_state_table[] = {
    /*                        Service, ConfigMap, Secret;  workers;         launcher */
    [MUR_STATE_SUSPENDED] = {MUR_WANT_ALL, MUR_WANT_NONE, MUR_WANT_NONE},
    [MUR_STATE_STARTING] = {MUR_WANT_ALL, MUR_WANT_ALL, MUR_WANT_ALL},
    [MUR_STATE_RUNNING] = {MUR_WANT_ALL, MUR_WANT_ALL, MUR_WANT_ALL},
    [MUR_STATE_WAITING] = {MUR_WANT_ALL, MUR_WANT_ALL, MUR_WANT_AS_IS},
    [MUR_STATE_SUCCEEDED] = {MUR_WANT_AS_IS, MUR_WANT_AS_IS, MUR_WANT_AS_IS},
    [MUR_STATE_EXHAUSTED] = {MUR_WANT_AS_IS, MUR_WANT_AS_IS, MUR_WANT_ENDED},
    [MUR_STATE_PERMANENT] = {MUR_WANT_AS_IS, MUR_WANT_AS_IS, MUR_WANT_AS_IS},
    [MUR_STATE_LATE] = {MUR_WANT_AS_IS, MUR_WANT_AS_IS, MUR_WANT_ENDED},
    [MUR_STATE_EVICTED] = {MUR_WANT_AS_IS, MUR_WANT_AS_IS, MUR_WANT_ENDED},
    [MUR_STATE_FINISHED] = {MUR_WANT_AS_IS, MUR_WANT_CLEAN, MUR_WANT_AS_IS},
    [MUR_STATE_EXPIRED] = {MUR_WANT_NONE, MUR_WANT_NONE, MUR_WANT_NONE},
};

static bool is_in(const struct mur_value *pod, const char *phase)
{
    return pod && strcmp(mur_value_string(pod, "status.phase", "Pending"), phase) == 0;
}

/* The launcher has failed: is there another try, and when? */
static enum mur_state after_failure(const struct mur_facts *facts, double *wake)
{
    double delay = facts->observed->retry_delay;

    if (facts->restart == MUR_RESTART_EXIT_CODE && facts->exit_code < 128)
        return MUR_STATE_PERMANENT;
    if (facts->is_v1 && facts->restart == MUR_RESTART_NEVER)
        return MUR_STATE_PERMANENT; /* v1's launcher is a pod, not a Job that makes another */
    if (facts->failures > facts->backoff_limit)
        return MUR_STATE_EXHAUSTED;
    for (long long i = 1; i < facts->failures && delay < 360; i++)
        delay *= 2;
    if (facts->observed->now >= facts->failed_at + delay)
        return MUR_STATE_STARTING;
    *wake = facts->failed_at + delay;
    return MUR_STATE_WAITING;
}

enum mur_state mur_state_of(const struct mur_facts *facts, double *wake)
{
    double now = facts->observed->now;

    if (facts->is_finished) {
        if (facts->ttl < 0)
            return MUR_STATE_FINISHED;
        if (now >= facts->completed + (double)facts->ttl)
            return MUR_STATE_EXPIRED;
        *wake = facts->completed + (double)facts->ttl;
        return MUR_STATE_FINISHED;
    }
    if (facts->launchers.succeeded)
        return MUR_STATE_SUCCEEDED;
    if (facts->is_suspended)
        return MUR_STATE_SUSPENDED;
    if (facts->workers.evicted)
        return MUR_STATE_EVICTED;
    if (facts->deadline >= 0 && facts->started > 0) {
        if (now >= facts->started + (double)facts->deadline)
            return MUR_STATE_LATE;
        *wake = facts->started + (double)facts->deadline;
    }
    if (is_in(facts->launcher, "Failed")) {
        double retry = 0;
        enum mur_state state = after_failure(facts, &retry);

        if (retry > 0 && (*wake == 0 || retry < *wake))
            *wake = retry;
        return state;
    }
    if (facts->failures > facts->backoff_limit) /* in restarts of one pod */
        return MUR_STATE_EXHAUSTED;
    if (facts->launchers.running && facts->workers.running == facts->workers.count)
        return MUR_STATE_RUNNING;
    return MUR_STATE_STARTING;
}
