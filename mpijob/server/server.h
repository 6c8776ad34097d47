/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the Kubernetes API that MPI jobs need, on one machine.
 *
 * One process with one thread. http.c receives a request, says who sent it and whether that user may (access.c), and
 * what it is about (struct mur_api_request); the files below answer it with an object and a code: objects.c (create,
 * read, update), delete.c (with what goes with its owner), patch.c, admit.c (defaults and checks), table.c (columns for
 * `kubectl get`), discovery.c. What is kept is in base.h. Answers that go on are streams: watch.c feeds from the
 * journal, log.c from a pod's file; exec.c hands a connection to a process of its own. */
#ifndef MUR_MPIJOB_SERVER_H
#define MUR_MPIJOB_SERVER_H

#include "mpijob/api/api.h"
#include "mpijob/server/base.h"

/* One request. Texts are the connection's; "" stands for what was not said. */
struct mur_api_request {
    const char *verb; /* get, list, watch, create, update, patch, delete, deletecollection */
    const struct mur_resource *resource;
    char *group, *version, *space, *name, *part; /* part: status, log, exec */
    const char *accept, *content_type, *user, *user_group;
    const char *body;
    size_t length;
    const char *(*option)(const struct mur_api_request *request, const char *name); /* of the query; "" */
    void *connection;
};

struct mur_reply {
    int code;
    struct mur_value *body;
};

/* objects.c */
void mur_objects_answer(const struct mur_api_request *request, struct mur_reply *reply);
void mur_reply_fail(struct mur_reply *reply, int code, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void mur_reply_missing(struct mur_reply *reply, const struct mur_resource *resource, const char *name);
/* Stores a changed object; NULL in reply->body on success. What has a deletionTimestamp and no finalizer is removed. */
int mur_object_store(const struct mur_resource *resource, struct mur_value *object, bool is_new);
struct mur_value *mur_list_object(const struct mur_resource *resource, const char *version, struct mur_value *items);
/* Both selectors of a request; false, and a reply, if one is malformed. */
struct mur_selectors {
    struct mur_selector *labels, *fields;
};
bool mur_selectors_read(const struct mur_api_request *request, struct mur_selectors *selectors,
                        struct mur_reply *reply);
bool mur_selectors_match(const struct mur_selectors *selectors, const struct mur_value *object);
void mur_selectors_free(struct mur_selectors *selectors);

/* delete.c */
struct mur_deletion {
    long long grace;    /* seconds; -1: as the object says */
    const char *policy; /* Background, Foreground, Orphan */
};
/* Asks for the deletion of an object, which may then go at once. Takes the object over. Returns it as it is, or NULL
 * if it is gone. */
struct mur_value *mur_object_delete(const struct mur_resource *resource, struct mur_value *object,
                                    const struct mur_deletion *deletion);
void mur_delete_answer(const struct mur_api_request *request, struct mur_reply *reply);
void mur_delete_collection(const struct mur_api_request *request, struct mur_reply *reply);
int mur_object_remove(const struct mur_resource *resource, struct mur_value *object); /* at once, with what it owns */
void mur_space_empty(const char *space); /* deletes all in a namespace, and the namespace when nothing is left */
void mur_orphans_collect(void);          /* objects whose owners are gone: what a crash has left */
void mur_events_expire(double now);

/* admit.c: false, with a reply, if the object cannot be taken. `old` is NULL for a new one. */
bool mur_admit(const struct mur_resource *resource, struct mur_value *object, const struct mur_value *old,
               struct mur_reply *reply);
extern const char *mur_node_name; /* of the one node, to which pods are bound */

/* patch.c: NULL, with a reply, if it does not fit. */
bool mur_patch_is_known(const struct mur_api_request *request, struct mur_reply *reply); /* its type */
struct mur_value *mur_patch(const struct mur_api_request *request, const struct mur_value *old,
                            struct mur_reply *reply);
struct mur_value *mur_patch_merge(const struct mur_value *old, const struct mur_value *patch);     /* RFC 7386 */
struct mur_value *mur_patch_strategic(const struct mur_value *old, const struct mur_value *patch); /* Kubernetes' */
struct mur_value *mur_patch_operations(const struct mur_value *old, const struct mur_value *list, char **why);

/* table.c */
bool mur_table_is_wanted(const char *accept);
struct mur_value *mur_table_make(const struct mur_resource *resource, const struct mur_value *items,
                                 const char *version, bool has_columns);

/* discovery.c: whether the path is one of its. */
bool mur_discovery_answer(const char *path, struct mur_reply *reply);

/* access.c */
void mur_access_read(const char *path); /* a file of tokens: TOKEN,USER,UID,GROUP */
void mur_access_add(const char *token, const char *user, const char *group);
bool mur_access_find(const char *authorization, const char **user, const char **group);
bool mur_access_permits(const char *group, const char *verb, const struct mur_resource *resource, const char *part);

#endif
