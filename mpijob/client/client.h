/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the Kubernetes API, by libcurl: where the API is and who calls it (config.c), single calls (call.c), and
 * watches that keep a mirror of objects (watch.c). It knows nothing of a particular server. */
#ifndef MUR_MPIJOB_CLIENT_H
#define MUR_MPIJOB_CLIENT_H

#include <curl/curl.h>
#include <poll.h>

#include "mpijob/api/api.h"
#include "mpijob/store/store.h"

/* A cluster, and a user of it. NULL stands for what was not said. */
struct mur_cluster {
    char *server, *token, *token_file;
    char *authority, *certificate, *key; /* as PEM texts */
    char *space;
    bool trusts_anyone;
};

/* From a kubeconfig; without one from $KUBECONFIG, the pod's own account, or ~/.kube/config. Ends the program if there
 * is nothing of that, or if it asks for what is not supported. */
void mur_cluster_load(struct mur_cluster *cluster, const char *kubeconfig);
bool mur_cluster_is_named(void);       /* $KUBECONFIG says where the API is */
char *mur_text_read(const char *path); /* the file, or NULL; the caller's to free */
void mur_cluster_setup(const struct mur_cluster *cluster, CURL *handle, struct curl_slist **headers);

struct mur_answer {
    long code;              /* 0: there was none */
    struct mur_value *body; /* NULL: none, or no JSON */
    char *text;
    char error[CURL_ERROR_SIZE];
};

/* One call, which waits at most `seconds` (0: as long as it takes). `body` may be NULL. */
void mur_call(const struct mur_cluster *cluster, const char *method, const char *path, const char *type,
              const struct mur_value *body, long seconds, struct mur_answer *answer);
/* The same, with its output passed to `out` as it comes. Returns the code; 0, with answer->error, if there was none. */
long mur_call_stream(const struct mur_cluster *cluster, const char *path, FILE *out, struct mur_answer *answer);
void mur_answer_free(struct mur_answer *answer);
/* Says what went wrong; of what is forbidden, also what to add. */
void mur_answer_say(const struct mur_answer *answer, const char *what);
bool mur_answer_is_well(const struct mur_answer *answer);

/* "/api/v1/namespaces/SPACE/pods/NAME/PART"; empty parts are left out. The caller's to free. */
char *mur_path(const struct mur_resource *resource, const char *version, const char *space, const char *name,
               const char *part);

/* Objects of one namespace, as the API has them. */
struct mur_space {
    struct mur_space *next;
    char *name;
    struct mur_store store;
    void *own; /* of whoever keeps the mirror */
};

struct mur_mirror {
    struct mur_space *spaces;
};

struct mur_space *mur_mirror_space(struct mur_mirror *mirror, const char *name); /* made if it is not there */

/* One kind of objects that is listed and then watched, without end. */
struct mur_api_watch {
    const struct mur_cluster *cluster;
    const struct mur_resource *resource;
    const char *version, *space; /* NULL: the preferred one; all */
    char *query;                 /* selectors, as in a URL; NULL: none */
    /* An object was ADDED, MODIFIED, DELETED. Takes it over. */
    void (*take)(void *whom, const char *type, struct mur_value *object);
    /* All that was listed has been taken: what is not in the list of uids is gone. NULL: nobody wants to know. */
    void (*listed)(void *whom, const struct mur_resource *resource, const struct mur_value *uids);
    void *whom;

    bool is_listed, is_said;
    CURL *handle;
    struct curl_slist *headers;
    char *from; /* the resourceVersion */
    char *text;
    size_t length;
    double due, delay; /* of the next try */
};

/* Waits, `seconds` at most, for events of watches or on descriptors, and delivers those of watches. */
void mur_watches_wait(struct mur_api_watch *watches, int count, struct curl_waitfd *others, int other_count,
                      double seconds);
void mur_watches_stop(struct mur_api_watch *watches, int count);

/* Tells of something that happened to an object. */
void mur_event_send(const struct mur_cluster *cluster, const struct mur_value *object, const char *component,
                    const char *type, const char *reason, const char *message);
double mur_clock(void); /* seconds since 1970 */

#endif
