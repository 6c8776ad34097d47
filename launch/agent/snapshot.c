/* SPDX-License-Identifier: BSD-3-Clause */
/* This host's part of a snapshot. A process of its own has CRIU freeze and write the tree (checkpoint/saver.h); this
 * file says when the tree goes on, and notes what the agent knows while it stands still. Each question of mpiexec's,
 * SNAPSHOT and THAW, gets one answer. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/checkpoint/pack.h"
#include "launch/checkpoint/saver.h"

static void answer(struct mur_agent *agent, enum mur_tree_frame_kind kind, int code, const char *text)
{
    struct mur_tree_frame frame = {.kind = kind, .rank = agent->node, .code = code};

    mur_frame_set_text(&frame, "%s", text);
    mur_agent_report(agent, &frame);
}

/* Before the round of THAW the failure answers SNAPSHOT, in it THAW. */
static void fail(struct mur_agent *agent, const char *text)
{
    struct mur_agent_tree_root *root = &agent->root;

    if (root->phase == MUR_SAVING_PACKING) {
        root->phase = MUR_SAVING_NONE;
        answer(agent, MUR_FRAME_SAVED, 1, text);
    } else {
        root->phase = MUR_SAVING_FAILED;
        answer(agent, MUR_FRAME_FROZEN, 1, text);
    }
}

void mur_agent_tell_left(struct mur_agent *agent)
{
    if (!agent->root.inodes || !agent->root.init)
        return;
    answer(agent, MUR_FRAME_LEFT, 0, "");
    free(agent->root.inodes);
    agent->root.inodes = NULL; /* it is said once */
}

void mur_agent_note_socket(struct mur_agent *agent, const char *inode)
{
    struct mur_sockets *sockets = &agent->root.sockets;

    sockets->items = mur_alloc_again(sockets->items, (size_t)sockets->count + 1, sizeof *sockets->items);
    sockets->items[sockets->count++] = strtoull(inode, NULL, 10);
}

/* ---- while the tree stands still ---- */

static void note_ranks(struct mur_agent *agent, struct mur_notes *notes)
{
    notes->line = agent->root.line_inode;
    notes->processor = mur_notes_processor();
    notes->rank_count = agent->count;
    notes->ranks = mur_alloc((size_t)agent->count, sizeof *notes->ranks);
    for (int i = 0; i < agent->count; i++) {
        const struct mur_agent_rank *rank = &agent->ranks[i];

        notes->ranks[i] = (struct mur_rank_note){.runs = rank->pid != 0,
                                                 .is_in_mpi = rank->is_in_mpi,
                                                 .programs = rank->programs,
                                                 .inodes = agent->root.inodes[i]};
    }
}

static bool look(struct mur_agent *agent, struct mur_notes *notes, char *text, size_t bytes)
{
    struct mur_tree_look look = {.init = agent->root.init, .own = &agent->root.sockets, .notes = notes};
    uint64_t *inodes;
    uint32_t *numbers;
    bool is_good;

    look.memory_count = mur_agent_list_memory(agent, &inodes, &numbers);
    look.memory_inodes = inodes;
    look.generations = numbers;
    is_good = mur_tree_look(&look, text, bytes);
    free(inodes);
    free(numbers);
    return is_good;
}

static bool is_connected(const struct mur_agent *agent)
{
    for (int i = 0; i < agent->count; i++)
        if (agent->ranks[i].foreign)
            return true;
    return false;
}

/* What cannot be saved, and is known without looking at the processes; NULL: nothing. */
static const char *obstacle(const struct mur_agent *agent)
{
    if (agent->is_ending || !agent->root.init || !agent->root.inodes)
        return "its ranks have ended";
    if (agent->has_run)
        return "a program of another MPI library runs, whose connections to mpiexec a restart cannot bring back";
    if (LIST_FIRST(&agent->jobs.list) || agent->parent.is_active)
        return "jobs that have spawned others, or were spawned, cannot be saved";
    if (is_connected(agent))
        return "its ranks are connected with those of another job, which a restart cannot bring back";
    return NULL;
}

static bool take_notes(struct mur_agent *agent, char text[MUR_PACK_TEXT])
{
    char *path = mur_saver_notes(agent->root.folder, agent->node);
    struct mur_notes notes = {0};
    uint64_t bytes;
    bool is_good;

    for (int i = 0; i < agent->count; i++)
        if (agent->ranks[i].pid)
            mur_agent_read_control(&agent->ranks[i]); /* what they have said before they were frozen */
    note_ranks(agent, &notes);
    is_good = !obstacle(agent) && look(agent, &notes, text, MUR_PACK_TEXT);
    if (obstacle(agent))
        snprintf(text, MUR_PACK_TEXT, "%s", obstacle(agent));
    if (is_good && !mur_notes_write(&notes, path)) {
        is_good = false;
        snprintf(text, MUR_PACK_TEXT, "cannot write '%s': %s", path, strerror(errno));
    }
    is_good = is_good && mur_pack_sum(path, &agent->root.notes_sum, &bytes, text);
    free(path);
    return is_good;
}

/* 0: the tree goes on, and what was written is of use. */
static void release(struct mur_agent *agent, char verdict)
{
    send(agent->root.saver_line.fd, &verdict, 1, MSG_NOSIGNAL);
}

static void frozen(struct mur_agent *agent)
{
    char text[MUR_PACK_TEXT];

    if (agent->root.phase == MUR_RESTORING) {
        mur_agent_restored(agent);
        release(agent, 0);
    } else if (agent->root.phase == MUR_SAVING_FREEZING && take_notes(agent, text)) {
        agent->root.phase = MUR_SAVING_FROZEN;
        answer(agent, MUR_FRAME_FROZEN, 0, "");
    } else {
        release(agent, 1);
        if (agent->root.phase == MUR_SAVING_FREEZING)
            fail(agent, text);
    }
}

/* ---- the saver ---- */

static void saved(struct mur_agent *agent, const struct mur_saver_message *message)
{
    char text[80];

    agent->root.phase = MUR_SAVING_NONE;
    snprintf(text, sizeof text, "%016" PRIx64 " %" PRIu64 " %016" PRIx64, message->sum, message->bytes,
             agent->root.notes_sum);
    answer(agent, MUR_FRAME_SAVED, 0, text);
}

void mur_agent_close_saver_line(struct mur_agent *agent)
{
    mur_loop_unwatch(agent->loop, &agent->root.saver_line);
    close(agent->root.saver_line.fd);
    agent->root.saver_line.fd = -1;
}

static void restore_failed(struct mur_agent *agent, const char *text)
{
    struct mur_tree_frame failure;

    mur_frame_set_failure(&failure, "the ranks on %s cannot be restarted: %s", agent->job->host, text);
    mur_agent_report(agent, &failure);
    agent->root.phase = MUR_SAVING_NONE;
    agent->running--;
}

static void failed(struct mur_agent *agent, const char *text)
{
    if (agent->root.phase == MUR_RESTORING)
        restore_failed(agent, text);
    else if (agent->root.phase == MUR_SAVING_FREEZING || agent->root.phase == MUR_SAVING_PACKING)
        fail(agent, text);
    else if (agent->root.phase == MUR_SAVING_FROZEN)
        agent->root.phase = MUR_SAVING_FAILED; /* mpiexec hears it when it asks */
}

static void saver_ready(void *owner)
{
    struct mur_agent *agent = owner;
    struct mur_saver_message message;
    ssize_t got = recv(agent->root.saver_line.fd, &message, sizeof message, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0 && message.kind == MUR_SAVER_FROZEN) {
        frozen(agent);
        return;
    }
    mur_agent_close_saver_line(agent);
    if (got <= 0)
        failed(agent, "the process that works at it was killed");
    else if (message.kind == MUR_SAVER_FAILED)
        failed(agent, message.text);
    else if (agent->root.phase == MUR_SAVING_PACKING)
        saved(agent, &message);
    if (agent->running == 0)
        mur_agent_finish(agent);
}

bool mur_agent_open_saver_line(struct mur_agent *agent, int *end)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    agent->root.saver_line = (struct mur_watch){.fd = ends[0], .ready = saver_ready, .owner = agent};
    mur_loop_watch(agent->loop, &agent->root.saver_line, EPOLLIN);
    *end = ends[1];
    return true;
}

static void add_external(struct mur_words *words, uint64_t inode)
{
    if (inode)
        mur_words_add(words, "unix[%" PRIu64 "]", inode);
}

static void start_saver(struct mur_agent *agent)
{
    struct mur_agent_tree_root *root = &agent->root;
    struct mur_words externals = {0};
    struct mur_save save = {.init = root->init, .node = agent->node, .folder = root->folder, .externals = &externals};

    add_external(&externals, root->line_inode);
    for (int i = 0; i < agent->count; i++) {
        add_external(&externals, root->inodes[i].control);
        add_external(&externals, root->inodes[i].pmi);
    }
    root->phase = MUR_SAVING_FREEZING;
    if (!mur_agent_open_saver_line(agent, &save.line)) {
        fail(agent, strerror(errno));
        return;
    }
    root->saver = mur_saver_start(&save);
    if (root->saver < 0) {
        mur_agent_close_saver_line(agent);
        root->saver = 0;
        fail(agent, strerror(errno));
    }
    agent->has_descendants = true;
    close(save.line);
    mur_words_free(&externals);
}

/* ---- mpiexec's questions ---- */

void mur_agent_begin_snapshot(struct mur_agent *agent, const struct mur_tree_frame *frame)
{
    char text[MUR_PACK_TEXT];

    if (!agent->count)
        return; /* no rank is to run here */
    free(agent->root.folder);
    agent->root.folder = mur_alloc_text("%.*s", (int)frame->length, frame->text);
    if (agent->root.phase != MUR_SAVING_NONE)
        answer(agent, MUR_FRAME_FROZEN, 1, "the ranks are being restarted");
    else if (obstacle(agent))
        fail(agent, obstacle(agent));
    else if (!look(agent, NULL, text, sizeof text))
        fail(agent, text);
    else
        start_saver(agent);
}

void mur_agent_thaw(struct mur_agent *agent, const struct mur_tree_frame *frame)
{
    if (!agent->count)
        return;
    if (agent->root.phase == MUR_SAVING_FROZEN) {
        agent->root.phase = MUR_SAVING_PACKING;
        release(agent, frame->code != 0);
        return;
    }
    if (agent->root.phase == MUR_SAVING_FREEZING) /* mpiexec has lost its patience */
        kill(agent->root.saver, SIGKILL);
    if (agent->root.phase != MUR_RESTORING)
        agent->root.phase = MUR_SAVING_NONE;
    answer(agent, MUR_FRAME_SAVED, 1, "it was not written");
}

void mur_agent_drop_snapshot(struct mur_agent *agent)
{
    if (agent->root.phase == MUR_SAVING_FROZEN)
        release(agent, 1);
    if (agent->root.phase == MUR_SAVING_FROZEN || agent->root.phase == MUR_SAVING_FREEZING)
        agent->root.phase = MUR_SAVING_FAILED;
}
