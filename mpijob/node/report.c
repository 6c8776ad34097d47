/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of pods to the API, when they have changed; and the deletion of pods that have ended as they were asked to.
 */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/node/node.h"

enum { PATIENCE = 30, AGAIN = 1 }; /* seconds */

struct mur_report *mur_report_find(struct mur_report *reports, const char *uid)
{
    while (reports && strcmp(reports->uid, uid) != 0)
        reports = reports->next;
    return reports;
}

static char *status_of(const struct mur_value *pod)
{
    const struct mur_value *status = mur_value_get(pod, "status");

    return status ? mur_json_text(status) : mur_alloc_text("{}");
}

void mur_report_add(struct mur_report **reports, const struct mur_value *pod)
{
    struct mur_report *report = mur_alloc(1, sizeof *report);

    report->name = mur_alloc_text("%s", mur_value_string(pod, "metadata.name", ""));
    report->uid = mur_alloc_text("%s", mur_value_string(pod, "metadata.uid", ""));
    report->status = status_of(pod);
    report->next = *reports;
    *reports = report;
}

void mur_report_drop(struct mur_report **reports, const char *uid)
{
    for (struct mur_report **at = reports; *at; at = &(*at)->next)
        if (strcmp((*at)->uid, uid) == 0) {
            struct mur_report *report = *at;

            *at = report->next;
            free(report->name);
            free(report->uid);
            free(report->status);
            free(report);
            return;
        }
}

/* What the API says of a pod that is gone, or is another one by now, is as good as yes. */
static bool call(const struct mur_cluster *cluster, const char *method, const char *space, const char *name,
                 const char *part, const struct mur_value *body)
{
    char *path = mur_path(mur_resource_of_kind("Pod"), NULL, space, name, part);
    struct mur_answer answer;
    bool is_done;

    mur_call(cluster, method, path, "application/json", body, PATIENCE, &answer);
    is_done = mur_answer_is_well(&answer) || answer.code == 404 || answer.code == 409;
    if (!is_done && answer.code != 0)
        mur_answer_say(&answer, "cannot report about a pod");
    mur_answer_free(&answer);
    free(path);
    return is_done;
}

static bool send_deletion(const struct mur_cluster *cluster, const char *space, const struct mur_report *report)
{
    struct mur_value *options = mur_value_new(MUR_MAP);
    bool is_done;

    mur_value_put(options, "gracePeriodSeconds", mur_value_integer(0));
    mur_value_set(options, "preconditions.uid", mur_value_text("%s", report->uid));
    is_done = call(cluster, "DELETE", space, report->name, NULL, options);
    mur_value_free(options);
    return is_done;
}

static void tell(const struct mur_cluster *cluster, const struct mur_value *pod)
{
    const struct mur_value *list = mur_value_at(pod, "status.containerStatuses");
    const struct mur_value *state = mur_value_count(list) ? mur_value_get(list->members[0].value, "state") : NULL;
    const struct mur_value *what = mur_value_count(state) ? state->members[0].value : NULL;
    bool runs = mur_value_get(state, "running") != NULL;
    const char *reason = runs ? "Started" : mur_value_string(what, "reason", NULL);
    char *message;

    if (!reason)
        return;
    if (mur_value_get(state, "terminated") && !mur_value_get(what, "message"))
        message = mur_alloc_text("the container ended with exit code %lld", mur_value_long(what, "exitCode", 0));
    else
        message = mur_alloc_text("%s", runs ? "the container has been started" : mur_value_string(what, "message", ""));
    mur_event_send(cluster, pod, "mpijob-node", runs || strcmp(reason, "Completed") == 0 ? "Normal" : "Warning", reason,
                   message);
    free(message);
}

/* The version is left out: a pod's status is the node's alone. */
static bool send_status(const struct mur_cluster *cluster, const char *space, const struct mur_value *pod)
{
    struct mur_value *copy = mur_value_copy(pod);
    bool is_done;

    mur_value_drop(mur_value_get(copy, "metadata"), "resourceVersion");
    is_done = call(cluster, "PUT", space, mur_value_string(pod, "metadata.name", ""), "status", copy);
    mur_value_free(copy);
    return is_done;
}

static const struct mur_value *pod_of(const struct mur_report *report, const struct mur_store *store)
{
    const struct mur_value *pod = mur_store_find(store, "Pod", report->name);

    return pod && strcmp(mur_value_string(pod, "metadata.uid", ""), report->uid) == 0 ? pod : NULL;
}

double mur_report_send(const struct mur_cluster *cluster, const char *space, struct mur_report **reports,
                       const struct mur_store *store, const struct mur_store *held)
{
    double due = 0;

    for (struct mur_report *report = *reports, *next; report; report = next) {
        const struct mur_value *pod = pod_of(report, store);
        char *status;
        bool is_done = true;

        next = report->next;
        pod = pod ? pod : pod_of(report, held);
        if (mur_clock() < report->due) {
            due = due == 0 || report->due < due ? report->due : due;
            continue;
        }
        if (!pod && (is_done = send_deletion(cluster, space, report))) {
            mur_report_drop(reports, report->uid);
            continue;
        }
        status = pod ? status_of(pod) : NULL;
        if (pod && strcmp(status, report->status) != 0 && (is_done = send_status(cluster, space, pod))) {
            tell(cluster, pod);
            free(report->status);
            report->status = status;
            status = NULL;
        }
        free(status);
        report->due = is_done ? 0 : mur_clock() + AGAIN;
        due = !is_done && (due == 0 || report->due < due) ? report->due : due;
    }
    return due;
}
