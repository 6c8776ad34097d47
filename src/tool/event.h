/* SPDX-License-Identifier: BSD-3-Clause */
/* Who listens to what happens (base/events.h), and how they hear of it (MPI-5.0 §15.3.8).
 *
 * An event is raised in the middle of a call, with the engine's lock held: only callbacks that promise not to call MPI
 * may run there, and in the thread that makes progress only those that are thread-safe, too. For a registration without
 * such a callback the event is kept until the call of the user's is about to return (mur_engine_leave). There is room
 * for MUR_EVENTS_KEPT; what does not fit is dropped and counted. */
#ifndef MUR_TOOL_EVENT_H
#define MUR_TOOL_EVENT_H

#include "base/events.h"
#include "base/pool.h"
#include "mpi.h"
#include "tool/tool.h"

struct mur_comm;
struct mur_info;

enum { MUR_EVENTS_KEPT = 256, MUR_SAFETY_LEVELS = 4, MUR_EVENT_ELEMENTS_MAX = 3 };

/* What tools may know of a kind of event. */
struct mur_event_type {
    const char *name, *part, *description;
    int verbosity;
    int bind;
    int element_count;
    MPI_Datatype datatypes[MUR_EVENT_ELEMENTS_MAX];
    MPI_Aint displacements[MUR_EVENT_ELEMENTS_MAX];
    size_t element_bytes[MUR_EVENT_ELEMENTS_MAX];
    size_t bytes;
    const struct mur_tool_enum *enumeration; /* names the elements */
};
extern const struct mur_event_type mur_event_types[MUR_EVENT_KINDS];

struct mur_callback {
    MPI_T_event_cb_function function; /* NULL: none of this level */
    void *user_data;
};

struct mur_registration {
    struct mur_object object;
    struct mur_registration *next; /* of the same kind of event */
    enum mur_event_kind kind;
    struct mur_comm *comm; /* that it is bound to, a reference; or NULL */
    struct mur_callback callbacks[MUR_SAFETY_LEVELS];
    MPI_T_event_dropped_cb_function dropped_handler;
    MPI_Count dropped; /* not told yet */
    unsigned kept;     /* events that wait for the end of a call; those that follow must not overtake them */
    int uses;          /* callbacks that run now */
    bool is_freed;     /* by the user: gone when nobody uses it any more */
    MPI_T_event_free_cb_function free_function;
    void *free_data;
};

/* One event, as a callback sees it. */
struct mur_event_instance {
    struct mur_registration *registration;
    MPI_Count timestamp;
    unsigned char data[MUR_EVENT_BYTES_MAX];
};

/* The index of a safety level; -1 where it is none. */
int mur_event_safety_index(MPI_T_cb_safety safety);

/* The one source: nanoseconds of the system's clock that only goes forward. */
enum { MUR_EVENT_SOURCES = 1 };
MPI_Count mur_event_clock(void);

/* The tool's locks are held for all of these. */
struct mur_registration *mur_event_registration_create(enum mur_event_kind kind, struct mur_comm *comm);
struct mur_registration *mur_event_registration_find(MPI_T_event_registration handle);

/* Nothing more is delivered to it. Its callback for the end runs, without the locks, when no other does. */
void mur_event_registration_free(struct mur_registration *registration, MPI_T_event_free_cb_function function,
                                 void *data);

/* Frees all without further callbacks. */
void mur_event_registrations_clear(void);

/* What this thread's callback was called for; NULL if the handle is something else. Needs no lock. */
const struct mur_event_instance *mur_event_instance_find(MPI_T_event_instance handle);

#endif
