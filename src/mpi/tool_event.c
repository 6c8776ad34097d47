/* SPDX-License-Identifier: BSD-3-Clause */
/* Events and their source (MPI-5.0 §15.3.8). No hint is known for registrations and callbacks: what is told of them is
 * empty. */
#include <string.h>

#include "base/pool.h"
#include "mpi/bodies.h"
#include "mpi/tool.h"
#include "object/buffer.h"
#include "object/comm.h"
#include "object/info.h"
#include "tool/event.h"

static bool is_info(MPI_Info info)
{
    return info == MPI_INFO_NULL || mur_info_find(info);
}

/* A new, empty one, if it is asked for; the user frees it. */
static bool give_info(MPI_Info *info)
{
    struct mur_info *made = NULL;

    if (!info)
        return true;
    if (mur_info_create(&made))
        return false;
    *info = mur_object_handle(made);
    return true;
}

/* ---- sources ---- */

int mur_mpi_t_source_get_num(int *num_sources)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(num_sources, MPI_T_ERR_INVALID);
    *num_sources = MUR_EVENT_SOURCES;
    return mur_tool_done();
}

int mur_mpi_t_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                              MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks,
                              MPI_Info *info)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(source_index >= 0 && source_index < MUR_EVENT_SOURCES, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(mur_tool_tell("process", name, name_len) &&
                      mur_tool_tell("this process, by the system's clock that only goes forward", desc, desc_len),
                  MPI_T_ERR_INVALID);
    if (ordering)
        *ordering = MPI_T_SOURCE_ORDERED;
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    MUR_TOOL_NEED(give_info(info), MPI_T_ERR_MEMORY);
    return mur_tool_done();
}

int mur_mpi_t_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(source_index >= 0 && source_index < MUR_EVENT_SOURCES, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(timestamp, MPI_T_ERR_INVALID);
    *timestamp = mur_event_clock();
    return mur_tool_done();
}

/* ---- kinds ---- */

int mur_mpi_t_event_get_num(int *num_events)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(num_events, MPI_T_ERR_INVALID);
    *num_events = MUR_EVENT_KINDS;
    return mur_tool_done();
}

int mur_mpi_t_event_get_index(const char *name, int *event_index)
{
    int rc = mur_tool_enter(), i = 0;

    if (rc)
        return rc;
    MUR_TOOL_NEED(name && event_index, MPI_T_ERR_INVALID);
    while (i < MUR_EVENT_KINDS && strcmp(mur_event_types[i].name, name) != 0)
        i++;
    MUR_TOOL_NEED(i < MUR_EVENT_KINDS, MPI_T_ERR_INVALID_NAME);
    *event_index = i;
    return mur_tool_done();
}

/* The elements, as many as the arrays have room for; *num_elements becomes how many there are. */
static bool give_elements(const struct mur_event_type *type, MPI_Datatype datatypes[], MPI_Aint displacements[],
                          int *num_elements)
{
    if (!num_elements)
        return true;
    if (*num_elements < 0 && (datatypes || displacements))
        return false;
    for (int i = 0; i < type->element_count && i < *num_elements; i++) {
        if (datatypes)
            datatypes[i] = type->datatypes[i];
        if (displacements)
            displacements[i] = type->displacements[i];
    }
    *num_elements = type->element_count;
    return true;
}

int mur_mpi_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                             MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements,
                             MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind)
{
    const struct mur_event_type *type;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(event_index >= 0 && event_index < MUR_EVENT_KINDS, MPI_T_ERR_INVALID_INDEX);
    type = &mur_event_types[event_index];
    MUR_TOOL_NEED(mur_tool_tell(type->name, name, name_len) && mur_tool_tell(type->description, desc, desc_len) &&
                      give_elements(type, array_of_datatypes, array_of_displacements, num_elements),
                  MPI_T_ERR_INVALID);
    if (verbosity)
        *verbosity = type->verbosity;
    if (enumtype)
        *enumtype = mur_tool_enum_handle(type->enumeration);
    if (bind)
        *bind = type->bind;
    MUR_TOOL_NEED(give_info(info), MPI_T_ERR_MEMORY);
    return mur_tool_done();
}

/* ---- registrations ---- */

int mur_mpi_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                                 MPI_T_event_registration *event_registration)
{
    struct mur_registration *made;
    struct mur_comm *comm = NULL;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(event_index >= 0 && event_index < MUR_EVENT_KINDS, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(event_registration && is_info(info), MPI_T_ERR_INVALID);
    if (mur_event_types[event_index].bind == MPI_T_BIND_MPI_COMM) {
        MUR_TOOL_NEED(obj_handle, MPI_T_ERR_INVALID);
        comm = mur_comm_find(*(MPI_Comm *)obj_handle);
        MUR_TOOL_NEED(comm, MPI_T_ERR_INVALID);
    }
    made = mur_event_registration_create((enum mur_event_kind)event_index, comm);
    MUR_TOOL_NEED(made, MPI_T_ERR_OUT_OF_HANDLES);
    *event_registration = (MPI_T_event_registration)(void *)made;
    return mur_tool_done();
}

int mur_mpi_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                                MPI_T_event_free_cb_function free_cb_function)
{
    struct mur_registration *found;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    found = mur_event_registration_find(event_registration);
    MUR_TOOL_NEED(found, MPI_T_ERR_INVALID_HANDLE);
    mur_event_registration_free(found, free_cb_function, user_data);
    return mur_tool_done();
}

/* On success the locks are held. */
static int enter_with(MPI_T_event_registration handle, struct mur_registration **found_p)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    *found_p = mur_event_registration_find(handle);
    MUR_TOOL_NEED(*found_p, MPI_T_ERR_INVALID_HANDLE);
    return MPI_SUCCESS;
}

int mur_mpi_t_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                      MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function)
{
    struct mur_registration *found;
    int rc = enter_with(event_registration, &found), level = mur_event_safety_index(cb_safety);

    if (rc)
        return rc;
    MUR_TOOL_NEED(level >= 0 && is_info(info), MPI_T_ERR_INVALID);
    found->callbacks[level] = (struct mur_callback){.function = event_cb_function, .user_data = user_data};
    return mur_tool_done();
}

int mur_mpi_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                        MPI_T_event_dropped_cb_function dropped_cb_function)
{
    struct mur_registration *found;
    int rc = enter_with(event_registration, &found);

    if (rc)
        return rc;
    found->dropped_handler = dropped_cb_function;
    return mur_tool_done();
}

static int set_info(MPI_T_event_registration registration, int level, MPI_Info info)
{
    struct mur_registration *found;
    int rc = enter_with(registration, &found);

    if (rc)
        return rc;
    MUR_TOOL_NEED(level >= 0 && is_info(info), MPI_T_ERR_INVALID);
    return mur_tool_done();
}

static int get_info(MPI_T_event_registration registration, int level, MPI_Info *info)
{
    struct mur_registration *found;
    int rc = enter_with(registration, &found);

    if (rc)
        return rc;
    MUR_TOOL_NEED(level >= 0 && info, MPI_T_ERR_INVALID);
    MUR_TOOL_NEED(give_info(info), MPI_T_ERR_MEMORY);
    return mur_tool_done();
}

int mur_mpi_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    return set_info(event_registration, 0, info);
}

int mur_mpi_t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    return get_info(event_registration, 0, info_used);
}

int mur_mpi_t_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                      MPI_Info info)
{
    return set_info(event_registration, mur_event_safety_index(cb_safety), info);
}

int mur_mpi_t_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                      MPI_Info *info_used)
{
    return get_info(event_registration, mur_event_safety_index(cb_safety), info_used);
}

/* ---- one event, inside a callback: these take no lock ---- */

static int no_instance(void)
{
    int rc = mur_tool_enter();

    if (rc == MPI_T_ERR_NOT_INITIALIZED)
        return rc;
    if (!rc)
        mur_tool_leave();
    return MPI_T_ERR_INVALID_HANDLE;
}

int mur_mpi_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    const struct mur_event_instance *instance = mur_event_instance_find(event_instance);
    const struct mur_event_type *type;

    if (!instance)
        return no_instance();
    type = &mur_event_types[instance->registration->kind];
    if (element_index < 0 || element_index >= type->element_count)
        return MPI_T_ERR_INVALID_INDEX;
    if (!mur_is_memory(buffer))
        return MPI_T_ERR_INVALID;
    memcpy(buffer, instance->data + type->displacements[element_index], type->element_bytes[element_index]);
    return MPI_SUCCESS;
}

int mur_mpi_t_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    const struct mur_event_instance *instance = mur_event_instance_find(event_instance);

    if (!instance)
        return no_instance();
    if (!mur_is_memory(buffer))
        return MPI_T_ERR_INVALID;
    memcpy(buffer, instance->data, mur_event_types[instance->registration->kind].bytes);
    return MPI_SUCCESS;
}

int mur_mpi_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    const struct mur_event_instance *instance = mur_event_instance_find(event_instance);

    if (!instance)
        return no_instance();
    if (!event_timestamp)
        return MPI_T_ERR_INVALID;
    *event_timestamp = instance->timestamp;
    return MPI_SUCCESS;
}

int mur_mpi_t_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    const struct mur_event_instance *instance = mur_event_instance_find(event_instance);

    if (!instance)
        return no_instance();
    if (!source_index)
        return MPI_T_ERR_INVALID;
    *source_index = 0;
    return MPI_SUCCESS;
}
