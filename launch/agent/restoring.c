/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a snapshot. Their pipes and sockets are opened as for new ones, and CRIU puts them where the old ones
 * were. When the tree is there and before it runs, the node's memory gets the new secret, and each rank's control
 * socket the news (MUR_CONTROL_RESTARTED); its root process then tells which processes they are. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/job.h"
#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/hosts/placement.h"
#include "launch/checkpoint/manifest.h"
#include "launch/checkpoint/saver.h"
#include "launch/checkpoint/root.h"

static bool refuse(const struct mur_agent *agent, struct mur_tree_frame *failure, const char *text)
{
    mur_frame_set_failure(failure, "the ranks cannot be restarted on %s: %s", agent->job->host, text);
    return false;
}

/* What the agent of before knew, and the checksum of the image. */
static bool read_notes(struct mur_agent *agent, uint64_t *sum, struct mur_tree_frame *failure)
{
    const char *folder = agent->job->checkpointing.snapshot;
    char *path = mur_saver_notes(folder, agent->node), *lacking, text[MUR_PACK_TEXT];
    struct mur_notes *notes = &agent->root.notes;
    struct mur_manifest manifest;
    uint64_t notes_sum, bytes;

    if (!mur_manifest_read(folder, &manifest, text) || !mur_pack_sum(path, &notes_sum, &bytes, text))
        return refuse(agent, failure, text);
    if (agent->node >= manifest.nodes || notes_sum != manifest.parts[agent->node].notes_sum)
        snprintf(text, sizeof text, "'%s' is not what was saved: its checksum is wrong", path);
    else if (!mur_notes_read(notes, path) || notes->rank_count != agent->count)
        snprintf(text, sizeof text, "'%s' cannot be understood", path);
    else if ((lacking = mur_notes_lacking(notes->processor, mur_notes_processor())))
        snprintf(text, sizeof text, "its processor lacks '%s', which the one of before had and the program may use",
                 lacking);
    else
        text[0] = '\0';
    *sum = manifest.parts[agent->node < manifest.nodes ? agent->node : 0].image_sum;
    return !text[0] || refuse(agent, failure, text);
}

static void inherit(struct mur_words *words, int fd, const char *kind, uint64_t inode)
{
    if (inode)
        mur_words_add(words, "fd[%d]:%s:[%" PRIu64 "]", fd, kind, inode);
}

/* Opens what connects the ranks that run with this agent, and says what takes the place of what. */
static bool open_all(struct mur_agent *agent, struct mur_words *words, struct mur_channels *channels, int *in,
                     struct mur_tree_frame *failure)
{
    for (int i = 0; i < agent->count; i++) {
        const struct mur_rank_note *note = &agent->root.notes.ranks[i];

        if (!note->runs)
            continue;
        if (!mur_agent_open_channels(agent, i, &channels[i], &in[i], failure))
            return false;
        if (in[i] >= 0)
            inherit(words, in[i], "pipe", note->inodes.in);
        inherit(words, channels[i].out[1], "pipe", note->inodes.out);
        inherit(words, channels[i].err[1], "pipe", note->inodes.err);
        inherit(words, channels[i].control[1], "socket", note->inodes.control);
        if (!agent->job->starting.has_no_mpi && !agent->job->starting.has_pmi_port)
            inherit(words, channels[i].pmi[1], "socket", note->inodes.pmi);
        mur_channels_keep(&channels[i], &agent->root.spawned[i]);
    }
    return true;
}

static bool start(struct mur_agent *agent, struct mur_bring_back *back, struct mur_tree_frame *failure)
{
    agent->root.phase = MUR_RESTORING;
    if (!mur_agent_open_saver_line(agent, &back->line))
        return refuse(agent, failure, strerror(errno));
    agent->root.init = mur_restorer_start(back);
    if (agent->root.init < 0) {
        agent->root.init = 0;
        return refuse(agent, failure, strerror(errno));
    }
    close(back->line);
    agent->has_descendants = true;
    agent->running++; /* until all are back */
    return true;
}

bool mur_agent_bring_back(struct mur_agent *agent, struct mur_tree_frame *failure)
{
    struct mur_bring_back back = {.node = agent->node, .folder = agent->job->checkpointing.snapshot};
    struct mur_words inherited = {0};
    struct mur_channels *channels = mur_alloc((size_t)agent->count, sizeof *channels);
    int *in = mur_alloc((size_t)agent->count, sizeof *in), line;
    bool is_good;

    agent->root.spawned = mur_alloc((size_t)agent->count, sizeof *agent->root.spawned);
    if (!read_notes(agent, &back.sum, failure) || !mur_agent_open_line(agent, &line, failure))
        return false;
    inherit(&inherited, line, "socket", agent->root.notes.line);
    if (!open_all(agent, &inherited, channels, in, failure))
        return false;
    back.inherited = &inherited;
    back.notes = &agent->root.notes;
    is_good = start(agent, &back, failure);
    close(line);
    mur_agent_close_rank_ends(agent, channels, in);
    mur_words_free(&inherited);
    free(channels);
    free(in);
    if (is_good)
        mur_agent_tell_machine(agent);
    return is_good;
}

/* ---- when they are there ---- */

static void take_memory(struct mur_agent *agent)
{
    const struct mur_notes *notes = &agent->root.notes;

    for (int i = 0; i < notes->memory_count; i++) {
        const struct mur_memory_note *note = &notes->memories[i];
        char *path;
        int fd;

        if (i && note->generation == notes->memories[i - 1].generation)
            continue; /* another process's, of the same memory */
        path = mur_alloc_text("/proc/%d/root/proc/%d/fd/%d", (int)agent->root.init, note->pid, note->fd);
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0 && !mur_agent_adopt_memory(agent, note->generation, fd))
            close(fd);
        free(path);
    }
}

void mur_agent_restored(struct mur_agent *agent)
{
    const struct mur_control_message news = {.kind = MUR_CONTROL_RESTARTED};

    take_memory(agent);
    for (int i = 0; i < agent->count; i++)
        if (agent->root.notes.ranks[i].runs)
            send(agent->root.spawned[i].control_fd, &news, offsetof(struct mur_control_message, text), MSG_NOSIGNAL);
    mur_root_ask(agent->root.line.fd);
    mur_agent_watch_line(agent);
}

/* CRIU does not restore which CPUs a thread may use; those of the new host are others anyway. */
static void bind_threads(const struct mur_agent *agent, const struct mur_agent_rank *rank)
{
    char *folder = mur_alloc_text("/proc/%d/task", (int)rank->pid);
    DIR *directory = opendir(folder);
    struct dirent *entry;
    cpu_set_t cpus;

    if (mur_binding_of(agent->job, rank->number, &cpus))
        while (directory && (entry = readdir(directory)))
            if (atoi(entry->d_name) > 0)
                sched_setaffinity(atoi(entry->d_name), sizeof cpus, &cpus);
    if (directory)
        closedir(directory);
    free(folder);
}

void mur_agent_rank_is_back(struct mur_agent *agent, int local, pid_t pid)
{
    const struct mur_rank_note *note = &agent->root.notes.ranks[local];
    struct mur_agent_rank *rank = &agent->ranks[local];
    struct mur_spawned *spawned = &agent->root.spawned[local];

    if (!note->runs || rank->pid)
        return;
    rank->agent = agent;
    spawned->pid = pid;
    spawned->appnum = mur_placement_find(agent->job, agent->node, local, &rank->number);
    mur_agent_connect_rank(rank, spawned);
    if (note->is_in_mpi)
        mur_agent_begin_program(rank, note->programs, pid);
    rank->programs = note->programs;
    bind_threads(agent, rank);
}

/* One that ended while the others came back is not among them, and is told of by nobody else. */
void mur_agent_all_are_back(struct mur_agent *agent)
{
    agent->root.phase = MUR_SAVING_NONE;
    agent->running--;
}
