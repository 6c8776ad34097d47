/* SPDX-License-Identifier: BSD-3-Clause */
/* Control variables (MPI-5.0 §15.3.6): the settings. Those of numbers come first, then those of texts, which can only
 * be read. Names are those of the environment. A switch is an int with an enumeration, a number an MPI_Count. */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/settings.h"
#include "boot/process.h"
#include "engine/engine.h"
#include "mpi/bodies.h"
#include "mpi/tool.h"
#include "object/buffer.h"

struct control {
    struct mur_object object;
    const struct mur_setting *setting; /* NULL: a text */
    char *text;                        /* as it was when the handle was made; owned */
};
static struct mur_pool pool = MUR_POOL(MUR_KIND_TOOL_CONTROL, struct control, "control variable handles");

int mur_tool_control_count(void)
{
    return (int)(mur_setting_count + mur_text_setting_count);
}

static const struct mur_setting *setting_of(int index)
{
    return (size_t)index < mur_setting_count ? &mur_setting_table[index] : NULL;
}

static const struct mur_text_setting *text_of(int index)
{
    return &mur_text_setting_table[(size_t)index - mur_setting_count];
}

const char *mur_tool_control_part(int index)
{
    const struct mur_setting *setting = setting_of(index);

    return setting ? setting->part : text_of(index)->part;
}

static const char *name_of(int index)
{
    const struct mur_setting *setting = setting_of(index);

    return setting ? setting->name : text_of(index)->name;
}

static bool is_control(int index)
{
    return index >= 0 && index < mur_tool_control_count();
}

static MPI_Datatype datatype_of(const struct mur_setting *setting)
{
    return !setting ? MPI_CHAR : mur_setting_is_switch(setting) ? MPI_INT : MPI_COUNT;
}

static int scope_of(const struct mur_setting *setting)
{
    return !setting ? MPI_T_SCOPE_READONLY : setting->is_equal ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL;
}

int mur_mpi_t_cvar_get_num(int *num_cvar)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(num_cvar, MPI_T_ERR_INVALID);
    *num_cvar = mur_tool_control_count();
    return mur_tool_done();
}

int mur_mpi_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
                            MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    const struct mur_setting *setting;
    const char *meaning;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(is_control(cvar_index), MPI_T_ERR_INVALID_INDEX);
    setting = setting_of(cvar_index);
    meaning = setting ? setting->meaning : text_of(cvar_index)->meaning;
    MUR_TOOL_NEED(mur_tool_tell(name_of(cvar_index), name, name_len) && mur_tool_tell(meaning, desc, desc_len),
                  MPI_T_ERR_INVALID);
    if (verbosity)
        *verbosity =
            setting && setting->change == MUR_ANY_TIME ? MPI_T_VERBOSITY_USER_BASIC : MPI_T_VERBOSITY_USER_DETAIL;
    if (datatype)
        *datatype = datatype_of(setting);
    if (enumtype)
        *enumtype =
            setting && mur_setting_is_switch(setting) ? mur_tool_enum_handle(&mur_tool_switch) : MPI_T_ENUM_NULL;
    if (bind)
        *bind = MPI_T_BIND_NO_OBJECT;
    if (scope)
        *scope = scope_of(setting);
    return mur_tool_done();
}

int mur_mpi_t_cvar_get_index(const char *name, int *cvar_index)
{
    int rc = mur_tool_enter(), i = 0;

    if (rc)
        return rc;
    MUR_TOOL_NEED(name && cvar_index, MPI_T_ERR_INVALID);
    while (is_control(i) && strcmp(name_of(i), name) != 0)
        i++;
    MUR_TOOL_NEED(is_control(i), MPI_T_ERR_INVALID_NAME);
    *cvar_index = i;
    return mur_tool_done();
}

/* ---- handles ---- */

static struct control *control_find(MPI_T_cvar_handle handle)
{
    return mur_object_find(handle, MUR_KIND_TOOL_CONTROL);
}

static void control_free(struct control *control)
{
    free(control->text);
    mur_pool_put(&pool, control);
}

void mur_tool_controls_clear(void)
{
    struct control *control;

    while ((control = mur_pool_next(&pool, NULL)))
        control_free(control);
}

int mur_mpi_t_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
{
    struct control *control;
    int rc = mur_tool_enter();

    (void)obj_handle; /* none belongs to an object */
    if (rc)
        return rc;
    MUR_TOOL_NEED(is_control(cvar_index), MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(handle && count, MPI_T_ERR_INVALID);
    control = mur_pool_get(&pool);
    MUR_TOOL_NEED(control, MPI_T_ERR_OUT_OF_HANDLES);
    control->setting = setting_of(cvar_index);
    control->text = NULL;
    if (!control->setting && !(control->text = strdup(mur_text_setting_value(text_of(cvar_index))))) {
        mur_pool_put(&pool, control);
        MUR_TOOL_NEED(false, MPI_T_ERR_MEMORY);
    }
    *count = control->text ? (int)strlen(control->text) + 1 : 1;
    *handle = (MPI_T_cvar_handle)(void *)control;
    return mur_tool_done();
}

int mur_mpi_t_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    struct control *control;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(handle, MPI_T_ERR_INVALID);
    control = control_find(*handle);
    MUR_TOOL_NEED(control, MPI_T_ERR_INVALID_HANDLE);
    control_free(control);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return mur_tool_done();
}

int mur_mpi_t_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    struct control *control;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    control = control_find(handle);
    MUR_TOOL_NEED(control, MPI_T_ERR_INVALID_HANDLE);
    MUR_TOOL_NEED(mur_is_memory(buf), MPI_T_ERR_INVALID);
    if (control->text)
        strcpy(buf, control->text);
    else if (mur_setting_is_switch(control->setting))
        *(int *)buf = (int)*mur_setting_value(control->setting);
    else
        *(MPI_Count *)buf = *mur_setting_value(control->setting);
    return mur_tool_done();
}

int mur_mpi_t_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    const struct mur_setting *setting;
    struct control *control;
    MPI_Count value;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    control = control_find(handle);
    MUR_TOOL_NEED(control, MPI_T_ERR_INVALID_HANDLE);
    setting = control->setting;
    MUR_TOOL_NEED(setting, MPI_T_ERR_CVAR_SET_NEVER);
    MUR_TOOL_NEED(mur_is_memory(buf), MPI_T_ERR_INVALID);
    MUR_TOOL_NEED(setting->change == MUR_ANY_TIME || !mur_engine.peer_count, MPI_T_ERR_CVAR_SET_NOT_NOW);
    value = mur_setting_is_switch(setting) ? *(const int *)buf : *(const MPI_Count *)buf;
    MUR_TOOL_NEED(value >= setting->minimum && value <= setting->maximum, MPI_T_ERR_INVALID);
    *mur_setting_value(setting) = (long)value;
    mur_engine_settings_changed();
    return mur_tool_done();
}
