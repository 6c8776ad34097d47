/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations hang on a list for each kind of event. A callback runs without the tool's lock; meanwhile `uses` keeps
 * its registration in the list, so that the walk can go on from there. */
#include "tool/event.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "engine/background.h"
#include "engine/lock.h"
#include "object/comm.h"

#define ELEMENT(type, field) offsetof(struct type, field)

/* What events about a message tell of it. */
#define MESSAGE                                                                                                        \
    3, {MPI_INT, MPI_INT, MPI_UNSIGNED_LONG_LONG},                                                                     \
        {ELEMENT(mur_event_message, rank), ELEMENT(mur_event_message, tag), ELEMENT(mur_event_message, bytes)},        \
        {4, 4, 8}, sizeof(struct mur_event_message), &mur_tool_message

const struct mur_event_type mur_event_types[MUR_EVENT_KINDS] = {
    [MUR_EVENT_UNEXPECTED] = {"message_unexpected", "pt2pt",
                              "a message has arrived before its receive was posted: rank of the sender, tag, bytes",
                              MPI_T_VERBOSITY_USER_BASIC, MPI_T_BIND_NO_OBJECT, MESSAGE},
    [MUR_EVENT_RENDEZVOUS] = {"rendezvous_start", "pt2pt",
                              "a large message is announced to its receiver: rank there of the job, tag, bytes",
                              MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT, MESSAGE},
    [MUR_EVENT_HOLD] = {"flow_hold",
                        "pt2pt",
                        "a sender was told to keep its messages (is_held 1), or that it may send again (0)",
                        MPI_T_VERBOSITY_TUNER_BASIC,
                        MPI_T_BIND_NO_OBJECT,
                        3,
                        {MPI_INT, MPI_INT, MPI_UNSIGNED_LONG_LONG},
                        {ELEMENT(mur_event_hold, process), ELEMENT(mur_event_hold, is_held),
                         ELEMENT(mur_event_hold, bytes)},
                        {4, 4, 8},
                        sizeof(struct mur_event_hold),
                        &mur_tool_hold},
    [MUR_EVENT_COLLECTIVE] = {"collective_start",
                              "coll",
                              "a collective operation starts on a communicator: kind, as the variable \"collectives\" "
                              "counts them; form 0 blocking, 1 nonblocking, 2 persistent",
                              MPI_T_VERBOSITY_USER_BASIC,
                              MPI_T_BIND_MPI_COMM,
                              2,
                              {MPI_INT, MPI_INT},
                              {ELEMENT(mur_event_collective, kind), ELEMENT(mur_event_collective, form)},
                              {4, 4},
                              sizeof(struct mur_event_collective),
                              &mur_tool_collective},
};

static const MPI_T_cb_safety levels[MUR_SAFETY_LEVELS] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                                          MPI_T_CB_REQUIRE_THREAD_SAFE,
                                                          MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

static struct mur_pool pool = MUR_POOL(MUR_KIND_TOOL_REGISTRATION, struct mur_registration, "event registrations");
static struct mur_registration *registrations[MUR_EVENT_KINDS];

/* Events that wait for the end of a call: a ring. */
static struct {
    struct mur_event_instance kept[MUR_EVENTS_KEPT];
    unsigned first, count;
} ring;

static _Thread_local const struct mur_event_instance *current;

int mur_event_safety_index(MPI_T_cb_safety safety)
{
    for (int i = 0; i < MUR_SAFETY_LEVELS; i++)
        if (levels[i] == safety)
            return i;
    return -1;
}

MPI_Count mur_event_clock(void)
{
    return (MPI_Count)mur_clock_ns();
}

const struct mur_event_instance *mur_event_instance_find(MPI_T_event_instance handle)
{
    return handle && handle == (MPI_T_event_instance)(void *)current ? current : NULL;
}

struct mur_registration *mur_event_registration_find(MPI_T_event_registration handle)
{
    struct mur_registration *registration = mur_object_find(handle, MUR_KIND_TOOL_REGISTRATION);

    return registration && !registration->is_freed ? registration : NULL;
}

/* The lowest level that will do and has a callback; -1: none. */
static int level_for(const struct mur_registration *registration, int required)
{
    for (int i = required; i < MUR_SAFETY_LEVELS; i++)
        if (registration->callbacks[i].function)
            return i;
    return -1;
}

/* ---- registrations ---- */

static void raise(enum mur_event_kind kind, const void *object, const void *data);
static void run_kept(void);

struct mur_registration *mur_event_registration_create(enum mur_event_kind kind, struct mur_comm *comm)
{
    struct mur_registration *registration = mur_pool_get(&pool);
    struct mur_object header;

    if (!registration)
        return NULL;
    header = registration->object;
    *registration = (struct mur_registration){.object = header, .kind = kind, .comm = comm};
    if (comm)
        mur_comm_retain(comm);
    registration->next = registrations[kind];
    registrations[kind] = registration;
    mur_lock.run_deferred = run_kept;
    mur_event_raise = raise;
    mur_events_wanted |= 1u << kind;
    return registration;
}

static void destroy(struct mur_registration *registration)
{
    struct mur_registration **link = &registrations[registration->kind];

    while (*link != registration)
        link = &(*link)->next;
    *link = registration->next;
    if (!registrations[registration->kind])
        mur_events_wanted &= ~(1u << registration->kind);
    if (registration->comm)
        mur_comm_release(registration->comm);
    mur_pool_put(&pool, registration);
}

static void forget_kept(const struct mur_registration *registration)
{
    unsigned left = 0;

    for (unsigned i = 0; i < ring.count; i++) {
        const struct mur_event_instance *kept = &ring.kept[(ring.first + i) % MUR_EVENTS_KEPT];

        if (kept->registration != registration)
            ring.kept[(ring.first + left++) % MUR_EVENTS_KEPT] = *kept;
    }
    ring.count = left;
}

/* Callbacks run without the tool's lock. Where nothing is required of them, without the engine's, too. */
static void give_up(int required)
{
    if (required)
        mur_tool_unlock();
    else
        mur_tool_leave();
}

static void take_back(int required)
{
    if (required)
        mur_tool_lock();
    else
        mur_tool_lock_both();
}

/* The last act of a registration that its user has freed, when nothing holds it any more. */
static void end_if_unused(struct mur_registration *registration, int level)
{
    MPI_T_event_free_cb_function function = registration->free_function;
    void *data = registration->free_data;

    if (registration->uses || !registration->is_freed)
        return;
    if (function) {
        registration->free_function = NULL;
        registration->uses++;
        give_up(level);
        function((MPI_T_event_registration)(void *)registration, levels[level], data);
        take_back(level);
        if (--registration->uses)
            return;
    }
    destroy(registration);
}

void mur_event_registration_free(struct mur_registration *registration, MPI_T_event_free_cb_function function,
                                 void *data)
{
    forget_kept(registration);
    registration->is_freed = true;
    registration->free_function = function;
    registration->free_data = data;
    end_if_unused(registration, 0);
}

void mur_event_registrations_clear(void)
{
    ring.count = 0;
    for (int kind = 0; kind < MUR_EVENT_KINDS; kind++)
        for (struct mur_registration *registration = registrations[kind], *next; registration; registration = next) {
            next = registration->next;
            registration->is_freed = true;
            registration->free_function = NULL;
            end_if_unused(registration, 0);
        }
}

/* ---- delivery ---- */

/* Calls back, with the tool's lock given up. First it tells of events that were dropped before this one. */
static void deliver(struct mur_registration *registration, int required, const struct mur_event_instance *instance)
{
    int level = level_for(registration, required);
    struct mur_callback callback = registration->callbacks[level < 0 ? 0 : level];
    MPI_T_event_dropped_cb_function dropped_handler = registration->dropped_handler;
    MPI_T_event_registration handle = (MPI_T_event_registration)(void *)registration;
    MPI_Count dropped = registration->dropped;
    bool was_restricted = mur_tool_is_restricted;

    if (level < 0)
        return;
    registration->uses++;
    registration->dropped = 0;
    give_up(required);
    mur_tool_is_restricted = required > 0;
    if (dropped && dropped_handler)
        dropped_handler(dropped, handle, 0, levels[required], callback.user_data);
    if (instance) {
        current = instance;
        callback.function((MPI_T_event_instance)(void *)instance, handle, levels[required], callback.user_data);
        current = NULL;
    }
    mur_tool_is_restricted = was_restricted;
    take_back(required);
    registration->uses--;
}

/* On to the next of the list, which may change while the end of this one is told. */
static struct mur_registration *step(struct mur_registration *registration, int level)
{
    struct mur_registration *next = registration->next;

    if (next)
        next->uses++;
    end_if_unused(registration, level);
    if (next)
        next->uses--;
    return next;
}

static void keep(const struct mur_event_instance *instance)
{
    if (ring.count == MUR_EVENTS_KEPT) {
        instance->registration->dropped++;
        return;
    }
    ring.kept[(ring.first + ring.count++) % MUR_EVENTS_KEPT] = *instance;
    instance->registration->kept++;
    mur_lock.has_deferred = true;
}

static void raise(enum mur_event_kind kind, const void *object, const void *data)
{
    struct mur_event_instance instance = {.timestamp = mur_event_clock()};
    bool is_inside = mur_tool_is_restricted || current;
    int required = mur_background_is_here() ? 2 : 1;

    memcpy(instance.data, data, mur_event_types[kind].bytes);
    mur_tool_lock();
    for (struct mur_registration *registration = registrations[kind]; registration;
         registration = step(registration, required))
        if (!registration->is_freed && (!registration->comm || registration->comm == object) &&
            level_for(registration, 0) >= 0) {
            instance.registration = registration;
            if (is_inside || registration->kept || level_for(registration, required) < 0)
                keep(&instance);
            else
                deliver(registration, required, &instance);
        }
    mur_tool_unlock();
}

/* Those who lost events to a full ring are told once there is room again. */
static void tell_dropped(void)
{
    for (int kind = 0; kind < MUR_EVENT_KINDS; kind++)
        for (struct mur_registration *registration = registrations[kind]; registration;
             registration = step(registration, 0))
            if (registration->dropped && !registration->is_freed)
                deliver(registration, 0, NULL);
}

/* What callbacks raise meanwhile waits for the next call. */
static void run_kept(void)
{
    unsigned count;

    if (current || mur_tool_is_restricted || mur_background_is_here())
        return;
    mur_tool_lock_both();
    mur_lock.has_deferred = false;
    for (count = ring.count; count && ring.count; count--) {
        struct mur_event_instance instance = ring.kept[ring.first];

        ring.first = (ring.first + 1) % MUR_EVENTS_KEPT;
        ring.count--;
        instance.registration->kept--;
        deliver(instance.registration, 0, &instance);
        end_if_unused(instance.registration, 0);
    }
    tell_dropped();
    if (ring.count)
        mur_lock.has_deferred = true;
    mur_tool_leave();
}
