/* SPDX-License-Identifier: BSD-3-Clause */
/* What both sides of the Kubernetes API know of it: its resources, the objects that tell of failures, and selectors. */
#ifndef MUR_MPIJOB_API_H
#define MUR_MPIJOB_API_H

#include "mpijob/document/document.h"

/* A kind of object that the API keeps. */
struct mur_resource {
    const char *group;    /* "" is the core */
    const char *versions; /* the preferred one first, with spaces between */
    const char *plural, *singular, *kind, *shorts;
    bool is_namespaced, has_status, has_generation;
    const char *fields; /* what field selectors may name, beside metadata.name and metadata.namespace */
};

extern const struct mur_resource mur_resources[]; /* ends with a row without plural */

const struct mur_resource *mur_resource_find(const char *group, const char *version, const char *plural);
const struct mur_resource *mur_resource_of_kind(const char *kind);
bool mur_resource_has_version(const struct mur_resource *resource, const char *version);
char *
mur_resource_version(const struct mur_resource *resource);    /* "v1", "kubeflow.org/v2beta1"; the caller's to free */
char *mur_resource_name(const struct mur_resource *resource); /* "pods", "mpijobs.kubeflow.org"; likewise */

bool mur_words_have(const char *words, const char *word); /* of a list with spaces between */

/* A Status object that tells of a failure. */
struct mur_value *mur_failure(int code, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Selectors of labels, a=b,c!=d,e in (f,g),!h, and of fields, metadata.name=x. */
struct mur_selector;
/* NULL, with the cause in *why, which the caller frees, if the text is none. An empty text selects everything. */
struct mur_selector *mur_selector_labels(const char *text, char **why);
struct mur_selector *mur_selector_fields(const char *text, const struct mur_resource *resource, char **why);
bool mur_selector_is_empty(const struct mur_selector *selector);
bool mur_selector_matches(const struct mur_selector *selector, const struct mur_value *object);
void mur_selector_free(struct mur_selector *selector);

#endif
