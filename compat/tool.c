/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: objects that variables belong to, and events' callbacks, which see the family's constants. */
#include <pthread.h>
#include <stdlib.h>

#include "door.h"

/* The object of a variable as the core has it: of those that belong to an object, all belong to communicators. */
static void *object_at(int bind, const void *object, MPI_Comm *room)
{
    if (bind != MPI_T_BIND_MPI_COMM || !object)
        return NULL;
    *room = comm_in(*(const their_comm *)object);
    return room;
}

MUR_DOOR(int, T_cvar_handle_alloc, int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    MPI_Comm room;
    int bind = MPI_T_BIND_NO_OBJECT;

    murmur_door.T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL);
    return error_out(murmur_door.T_cvar_handle_alloc(index, object_at(bind, object, &room), handle, count));
}

MUR_DOOR(int, T_pvar_handle_alloc, MPI_T_pvar_session session, int index, void *object, MPI_T_pvar_handle *handle,
         int *count)
{
    MPI_Comm room;
    int bind = MPI_T_BIND_NO_OBJECT;

    murmur_door.T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL);
    return error_out(murmur_door.T_pvar_handle_alloc(session, index, object_at(bind, object, &room), handle, count));
}

MUR_DOOR(int, T_event_get_info, int index, char *name, int *name_len, int *verbosity, their_type types[],
         MPI_Aint displacements[], int *num_elements, MPI_T_enum *enumtype, their_info *info, char *desc, int *desc_len,
         int *bind)
{
    struct mur_door_list list;
    const int room = types && num_elements ? *num_elements : 0;
    MPI_Datatype *values = mur_list_room(&list, room, sizeof *values);
    MPI_Info info_value;
    int code = murmur_door.T_event_get_info(index, name, name_len, verbosity, types ? values : NULL, displacements,
                                            num_elements, enumtype, info ? &info_value : NULL, desc, desc_len, bind);

    if (!code) {
        for (int i = 0; i < room && i < *num_elements; i++)
            types[i] = type_out(values[i]);
        if (verbosity)
            *verbosity = verbosity_out(*verbosity);
        if (info)
            *info = info_out(info_value);
        if (bind)
            *bind = bind_out(*bind);
    }
    mur_list_free(&list);
    return error_out(code);
}

/* ---- Callbacks of events. What the program has registered is kept beside each registration, since the callbacks
 * differ by their promise (safety), and that for dropped events has no state of its own. */

enum { PROMISES = 4 };

struct registration;

struct callback {
    struct registration *registration;
    void (*call)(MPI_T_event_instance, MPI_T_event_registration, int safety, void *user_data);
    void *user_data;
};

struct registration {
    struct registration *next;
    MPI_T_event_registration handle;
    struct callback callbacks[PROMISES]; /* by the safety that they promise, in order; the core has their addresses */
    void (*dropped)(MPI_Count, MPI_T_event_registration, int source, int safety, void *user_data);
    void (*freed)(MPI_T_event_registration, int safety, void *user_data);
    void *free_data;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct registration *registrations;

static int promise_index(MPI_T_cb_safety safety)
{
    static const MPI_T_cb_safety order[PROMISES] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                                    MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

    for (int i = 0; i < PROMISES; i++)
        if (order[i] == safety)
            return i;
    return 0;
}

MUR_DOOR(int, T_event_handle_alloc, int index, void *object, their_info info, MPI_T_event_registration *handle)
{
    struct registration *registration = calloc(1, sizeof *registration);
    MPI_Comm room;
    int bind = MPI_T_BIND_NO_OBJECT, code;

    if (!registration)
        return error_out(MPI_T_ERR_MEMORY);
    murmur_door.T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind);
    code = murmur_door.T_event_handle_alloc(index, object_at(bind, object, &room), info_in(info), handle);
    if (code) {
        free(registration);
        return error_out(code);
    }
    registration->handle = *handle;
    pthread_mutex_lock(&guard);
    registration->next = registrations;
    registrations = registration;
    pthread_mutex_unlock(&guard);
    return MPI_SUCCESS;
}

static struct registration *find(MPI_T_event_registration handle)
{
    struct registration *registration;

    pthread_mutex_lock(&guard);
    registration = registrations;
    while (registration && registration->handle != handle)
        registration = registration->next;
    pthread_mutex_unlock(&guard);
    return registration;
}

static void event_happened(MPI_T_event_instance instance, MPI_T_event_registration handle, MPI_T_cb_safety safety,
                           void *state)
{
    const struct callback *callback = state;

    callback->call(instance, handle, safety_out((int)safety), callback->user_data);
}

static void events_dropped(MPI_Count count, MPI_T_event_registration handle, int source, MPI_T_cb_safety safety,
                           void *state)
{
    const struct callback *callback = state;

    if (callback->registration->dropped)
        callback->registration->dropped(count, handle, source, safety_out((int)safety), callback->user_data);
}

static void registration_freed(MPI_T_event_registration handle, MPI_T_cb_safety safety, void *state)
{
    struct registration *registration = state, **link = &registrations;

    if (registration->freed)
        registration->freed(handle, safety_out((int)safety), registration->free_data);
    pthread_mutex_lock(&guard);
    while (*link && *link != registration)
        link = &(*link)->next;
    if (*link)
        *link = registration->next;
    pthread_mutex_unlock(&guard);
    free(registration);
}

MUR_DOOR(int, T_event_register_callback, MPI_T_event_registration handle, int safety, their_info info, void *user_data,
         void (*call)(MPI_T_event_instance, MPI_T_event_registration, int, void *))
{
    struct registration *registration = find(handle);
    const MPI_T_cb_safety promise = (MPI_T_cb_safety)safety_in(safety);
    struct callback *callback = registration ? &registration->callbacks[promise_index(promise)] : NULL;

    if (callback)
        *callback = (struct callback){registration, call, user_data};
    return error_out(
        murmur_door.T_event_register_callback(handle, promise, info_in(info), callback, call ? event_happened : NULL));
}

MUR_DOOR(int, T_event_set_dropped_handler, MPI_T_event_registration handle,
         void (*dropped)(MPI_Count, MPI_T_event_registration, int, int, void *))
{
    struct registration *registration = find(handle);

    if (registration)
        registration->dropped = dropped;
    return error_out(murmur_door.T_event_set_dropped_handler(handle, dropped ? events_dropped : NULL));
}

MUR_DOOR(int, T_event_handle_free, MPI_T_event_registration handle, void *user_data,
         void (*freed)(MPI_T_event_registration, int, void *))
{
    struct registration *registration = find(handle);

    if (registration) {
        registration->freed = freed;
        registration->free_data = user_data;
    }
    return error_out(murmur_door.T_event_handle_free(handle, registration, registration ? registration_freed : NULL));
}
