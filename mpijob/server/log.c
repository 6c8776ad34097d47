/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of a pod: the file that its processes write to, as it is, or as it grows. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/server/http.h"

const char *mur_server_folder;

struct log {
    struct mur_http_stream stream;
    char *space, *name, *uid;
    int file;
    bool follows;
    long long left; /* bytes that may still be sent */
};

/* Whether nothing more will be written. */
static bool has_ended(const struct log *log)
{
    struct mur_value *pod = mur_base_get(mur_resource_find("", "v1", "pods"), log->space, log->name);
    const char *phase = mur_value_string(pod, "status.phase", "");
    bool ended = !pod || strcmp(mur_value_string(pod, "metadata.uid", ""), log->uid) != 0 ||
                 strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;

    mur_value_free(pod);
    return ended;
}

static ssize_t log_read(struct mur_http_stream *stream, char *to, size_t room)
{
    struct log *log = (struct log *)stream;
    bool ended = !log->follows || has_ended(log); /* asked before the file is: what came first is read */
    ssize_t got;

    if (log->left < (long long)room)
        room = (size_t)log->left;
    got = room > 0 ? read(log->file, to, room) : 0;
    if (got > 0)
        log->left -= got;
    if (got > 0 || (!ended && log->left > 0))
        return got < 0 ? 0 : got;
    return -1;
}

static bool log_is_ready(const struct mur_http_stream *stream, double now)
{
    const struct log *log = (const struct log *)stream;
    struct stat status;

    (void)now;
    return (fstat(log->file, &status) == 0 && status.st_size > lseek(log->file, 0, SEEK_CUR)) || has_ended(log);
}

static void log_free(struct mur_http_stream *stream)
{
    struct log *log = (struct log *)stream;

    close(log->file);
    free(log->space);
    free(log->name);
    free(log->uid);
    free(log);
}

/* To where the last `lines` lines begin. */
static void seek_lines(int file, long long lines)
{
    char part[8192];
    off_t at = lseek(file, 0, SEEK_END);
    bool is_last = true; /* a line's end at the end of the file begins no other line */

    while (at > 0) {
        off_t start = at > (off_t)sizeof part ? at - (off_t)sizeof part : 0;
        ssize_t got = pread(file, part, (size_t)(at - start), start);

        for (ssize_t i = got - 1; i >= 0; i--) {
            if (part[i] == '\n' && !is_last && --lines <= 0) {
                lseek(file, start + i + 1, SEEK_SET);
                return;
            }
            is_last = false;
        }
        at = start;
    }
    lseek(file, 0, SEEK_SET);
}

static const char *container_name(const struct mur_value *pod)
{
    const struct mur_value *list = mur_value_at(pod, "spec.containers");

    return mur_value_count(list) ? mur_value_string(list->members[0].value, "name", "") : "";
}

static bool check_options(const struct mur_api_request *request, const struct mur_value *pod, struct mur_reply *reply)
{
    static const char *const refused[] = {"previous", "timestamps", "sinceSeconds", "sinceTime"};
    const char *wanted = request->option(request, "container"), *own = container_name(pod);

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *text = request->option(request, refused[i]);

        if (*text && strcmp(text, "false") != 0) {
            mur_reply_fail(reply, 400, "BadRequest", "%s is not supported: a pod's log is one file without times",
                           refused[i]);
            return false;
        }
    }
    if (!*wanted || strcmp(wanted, own) == 0)
        return true;
    mur_reply_fail(reply, 400, "BadRequest", "container %s is not valid for pod %s: it has %s", wanted, request->name,
                   own);
    return false;
}

static int open_file(const struct mur_api_request *request, const struct mur_value *pod, struct mur_reply *reply)
{
    char *path = mur_alloc_text("%s/spaces/%s/pods/%s/log", mur_server_folder, request->space, request->name);
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        mur_reply_fail(reply, 400, "BadRequest", "container \"%s\" in pod \"%s\" is waiting to start: %s",
                       container_name(pod), request->name, errno == ENOENT ? "ContainerCreating" : strerror(errno));
    free(path);
    return file;
}

struct mur_http_stream *mur_log_open(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_value *pod = mur_base_get(request->resource, request->space, request->name);
    const char *lines = request->option(request, "tailLines"), *bytes = request->option(request, "limitBytes");
    struct log *log;
    int file = -1;

    if (!pod)
        mur_reply_missing(reply, request->resource, request->name);
    else if (check_options(request, pod, reply))
        file = open_file(request, pod, reply);
    if (file < 0) {
        mur_value_free(pod);
        return NULL;
    }
    if (*lines && strtoll(lines, NULL, 10) <= 0)
        lseek(file, 0, SEEK_END);
    else if (*lines)
        seek_lines(file, strtoll(lines, NULL, 10));
    log = mur_alloc(1, sizeof *log);
    log->stream = (struct mur_http_stream){
        .content_type = "text/plain", .read = log_read, .is_ready = log_is_ready, .free = log_free};
    log->space = mur_alloc_text("%s", request->space);
    log->name = mur_alloc_text("%s", request->name);
    log->uid = mur_alloc_text("%s", mur_value_string(pod, "metadata.uid", ""));
    log->file = file;
    log->follows = strcmp(request->option(request, "follow"), "true") == 0;
    log->left = *bytes ? strtoll(bytes, NULL, 10) : (1LL << 62);
    mur_value_free(pod);
    return &log->stream;
}
