/* SPDX-License-Identifier: BSD-3-Clause */
/* Pods that an earlier runner has started: found by their folders, and taken over as they are. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "launch/alloc.h"
#include "mpijob/runner/runner.h"

static struct mur_value *object_of(const struct mur_runner *runner, const struct mur_pod *pod)
{
    struct mur_value *object = mur_store_find(runner->store, "Pod", pod->name);

    return object && strcmp(mur_value_string(object, "metadata.uid", ""), pod->uid) == 0 ? object : NULL;
}

static bool has_ended(const struct mur_value *object)
{
    const char *phase = mur_value_string(object, "status.phase", "");

    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static struct mur_value *container_of(const struct mur_value *object)
{
    struct mur_value *list = mur_value_at(object, "status.containerStatuses");

    return mur_value_count(list) ? list->members[0].value : NULL;
}

/* Its process is not there any more. What that process has written says what became of the command. */
static void conclude(struct mur_runner *runner, struct mur_pod *pod, double now)
{
    struct mur_value *object = object_of(runner, pod);
    int code = 128 + 9; /* unless it says otherwise, somebody has killed it */
    enum mur_command_state state = mur_record_state(pod, &code);

    if (object && (has_ended(object) || mur_value_at(container_of(object), "state.waiting"))) {
        if (!has_ended(object))
            pod->restart_at = now;
        pod->pid = 0;
        return;
    }
    if (state != MUR_COMMAND_NOT_STARTED) {
        mur_pod_ended(runner, pod, code, now);
    } else if (object && mur_value_at(object, "status.startTime")) { /* a restart that did not come to pass */
        mur_pod_ended(runner, pod, 128, now);
    } else {
        pod->pid = 0;
        mur_pod_forget(runner, pod); /* it will be started as if for the first time */
    }
}

void mur_runner_lost(struct mur_runner *runner, struct mur_pod *pod, double now)
{
    int status;

    if (waitpid(pod->pid, &status, WNOHANG) == pod->pid)
        mur_runner_reap(runner, pod->pid, status, now);
    else
        conclude(runner, pod, now);
}

/* The earlier runner may not have come to say that the pod runs. */
static void say_running(struct mur_runner *runner, const struct mur_pod *pod, double now)
{
    struct mur_value *object = object_of(runner, pod), *status, *list, *state;

    if (!object || (strcmp(mur_value_string(object, "status.phase", ""), "Running") == 0 &&
                    mur_value_at(container_of(object), "state.running") &&
                    mur_value_long(container_of(object), "restartCount", 0) == pod->restarts))
        return;
    if (!container_of(object)) {
        const struct mur_value *container = mur_value_at(object, "spec.containers")->members[0].value;

        list = mur_value_new(MUR_LIST);
        status = mur_value_new(MUR_MAP);
        mur_value_put(status, "name", mur_value_text("%s", mur_value_string(container, "name", "")));
        mur_value_put(status, "image", mur_value_text("%s", mur_value_string(container, "image", "")));
        mur_value_add(list, status);
        mur_value_set(object, "status.containerStatuses", list);
        mur_value_set(object, "status.startTime", mur_time_node(now));
    }
    state = mur_value_new(MUR_MAP);
    mur_value_set(state, "running.startedAt", mur_time_node(now));
    mur_value_put(container_of(object), "state", state);
    mur_value_put(container_of(object), "ready", mur_value_bool(true));
    mur_value_put(container_of(object), "restartCount", mur_value_integer(pod->restarts));
    mur_value_set(object, "status.phase", mur_value_text("Running"));
    mur_store_changed(runner->store, object);
}

static void adopt(struct mur_runner *runner, const char *name, double now)
{
    struct mur_pod *pod = mur_pod_new(runner, name);

    if (!mur_record_read(pod)) {
        mur_pod_forget(runner, pod);
    } else if (pod->pid) {
        pod->control = mur_record_open_orders(pod);
        say_running(runner, pod, now);
    } else {
        conclude(runner, pod, now);
    }
}

/* A pod that should run here, and of which there is nothing. */
static void say_lost(struct mur_runner *runner, struct mur_value *object, double now)
{
    struct mur_value *state = mur_value_new(MUR_MAP);

    mur_value_set(state, "terminated.exitCode", mur_value_integer(137));
    mur_value_set(state, "terminated.reason", mur_value_text("ContainerStatusUnknown"));
    mur_value_set(state, "terminated.message",
                  mur_value_text("nothing of the container was found when the node came back"));
    mur_value_set(state, "terminated.finishedAt", mur_time_node(now));
    if (container_of(object))
        mur_value_put(container_of(object), "state", state);
    else
        mur_value_free(state);
    mur_value_set(object, "status.phase", mur_value_text("Failed"));
    mur_store_changed(runner->store, object);
}

void mur_runner_adopt(struct mur_runner *runner, double now)
{
    char *path = mur_alloc_text("%s/pods", runner->folder);
    DIR *list = opendir(path);
    struct dirent *entry;

    while (list && (entry = readdir(list)))
        if (entry->d_name[0] != '.')
            adopt(runner, entry->d_name, now);
    if (list)
        closedir(list);
    free(path);
    for (int i = 0; i < runner->store->objects->count; i++) {
        struct mur_value *object = runner->store->objects->members[i].value;

        if (strcmp(mur_value_string(object, "kind", ""), "Pod") == 0 && !has_ended(object) &&
            mur_value_at(object, "status.startTime") &&
            !mur_runner_find(runner, mur_value_string(object, "metadata.name", ""), NULL))
            say_lost(runner, object, now);
    }
}

bool mur_runner_is_idle(const struct mur_runner *runner)
{
    for (const struct mur_pod *pod = runner->pods; pod; pod = pod->next)
        if (pod->pid)
            return false;
    return true;
}
