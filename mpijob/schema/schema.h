/* SPDX-License-Identifier: BSD-3-Clause */
/* What an object of the API may say: tables of fields, and the check of a document against them.
 *
 * A row says a field's name, its type, what it must be, and what `mpijob run` does with it: it acts on it, it has
 * nothing to do for it on one machine and says so, or it refuses it with a reason. A field that no row names is an
 * error. What tables cannot say, such as that a mount needs its volume, is in rules.c. */
#ifndef MUR_MPIJOB_SCHEMA_H
#define MUR_MPIJOB_SCHEMA_H

#include "mpijob/document/document.h"

enum mur_field_type {
    MUR_TYPE_STRING,
    MUR_TYPE_INTEGER,
    MUR_TYPE_BOOLEAN,
    MUR_TYPE_QUANTITY,     /* 2, 0.5, 500m, 4Gi */
    MUR_TYPE_PORT,         /* a number or a name */
    MUR_TYPE_OBJECT,       /* of `fields`; without them anything goes in it */
    MUR_TYPE_OBJECTS,      /* a list of them */
    MUR_TYPE_STRINGS,      /* a list */
    MUR_TYPE_STRING_MAP,   /* names and texts, such as labels */
    MUR_TYPE_QUANTITY_MAP, /* names and quantities, such as limits */
    MUR_TYPE_ANY
};

enum mur_use {
    MUR_USE_ACTED,  /* `mpijob run` does what it says */
    MUR_USE_IDLE,   /* it is about several machines or the cluster's own services */
    MUR_USE_REFUSED /* doing without it would change what the job computes or what it may */
};

struct mur_field {
    const char *name;
    enum mur_field_type type;
    const struct mur_field *fields; /* ends with a row without name */
    bool is_required, has_minimum;
    long long minimum, maximum; /* without a maximum: 0 */
    const char *words;          /* what a string may be, with | between */
    enum mur_use use;
    const char *why; /* it is idle or refused */
};

/* A kind of object. */
struct mur_schema {
    const char *version, *kind;
    const struct mur_field *fields;
};

extern const struct mur_schema mur_schemas[]; /* ends with a row without version */
extern const struct mur_field mur_metadata_fields[], mur_pod_template_fields[];
extern const struct mur_field mur_job_v1_fields[], mur_job_v2_fields[], mur_volcano_fields[], mur_config_map_fields[],
    mur_secret_fields[], mur_pod_fields[];

/* How bad it is. What runs with a note, and what is valid but is refused by `mpijob run`, is no error of the file. */
enum mur_severity { MUR_SEVERITY_ERROR, MUR_SEVERITY_REFUSED, MUR_SEVERITY_NOTE };

/* Where the findings go. */
struct mur_findings {
    const char *file;
    FILE *out; /* NULL: they are only counted, or taken */
    void (*take)(void *whom, enum mur_severity severity, int line, const char *text); /* NULL: nobody takes them */
    void *whom;
    bool tells_use; /* also what `mpijob run` does not act on */
    bool hides_notes;
    int errors, refused, notes;
};
void mur_finding(struct mur_findings *findings, enum mur_severity severity, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

const struct mur_schema *mur_schema_of(const struct mur_value *object); /* NULL: not of these kinds */
/* An object, or a part of one that is at `path`, against a table. */
void mur_fields_check(const struct mur_value *object, const struct mur_field *fields, const char *path,
                      struct mur_findings *findings);
void mur_schema_check(const struct mur_value *object, struct mur_findings *findings);
void mur_rules_check(const struct mur_value *object, struct mur_findings *findings); /* of an object without errors */
/* All documents of a file, against tables and rules. */
void mur_documents_check(const struct mur_value *documents, struct mur_findings *findings);

/* 500m and 4Gi as numbers; a negative number if it is no quantity. */
double mur_quantity(const char *text);

#endif
