/* SPDX-License-Identifier: BSD-3-Clause */
/* A document: what a YAML or JSON file says, as one tree of nodes that know their lines.
 *
 * Files become trees (yaml.c, json.c), objects of the API are trees, and what the reconciler makes are trees, too. A
 * tree is owned by whoever holds its root. Paths are names with dots between, "spec.template.spec"; names that have
 * dots themselves, such as those of labels, are looked up with mur_value_get. */
#ifndef MUR_MPIJOB_DOCUMENT_H
#define MUR_MPIJOB_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum mur_value_kind { MUR_NULL, MUR_BOOL, MUR_INTEGER, MUR_NUMBER, MUR_STRING, MUR_LIST, MUR_MAP };

struct mur_member {
    char *name; /* NULL in lists */
    int line;   /* of the name */
    struct mur_value *value;
};

struct mur_value {
    enum mur_value_kind kind;
    int line;          /* in its file; 0: made by the program */
    char *text;        /* of scalars, as written */
    long long integer; /* of MUR_INTEGER, and 0 or 1 of MUR_BOOL */
    struct mur_member *members;
    int count;
};

struct mur_value *mur_value_new(enum mur_value_kind kind);
struct mur_value *mur_value_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct mur_value *mur_value_integer(long long value);
struct mur_value *mur_value_bool(bool value);
struct mur_value *mur_value_copy(const struct mur_value *node);
void mur_value_free(struct mur_value *node);
bool mur_value_equal(const struct mur_value *a, const struct mur_value *b);

/* Reading. NULL stands for a node that is not there, and has nothing in it. */
struct mur_value *mur_value_get(const struct mur_value *map, const char *name);
struct mur_value *mur_value_at(const struct mur_value *root, const char *path);
const char *mur_value_string(const struct mur_value *root, const char *path, const char *otherwise);
long long mur_value_long(const struct mur_value *root, const char *path, long long otherwise);
bool mur_value_true(const struct mur_value *root, const char *path);
int mur_value_count(const struct mur_value *node);

/* Writing. The tree takes over what it is given. */
void mur_value_put(struct mur_value *map, const char *name, struct mur_value *value); /* replaces what was there */
void mur_value_set(struct mur_value *root, const char *path, struct mur_value *value);
void mur_value_add(struct mur_value *list, struct mur_value *value);
void mur_value_drop(struct mur_value *map, const char *name);

/* What is wrong with a text, and where. */
struct mur_document_error {
    int line;
    char text[400];
};

/* The documents of a file, as a list; NULL, with *error, if it is neither YAML nor JSON. A text whose first character
 * is a brace is JSON. */
struct mur_value *mur_document_read(const char *text, size_t length, struct mur_document_error *error);
struct mur_value *mur_yaml_read(const char *text, size_t length, struct mur_document_error *error);
struct mur_value *mur_json_read(const char *text, size_t length, struct mur_document_error *error); /* one document */
void mur_json_write(FILE *file, const struct mur_value *node);                                      /* indented */
char *mur_json_text(const struct mur_value *node); /* in one line; the caller's to free */

#endif
