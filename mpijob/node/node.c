/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of the node: see node.h. */
#include "mpijob/node/node.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/signals.h"

enum { WATCHES = 3, MOST_POLLED = 4096, LOOK_AGAIN = 1, LONGEST_WAIT = 60 }; /* the last two are seconds */

/* What the node has of a namespace. */
struct place {
    struct mur_runner runner;
    struct mur_store held; /* pods that wait for what they need */
    struct mur_report *reports;
    double look_again; /* at those; 0: there are none */
};

enum owner_kind { SIGNALS, LISTENER, VISIT, POD };
struct owner {
    enum owner_kind kind;
    struct mur_runner *runner;
    void *what;
};

static struct {
    const struct mur_node_plan *plan;
    struct mur_mirror mirror;
    struct mur_api_watch watches[WATCHES];
    bool has_begun, is_ending;
    struct curl_waitfd polled[MOST_POLLED];
    struct owner owners[MOST_POLLED];
    int count;
} node;

static const char *uid_of(const struct mur_value *object)
{
    return mur_value_string(object, "metadata.uid", "");
}

static const char *name_of(const struct mur_value *object)
{
    return mur_value_string(object, "metadata.name", "");
}

static int no_command(int count, char **words, FILE *out)
{
    (void)count;
    (void)words;
    (void)out;
    return MUR_EXIT_USAGE; /* commands about pods go to the API */
}

/* A socket's path has an end. */
static bool fits(const struct mur_space *space)
{
    return strlen(node.plan->folder) + strlen(space->name) + strlen("/spaces//door/socket") <
           sizeof((struct sockaddr_un *)NULL)->sun_path;
}

/* The runner of a namespace, started when its first pod comes. */
static struct place *place_of(struct mur_space *space)
{
    struct place *place = space->own;
    char *above;

    if (place)
        return place;
    space->own = place = mur_alloc(1, sizeof *place);
    mur_store_start(&place->held);
    above = mur_alloc_text("%s/spaces", node.plan->folder);
    mkdir(above, 0711);
    place->runner = (struct mur_runner){.store = &space->store,
                                        .folder = mur_alloc_text("%s/%s", above, space->name),
                                        .program_folder = (char *)node.plan->program_folder,
                                        .images = node.plan->images,
                                        .image_count = node.plan->image_count,
                                        .survives = true,
                                        .restart_delay = node.plan->restart_delay,
                                        .command = no_command};
    if (fits(space)) /* else its pods wait, with a word */
        mur_runner_start(&place->runner, node.plan->wants_namespaces);
    else
        place->runner.listener = -1;
    free(above);
    return place;
}

/* The status is the node's own; everything else is the API's. */
static void renew(struct mur_value *own, const struct mur_value *object)
{
    mur_value_put(own, "metadata", mur_value_copy(mur_value_get(object, "metadata")));
}

static bool is_known(struct mur_store *store, const struct mur_value *object)
{
    const struct mur_value *own = mur_store_find(store, "Pod", name_of(object));

    return own && strcmp(uid_of(own), uid_of(object)) == 0;
}

static void take_pod(struct mur_space *space, const char *type, struct mur_value *object)
{
    struct place *place = node.has_begun ? place_of(space) : NULL;

    if (strcmp(type, "DELETED") == 0) {
        if (place)
            mur_report_drop(&place->reports, uid_of(object));
        if (place && is_known(&place->held, object))
            mur_store_remove(&place->held, "Pod", name_of(object));
        if (is_known(&space->store, object)) /* the runner ends what still runs of it */
            mur_store_remove(&space->store, "Pod", name_of(object));
        mur_value_free(object);
    } else if (is_known(&space->store, object)) {
        renew(mur_store_find(&space->store, "Pod", name_of(object)), object);
        mur_value_free(object);
    } else if (place && is_known(&place->held, object)) {
        renew(mur_store_find(&place->held, "Pod", name_of(object)), object);
        mur_value_free(object);
    } else if (!place) {
        mur_store_put(&space->store, object);
    } else if (!mur_report_find(place->reports, uid_of(object))) { /* or it has just ended, and its deletion is due */
        mur_report_add(&place->reports, object);
        mur_store_put(&place->held, object);
        place->look_again = mur_clock();
    } else {
        mur_value_free(object);
    }
}

static void take(void *whom, const char *type, struct mur_value *object)
{
    const char *kind = mur_value_string(object, "kind", "");
    struct mur_space *space = mur_mirror_space(&node.mirror, mur_value_string(object, "metadata.namespace", ""));
    struct place *place = space->own;

    (void)whom;
    if (strcmp(kind, "Pod") == 0) {
        take_pod(space, type, object);
    } else if (strcmp(type, "DELETED") == 0) {
        mur_store_remove(&space->store, kind, name_of(object));
        mur_value_free(object);
    } else {
        mur_store_put(&space->store, object);
        if (place) {
            mur_runner_refresh(&place->runner, object);
            place->look_again = place->held.objects->count ? mur_clock() : 0;
        }
    }
}

static bool is_listed(const struct mur_value *uids, const char *uid)
{
    for (int i = 0; i < uids->count; i++)
        if (strcmp(uids->members[i].value->text, uid) == 0)
            return true;
    return false;
}

static void drop_unlisted(struct mur_space *space, struct mur_store *store, const char *kind,
                          const struct mur_value *uids)
{
    for (int i = store->objects->count - 1; i >= 0; i--) {
        struct mur_value *object = store->objects->members[i].value;

        if (strcmp(mur_value_string(object, "kind", ""), kind) != 0 || is_listed(uids, uid_of(object)))
            continue;
        if (strcmp(kind, "Pod") == 0)
            take_pod(space, "DELETED", mur_value_copy(object));
        else
            mur_store_remove(store, kind, name_of(object));
    }
}

static void listed(void *whom, const struct mur_resource *resource, const struct mur_value *uids)
{
    (void)whom;
    for (struct mur_space *space = node.mirror.spaces; space; space = space->next) {
        struct place *place = space->own;

        drop_unlisted(space, &space->store, resource->kind, uids);
        if (place)
            drop_unlisted(space, &place->held, resource->kind, uids);
    }
}

/* ---- pods that wait ---- */

static void set_waiting(struct mur_value *pod, const char *reason, const char *message)
{
    const struct mur_value *container = mur_value_at(pod, "spec.containers")->members[0].value;
    struct mur_value *list = mur_value_new(MUR_LIST), *status = mur_value_new(MUR_MAP);

    mur_value_put(status, "name", mur_value_text("%s", mur_value_string(container, "name", "")));
    mur_value_put(status, "image", mur_value_text("%s", mur_value_string(container, "image", "")));
    mur_value_put(status, "ready", mur_value_bool(false));
    mur_value_put(status, "restartCount", mur_value_integer(0));
    mur_value_set(status, "state.waiting.reason", mur_value_text("%s", reason));
    mur_value_set(status, "state.waiting.message", mur_value_text("%s", message));
    mur_value_add(list, status);
    mur_value_set(pod, "status.containerStatuses", list);
}

/* To the runner, which starts it; or it goes on waiting. Returns whether it has left. */
static bool release(struct mur_space *space, struct place *place, struct mur_value *pod)
{
    bool is_old = mur_value_at(pod, "status.startTime") || mur_value_at(pod, "metadata.deletionTimestamp");
    char *missing = NULL;

    if (mur_store_find(&space->store, "Pod", name_of(pod)))
        return false; /* one of the same name that has not ended yet */
    if (!is_old && !fits(space))
        missing = mur_alloc_text("the path %s is too long for a socket in namespace %s: see mpijob serve --data",
                                 node.plan->folder, space->name);
    else if (!is_old)
        missing = mur_needs_fetch(node.plan->cluster, pod, &space->store);
    if (missing) {
        set_waiting(pod, "CreateContainerConfigError", missing);
        free(missing);
        return false;
    }
    mur_store_put(&space->store, mur_value_copy(pod));
    mur_store_remove(&place->held, "Pod", name_of(pod));
    return true;
}

static void release_held(struct mur_space *space, struct place *place)
{
    if (place->look_again == 0 || mur_clock() < place->look_again)
        return;
    for (int i = 0; i < place->held.objects->count;)
        if (!release(space, place, place->held.objects->members[i].value))
            i++;
    place->look_again = place->held.objects->count ? mur_clock() + LOOK_AGAIN : 0;
}

/* ---- the loop ---- */

/* New pods wait for what they need; those that the node knew before do not. */
static void hold_new(struct mur_space *space, struct place *place)
{
    for (int i = space->store.objects->count - 1; i >= 0; i--) {
        struct mur_value *object = space->store.objects->members[i].value;

        if (strcmp(mur_value_string(object, "kind", ""), "Pod") != 0 || mur_value_at(object, "status.startTime") ||
            mur_value_at(object, "metadata.deletionTimestamp") ||
            mur_runner_find(&place->runner, name_of(object), NULL))
            continue;
        mur_store_put(&place->held, mur_value_copy(object));
        mur_store_remove(&space->store, "Pod", name_of(object));
    }
    place->look_again = mur_clock();
}

/* What an earlier node has left in a namespace is taken over. */
static void begin_space(struct mur_space *space)
{
    struct place *place = place_of(space);

    for (int i = 0; i < space->store.objects->count; i++)
        if (strcmp(mur_value_string(space->store.objects->members[i].value, "kind", ""), "Pod") == 0)
            mur_report_add(&place->reports, space->store.objects->members[i].value);
    mur_runner_adopt(&place->runner, mur_clock());
    hold_new(space, place);
}

/* Everything has been listed for the first time. */
static void begin(void)
{
    char *path = mur_alloc_text("%s/spaces", node.plan->folder);
    DIR *list = opendir(path);
    struct dirent *entry;

    node.has_begun = true;
    while (list && (entry = readdir(list)))
        if (entry->d_name[0] != '.')
            mur_mirror_space(&node.mirror, entry->d_name);
    if (list)
        closedir(list);
    free(path);
    for (struct mur_space *space = node.mirror.spaces; space; space = space->next)
        if (fits(space))
            begin_space(space);
}

static void add_polled(int fd, enum owner_kind kind, struct mur_runner *runner, void *what)
{
    if (node.count == MOST_POLLED || fd < 0)
        return;
    node.polled[node.count] = (struct curl_waitfd){.fd = fd, .events = CURL_WAIT_POLLIN};
    node.owners[node.count++] = (struct owner){kind, runner, what};
}

static void collect_polled(int signals)
{
    node.count = 0;
    add_polled(signals, SIGNALS, NULL, NULL);
    for (struct mur_space *space = node.mirror.spaces; space; space = space->next) {
        struct place *place = space->own;

        if (!place)
            continue;
        add_polled(place->runner.listener, LISTENER, &place->runner, NULL);
        for (struct mur_pod_visit *visit = place->runner.visits; visit; visit = visit->next)
            add_polled(visit->fd, VISIT, &place->runner, visit);
        for (struct mur_pod *pod = place->runner.pods; pod; pod = pod->next)
            if (pod->pid)
                add_polled(pod->descriptor, POD, &place->runner, pod);
    }
}

static void end_pods(void)
{
    node.is_ending = true;
    for (struct mur_space *space = node.mirror.spaces; space; space = space->next)
        if (space->own)
            ((struct place *)space->own)->runner.is_ending = true;
}

static void take_signals(int fd)
{
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD)
            end_pods();
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (struct mur_space *space = node.mirror.spaces; space; space = space->next)
            if (space->own)
                mur_runner_reap(&((struct place *)space->own)->runner, pid, status, mur_clock());
}

static void serve_polled(int signals)
{
    for (int i = node.count - 1; i >= 0; i--) { /* signals last: they may end pods that are in the list */
        const struct owner *owner = &node.owners[i];

        if (!node.polled[i].revents)
            continue;
        if (owner->kind == SIGNALS)
            take_signals(signals);
        else if (owner->kind == LISTENER)
            mur_visits_accept(owner->runner);
        else if (owner->kind == VISIT)
            mur_visit_event(owner->runner, owner->what);
        else
            mur_runner_lost(owner->runner, owner->what, mur_clock());
    }
}

static double sooner(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Returns when the next thing is due. */
static double step_places(void)
{
    double due = mur_clock() + LONGEST_WAIT;

    for (struct mur_space *space = node.mirror.spaces; space; space = space->next) {
        struct place *place = space->own;

        if (!place)
            continue;
        release_held(space, place);
        due = sooner(due, mur_runner_step(&place->runner, mur_clock()));
        due =
            sooner(due, mur_report_send(node.plan->cluster, space->name, &place->reports, &space->store, &place->held));
        due = sooner(due, place->look_again);
    }
    return due;
}

static bool has_ended(void)
{
    bool is_idle = node.is_ending;

    for (struct mur_space *space = node.mirror.spaces; space; space = space->next)
        if (space->own)
            is_idle &= mur_runner_is_idle(&((struct place *)space->own)->runner);
    return is_idle;
}

static void make_watches(void)
{
    static const char *const kinds[WATCHES] = {"Pod", "ConfigMap", "Secret"};

    for (int i = 0; i < WATCHES; i++)
        node.watches[i] = (struct mur_api_watch){
            .cluster = node.plan->cluster, .resource = mur_resource_of_kind(kinds[i]), .take = take, .listed = listed};
    node.watches[0].query = mur_alloc_text("fieldSelector=spec.nodeName%%3D%s", node.plan->name);
}

int mur_node_run(const struct mur_node_plan *plan)
{
    int signals = mur_signals_open((const int[]){SIGCHLD, SIGINT, SIGTERM, 0});

    node.plan = plan;
    make_watches();
    while (!has_ended()) {
        double due = mur_clock() + LONGEST_WAIT;

        if (!node.has_begun && node.watches[0].is_listed && node.watches[1].is_listed && node.watches[2].is_listed)
            begin();
        if (node.has_begun)
            due = step_places();
        collect_polled(signals);
        due -= mur_clock();
        mur_watches_wait(node.watches, WATCHES, node.polled, node.count, due > 0 ? due : 0);
        serve_polled(signals);
    }
    step_places();
    mur_watches_stop(node.watches, WATCHES);
    for (struct mur_space *space = node.mirror.spaces; space; space = space->next)
        if (space->own)
            mur_runner_end(&((struct place *)space->own)->runner);
    return 0;
}
