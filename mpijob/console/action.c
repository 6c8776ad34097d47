/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page may ask for: a table of actions, each with the least role that may, and what each asks of the API.
 *
 * Names in paths are names as Kubernetes has them, so that nothing in them can lead elsewhere in the API. A pod is only
 * looked at if its label says that it is of the job. Who made a job is in an annotation that the console writes; the
 * role submit changes only its own jobs. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/console/console.h"

#define OWNER "console.mpijob/user"
#define LABEL "training.kubeflow.org/job-name"

enum { LONGEST_NAME = 253 };

static const struct mur_resource *jobs(void)
{
    return mur_resource_of_kind("MPIJob");
}

static struct mur_value *body_of(const struct mur_console_visit *visit)
{
    struct mur_document_error error;

    return visit->body ? mur_json_read(visit->body, visit->length, &error) : NULL;
}

/* The API's answer as it is. */
static void pass_on(struct mur_fetch *fetch, long code)
{
    mur_visit_answer_text(fetch->whom, (int)code, mur_alloc_text("%s", fetch->text ? fetch->text : "{}"));
}

/* ---- sessions ---- */

static void tell_session(struct mur_console_visit *visit, const struct mur_login *login)
{
    struct mur_value *body = mur_value_new(MUR_MAP);

    mur_value_put(body, "user", mur_value_text("%s", login->user->name));
    mur_value_put(body, "role", mur_value_text("%s", mur_role_name(login->user->role)));
    mur_value_put(body, "changeToken", mur_value_text("%s", login->change_token));
    mur_value_put(body, "expires", mur_value_integer(login->expires));
    mur_value_put(body, "namespace", mur_value_text("%s", mur_console.space));
    mur_value_put(body, "version", mur_value_text("%s", MUR_VERSION));
    mur_visit_answer(visit, 200, body);
}

static void log_in(struct mur_console_visit *visit)
{
    struct mur_value *body = body_of(visit);
    const struct mur_user *user = mur_user_find(mur_value_string(body, "token", ""));
    struct mur_login login;

    if (!user) {
        mur_visit_fail(visit, 403, "the token is not known here");
    } else {
        visit->cookie = mur_session_make(user);
        mur_session_find(visit->cookie, &login);
        tell_session(visit, &login);
    }
    mur_value_free(body);
}

static void log_out(struct mur_console_visit *visit)
{
    mur_session_end(mur_visit_cookie(visit));
    visit->cookie = mur_alloc_text("%s", "");
    mur_visit_answer_text(visit, 200, mur_alloc_text("{}"));
}

static void show_session(struct mur_console_visit *visit)
{
    tell_session(visit, &visit->login);
}

/* ---- jobs ---- */

static void list_jobs(struct mur_console_visit *visit)
{
    char *path = mur_path(jobs(), NULL, mur_console.space, NULL, NULL);

    mur_visit_fetch(visit, "GET", path, "", NULL, pass_on);
    free(path);
}

static void show_job(struct mur_console_visit *visit)
{
    char *path = mur_path(jobs(), NULL, mur_console.space, visit->parts[1], NULL);

    mur_visit_fetch(visit, "GET", path, "", NULL, pass_on);
    free(path);
}

static void created(struct mur_fetch *fetch, long code)
{
    const struct mur_console_visit *visit = fetch->whom;
    struct mur_document_error error;
    struct mur_value *job = code == 201 ? mur_json_read(fetch->text, fetch->length, &error) : NULL;

    if (job)
        mur_say("user %s: create job \"%s\"", visit->login.user->name, mur_value_string(job, "metadata.name", ""));
    mur_value_free(job);
    pass_on(fetch, code);
}

static void create_job(struct mur_console_visit *visit)
{
    struct mur_value *job = body_of(visit), *notes;
    const char *version = mur_value_string(job, "apiVersion", "");
    char *path;

    if (strcmp(mur_value_string(job, "kind", ""), "MPIJob") != 0 || strncmp(version, "kubeflow.org/", 13) != 0 ||
        !mur_resource_has_version(jobs(), version + 13) || !mur_value_get(job, "metadata") ||
        mur_value_get(job, "metadata")->kind != MUR_MAP) {
        mur_visit_fail(visit, 400, "an MPIJob of kubeflow.org/v2beta1 or v1 is expected, as JSON");
    } else if (strcmp(mur_value_string(job, "metadata.namespace", mur_console.space), mur_console.space) != 0) {
        mur_visit_fail(visit, 403, "this console is for the namespace %s", mur_console.space);
    } else {
        notes = mur_value_at(job, "metadata.annotations");
        if (!notes || notes->kind != MUR_MAP)
            mur_value_set(job, "metadata.annotations", mur_value_new(MUR_MAP));
        mur_value_put(mur_value_at(job, "metadata.annotations"), OWNER, mur_value_text("%s", visit->login.user->name));
        path = mur_path(jobs(), version, mur_console.space, NULL, NULL);
        mur_visit_fetch(visit, "POST", path, "application/json", mur_json_text(job), created);
        free(path);
    }
    mur_value_free(job);
}

/* Whether the user of the visit may change the job that has come; if not, an answer says so. */
static bool may_change(struct mur_console_visit *visit, const struct mur_fetch *fetch, const struct mur_value *job)
{
    const struct mur_value *owner = mur_value_get(mur_value_at(job, "metadata.annotations"), OWNER);

    if (!job) {
        mur_visit_fail(visit, 502, "the API has sent no JSON: %.100s", fetch->text ? fetch->text : "");
        return false;
    }
    if (visit->login.user->role == MUR_ROLE_ADMINISTER ||
        (owner && owner->kind == MUR_STRING && strcmp(owner->text, visit->login.user->name) == 0))
        return true;
    mur_visit_fail(visit, 403, "the job is not yours: the role \"submit\" changes only its own jobs");
    return false;
}

/* The job has come: now it is changed, in the version that it has. */
static void change_job(struct mur_fetch *fetch, long code)
{
    struct mur_console_visit *visit = fetch->whom;
    struct mur_document_error error;
    struct mur_value *job, *patch;
    const char *what = visit->count == 3 ? visit->parts[2] : "delete";
    char *path, *body;

    if (code != 200) {
        pass_on(fetch, code);
        return;
    }
    job = fetch->text ? mur_json_read(fetch->text, fetch->length, &error) : NULL;
    if (may_change(visit, fetch, job)) {
        path = mur_path(jobs(), mur_value_string(job, "apiVersion", NULL), mur_console.space, visit->parts[1], NULL);
        patch = mur_value_new(MUR_MAP);
        if (strcmp(what, "delete") == 0)
            mur_value_put(patch, "propagationPolicy", mur_value_text("Background"));
        else
            mur_value_set(patch, "spec.runPolicy.suspend", mur_value_bool(strcmp(what, "suspend") == 0));
        body = mur_json_text(patch);
        if (strcmp(what, "delete") == 0)
            mur_visit_fetch(visit, "DELETE", path, "application/json", body, pass_on);
        else
            mur_visit_fetch(visit, "PATCH", path, "application/merge-patch+json", body, pass_on);
        mur_say("user %s: %s job \"%s\"", visit->login.user->name, what, visit->parts[1]);
        mur_value_free(patch);
        free(path);
    }
    mur_value_free(job);
}

static void begin_change(struct mur_console_visit *visit)
{
    char *path = mur_path(jobs(), NULL, mur_console.space, visit->parts[1], NULL);

    mur_visit_fetch(visit, "GET", path, "", NULL, change_job);
    free(path);
}

/* ---- feeds ---- */

static struct mur_feed *new_feed(struct mur_console_visit *visit)
{
    struct mur_feed *feed = mur_feed_new(&visit->login);

    if (feed) {
        visit->code = 200;
        visit->stream = mur_feed_stream(feed);
    } else {
        mur_visit_fail(visit, 503, "too many pages are open: try again later");
    }
    return feed;
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 20;
}

static void watch(struct mur_feed *feed, const char *kind, const char *event, const char *query)
{
    char *path = mur_path(mur_resource_of_kind(kind), NULL, mur_console.space, NULL, NULL);
    char *full = mur_alloc_text("%s?watch=true&%s", path, query);

    mur_feed_watch(feed, event, full);
    free(full);
    free(path);
}

/* Changes of all jobs after the version of a list. */
static void feed_jobs(struct mur_console_visit *visit)
{
    const char *from = mur_visit_option(visit, "from");
    char *query = mur_alloc_text("resourceVersion=%s", from);
    struct mur_feed *feed;

    if (!*from || !is_number(from))
        mur_visit_fail(visit, 400, "the version of the list is expected");
    else if ((feed = new_feed(visit)))
        watch(feed, "MPIJob", "job", query);
    free(query);
}

/* One job with its pods and events: what there is, then the changes. */
static void feed_job(struct mur_console_visit *visit)
{
    const char *name = visit->parts[1];
    struct mur_feed *feed = new_feed(visit);
    char *query;

    if (!feed)
        return;
    query = mur_alloc_text("fieldSelector=metadata.name%%3D%s", name);
    watch(feed, "MPIJob", "job", query);
    free(query);
    query = mur_alloc_text("labelSelector=training.kubeflow.org%%2Fjob-name%%3D%s", name);
    watch(feed, "Pod", "pod", query);
    free(query);
    query = mur_alloc_text("fieldSelector=involvedObject.name%%3D%s%%2CinvolvedObject.kind%%3DMPIJob", name);
    watch(feed, "Event", "event", query);
    free(query);
}

/* The pod has come: is it one of the job? */
static void open_log(struct mur_fetch *fetch, long code)
{
    struct mur_console_visit *visit = fetch->whom;
    bool is_raw = *mur_visit_option(visit, "download"), has_times = *mur_visit_option(visit, "times");
    const char *tail = mur_visit_option(visit, "tail");
    struct mur_document_error error;
    struct mur_value *pod = code == 200 ? mur_json_read(fetch->text, fetch->length, &error) : NULL;
    const struct mur_value *label = mur_value_get(mur_value_at(pod, "metadata.labels"), LABEL);
    struct mur_feed *feed;
    char *path, *full;

    if (code != 200) {
        pass_on(fetch, code);
    } else if (!label || label->kind != MUR_STRING || strcmp(label->text, visit->parts[1]) != 0) {
        mur_visit_fail(visit, 404, "the job %s has no pod %s", visit->parts[1], visit->parts[3]);
    } else if ((feed = new_feed(visit))) {
        path = mur_path(mur_resource_of_kind("Pod"), NULL, mur_console.space, visit->parts[3], "log");
        full = mur_alloc_text("%s?%s%s%s%s", path, is_raw ? "" : "follow=true", has_times ? "&timestamps=true" : "",
                              *tail ? "&tailLines=" : "", tail);
        mur_feed_log(feed, full, is_raw);
        visit->is_attachment = is_raw;
        free(full);
        free(path);
    }
    mur_value_free(pod);
}

static void feed_log(struct mur_console_visit *visit)
{
    char *path = mur_path(mur_resource_of_kind("Pod"), NULL, mur_console.space, visit->parts[3], NULL);

    if (is_number(mur_visit_option(visit, "tail")))
        mur_visit_fetch(visit, "GET", path, "", NULL, open_log);
    else
        mur_visit_fail(visit, 400, "tail is a number of lines");
    free(path);
}

/* ---- the table ---- */

static const struct mur_console_action actions[] = {
    {"POST", "login", MUR_ROLE_NOBODY, log_in},
    {"POST", "logout", MUR_ROLE_LOOK, log_out},
    {"GET", "session", MUR_ROLE_LOOK, show_session},
    {"POST", "check", MUR_ROLE_LOOK, mur_check_act},
    {"GET", "feed", MUR_ROLE_LOOK, feed_jobs},
    {"GET", "jobs", MUR_ROLE_LOOK, list_jobs},
    {"POST", "jobs", MUR_ROLE_SUBMIT, create_job},
    {"GET", "jobs/*", MUR_ROLE_LOOK, show_job},
    {"DELETE", "jobs/*", MUR_ROLE_SUBMIT, begin_change},
    {"POST", "jobs/*/suspend", MUR_ROLE_SUBMIT, begin_change},
    {"POST", "jobs/*/resume", MUR_ROLE_SUBMIT, begin_change},
    {"GET", "jobs/*/feed", MUR_ROLE_LOOK, feed_job},
    {"GET", "jobs/*/pods/*/log", MUR_ROLE_LOOK, feed_log},
    {0},
};

/* As RFC 1123 has it: small letters, digits, '-' and '.', with a letter or digit at both ends of each part. */
static bool is_name(const char *text)
{
    char before = '.';

    if (strlen(text) > LONGEST_NAME)
        return false;
    for (const char *at = text;; before = *at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9');
        bool was_plain = before != '.' && before != '-';

        if ((*at == '\0' || *at == '.') && !was_plain)
            return false;
        if (*at == '\0')
            return true;
        if ((!is_plain && *at != '-' && *at != '.') || (*at == '-' && before == '.'))
            return false;
    }
}

static bool fits(const struct mur_console_visit *visit, const char *pattern)
{
    for (int i = 0; i < visit->count; i++) {
        size_t length = strcspn(pattern, "/");

        if (!(length == 1 && *pattern == '*') &&
            (strlen(visit->parts[i]) != length || strncmp(visit->parts[i], pattern, length) != 0))
            return false;
        pattern += length;
        if (i + 1 < visit->count && *pattern++ != '/')
            return false;
    }
    return *pattern == '\0';
}

const struct mur_console_action *mur_action_find(struct mur_console_visit *visit)
{
    char *rest = visit->path + strlen("/console/");
    bool is_known = false;

    while (rest && visit->count < 8)
        visit->parts[visit->count++] = strsep(&rest, "/");
    for (int i = 0; i < visit->count; i++)
        if (rest || !is_name(visit->parts[i])) {
            mur_visit_fail(visit, 404, "there is no such thing: a part of the path is no name");
            return NULL;
        }
    for (const struct mur_console_action *action = actions; action->method; action++)
        if (fits(visit, action->path)) {
            is_known = true;
            if (strcmp(action->method, visit->method) == 0)
                return action;
        }
    mur_visit_fail(visit, is_known ? 405 : 404, is_known ? "this cannot be done to it" : "there is no such thing");
    return NULL;
}
