/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of objects that are known, and the fields that all objects have. */
#include "mpijob/schema/schema.h"

#define CLUSTER .use = MUR_USE_IDLE, .why = "the API server writes it"

const struct mur_field mur_metadata_fields[] = {
    {.name = "name", .type = MUR_TYPE_STRING},
    {.name = "namespace", .type = MUR_TYPE_STRING},
    {.name = "labels", .type = MUR_TYPE_STRING_MAP},
    {.name = "annotations", .type = MUR_TYPE_STRING_MAP},
    {.name = "generateName", .type = MUR_TYPE_STRING, .use = MUR_USE_REFUSED, .why = "a job that is run has a name"},
    {.name = "finalizers", .type = MUR_TYPE_STRINGS, .use = MUR_USE_IDLE, .why = "nobody but mpijob deletes the job"},
    {.name = "ownerReferences", .type = MUR_TYPE_OBJECTS, .use = MUR_USE_IDLE, .why = "nothing else owns the job"},
    {.name = "creationTimestamp", .type = MUR_TYPE_ANY, CLUSTER},
    {.name = "deletionTimestamp", .type = MUR_TYPE_ANY, CLUSTER},
    {.name = "deletionGracePeriodSeconds", .type = MUR_TYPE_ANY, CLUSTER},
    {.name = "generation", .type = MUR_TYPE_INTEGER, CLUSTER},
    {.name = "managedFields", .type = MUR_TYPE_ANY, CLUSTER},
    {.name = "resourceVersion", .type = MUR_TYPE_STRING, CLUSTER},
    {.name = "selfLink", .type = MUR_TYPE_STRING, CLUSTER},
    {.name = "uid", .type = MUR_TYPE_STRING, CLUSTER},
    {0},
};

#define OBJECT_FIELDS                                                                                                  \
    {.name = "apiVersion", .type = MUR_TYPE_STRING, .is_required = true},                                              \
        {.name = "kind", .type = MUR_TYPE_STRING, .is_required = true},                                                \
    {                                                                                                                  \
        .name = "metadata", .type = MUR_TYPE_OBJECT, .fields = mur_metadata_fields, .is_required = true                \
    }

const struct mur_field mur_config_map_fields[] = {
    OBJECT_FIELDS,
    {.name = "data", .type = MUR_TYPE_STRING_MAP},
    {.name = "binaryData", .type = MUR_TYPE_STRING_MAP},
    {.name = "immutable", .type = MUR_TYPE_BOOLEAN},
    {0},
};

const struct mur_field mur_secret_fields[] = {
    OBJECT_FIELDS,
    {.name = "type", .type = MUR_TYPE_STRING},
    {.name = "data", .type = MUR_TYPE_STRING_MAP},
    {.name = "stringData", .type = MUR_TYPE_STRING_MAP},
    {.name = "immutable", .type = MUR_TYPE_BOOLEAN},
    {0},
};

const struct mur_schema mur_schemas[] = {
    {"kubeflow.org/v2beta1", "MPIJob", mur_job_v2_fields},
    {"kubeflow.org/v1", "MPIJob", mur_job_v1_fields},
    {"batch.volcano.sh/v1alpha1", "Job", mur_volcano_fields},
    {"v1", "ConfigMap", mur_config_map_fields},
    {"v1", "Secret", mur_secret_fields},
    {"v1", "Pod", mur_pod_fields},
    {0},
};
