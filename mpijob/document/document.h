/* SPDX-License-Identifier: BSD-3-Clause */
/* A document: what a YAML or JSON file says, as one tree of nodes that know their lines.
 *
 * Files become trees (yaml.c, json.c), objects of the API are trees, and what the reconciler makes are trees, too. A
 * tree is owned by whoever holds its root. Paths are names with dots between, "spec.template.spec"; names that have
 * dots themselves, such as those of labels, are looked up with mur_node_get. */
#ifndef MUR_MPIJOB_DOCUMENT_H
#define MUR_MPIJOB_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum mur_kind { MUR_NULL, MUR_BOOL, MUR_INTEGER, MUR_NUMBER, MUR_STRING, MUR_LIST, MUR_MAP };

struct mur_member {
    char *name; /* NULL in lists */
    int line;   /* of the name */
    struct mur_node *value;
};

struct mur_node {
    enum mur_kind kind;
    int line;          /* in its file; 0: made by the program */
    char *text;        /* of scalars, as written */
    long long integer; /* of MUR_INTEGER, and 0 or 1 of MUR_BOOL */
    struct mur_member *members;
    int count;
};

struct mur_node *mur_node_new(enum mur_kind kind);
struct mur_node *mur_node_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct mur_node *mur_node_integer(long long value);
struct mur_node *mur_node_bool(bool value);
struct mur_node *mur_node_copy(const struct mur_node *node);
void mur_node_free(struct mur_node *node);
bool mur_node_equal(const struct mur_node *a, const struct mur_node *b);

/* Reading. NULL stands for a node that is not there, and has nothing in it. */
struct mur_node *mur_node_get(const struct mur_node *map, const char *name);
struct mur_node *mur_node_at(const struct mur_node *root, const char *path);
const char *mur_node_string(const struct mur_node *root, const char *path, const char *otherwise);
long long mur_node_long(const struct mur_node *root, const char *path, long long otherwise);
bool mur_node_true(const struct mur_node *root, const char *path);
int mur_node_count(const struct mur_node *node);

/* Writing. The tree takes over what it is given. */
void mur_node_put(struct mur_node *map, const char *name, struct mur_node *value); /* replaces what was there */
void mur_node_set(struct mur_node *root, const char *path, struct mur_node *value);
void mur_node_add(struct mur_node *list, struct mur_node *value);
void mur_node_drop(struct mur_node *map, const char *name);

/* What is wrong with a text, and where. */
struct mur_document_error {
    int line;
    char text[400];
};

/* The documents of a file, as a list; NULL, with *error, if it is neither YAML nor JSON. A text whose first character
 * is a brace is JSON. */
struct mur_node *mur_document_read(const char *text, size_t length, struct mur_document_error *error);
struct mur_node *mur_yaml_read(const char *text, size_t length, struct mur_document_error *error);
struct mur_node *mur_json_read(const char *text, size_t length, struct mur_document_error *error); /* one document */
void mur_json_write(FILE *file, const struct mur_node *node);                                      /* indented */

#endif
