/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, stop and one pass of progress: transports, then sends that had no room, then tasks. */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counters.h"
#include "base/error.h"
#include "base/settings.h"
#include "boot/process.h"
#include "engine/lock.h"
#include "mpi.h"
#include "node/node.h"
#include "transport/foreign.h"

static const _Atomic uint32_t silence;
struct mur_engine mur_engine = {.bell = &silence, .awaited.frame.kind = MUR_AWAITED_NONE};

void mur_frame_refuse(const struct mur_peer *peer, const struct mur_frame *frame)
{
    char text[320], who[64];

    snprintf(
        text, sizeof text,
        "rank %d on %s received a frame from %s that cannot be (kind %u, %u bytes); are the versions of Murmur the "
        "same? Or that process has overwritten memory that is not its own",
        mur_process.rank, mur_process.host, mur_foreign_peer_text(peer, who), frame->kind, frame->bytes);
    mur_boot_abort(1, text);
}

static int open_transports(int size, size_t common_bytes)
{
    struct mur_peer *peers = mur_engine.peers;
    int rc = mur_transport_check();

    if (rc || (rc = mur_node_open(!mur_transport_is_wanted("shm"), common_bytes)) ||
        (rc = mur_shm_transport.open(peers, size)))
        return rc;
    mur_engine.common = mur_node_common();
    mur_engine.transport = &mur_shm_transport;
    for (int i = 0; i < size && !mur_engine.network; i++)
        if (!peers[i].transport)
            mur_engine.network = &mur_tcp_transport;
    return mur_engine.network ? mur_tcp_transport.open(peers, size) : MPI_SUCCESS;
}

int mur_engine_start(int size, size_t common_bytes)
{
    size_t bytes = ((size_t)size + MUR_FOREIGN_MAX) * sizeof *mur_engine.peers;
    int rc;

    mur_engine.peers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0);
    if (mur_engine.peers == MAP_FAILED)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the table of %d processes", size);
    mur_engine.peer_count = size;
    for (int i = 0; i < size; i++) {
        mur_engine.peers[i].process = i;
        mur_engine.peers[i].local = -1;
        mur_engine.peers[i].backlog_tail = &mur_engine.peers[i].backlog;
    }
    rc = open_transports(size, common_bytes);
    if (rc) {
        munmap(mur_engine.peers, bytes);
        return rc;
    }
    mur_look.peers =
        (struct mur_look_table){.at = (uintptr_t)mur_engine.peers,
                                .rows = (uint32_t)size,
                                .row_bytes = sizeof *mur_engine.peers,
                                .columns = {offsetof(struct mur_peer, transport), offsetof(struct mur_peer, link)}};
    mur_rest_setup();
    return mur_engine.network ? mur_boot_settle() : MPI_SUCCESS;
}

static void notify_all(enum mur_transport_event event)
{
    mur_engine.transport->notify(event);
    if (mur_engine.network)
        mur_engine.network->notify(event);
}

void mur_engine_settings_changed(void)
{
    if (!mur_engine.peer_count)
        return;
    mur_wait_settings_changed();
    notify_all(MUR_TRANSPORT_SETTINGS);
}

bool mur_engine_is_node(const int *processes, int count)
{
    if (!mur_engine.network)
        return true;
    for (int i = 0; i < count; i++)
        if (mur_engine.peers[processes[i]].local < 0)
            return false;
    return true;
}

void mur_engine_forked(void)
{
    mur_engine_lock_renew();
    mur_node_forked();
    notify_all(MUR_TRANSPORT_FORKED);
}

/* Whose paths still keep something back, the first of them. */
void mur_describe_ending(const void *nothing)
{
    struct mur_look_wait *wait = mur_rest_add(MUR_WAIT_ENDING);

    (void)nothing;
    for (const struct mur_peer *peer = mur_engine.backlogged; peer; peer = peer->next_backlogged)
        mur_rest_miss(wait, peer->process);
    if (mur_rest_sends)
        mur_rest_sends();
}

void mur_engine_drain(void)
{
    struct mur_waiter waiter = {0};

    while (mur_engine.open_operations || mur_engine.backlogged || mur_engine.tasks ||
           (mur_engine.network && !mur_engine.network->settle(true)))
        if (!mur_progress())
            mur_waiter_idle(&waiter, mur_describe_ending, NULL);
        else
            mur_waiter_moved(&waiter);
}

void mur_engine_leave_mpi(bool is_world)
{
    mur_engine.transport->notify(MUR_TRANSPORT_LEAVING);
    if (mur_engine.network && is_world)
        mur_engine.network->notify(MUR_TRANSPORT_LEAVING);
}

void mur_engine_come_back(void)
{
    notify_all(MUR_TRANSPORT_BACK);
}

void mur_engine_backlog_add(struct mur_peer *peer, struct mur_backlog_entry *entry)
{
    if (!peer->is_backlogged) {
        peer->is_backlogged = true;
        peer->next_backlogged = mur_engine.backlogged;
        mur_engine.backlogged = peer;
        mur_engine_call_sleeper(); /* which is to be woken when there is room */
    }
    mur_counters.backlogged++;
    entry->next = NULL;
    *peer->backlog_tail = entry;
    peer->backlog_tail = &entry->next;
}

bool mur_engine_backlog_remove(struct mur_peer *peer, const struct mur_backlog_entry *entry)
{
    struct mur_backlog_entry **link = &peer->backlog;

    while (*link && *link != entry)
        link = &(*link)->next;
    if (!*link)
        return false;
    *link = entry->next;
    if (!*link)
        peer->backlog_tail = link;
    return true;
}

/* Resumes a peer's sends in order until one finds no room again. A resumed entry may be freed, or queued again. */
static bool drain(struct mur_peer *peer)
{
    bool moved = false;

    while (peer->backlog) {
        struct mur_backlog_entry *entry = peer->backlog;

        peer->backlog = entry->next;
        if (!peer->backlog)
            peer->backlog_tail = &peer->backlog;
        if (!entry->resume(entry)) {
            entry->next = peer->backlog;
            peer->backlog = entry;
            if (!entry->next)
                peer->backlog_tail = &entry->next;
            break;
        }
        moved = true;
    }
    return moved;
}

void mur_engine_backlog_drop(struct mur_peer *peer)
{
    while (peer->backlog)
        drain(peer);
}

static bool drain_all(void)
{
    struct mur_peer **link = &mur_engine.backlogged;
    bool moved = false;

    while (*link) {
        struct mur_peer *peer = *link;

        moved |= drain(peer);
        if (peer->backlog) {
            link = &peer->next_backlogged;
        } else {
            *link = peer->next_backlogged;
            peer->is_backlogged = false;
        }
    }
    return moved;
}

static void task_link(struct mur_task **list, struct mur_task *task)
{
    task->next = *list;
    task->link = list;
    if (task->next)
        task->next->link = &task->next;
    *list = task;
}

void mur_engine_task_add(struct mur_task *task)
{
    task_link(&mur_engine.tasks, task);
    mur_engine_call_sleeper();
}

void mur_engine_task_remove(struct mur_task *task)
{
    if (!task->link)
        return;
    *task->link = task->next;
    if (task->next)
        task->next->link = task->link;
    task->link = NULL;
}

/* A task that is over may have been freed by its run. Those still to be run are kept apart, since
 * a task may run a callback of the user's, without the lock, and other threads may then add, run and remove tasks. */
bool mur_engine_tasks_run(void)
{
    struct mur_task *waiting = mur_engine.tasks, *task;
    bool moved = false;

    if (!waiting)
        return false;
    mur_engine.tasks = NULL;
    waiting->link = &waiting;
    while ((task = waiting)) {
        bool is_over = false;

        mur_engine_task_remove(task);
        moved |= task->run(task, &is_over);
        if (!is_over)
            task_link(&mur_engine.tasks, task);
    }
    return moved;
}

bool mur_progress(void)
{
    bool moved = mur_engine.transport->progress() > 0;

    mur_counters.passes++;
    if (__builtin_expect(mur_engine.network != NULL, 0))
        moved |= mur_engine.network->progress() > 0;
    if (__builtin_expect(mur_engine.backlogged != NULL, 0))
        moved |= drain_all();
    if (__builtin_expect(mur_engine.tasks != NULL, 0))
        moved |= mur_engine_tasks_run();
    if (__builtin_expect(atomic_load_explicit(mur_engine.bell, memory_order_relaxed), 0))
        moved |= mur_engine.answer_bell();
    if (moved)
        mur_engine_notify();
    return moved;
}

struct control_entry {
    struct mur_backlog_entry entry;
    struct mur_peer *peer;
    struct mur_frame frame;
    unsigned char data[];
};

static bool control_resume(struct mur_backlog_entry *entry)
{
    struct control_entry *control = (struct control_entry *)entry;

    if (!control->peer->transport->send(control->peer, &control->frame, control->data))
        return false;
    free(control);
    return true;
}

void mur_send_control(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct control_entry *control;

    if (mur_send_frame(peer, frame, data))
        return;
    control = malloc(sizeof *control + frame->bytes);
    if (!control)
        mur_boot_abort(1, "no memory to queue a control frame");
    control->entry.resume = control_resume;
    control->peer = peer;
    control->frame = *frame;
    memcpy(control->data, data, frame->bytes);
    mur_engine_backlog_add(peer, &control->entry);
}
