/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a pod: started, its output passed on, ended or started again, stopped, gone. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/runner/runner.h"
#include "mpijob/schema/schema.h"

enum { LONGEST_RESTART = 300, LAST_GRACE = 10 }; /* seconds; the first as kubelet's */

struct mur_pod *mur_runner_find(const struct mur_runner *runner, const char *name, const char *hostname)
{
    for (struct mur_pod *pod = runner->pods; pod; pod = pod->next)
        if ((name && strcmp(pod->name, name) == 0) || (hostname && pod->pid && strcmp(pod->hostname, hostname) == 0))
            return pod;
    return NULL;
}

static struct mur_value *container_status(const struct mur_value *object)
{
    return mur_value_at(object, "status.containerStatuses")->members[0].value;
}

/* One state of the container replaces the other; the one before is remembered. */
static void set_state(struct mur_runner *runner, struct mur_value *object, const char *name, struct mur_value *details)
{
    struct mur_value *status = container_status(object), *state = mur_value_new(MUR_MAP), *old;

    old = mur_value_at(status, "state.terminated");
    if (old) {
        struct mur_value *last = mur_value_new(MUR_MAP);

        mur_value_put(last, "terminated", mur_value_copy(old));
        mur_value_put(status, "lastState", last);
    }
    mur_value_put(state, name, details);
    mur_value_put(status, "state", state);
    mur_value_put(status, "ready", mur_value_bool(strcmp(name, "running") == 0));
    mur_store_changed(runner->store, object);
}

static void make_status(struct mur_runner *runner, struct mur_value *object, double now)
{
    struct mur_value *list = mur_value_new(MUR_LIST), *status = mur_value_new(MUR_MAP);
    const struct mur_value *container = mur_value_at(object, "spec.containers")->members[0].value;

    mur_value_put(status, "name", mur_value_text("%s", mur_value_string(container, "name", "")));
    mur_value_put(status, "image", mur_value_text("%s", mur_value_string(container, "image", "")));
    mur_value_put(status, "ready", mur_value_bool(false));
    mur_value_put(status, "restartCount", mur_value_integer(0));
    mur_value_add(list, status);
    mur_value_set(object, "status.startTime", mur_time_node(now));
    mur_value_set(object, "status.containerStatuses", list);
    mur_store_changed(runner->store, object);
}

static void fail_pod(struct mur_runner *runner, struct mur_value *object, const char *reason, const char *why,
                     double now)
{
    struct mur_value *details = mur_value_new(MUR_MAP);

    mur_say("pod %s: %s", mur_value_string(object, "metadata.name", ""), why);
    mur_value_put(details, "exitCode", mur_value_integer(128));
    mur_value_put(details, "reason", mur_value_text("%s", reason));
    mur_value_put(details, "message", mur_value_text("%s", why));
    mur_value_put(details, "finishedAt", mur_time_node(now));
    set_state(runner, object, "terminated", details);
    mur_value_set(object, "status.phase", mur_value_text("Failed"));
}

static const char *find_image(const struct mur_runner *runner, const char *name)
{
    const char *place = NULL;

    for (int i = 0; i < runner->image_count && !place; i++)
        if (!runner->images[i].name || strcmp(runner->images[i].name, name) == 0)
            place = runner->images[i].place;
    return place ? place : name;
}

/* `host`, or a directory. */
static int choose_image(const struct mur_runner *runner, struct mur_pod *pod, const char *name, char **why)
{
    const char *place = find_image(runner, name);
    struct stat status;

    pod->image = NULL;
    if (strcmp(place, "host") == 0)
        return 0;
    if (stat(place, &status) < 0 || !S_ISDIR(status.st_mode))
        *why = mur_alloc_text("image %s is no directory: --image %s=DIRECTORY, or =host, says what it stands for",
                              place, name);
    else if (!runner->isolates)
        *why = mur_alloc_text("image %s: a pod in a directory needs namespaces, which are not permitted here", place);
    pod->image = realpath(place, NULL);
    return *why ? -1 : 0;
}

/* Of one hostname there is one address, so that the next try of a launcher is found by the same name. */
static int address_of(struct mur_runner *runner, const char *hostname)
{
    for (int i = 0; i < runner->addresses; i++)
        if (strcmp(runner->hostnames[i], hostname) == 0)
            return i;
    runner->hostnames = mur_alloc_again(runner->hostnames, (size_t)runner->addresses + 1, sizeof *runner->hostnames);
    runner->hostnames[runner->addresses] = mur_alloc_text("%s", hostname);
    return runner->addresses++;
}

/* The line of a pod in the file of hosts that all pods share. It only grows, so a reader never sees half of it. */
static void add_host(struct mur_runner *runner, const struct mur_pod *pod, const struct mur_value *object, int known)
{
    char *path = mur_alloc_text("%s/hosts", runner->folder), *line;
    const char *space = mur_value_string(object, "metadata.namespace", "default");
    const char *job = mur_value_string(object, "spec.subdomain", ""), *name = pod->hostname;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

    line = mur_alloc_text("10.244.%d.%d %s %s.%s.%s.svc %s.%s.%s.svc.cluster.local %s.%s.%s %s.%s%s%s\n",
                          pod->address / 250, pod->address % 250 + 2, name, name, job, space, name, job, space, name,
                          job, space, name, job, pod->is_worker ? " " : "", pod->is_worker ? job : "");
    if (pod->address >= known && fd >= 0 && write(fd, line, strlen(line)) < 0)
        mur_say("pod %s: its name cannot be written to %s: %s", pod->name, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    free(line);
}

static long long user_of(const struct mur_value *object, const char *field)
{
    char *path = mur_alloc_text("securityContext.%s", field);
    const struct mur_value *spec = mur_value_get(object, "spec");
    long long outer = mur_value_long(spec, path, -1);
    long long user = mur_value_long(mur_value_get(spec, "containers")->members[0].value, path, outer);

    free(path);
    return user;
}

static bool must_not_be_root(const struct mur_value *object)
{
    const struct mur_value *container = mur_value_at(object, "spec.containers")->members[0].value;
    const char *path = "securityContext.runAsNonRoot";

    return mur_value_true(mur_value_at(container, path) ? container : mur_value_get(object, "spec"), path);
}

/* What a container is to be, without starting it. */
static int prepare(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object, char **why)
{
    const struct mur_value *container = mur_value_at(object, "spec.containers")->members[0].value;
    const struct mur_value *role =
        mur_value_get(mur_value_at(object, "metadata.labels"), "training.kubeflow.org/job-role");
    const char *name;
    int known = runner->addresses;

    pod->hostname = mur_alloc_text("%s", mur_value_string(object, "spec.hostname", pod->name));
    pod->is_worker = role && strcmp(role->text, "worker") == 0;
    pod->uses_host_network = mur_value_true(object, "spec.hostNetwork");
    pod->address = address_of(runner, pod->hostname);
    pod->user = user_of(object, "runAsUser");
    pod->group = user_of(object, "runAsGroup");
    add_host(runner, pod, object, known);
    if (runner->is_mapped && (pod->user > 0 || pod->group > 0)) {
        *why = mur_alloc_text("runAsUser %lld needs root: other users cannot be had from a user namespace", pod->user);
        return -1;
    }
    if (must_not_be_root(object) && !runner->is_mapped && (pod->user == 0 || (pod->user < 0 && geteuid() == 0))) {
        *why = mur_alloc_text("container has runAsNonRoot and image will run as root: set runAsUser");
        return -1;
    }
    if (choose_image(runner, pod, mur_value_string(container, "image", "host"), why) < 0 ||
        mur_volumes_make(runner, pod, object, why) < 0 || mur_environment_make(runner, pod, object, why) < 0)
        return -1;
    name = strrchr(pod->command[0], '/');
    if (!runner->isolates && strcmp(name ? name + 1 : pod->command[0], "sshd") == 0)
        pod->command[0] = mur_alloc_text("%s/sshd", runner->door); /* which is mounted there otherwise */
    return 0;
}

struct mur_pod *mur_pod_new(struct mur_runner *runner, const char *name)
{
    struct mur_pod *pod = mur_alloc(1, sizeof *pod), **last = &runner->pods;
    static const char *const parts[] = {"", "/root", "/layer"};

    pod->name = mur_alloc_text("%s", name);
    pod->folder = mur_alloc_text("%s/pods/%s", runner->folder, name);
    for (int i = 0; i < 3; i++) {
        char *path = mur_alloc_text("%s%s", pod->folder, parts[i]);

        mkdir(path, 0755);
        free(path);
    }
    pod->control = pod->output = pod->log = pod->descriptor = -1;
    while (*last)
        last = &(*last)->next;
    return *last = pod;
}

static int clone_flags(const struct mur_runner *runner, const struct mur_pod *pod)
{
    if (!runner->isolates)
        return 0;
    return CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID |
           (runner->bridge && !pod->uses_host_network ? CLONE_NEWNET : 0);
}

static struct mur_limits limits_of(const struct mur_value *object)
{
    const struct mur_value *limits =
        mur_value_at(mur_value_at(object, "spec.containers")->members[0].value, "resources.limits");

    return (struct mur_limits){mur_quantity(mur_value_string(limits, "cpu", "0")),
                               mur_quantity(mur_value_string(limits, "memory", "0"))};
}

/* What the pod's first process is given; ours go into the pod. Returns -1 if something cannot be opened. */
static int open_ends(const struct mur_runner *runner, struct mur_pod *pod, struct mur_inside_ends *ends)
{
    int control[2], output[2];
    char *path = mur_alloc_text("%s/log", pod->folder);

    if (pod->log < 0)
        pod->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    free(path);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0)
        return -1;
    pod->control = control[0];
    ends->control = control[1];
    if (runner->survives) {
        ends->output = fcntl(pod->log, F_DUPFD_CLOEXEC, 3);
        ends->state = mur_record_open_state(pod);
        ends->orders = mur_record_open_orders(pod);
        return ends->output < 0 || ends->state < 0 || ends->orders < 0 ? -1 : 0;
    }
    ends->orders = -1;
    ends->state = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (pipe2(output, O_CLOEXEC) < 0)
        return -1;
    pod->output = output[0];
    ends->output = output[1];
    fcntl(pod->output, F_SETFL, O_NONBLOCK);
    return 0;
}

static void close_ends(const struct mur_inside_ends *ends)
{
    const int fds[] = {ends->control, ends->output, ends->state, ends->orders};

    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* The word to start is given when all about the process is written down. */
static int let_go(struct mur_runner *runner, struct mur_pod *pod)
{
    int orders = -1;

    mur_groups_enter(pod, pod->pid);
    if ((clone_flags(runner, pod) & CLONE_NEWNET) && mur_network_join(runner, pod) < 0)
        mur_say("pod %s: its network cannot be made: is the program ip there?", pod->name);
    if (runner->survives) {
        pod->descriptor = (int)syscall(SYS_pidfd_open, pod->pid, 0);
        orders = mur_record_open_orders(pod);
        if (orders < 0 || mur_record_write(pod) < 0)
            return -1;
    }
    if (send(pod->control, "g", 1, MSG_NOSIGNAL) != 1)
        return -1;
    if (runner->survives) {
        close(pod->control);
        pod->control = orders;
    }
    return 0;
}

static int launch(struct mur_runner *runner, struct mur_pod *pod, struct mur_value *object)
{
    struct mur_inside_ends ends = {-1, -1, -1, -1};

    if (open_ends(runner, pod, &ends) < 0) {
        close_ends(&ends);
        return -1;
    }
    if (!pod->group_cpu && !pod->group_memory)
        mur_groups_make(runner, pod, limits_of(object));
    pod->pid = (pid_t)syscall(SYS_clone, clone_flags(runner, pod) | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pod->pid == 0)
        mur_inside(runner, pod, &ends);
    close_ends(&ends);
    if (pod->pid < 0) {
        pod->pid = 0;
        return -1;
    }
    return let_go(runner, pod);
}

static void start(struct mur_runner *runner, struct mur_value *object, double now)
{
    struct mur_pod *pod = mur_pod_new(runner, mur_value_string(object, "metadata.name", ""));
    struct mur_value *details = mur_value_new(MUR_MAP);
    char *why = NULL;

    pod->uid = mur_alloc_text("%s", mur_value_string(object, "metadata.uid", ""));
    make_status(runner, object, now);
    if (prepare(runner, pod, object, &why) < 0 || launch(runner, pod, object) < 0) {
        fail_pod(runner, object, "CreateContainerError", why ? why : strerror(errno), now);
        mur_value_free(details);
        free(why);
        return;
    }
    mur_value_put(details, "startedAt", mur_time_node(now));
    set_state(runner, object, "running", details);
    mur_value_set(object, "status.phase", mur_value_text("Running"));
    if (runner->bridge && !pod->uses_host_network)
        mur_value_set(object, "status.podIP",
                      mur_value_text("10.244.%d.%d", pod->address / 250, pod->address % 250 + 2));
}

static void free_texts(char **texts)
{
    for (char **text = texts; text && *text; text++)
        free(*text);
    free(texts);
}

/* Of a pod that was taken over it is known what runs, not what to start: that is found out as for a new one. */
static int prepare_again(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object, char **why)
{
    if (pod->command)
        return 0;
    free(pod->hostname);
    free(pod->directory);
    free_texts(pod->environment);
    pod->hostname = pod->directory = NULL;
    pod->environment = NULL;
    return prepare(runner, pod, object, why);
}

static void restart(struct mur_runner *runner, struct mur_pod *pod, struct mur_value *object, double now)
{
    struct mur_value *details = mur_value_new(MUR_MAP);
    char *why = NULL;

    pod->restart_at = 0;
    mur_value_put(container_status(object), "restartCount", mur_value_integer(++pod->restarts));
    mur_value_put(details, "startedAt", mur_time_node(now));
    set_state(runner, object, "running", details);
    if (prepare_again(runner, pod, object, &why) < 0 || launch(runner, pod, object) < 0)
        fail_pod(runner, object, "CreateContainerError", why ? why : strerror(errno), now);
    free(why);
}

static void free_pod(struct mur_pod *pod)
{
    char *const texts[] = {pod->name, pod->uid, pod->hostname, pod->folder, pod->directory, (char *)pod->image};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (int i = 0; i < pod->mount_count; i++) {
        free(pod->mounts[i].source);
        free(pod->mounts[i].target);
    }
    free(pod->mounts);
    free_texts(pod->environment);
    free_texts(pod->command);
    free(pod);
}

/* A pod that has ended and that nobody wants any more. */
void mur_pod_forget(struct mur_runner *runner, struct mur_pod *pod)
{
    const int fds[] = {pod->log, pod->control, pod->output, pod->descriptor};
    struct mur_pod **at = &runner->pods;

    while (*at != pod)
        at = &(*at)->next;
    *at = pod->next;
    mur_groups_remove(pod);
    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    mur_folder_remove(pod->folder);
    free_pod(pod);
}

static void give_order(const struct mur_pod *pod, char order)
{
    if (pod->control >= 0 && write(pod->control, &order, 1) < 0 && pod->pid > 0)
        kill(pod->pid, SIGKILL);
}

static double grace_of(const struct mur_value *object)
{
    long long grace = mur_value_long(object, "spec.terminationGracePeriodSeconds", 30);

    return (double)mur_value_long(object, "metadata.deletionGracePeriodSeconds", grace);
}

/* A pod whose deletion was asked for gets a signal, then its grace, then its end. Returns when the next is due. */
static double stop(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object, double now)
{
    if (pod && pod->pid) {
        if (!pod->is_stopping) {
            pod->is_stopping = true;
            pod->kill_at = now + grace_of(object);
            give_order(pod, 't');
        } else if (now >= pod->kill_at || grace_of(object) == 0) {
            give_order(pod, 'k');
            pod->kill_at = now + 1;
        }
        return pod->kill_at;
    }
    if (pod)
        mur_pod_forget(runner, pod);
    mur_store_remove(runner->store, "Pod", mur_value_string(object, "metadata.name", ""));
    return 0;
}

static double sooner(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static bool is_of(const struct mur_pod *pod, const struct mur_value *object)
{
    return object && strcmp(mur_value_string(object, "metadata.uid", ""), pod->uid) == 0;
}

/* Pods whose object is gone, or is another one of the same name, are ended at once. */
static double drop_strangers(struct mur_runner *runner, double now)
{
    double due = 0;

    for (struct mur_pod *pod = runner->pods, *next; pod; pod = next) {
        next = pod->next;
        if (is_of(pod, mur_store_find(runner->store, "Pod", pod->name)))
            continue;
        if (!pod->pid) {
            mur_pod_forget(runner, pod);
        } else {
            if (!pod->is_stopping || now >= pod->kill_at) {
                pod->is_stopping = true;
                pod->kill_at = now + 1;
                give_order(pod, 'k');
            }
            due = sooner(due, pod->kill_at);
        }
    }
    return due;
}

/* The machine, or the service, ends: what runs is asked to, and then ended; statuses say so. */
static double end_all(struct mur_runner *runner, double now)
{
    double due = 0;

    for (struct mur_pod *pod = runner->pods; pod; pod = pod->next) {
        if (!pod->pid)
            continue;
        if (!pod->is_stopping) {
            pod->is_stopping = true;
            pod->kill_at = now + LAST_GRACE;
            give_order(pod, 't');
        } else if (now >= pod->kill_at) {
            give_order(pod, 'k');
            pod->kill_at = now + 1;
        }
        due = sooner(due, pod->kill_at);
    }
    return due;
}

double mur_runner_step(struct mur_runner *runner, double now)
{
    double due = drop_strangers(runner, now);

    if (runner->is_ending)
        return end_all(runner, now);
    for (int i = runner->store->objects->count - 1; i >= 0; i--) {
        struct mur_value *object = runner->store->objects->members[i].value;
        struct mur_pod *pod;

        if (strcmp(mur_value_string(object, "kind", ""), "Pod") != 0)
            continue;
        pod = mur_runner_find(runner, mur_value_string(object, "metadata.name", ""), NULL);
        if (pod && !is_of(pod, object))
            continue;
        if (mur_value_at(object, "metadata.deletionTimestamp")) {
            due = sooner(due, stop(runner, pod, object, now));
        } else if (pod && pod->restart_at > 0) {
            if (now >= pod->restart_at)
                restart(runner, pod, object, now);
            due = sooner(due, pod->restart_at);
        }
    }
    for (int i = 0; i < runner->store->objects->count; i++) { /* in the order in which they were made */
        struct mur_value *object = runner->store->objects->members[i].value;

        if (strcmp(mur_value_string(object, "kind", ""), "Pod") == 0 &&
            !mur_value_at(object, "metadata.deletionTimestamp") && !mur_value_at(object, "status.startTime") &&
            !mur_runner_find(runner, mur_value_string(object, "metadata.name", ""), NULL))
            start(runner, object, now);
    }
    return due;
}

static void put_line(const struct mur_pod *pod, const char *line, size_t length)
{
    char *text = mur_alloc_text("[%s] %.*s\n", pod->name, (int)length, line);

    if (write(STDOUT_FILENO, text, strlen(text)) < 0) /* a reader that has gone does not end the job */
        errno = 0;
    free(text);
}

bool mur_runner_output(struct mur_pod *pod)
{
    char part[4096];
    ssize_t got = read(pod->output, part, sizeof part);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        if (pod->line_length)
            put_line(pod, pod->line, pod->line_length);
        pod->line_length = 0;
        close(pod->output);
        pod->output = -1;
        return false;
    }
    if (pod->log >= 0 && write(pod->log, part, (size_t)got) < 0)
        errno = 0;
    for (ssize_t i = 0; i < got; i++) {
        if (part[i] != '\n')
            pod->line[pod->line_length++] = part[i];
        if (part[i] == '\n' || pod->line_length == sizeof pod->line) {
            put_line(pod, pod->line, pod->line_length);
            pod->line_length = 0;
        }
    }
    return true;
}

static bool restarts(const struct mur_value *object, int code)
{
    const char *policy = mur_value_string(object, "spec.restartPolicy", "Always");

    return strcmp(policy, "Always") == 0 || (strcmp(policy, "OnFailure") == 0 && code != 0);
}

static void ended(struct mur_runner *runner, struct mur_pod *pod, struct mur_value *object, int code, double now)
{
    struct mur_value *details = mur_value_new(MUR_MAP), *waiting = mur_value_new(MUR_MAP);
    bool ran_out = code != 0 && mur_groups_ran_out(pod);
    double delay = runner->restart_delay;

    mur_value_put(details, "exitCode", mur_value_integer(code));
    mur_value_put(details, "reason", mur_value_text("%s", ran_out ? "OOMKilled" : code ? "Error" : "Completed"));
    mur_value_put(details, "finishedAt", mur_time_node(now));
    set_state(runner, object, "terminated", details);
    if (ran_out)
        mur_say("pod %s: something in it was killed: it had more memory than its limit", pod->name);
    if (!restarts(object, code) || pod->is_stopping) {
        mur_value_set(object, "status.phase", mur_value_text("%s", code ? "Failed" : "Succeeded"));
        if (runner->is_ending && code)
            mur_value_set(object, "status.reason", mur_value_text("NodeShutdown"));
        mur_value_free(waiting);
        return;
    }
    for (int i = 0; i < pod->restarts && delay < LONGEST_RESTART; i++)
        delay *= 2;
    pod->restart_at = now + delay;
    mur_value_put(waiting, "reason", mur_value_text("CrashLoopBackOff"));
    mur_value_put(waiting, "message", mur_value_text("back-off %gs restarting failed container", delay));
    set_state(runner, object, "waiting", waiting);
}

void mur_pod_ended(struct mur_runner *runner, struct mur_pod *pod, int code, double now)
{
    struct mur_value *object = mur_store_find(runner->store, "Pod", pod->name);

    while (pod->output >= 0 && mur_runner_output(pod)) /* what it said last */
        ;
    if (pod->output >= 0)
        close(pod->output);
    if (pod->control >= 0)
        close(pod->control);
    if (pod->descriptor >= 0)
        close(pod->descriptor);
    pod->pid = 0;
    pod->control = pod->output = pod->descriptor = -1;
    if (is_of(pod, object))
        ended(runner, pod, object, code, now);
}

void mur_runner_reap(struct mur_runner *runner, pid_t pid, int status, double now)
{
    struct mur_pod *pod = runner->pods;

    while (pod && pod->pid != pid)
        pod = pod->next;
    if (pod)
        mur_pod_ended(runner, pod, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), now);
}

void mur_runner_refresh(struct mur_runner *runner, const struct mur_value *config)
{
    for (struct mur_pod *pod = runner->pods; pod; pod = pod->next) {
        const struct mur_value *object = mur_store_find(runner->store, "Pod", pod->name);

        if (object)
            mur_volumes_refresh(runner, pod, object, config);
    }
}
