/* SPDX-License-Identifier: BSD-3-Clause */
/* Events inside the library that tools can subscribe to. The code where an event happens asks mur_events_wanted, a word
 * that is zero while no tool listens, and raises the event; src/tool/event.c knows who listens. */
#ifndef MUR_BASE_EVENTS_H
#define MUR_BASE_EVENTS_H

#include <stdint.h>

enum mur_event_kind {
    MUR_EVENT_UNEXPECTED, /* a message has arrived before its receive */
    MUR_EVENT_RENDEZVOUS, /* a send has announced its message */
    MUR_EVENT_HOLD,       /* a sender was told to keep its messages, or that it may send again */
    MUR_EVENT_COLLECTIVE, /* a collective operation begins; of a communicator */
    MUR_EVENT_KINDS,
};

/* The data of each; src/tool/event.c describes them to tools. */
struct mur_event_message {
    int32_t rank, tag;
    uint64_t bytes;
};

struct mur_event_hold {
    int32_t process, is_held;
    uint64_t bytes; /* kept here */
};

struct mur_event_collective {
    int32_t kind, form;
};

enum { MUR_EVENT_BYTES_MAX = 32 };

extern uint32_t mur_events_wanted; /* one bit a kind */
extern void (*mur_event_raise)(enum mur_event_kind kind, const void *object, const void *data);

/* The engine's lock is held. `object` is what the event belongs to, or NULL. */
static inline void mur_event(enum mur_event_kind kind, const void *object, const void *data)
{
    if (__builtin_expect(mur_events_wanted & 1u << kind, 0))
        mur_event_raise(kind, object, data);
}

#endif
