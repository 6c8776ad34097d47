/* SPDX-License-Identifier: BSD-3-Clause */
/* Volcano's jobs: batch.volcano.sh/v1alpha1 Job, with the plugins that MPI needs. They are checked, not run. */
#include "mpijob/schema/schema.h"

#define ACTIONS "AbortJob|RestartJob|RestartTask|RestartPod|TerminateJob|CompleteJob|ResumeJob|SyncJob"
#define EVENTS                                                                                                         \
    "*|PodFailed|PodEvicted|PodPending|PodRunning|TaskCompleted|TaskFailed|Unknown|OutOfSync|CommandIssued|JobUnknown"

static const struct mur_field policy_fields[] = {
    {.name = "action", .type = MUR_TYPE_STRING, .words = ACTIONS, .is_required = true},
    {.name = "event", .type = MUR_TYPE_STRING, .words = EVENTS},
    {.name = "events", .type = MUR_TYPE_STRINGS},
    {.name = "exitCode", .type = MUR_TYPE_INTEGER},
    {.name = "timeout", .type = MUR_TYPE_STRING},
    {0},
};
static const struct mur_field depends_fields[] = {
    {.name = "name", .type = MUR_TYPE_STRINGS},
    {.name = "iteration", .type = MUR_TYPE_STRING, .words = "any|all"},
    {0},
};
static const struct mur_field task_fields[] = {
    {.name = "name", .type = MUR_TYPE_STRING},
    {.name = "replicas", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {.name = "minAvailable", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {.name = "template", .type = MUR_TYPE_OBJECT, .fields = mur_pod_template_fields, .is_required = true},
    {.name = "policies", .type = MUR_TYPE_OBJECTS, .fields = policy_fields},
    {.name = "topologyPolicy", .type = MUR_TYPE_STRING},
    {.name = "maxRetry", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {.name = "dependsOn", .type = MUR_TYPE_OBJECT, .fields = depends_fields},
    {.name = "partitionPolicy", .type = MUR_TYPE_OBJECT},
    {0},
};
static const struct mur_field plugins_fields[] = {
    {.name = "mpi", .type = MUR_TYPE_STRINGS},     {.name = "ssh", .type = MUR_TYPE_STRINGS},
    {.name = "svc", .type = MUR_TYPE_STRINGS},     {.name = "env", .type = MUR_TYPE_STRINGS},
    {.name = "pytorch", .type = MUR_TYPE_STRINGS}, {.name = "tensorflow", .type = MUR_TYPE_STRINGS},
    {.name = "ray", .type = MUR_TYPE_STRINGS},     {0},
};
static const struct mur_field spec_fields[] = {
    {.name = "schedulerName", .type = MUR_TYPE_STRING},
    {.name = "minAvailable", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {.name = "minSuccess", .type = MUR_TYPE_INTEGER, .has_minimum = true, .minimum = 1},
    {.name = "volumes", .type = MUR_TYPE_OBJECTS},
    {.name = "tasks", .type = MUR_TYPE_OBJECTS, .fields = task_fields},
    {.name = "policies", .type = MUR_TYPE_OBJECTS, .fields = policy_fields},
    {.name = "plugins", .type = MUR_TYPE_OBJECT, .fields = plugins_fields},
    {.name = "runningEstimate", .type = MUR_TYPE_STRING},
    {.name = "queue", .type = MUR_TYPE_STRING},
    {.name = "maxRetry", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {.name = "ttlSecondsAfterFinished", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {.name = "priorityClassName", .type = MUR_TYPE_STRING},
    {.name = "networkTopology", .type = MUR_TYPE_OBJECT},
    {0},
};
const struct mur_field mur_volcano_fields[] = {
    {.name = "apiVersion", .type = MUR_TYPE_STRING, .is_required = true},
    {.name = "kind", .type = MUR_TYPE_STRING, .is_required = true},
    {.name = "metadata", .type = MUR_TYPE_OBJECT, .fields = mur_metadata_fields, .is_required = true},
    {.name = "spec",
     .type = MUR_TYPE_OBJECT,
     .fields = spec_fields,
     .is_required = true,
     .use = MUR_USE_REFUSED,
     .why = "Volcano's jobs are checked, but run by Volcano alone"},
    {.name = "status", .type = MUR_TYPE_OBJECT, .use = MUR_USE_IDLE, .why = "it is written, not read"},
    {0},
};
