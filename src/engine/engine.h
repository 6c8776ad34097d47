/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine: all hot state of the process, and what drives it. Progress moves frames between transports and the
 * handlers of the protocols above; waiting repeats progress until a condition holds. */
#ifndef MUR_ENGINE_ENGINE_H
#define MUR_ENGINE_ENGINE_H

#include "engine/rest.h"
#include "engine/state.h"

/* What frames are for. Each protocol registers the handlers of its kinds. */
enum mur_frame_kind {
    MUR_FRAME_EAGER,       /* a whole message */
    MUR_FRAME_READY,       /* rendezvous: "I have a message for you"; matched like an eager one */
    MUR_FRAME_CLAIM,       /* rendezvous: the receiver's answer: copying has begun, help, or send it in pieces */
    MUR_FRAME_PIECE,       /* rendezvous: a piece of the message, where memory cannot be shared */
    MUR_FRAME_DONE,        /* rendezvous: the last byte has been copied */
    MUR_FRAME_RELEASE,     /* rendezvous: the receiver has no more use for the transfer */
    MUR_FRAME_CANCEL,      /* rendezvous: "forget this message, unless it has been matched" */
    MUR_FRAME_CANCELLED,   /* rendezvous: it is forgotten */
    MUR_FRAME_HOLD,        /* flow control: "too much of yours waits here; send no message at once any more" */
    MUR_FRAME_RESUME,      /* flow control: "you may again" */
    MUR_FRAME_ACCESS,      /* one-sided: an operation on this process's part of a window, or a piece of one */
    MUR_FRAME_ANSWER,      /* one-sided: the data that an operation asked for */
    MUR_FRAME_BULK,        /* one-sided: large data that an access or an answer has announced */
    MUR_FRAME_SYNC,        /* one-sided: locks, epochs, completion */
    MUR_FRAME_POINTER_ADD, /* files: "move the shared file pointer on", to the rank that keeps it */
    MUR_FRAME_POINTER_IS,  /* files: where it was */
    MUR_FRAME_LOST,        /* jobs: a process of another one has ended */
    MUR_FRAME_KINDS,
};

/* A send that found no room waits here, in order, until the peer's path has some. */
struct mur_backlog_entry {
    struct mur_backlog_entry *next;
    /* Tries again; true when all has been sent, and the entry is done with. */
    bool (*resume)(struct mur_backlog_entry *entry);
};

/* Work that progress repeats until it says that it is over: the copying of large messages. */
struct mur_task {
    struct mur_task *next, **link;                     /* link: NULL while in no list */
    bool (*run)(struct mur_task *task, bool *is_over); /* does a bounded piece of work; true if it got further */
};

/* Opens the transports for a job of `size` processes, with so much common memory. */
int mur_engine_start(int size, size_t common_bytes);

/* A tool has changed a setting: takes over those of the engine and the transports that may change while it runs. */
void mur_engine_settings_changed(void);

/* Whether all these processes share memory with this one. */
bool mur_engine_is_node(const int *processes, int count);

/* In a child that this process has forked: closes what it has inherited of the connections, and makes the lock new,
 * which may have been held by a thread that the child does not have. */
void mur_engine_forked(void);

/* Finishes everything that others still need from this process. */
void mur_engine_drain(void);

/* This process leaves MPI, drained, with the world or with its last session; and opens its next session. */
void mur_engine_leave_mpi(bool is_world);
void mur_engine_come_back(void);

/* One pass over everything that may have moved; returns false when nothing did. Never blocks. */
bool mur_progress(void);

/* What was kept back goes out now: at the end of calls that complete something, after which the caller may compute for
 * long. Where it waits for a connection, the call stays for a moment, so that the connection can be made. */
void mur_engine_flush_slow(void);
static inline void mur_engine_flush(void)
{
    if (__builtin_expect(mur_engine.has_unsent | mur_engine.has_early, 0))
        mur_engine_flush_slow();
}

/* Progress until *flag is not zero: spins, yields, sleeps (engine/wait.c). `describe` says for those who look from
 * outside what it is waited for, by `what` (engine/rest.h). */
void mur_wait_for(const volatile uint8_t *flag, mur_describer *describe, const void *what);

/* The budgets of spinning and yielding are asked for again. */
void mur_wait_settings_changed(void);

/* Of waits for what others still need from this process. */
mur_describer mur_describe_ending;

/* For loops whose condition is not a flag: call one of the two after each progress, as it moved something or not. */
struct mur_waiter {
    uint64_t since; /* clock ticks when idling began; 0 while not idle */
    uint32_t polls;
    bool has_rested; /* in this wait */
};
void mur_waiter_idle(struct mur_waiter *waiter, mur_describer *describe, const void *what);

static inline void mur_waiter_moved(struct mur_waiter *waiter)
{
    waiter->since = 0;
    waiter->polls = 0;
}

/* One pass of progress for calls that do not wait (MPI_Test, MPI_Iprobe). A program that calls them in a loop may keep
 * the core from the very rank that it waits for: where ranks share cores, the core is handed on every few passes that
 * moved nothing. */
bool mur_engine_poke(void);

/* For calls that may complete at once, without a pass of progress: windows, files, tests of requests that are not
 * active. A rank that makes nothing but such calls still serves others, since every so often one of them makes a pass.
 * The weight says how many of the shortest calls, of a few nanoseconds each, a call is worth. */
enum { MUR_CALLS_A_PASS = 256, MUR_CALL_LONG = 8 };
void mur_engine_pass(void);
static inline void mur_engine_called(unsigned weight)
{
    if (__builtin_expect((mur_engine.calls += weight) >= MUR_CALLS_A_PASS, 0))
        mur_engine_pass();
}

/* For loops that look at one place in memory before they wait for long: how often they may look, with a pause between
 * two looks (mur_cpu_relax). None where the core is wanted by another rank. */
int mur_wait_polls(void);

/* Sends unless there is a backlog, which must keep the order. */
static inline bool mur_send_frame(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    return !peer->backlog && peer->transport->send(peer, frame, data);
}

static inline bool mur_send_frame_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack,
                                         void *argument)
{
    return !peer->backlog && peer->transport->send_packed(peer, frame, pack, argument);
}

void mur_engine_backlog_add(struct mur_peer *peer, struct mur_backlog_entry *entry);

/* Takes a send out that still waits; false when it does not. */
bool mur_engine_backlog_remove(struct mur_peer *peer, const struct mur_backlog_entry *entry);

/* Resumes all of a peer's, whose transport refuses nothing. */
void mur_engine_backlog_drop(struct mur_peer *peer);

/* Sends a small control frame, now or as soon as there is room. Only a lack of memory makes it fail, which is fatal. */
void mur_send_control(struct mur_peer *peer, const struct mur_frame *frame, const void *data);

void mur_engine_task_add(struct mur_task *task);

/* Runs each task once; true when one got further. */
bool mur_engine_tasks_run(void);

/* Takes a task out of the list, if it is there. */
void mur_engine_task_remove(struct mur_task *task);

#endif
