/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool information interface: start and end, enumerations, categories (MPI-5.0 §15.3.4, §15.3.5, §15.3.9). */
#include "mpi/tool.h"

#include <string.h>

#include "mpi/bodies.h"
#include "tool/event.h"
#include "tool/meter.h"

int mur_mpi_t_init_thread(int required, int *provided)
{
    if (!provided || (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED &&
                      required != MPI_THREAD_SERIALIZED && required != MPI_THREAD_MULTIPLE))
        return MPI_T_ERR_INVALID;
    return mur_tool_open(required, provided);
}

static void clear(void)
{
    mur_event_registrations_clear();
    mur_tool_sessions_clear();
    mur_tool_controls_clear();
}

int mur_mpi_t_finalize(void)
{
    return mur_tool_close(clear);
}

/* ---- enumerations ---- */

int mur_mpi_t_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct mur_tool_enum *enumeration = mur_tool_enum_find(enumtype);
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(enumeration, MPI_T_ERR_INVALID_HANDLE);
    MUR_TOOL_NEED(mur_tool_tell(enumeration->name, name, name_len), MPI_T_ERR_INVALID);
    if (num)
        *num = enumeration->count;
    return mur_tool_done();
}

int mur_mpi_t_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    const struct mur_tool_enum *enumeration = mur_tool_enum_find(enumtype);
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(enumeration, MPI_T_ERR_INVALID_HANDLE);
    MUR_TOOL_NEED(indx >= 0 && indx < enumeration->count, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(value && mur_tool_tell(enumeration->items[indx].name, name, name_len), MPI_T_ERR_INVALID);
    *value = enumeration->items[indx].value;
    return mur_tool_done();
}

/* ---- categories: the one above all has the others, they have the variables of their part ---- */

static bool is_of(const char *part, int category)
{
    return strcmp(part, mur_tool_categories[category].name) == 0;
}

static bool has_control(int category, int i)
{
    return is_of(mur_tool_control_part(i), category);
}

static bool has_meter(int category, int i)
{
    return is_of(mur_meters[i].part, category);
}

static bool has_event(int category, int i)
{
    return is_of(mur_event_types[i].part, category);
}

static bool has_category(int category, int i)
{
    return category == MUR_TOOL_ROOT && i != MUR_TOOL_ROOT;
}

/* Puts those of `all` that the category has into indices, `length` of them at most. Returns how many it has. */
static int list(int category, int all, bool (*has)(int category, int i), int *indices, int length)
{
    int count = 0;

    for (int i = 0; i < all; i++) {
        if (!has(category, i))
            continue;
        if (count < length)
            indices[count] = i;
        count++;
    }
    return count;
}

static int get(int category, int all, bool (*has)(int category, int i), int *indices, int length)
{
    MUR_TOOL_NEED(category >= 0 && category < MUR_TOOL_CATEGORIES, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(length >= 0 && (indices || !length), MPI_T_ERR_INVALID);
    list(category, all, has, indices, length);
    return mur_tool_done();
}

int mur_mpi_t_category_get_num(int *num_cat)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(num_cat, MPI_T_ERR_INVALID);
    *num_cat = MUR_TOOL_CATEGORIES;
    return mur_tool_done();
}

/* All categories and what they have are known from the start. */
int mur_mpi_t_category_changed(int *update_number)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(update_number, MPI_T_ERR_INVALID);
    *update_number = 0;
    return mur_tool_done();
}

int mur_mpi_t_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
                                int *num_pvars, int *num_categories)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(cat_index >= 0 && cat_index < MUR_TOOL_CATEGORIES, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(mur_tool_tell(mur_tool_categories[cat_index].name, name, name_len) &&
                      mur_tool_tell(mur_tool_categories[cat_index].description, desc, desc_len),
                  MPI_T_ERR_INVALID);
    if (num_cvars)
        *num_cvars = list(cat_index, mur_tool_control_count(), has_control, NULL, 0);
    if (num_pvars)
        *num_pvars = list(cat_index, mur_meter_count, has_meter, NULL, 0);
    if (num_categories)
        *num_categories = list(cat_index, MUR_TOOL_CATEGORIES, has_category, NULL, 0);
    return mur_tool_done();
}

int mur_mpi_t_category_get_num_events(int cat_index, int *num_events)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(cat_index >= 0 && cat_index < MUR_TOOL_CATEGORIES, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(num_events, MPI_T_ERR_INVALID);
    *num_events = list(cat_index, MUR_EVENT_KINDS, has_event, NULL, 0);
    return mur_tool_done();
}

int mur_mpi_t_category_get_index(const char *name, int *cat_index)
{
    int rc = mur_tool_enter(), i = 0;

    if (rc)
        return rc;
    MUR_TOOL_NEED(name && cat_index, MPI_T_ERR_INVALID);
    while (i < MUR_TOOL_CATEGORIES && !is_of(name, i))
        i++;
    MUR_TOOL_NEED(i < MUR_TOOL_CATEGORIES, MPI_T_ERR_INVALID_NAME);
    *cat_index = i;
    return mur_tool_done();
}

int mur_mpi_t_category_get_cvars(int cat_index, int len, int indices[])
{
    int rc = mur_tool_enter();

    return rc ? rc : get(cat_index, mur_tool_control_count(), has_control, indices, len);
}

int mur_mpi_t_category_get_pvars(int cat_index, int len, int indices[])
{
    int rc = mur_tool_enter();

    return rc ? rc : get(cat_index, mur_meter_count, has_meter, indices, len);
}

int mur_mpi_t_category_get_events(int cat_index, int len, int indices[])
{
    int rc = mur_tool_enter();

    return rc ? rc : get(cat_index, MUR_EVENT_KINDS, has_event, indices, len);
}

int mur_mpi_t_category_get_categories(int cat_index, int len, int indices[])
{
    int rc = mur_tool_enter();

    return rc ? rc : get(cat_index, MUR_TOOL_CATEGORIES, has_category, indices, len);
}
