/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot goes through two rounds of questions to all hosts that have ranks. What fails on one host fails the
 * snapshot: the others are told to go on and to drop what they wrote, the job goes on, and older snapshots stay. It is
 * tried once more at once: a process may have been frozen between making a connection and telling the agent of it. */
#include "launch/checkpoint/trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/checkpoint/checkpoint.h"
#include "launch/say.h"
#include "launch/tree/spec.h"

enum {
    PATIENCE_MS = 600000, /* for all hosts to freeze and write */
    LOCK_MS = 5000,
    LOCK_TRY_MS = 50,
};

static void begin_round(struct mur_trigger *trigger, enum mur_snapshot_phase phase)
{
    trigger->phase = phase;
    trigger->waiting = trigger->job->hosts.count;
    memset(trigger->has_answered, 0, (size_t)trigger->waiting * sizeof *trigger->has_answered);
}

static void note_failure(struct mur_trigger *trigger, const char *host, const char *text)
{
    if (!trigger->has_failed)
        snprintf(trigger->failure, sizeof trigger->failure, "%s%s%s", host ? host : "", host ? ": " : "", text);
    trigger->has_failed = true;
}

/* ---- the end of one ---- */

static void set_timer(struct mur_trigger *trigger)
{
    if (trigger->job->checkpointing.interval_ms && !trigger->is_closed)
        mur_timer_set(&trigger->again, trigger->job->checkpointing.interval_ms);
}

static void commit(struct mur_trigger *trigger)
{
    const struct mur_checkpointing *checkpointing = &trigger->job->checkpointing;
    char text[MUR_PACK_TEXT];

    trigger->manifest.number = trigger->next;
    if (!mur_manifest_commit(checkpointing->prefix, &trigger->manifest, text)) {
        note_failure(trigger, NULL, text);
        return;
    }
    if (trigger->job->is_verbose)
        mur_say("snapshot %d is in %s", trigger->next, checkpointing->prefix);
    mur_snapshots_prune(checkpointing->prefix, checkpointing->keep);
}

static void remove_partial(const struct mur_trigger *trigger)
{
    char *partial = mur_snapshot_partial(trigger->job->checkpointing.prefix, trigger->next);

    mur_pack_remove(partial);
    free(partial);
}

static void tell_failure(struct mur_trigger *trigger)
{
    if (!trigger->has_told || trigger->job->is_verbose)
        mur_say("no snapshot could be taken: %s; the job goes on, and what was saved before stays%s", trigger->failure,
                trigger->job->is_verbose ? "" : " (this is said once)");
    trigger->has_told = true;
}

static void finish(struct mur_trigger *trigger)
{
    bool is_good;

    mur_timer_clear(&trigger->patience);
    if (!trigger->has_failed)
        commit(trigger);
    is_good = !trigger->has_failed;
    trigger->phase = MUR_SNAPSHOT_NONE;
    if (!is_good && !trigger->is_closed) {
        remove_partial(trigger);
        if (!trigger->has_retried) {
            trigger->has_retried = true;
            mur_trigger_pull(trigger);
            return;
        }
        tell_failure(trigger);
    }
    trigger->has_retried = false;
    trigger->next += is_good;
    set_timer(trigger);
    trigger->over(trigger->owner, is_good);
}

/* ---- the rounds ---- */

static void thaw(struct mur_trigger *trigger)
{
    struct mur_tree_frame frame = {.kind = MUR_FRAME_THAW, .rank = -1, .code = trigger->has_failed};

    begin_round(trigger, MUR_SNAPSHOT_SAVING);
    trigger->send(trigger->owner, &frame);
}

static void lose_patience(void *owner)
{
    struct mur_trigger *trigger = owner;
    char text[80];

    if (trigger->phase != MUR_SNAPSHOT_FREEZING)
        return;
    snprintf(text, sizeof text, "not all hosts were ready within %d s", PATIENCE_MS / 1000);
    note_failure(trigger, NULL, text);
    thaw(trigger);
}

static void take_saved(struct mur_trigger *trigger, int node, const struct mur_tree_frame *frame)
{
    struct mur_saved_part *part = &trigger->manifest.parts[node];
    char text[sizeof frame->text + 1];

    memcpy(text, frame->text, frame->length);
    text[frame->length] = '\0';
    if (sscanf(text, "%" SCNx64 " %" SCNu64 " %" SCNx64, &part->image_sum, &part->image_bytes, &part->notes_sum) != 3)
        note_failure(trigger, trigger->job->hosts.items[node].name, "its answer cannot be understood");
}

void mur_trigger_answer(struct mur_trigger *trigger, const struct mur_tree_frame *frame)
{
    enum mur_snapshot_phase phase = frame->kind == MUR_FRAME_FROZEN ? MUR_SNAPSHOT_FREEZING : MUR_SNAPSHOT_SAVING;
    int node = frame->rank;
    char text[sizeof frame->text + 1];

    if (node < 0 || node >= trigger->job->hosts.count)
        return;
    if (frame->kind == MUR_FRAME_LEFT) {
        mur_trigger_close(trigger);
        phase = trigger->phase;
    }
    if (trigger->phase == MUR_SNAPSHOT_NONE || phase != trigger->phase || trigger->has_answered[node])
        return;
    memcpy(text, frame->text, frame->length);
    text[frame->length] = '\0';
    if (frame->kind == MUR_FRAME_LEFT)
        note_failure(trigger, trigger->job->hosts.items[node].name, "its ranks have ended");
    else if (frame->code)
        note_failure(trigger, trigger->job->hosts.items[node].name, text);
    else if (frame->kind == MUR_FRAME_SAVED)
        take_saved(trigger, node, frame);
    trigger->has_answered[node] = true;
    if (--trigger->waiting)
        return;
    if (trigger->phase == MUR_SNAPSHOT_FREEZING)
        thaw(trigger);
    else
        finish(trigger);
}

/* ---- the beginning ---- */

/* The job as agents are told of it, for a restart. */
static bool write_job(struct mur_trigger *trigger, const char *partial, char text[MUR_PACK_TEXT])
{
    char *path = mur_alloc_text("%s/job", partial);
    struct mur_spec spec = {0};
    FILE *file = fopen(path, "we");
    bool is_good = file != NULL;
    uint64_t bytes;

    mur_spec_write(&spec, trigger->job);
    is_good = is_good && fwrite(spec.data, 1, spec.bytes, file) == spec.bytes && fflush(file) == 0 &&
              fsync(fileno(file)) == 0;
    if (!is_good)
        snprintf(text, MUR_PACK_TEXT, "cannot write '%s': %s", path, strerror(errno));
    if (file)
        fclose(file);
    is_good = is_good && mur_pack_sum(path, &trigger->manifest.job_sum, &bytes, text);
    free(spec.data);
    free(path);
    return is_good;
}

static bool make_folder(struct mur_trigger *trigger, const char *partial)
{
    char text[MUR_PACK_TEXT], build[80];

    mur_pack_remove(partial);
    if (mkdir(partial, 0700) < 0) {
        snprintf(text, sizeof text, "cannot make '%s': %s", partial, strerror(errno));
        note_failure(trigger, NULL, text);
        return false;
    }
    if (!trigger->manifest.build && mur_manifest_build(build, text))
        trigger->manifest.build = mur_alloc_text("%s", build);
    if (trigger->manifest.build && write_job(trigger, partial, text))
        return true;
    note_failure(trigger, NULL, text);
    return false;
}

bool mur_trigger_pull(struct mur_trigger *trigger)
{
    struct mur_tree_frame frame = {.kind = MUR_FRAME_SNAPSHOT, .rank = -1, .code = trigger->next};
    char *partial;

    if (trigger->is_closed)
        return false;
    if (trigger->phase != MUR_SNAPSHOT_NONE)
        return true; /* that one will do */
    mur_timer_clear(&trigger->again);
    trigger->has_failed = false;
    partial = mur_snapshot_partial(trigger->job->checkpointing.prefix, trigger->next);
    if (make_folder(trigger, partial)) {
        mur_frame_set_text(&frame, "%s", partial);
        begin_round(trigger, MUR_SNAPSHOT_FREEZING);
        mur_timer_set(&trigger->patience, PATIENCE_MS);
        trigger->send(trigger->owner, &frame);
    } else {
        finish(trigger);
    }
    free(partial);
    return true;
}

/* The lock is that of the folder itself, for as long as this process or one that it has forked lives; of a job that was
 * killed a moment ago some may still be about to end. Where the file system has no locks, nobody is kept out. */
void mur_trigger_lock(const struct mur_jobspec *job)
{
    const char *prefix = job->checkpointing.prefix;
    int fd;

    if (!job->checkpointing.is_on)
        return;
    fd = open(prefix, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int waited = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; waited += LOCK_TRY_MS) {
        if (waited >= LOCK_MS)
            mur_quit(MUR_EXIT_USAGE, "another mpiexec takes snapshots into '%s'", prefix);
        usleep(LOCK_TRY_MS * 1000);
    }
}

static void pull_again(void *owner)
{
    mur_trigger_pull(owner);
}

void mur_trigger_open(struct mur_trigger *trigger, struct mur_loop *loop, const struct mur_jobspec *job)
{
    int *numbers, count, hosts = job->hosts.count;

    trigger->job = job;
    trigger->is_closed = !job->checkpointing.is_on;
    if (trigger->is_closed)
        return;
    count = mur_snapshots_list(job->checkpointing.prefix, &numbers);
    trigger->next = count ? numbers[count - 1] + 1 : 0;
    free(numbers);
    trigger->has_answered = mur_alloc((size_t)hosts, sizeof *trigger->has_answered);
    trigger->manifest = (struct mur_manifest){
        .ranks = job->size, .nodes = hosts, .parts = mur_alloc((size_t)hosts, sizeof *trigger->manifest.parts)};
    for (int i = 0; i < hosts; i++)
        trigger->manifest.parts[i].host = job->hosts.items[i].name;
    trigger->again = (struct mur_timer){.fire = pull_again, .owner = trigger};
    trigger->patience = (struct mur_timer){.fire = lose_patience, .owner = trigger};
    mur_loop_add_timer(loop, &trigger->again);
    mur_loop_add_timer(loop, &trigger->patience);
    set_timer(trigger);
}

void mur_trigger_close(struct mur_trigger *trigger)
{
    if (!trigger->is_closed)
        mur_timer_clear(&trigger->again);
    trigger->is_closed = true;
    if (trigger->has_answered)
        remove_partial(trigger); /* also what a saver that was killed has left since */
}
