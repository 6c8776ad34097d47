/* SPDX-License-Identifier: BSD-3-Clause */
/* mpijob run FILE: the store, the reconciler and the runner in one process, until the job has finished. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/signals.h"
#include "mpijob/cli/cli.h"
#include "mpijob/cli/place.h"
#include "mpijob/reconcile/reconcile.h"
#include "mpijob/runner/runner.h"

/* One run in this process. */
static struct {
    struct mur_store store;
    struct mur_runner runner;
    const char *file, *name, *status_file;
    double retry_delay;
    bool keeps, wants_namespaces, is_deleted;
    int launcher_code;
    int interrupts, interrupt; /* how many, and the last one's signal */
    char *private_key, *public_key;
} run = {.retry_delay = 10, .wants_namespaces = true};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct mur_value *job(void)
{
    return mur_store_find(&run.store, "MPIJob", run.name);
}

static void say_condition(void *whom, const struct mur_value *condition)
{
    (void)whom;
    mur_say("%s: %s: %s", mur_value_string(condition, "type", ""), mur_value_string(condition, "reason", ""),
            mur_value_string(condition, "message", ""));
}

static void write_status(void)
{
    char *fresh = run.status_file ? mur_alloc_text("%s.new", run.status_file) : NULL;
    FILE *file = fresh ? fopen(fresh, "we") : NULL;

    if (fresh && !file)
        mur_quit(MUR_EXIT_TROUBLE, "cannot write %s: %s", fresh, strerror(errno));
    if (file) {
        mur_json_write(file, job());
        fclose(file);
        rename(fresh, run.status_file);
    }
    free(fresh);
}

static void set_status(const struct mur_value *wanted)
{
    struct mur_value *object = job(), *before = mur_value_copy(object);

    mur_value_put(object, "status", mur_value_copy(mur_value_get(wanted, "status")));
    mur_store_changed(&run.store, object);
    mur_conditions_tell(before, object, say_condition, NULL);
    mur_value_free(before);
    write_status();
}

static void delete_object(const struct mur_value *wanted)
{
    const char *kind = mur_value_string(wanted, "kind", ""), *name = mur_value_string(wanted, "metadata.name", "");
    struct mur_value *object = mur_store_find(&run.store, kind, name);

    if (strcmp(kind, "MPIJob") == 0)
        run.is_deleted = true;
    else if (strcmp(kind, "Pod") != 0)
        mur_store_remove(&run.store, kind, name);
    else if (object) /* the runner removes it when its processes are gone */
        mur_value_set(object, "metadata.deletionTimestamp", mur_time_node(now()));
}

static void update_object(const struct mur_value *wanted)
{
    struct mur_value *object =
        mur_store_find(&run.store, mur_value_string(wanted, "kind", ""), mur_value_string(wanted, "metadata.name", ""));

    mur_value_put(object, "data", mur_value_copy(mur_value_get(wanted, "data")));
    mur_store_changed(&run.store, object);
    mur_runner_refresh(&run.runner, object);
}

/* Returns whether anything was done, and when the reconciler wants to look again. */
static bool reconcile(double *wake)
{
    struct mur_observed observed = {.job = job(),
                                    .store = &run.store,
                                    .now = now(),
                                    .retry_delay = run.retry_delay,
                                    .agent = run.runner.agent,
                                    .private_key = run.private_key,
                                    .public_key = run.public_key};
    struct mur_actions plan;
    bool has_changed;

    mur_reconcile(&observed, &plan);
    *wake = plan.wake;
    has_changed = plan.count > 0;
    for (int i = 0; i < plan.count; i++) {
        struct mur_value *object = plan.actions[i].object;

        if (plan.actions[i].verb == MUR_VERB_CREATE)
            mur_store_create(&run.store, mur_value_copy(object), observed.now);
        else if (plan.actions[i].verb == MUR_VERB_DELETE)
            delete_object(object);
        else if (plan.actions[i].verb == MUR_VERB_UPDATE)
            update_object(object);
        else
            set_status(object);
    }
    mur_plan_free(&plan);
    return has_changed;
}

static int tell_pods(FILE *out)
{
    fprintf(out, "%-40s %-10s %s\n", "NAME", "STATUS", "RESTARTS");
    fprintf(out, "mpijob/%-33s %-10s\n", run.name, mur_conditions_state(job()));
    for (int i = 0; i < run.store.objects->count; i++) {
        const struct mur_value *object = run.store.objects->members[i].value;
        const struct mur_value *list = mur_value_at(object, "status.containerStatuses");

        if (strcmp(mur_value_string(object, "kind", ""), "Pod") == 0)
            fprintf(out, "pod/%-36s %-10s %lld\n", mur_value_string(object, "metadata.name", ""),
                    mur_value_string(object, "status.phase", ""),
                    mur_value_count(list) ? mur_value_long(list->members[0].value, "restartCount", 0) : 0);
    }
    return 0;
}

static int tell_log(const char *name, FILE *out)
{
    const struct mur_pod *pod = mur_runner_find(&run.runner, name, NULL);
    char *path, part[4096];
    FILE *log;
    size_t got;

    if (!pod)
        return MUR_EXIT_TROUBLE;
    path = mur_alloc_text("%s/log", pod->folder);
    log = fopen(path, "re");
    free(path);
    while (log && (got = fread(part, 1, sizeof part, log)) > 0)
        fwrite(part, 1, got, out);
    if (log)
        fclose(log);
    return 0;
}

/* From the socket. */
static int obey(int count, char **words, FILE *out)
{
    const char *command = words[0];

    if (strcmp(command, "get") == 0)
        return tell_pods(out);
    if (strcmp(command, "describe") == 0) {
        mur_json_write(out, job());
        return 0;
    }
    if (strcmp(command, "logs") == 0 && count > 1)
        return tell_log(words[1], out);
    if (strcmp(command, "delete") == 0) {
        run.is_deleted = true;
        return 0;
    }
    if (strcmp(command, "suspend") != 0 && strcmp(command, "resume") != 0)
        return MUR_EXIT_USAGE;
    mur_value_set(job(), "spec.runPolicy.suspend", mur_value_bool(command[0] == 's'));
    mur_store_changed(&run.store, job());
    return 0;
}

/* Keeps the exit code of the launcher's last failure, whose pod may be deleted before the job has ended. */
static void remember_code(void)
{
    for (int i = 0; i < run.store.objects->count; i++) {
        const struct mur_value *pod = run.store.objects->members[i].value, *list, *role;
        long long found;

        role = mur_value_get(mur_value_at(pod, "metadata.labels"), "training.kubeflow.org/job-role");
        list = mur_value_at(pod, "status.containerStatuses");
        if (!role || strcmp(role->text, "launcher") != 0 || !mur_value_count(list))
            continue;
        found = mur_value_long(list->members[0].value, "lastState.terminated.exitCode", 0);
        found = mur_value_long(list->members[0].value, "state.terminated.exitCode", found);
        if (found > 0)
            run.launcher_code = (int)found;
    }
}

static int exit_code(void)
{
    if (strcmp(mur_conditions_state(job()), "Succeeded") == 0)
        return 0;
    return run.launcher_code ? run.launcher_code : MUR_EXIT_TROUBLE;
}

static bool has_finished(void)
{
    const char *condition = mur_conditions_state(job());

    return strcmp(condition, "Succeeded") == 0 || strcmp(condition, "Failed") == 0;
}

static void take_signals(int fd)
{
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD) {
            run.is_deleted = true;
            run.interrupts++;
            run.interrupt = (int)info.ssi_signo;
        }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        mur_runner_reap(&run.runner, pid, status, now()); /* which is not interested in those that served visits */
}

/* One wait for whatever comes: signals, callers, output of pods, or the time. */
static void wait_for_events(int signals, double due)
{
    struct pollfd polled[1024];
    void *owners[1024];
    int count = 0, pods;
    double left = due > 0 ? due - now() : 3600;

    polled[count++] = (struct pollfd){.fd = signals, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = run.runner.listener, .events = POLLIN};
    for (struct mur_pod *pod = run.runner.pods; pod && count < 1024; pod = pod->next)
        if (pod->output >= 0) {
            owners[count] = pod;
            polled[count++] = (struct pollfd){.fd = pod->output, .events = POLLIN};
        }
    pods = count;
    for (struct mur_pod_visit *visit = run.runner.visits; visit && count < 1024; visit = visit->next) {
        owners[count] = visit;
        polled[count++] = (struct pollfd){.fd = visit->fd, .events = POLLIN};
    }
    if (poll(polled, (nfds_t)count, left < 0 ? 0 : (int)(left * 1000) + 1) <= 0)
        return;
    for (int i = 2; i < count; i++)
        if (polled[i].revents && i < pods)
            mur_runner_output(owners[i]);
        else if (polled[i].revents)
            mur_visit_event(&run.runner, owners[i]);
    if (polled[1].revents)
        mur_visits_accept(&run.runner);
    if (polled[0].revents)
        take_signals(signals);
}

static double sooner(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static int pods_that_go(void)
{
    int count = 0;

    for (int i = 0; i < run.store.objects->count; i++) {
        const struct mur_value *object = run.store.objects->members[i].value;

        count += strcmp(mur_value_string(object, "kind", ""), "Pod") == 0 &&
                 mur_value_at(object, "metadata.deletionTimestamp") != NULL;
    }
    return count;
}

/* The job is deleted, and its pods go with it: each is asked to end, and gets its grace. */
static void delete_pods(int signals)
{
    for (int i = 0; i < run.store.objects->count; i++)
        if (strcmp(mur_value_string(run.store.objects->members[i].value, "kind", ""), "Pod") == 0)
            delete_object(run.store.objects->members[i].value);
    while (run.interrupts < 2) { /* who is asked twice does not wait */
        double due = mur_runner_step(&run.runner, now());

        if (pods_that_go() == 0)
            return;
        wait_for_events(signals, due);
    }
}

/* Until the job has finished and what its policy says about pods is done, or it is deleted. */
static void follow(int signals)
{
    while (!run.is_deleted) {
        long long version = run.store.version;
        double wake = 0, due;
        bool has_changed;

        remember_code();
        has_changed = reconcile(&wake);
        due = mur_runner_step(&run.runner, now());
        if (has_changed || run.store.version != version)
            continue; /* an action may call for the next */
        if (has_finished() && !run.keeps && pods_that_go() == 0)
            return;
        wait_for_events(signals, sooner(wake, due));
    }
    delete_pods(signals);
}

static void read_words(int count, char **words)
{
    for (int i = 0; i < count; i++) {
        const char *word = words[i] + (strncmp(words[i], "--", 2) == 0), *value = i + 1 < count ? words[i + 1] : NULL;

        if (strcmp(word, "-keep") == 0) {
            run.keeps = true;
        } else if (strcmp(word, "-no-namespaces") == 0) {
            run.wants_namespaces = false;
        } else if (strcmp(word, "-image") == 0 && value) {
            mur_cli_add_image(&run.runner.images, &run.runner.image_count, words[++i]);
        } else if (strcmp(word, "-set-status") == 0 && value) {
            run.status_file = words[++i];
        } else if (strcmp(word, "-restart-delay") == 0 && value) {
            run.retry_delay = mur_cli_seconds("--restart-delay", words[++i]);
        } else if ((word[0] == '-' && word[1]) || run.file) {
            mur_quit(MUR_EXIT_USAGE, "run: unknown or incomplete: %s; see mpijob help", words[i]);
        } else {
            run.file = words[i];
        }
    }
    if (!run.file)
        mur_quit(MUR_EXIT_USAGE, "run needs a file; - is standard input");
    run.runner.restart_delay = run.retry_delay;
}

/* All objects of the file into the store. Of jobs there must be one. */
static void load(void)
{
    struct mur_value *documents = mur_cli_read(run.file);
    struct mur_findings findings = {.file = run.file, .out = stderr, .tells_use = true};

    mur_documents_check(documents, &findings);
    if (findings.errors || findings.refused)
        mur_quit(MUR_EXIT_TROUBLE, "%s is not run", run.file);
    mur_store_start(&run.store);
    for (int i = 0; i < documents->count; i++) {
        struct mur_value *object = documents->members[i].value;
        bool is_job = strcmp(mur_value_string(object, "kind", ""), "MPIJob") == 0;
        const char *name = mur_value_string(object, "metadata.name", "");

        if (is_job && run.name)
            mur_quit(MUR_EXIT_USAGE, "%s:%d: a second job; run takes one at a time", run.file, object->line);
        if (!mur_schema_of(object) || strcmp(mur_value_string(object, "kind", ""), "Pod") == 0)
            continue; /* what runs is the job */
        if (mur_store_find(&run.store, mur_value_string(object, "kind", ""), name))
            mur_quit(MUR_EXIT_TROUBLE, "%s:%d: %s \"%s\" already exists", run.file, object->line,
                     mur_value_string(object, "kind", ""), name);
        object = mur_store_create(&run.store, mur_value_copy(object), now());
        if (is_job) {
            mur_value_drop(object, "status");
            run.name = mur_alloc_text("%s", name);
        }
    }
    mur_value_free(documents);
    if (!run.name)
        mur_quit(MUR_EXIT_USAGE, "%s: no MPIJob is in it", run.file);
}

/* The folder of a job's run exists once: who holds the lock beside it is the run. */
static void take_place(void)
{
    char *place = mur_place_of(mur_value_string(job(), "metadata.namespace", "default"), run.name), *path;
    int fd;

    path = mur_alloc_text("%s.lock", place);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot open %s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "mpijobs.kubeflow.org \"%s\" already exists: it runs here", run.name);
    free(path);
    run.runner.folder = place;
    run.runner.store = &run.store;
    run.runner.command = obey;
    mur_runner_end(&run.runner); /* what a run that was killed has left there */
}

int mur_cli_run(int count, char **words)
{
    int code, signals;

    read_words(count, words);
    load();
    run.runner.program_folder = mur_cli_program_folder();
    take_place();
    code = mur_runner_start(&run.runner, run.wants_namespaces);
    mur_keys_make(run.runner.folder, &run.private_key, &run.public_key);
    signals = mur_signals_open((const int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP, 0});
    if (code == 0) {
        follow(signals);
        code = run.interrupts ? 128 + run.interrupt : exit_code();
    }
    mur_runner_end(&run.runner);
    mur_store_end(&run.store);
    return code;
}
