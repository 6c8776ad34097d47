/* SPDX-License-Identifier: BSD-3-Clause */
/* Leader election by a Lease, as controllers of Kubernetes do it: the holder renews it; one that has not been renewed
 * for its duration may be taken. The duration is measured from when this controller saw the last change, so clocks of
 * machines need not agree. Updates name the version that was read, so of two takers one fails. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/controller/controller.h"

#define LEASE "mpijob-controller"

enum { DURATION = 15, RENEW = 2, DEADLINE = 10, PATIENCE = 5 }; /* seconds; the last for one call */

static struct {
    bool is_held, is_said;
    double due, renewed, seen; /* when: to look again; it was renewed; it was seen to change */
    char *version;             /* that was seen */
} lease;

static struct mur_value *micro_time(double now)
{
    time_t whole = (time_t)now;
    struct tm parts;
    char text[32];

    gmtime_r(&whole, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return mur_value_text("%s.%06dZ", text, (int)((now - (double)whole) * 1e6));
}

static struct mur_value *make_lease(const struct mur_controller_plan *plan, const struct mur_value *old, double now)
{
    bool is_own = strcmp(mur_value_string(old, "spec.holderIdentity", ""), plan->identity) == 0;
    struct mur_value *object = old ? mur_value_copy(old) : mur_value_new(MUR_MAP);

    if (!old) {
        mur_value_put(object, "apiVersion", mur_value_text("coordination.k8s.io/v1"));
        mur_value_put(object, "kind", mur_value_text("Lease"));
        mur_value_set(object, "metadata.name", mur_value_text(LEASE));
        mur_value_set(object, "metadata.namespace", mur_value_text("%s", plan->lease_space));
    }
    if (!is_own) {
        mur_value_set(object, "spec.acquireTime", micro_time(now));
        mur_value_set(object, "spec.leaseTransitions",
                      mur_value_integer(mur_value_long(old, "spec.leaseTransitions", -1) + 1));
    }
    mur_value_set(object, "spec.holderIdentity", mur_value_text("%s", plan->identity));
    mur_value_set(object, "spec.leaseDurationSeconds", mur_value_integer(DURATION));
    mur_value_set(object, "spec.renewTime", micro_time(now));
    return object;
}

/* Returns whether it could be written. */
static bool write_lease(const struct mur_controller_plan *plan, const char *method, const struct mur_value *object)
{
    bool is_new = strcmp(method, "POST") == 0, is_done;
    char *path = mur_path(mur_resource_of_kind("Lease"), NULL, plan->lease_space, is_new ? NULL : LEASE, NULL);
    struct mur_answer answer;

    mur_call(plan->cluster, method, path, "application/json", object, PATIENCE, &answer);
    is_done = mur_answer_is_well(&answer);
    if (!is_done && answer.code != 409)
        mur_answer_say(&answer, "cannot write the Lease " LEASE);
    mur_answer_free(&answer);
    free(path);
    return is_done;
}

/* Whether somebody else holds it. */
static bool is_taken(const struct mur_controller_plan *plan, const struct mur_value *object, double now)
{
    const char *holder = mur_value_string(object, "spec.holderIdentity", "");
    const char *version = mur_value_string(object, "metadata.resourceVersion", "");

    if (!lease.version || strcmp(lease.version, version) != 0) {
        free(lease.version);
        lease.version = mur_alloc_text("%s", version);
        lease.seen = now;
    }
    if (!*holder || strcmp(holder, plan->identity) == 0)
        return false;
    return now < lease.seen + (double)mur_value_long(object, "spec.leaseDurationSeconds", DURATION);
}

static bool try_lease(const struct mur_controller_plan *plan, double now)
{
    char *path = mur_path(mur_resource_of_kind("Lease"), NULL, plan->lease_space, LEASE, NULL);
    struct mur_answer answer;
    struct mur_value *object = NULL;
    bool is_held = false;

    mur_call(plan->cluster, "GET", path, "", NULL, PATIENCE, &answer);
    if (answer.code == 404 || (answer.code == 200 && answer.body && !is_taken(plan, answer.body, now)))
        object = make_lease(plan, answer.code == 200 ? answer.body : NULL, now);
    if (object)
        is_held = write_lease(plan, answer.code == 200 ? "PUT" : "POST", object);
    else if (answer.code != 200)
        mur_answer_say(&answer, "cannot read the Lease " LEASE);
    else if (!lease.is_said)
        mur_say("waits: the controller %s acts", mur_value_string(answer.body, "spec.holderIdentity", ""));
    lease.is_said = answer.code == 200 && !object;
    mur_value_free(object);
    mur_answer_free(&answer);
    free(path);
    return is_held;
}

bool mur_lease_hold(const struct mur_controller_plan *plan, double now, double *due)
{
    if (now >= lease.due) {
        if (try_lease(plan, now)) {
            lease.renewed = now;
            if (!lease.is_held)
                mur_say("acts as controller %s", plan->identity);
            lease.is_held = true;
        } else if (lease.is_held && mur_clock() > lease.renewed + DEADLINE) {
            mur_quit(MUR_EXIT_TROUBLE, "the Lease could not be renewed: another controller may act now");
        }
        lease.due = mur_clock() + RENEW;
    }
    *due = lease.due;
    return lease.is_held;
}

/* So that another need not wait. */
void mur_lease_release(const struct mur_controller_plan *plan)
{
    char *path = mur_path(mur_resource_of_kind("Lease"), NULL, plan->lease_space, LEASE, NULL);
    struct mur_answer answer;

    if (!lease.is_held)
        return;
    mur_call(plan->cluster, "GET", path, "", NULL, PATIENCE, &answer);
    if (answer.code == 200 && strcmp(mur_value_string(answer.body, "spec.holderIdentity", ""), plan->identity) == 0) {
        mur_value_set(answer.body, "spec.holderIdentity", mur_value_text("%s", ""));
        write_lease(plan, "PUT", answer.body);
    }
    mur_answer_free(&answer);
    free(path);
}
