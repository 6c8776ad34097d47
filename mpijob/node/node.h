/* SPDX-License-Identifier: BSD-3-Clause */
/* The node: runs the pods that are bound to it, by the runner, and tells the API what becomes of them.
 *
 * Each namespace has a runner of its own, with a network and a list of hosts, in FOLDER/spaces/NAME. Its store is the
 * mirror of the pods; what the runner writes into their statuses goes to the API. A pod is started when the ConfigMaps
 * and Secrets that it needs are there. When the node comes back after a crash it lists the pods first, and takes over
 * what runs (mpijob/runner/adopt.c). */
#ifndef MUR_MPIJOB_NODE_H
#define MUR_MPIJOB_NODE_H

#include "mpijob/client/client.h"
#include "mpijob/runner/runner.h"

struct mur_node_plan {
    const struct mur_cluster *cluster;
    const char *name, *folder, *program_folder;
    struct mur_image *images;
    int image_count;
    bool wants_namespaces;
    double restart_delay;
};

int mur_node_run(const struct mur_node_plan *plan); /* until a signal, after which it ends all pods; the exit code */

/* needs.c: the ConfigMaps and Secrets that a pod cannot start without are fetched into the store. Returns what is
 * missing, which the caller frees, or NULL. */
char *mur_needs_fetch(const struct mur_cluster *cluster, const struct mur_value *pod, struct mur_store *store);

/* report.c: what the API has been told of each pod. */
struct mur_report {
    struct mur_report *next;
    char *name, *uid, *status;
    double due; /* of another try */
};
struct mur_report *mur_report_find(struct mur_report *reports, const char *uid);
void mur_report_add(struct mur_report **reports, const struct mur_value *pod);
void mur_report_drop(struct mur_report **reports, const char *uid);
/* Tells what is new. Returns when to try again what the API did not take; 0: all is told. */
double mur_report_send(const struct mur_cluster *cluster, const char *space, struct mur_report **reports,
                       const struct mur_store *store, const struct mur_store *held);

#endif
