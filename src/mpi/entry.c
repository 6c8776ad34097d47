/* SPDX-License-Identifier: BSD-3-Clause */
/* From an error to its handler: composes the text that names call and arguments, finds whose handler applies, acts. */
#include "mpi/entry.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/settings.h"
#include "boot/process.h"
#include "engine/lock.h"
#include "mpi/errors.h"
#include "object/comm.h"
#include "object/errhandler.h"
#include "object/session.h"
#include "object/type.h"
#include "object/win.h"

/* A text that is cut when it grows too long; a cut one ends in "...". */
struct text {
    char bytes[MPI_MAX_ERROR_STRING];
    size_t length;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
    size_t room = sizeof text->bytes - text->length;
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text->bytes + text->length, room, format, args);
    va_end(args);
    if (length < 0)
        return;
    if ((size_t)length < room) {
        text->length += (size_t)length;
        return;
    }
    text->length = sizeof text->bytes - 1;
    memcpy(text->bytes + sizeof text->bytes - 4, "...", 4);
}

const char *mur_constant_name(enum mur_show group, int64_t value)
{
    for (size_t i = 0; i < mur_constant_count; i++)
        if (mur_constants[i].group == group && mur_constants[i].value == value)
            return mur_constants[i].name;
    return NULL;
}

/* "MPI_MODE_CREATE|MPI_MODE_WRONLY" */
static void add_flags(struct text *text, enum mur_show group, int64_t value)
{
    const char *separator = "";

    for (size_t i = 0; i < mur_constant_count; i++) {
        const struct mur_constant *constant = &mur_constants[i];

        if (constant->group != group || (value & constant->value) == 0)
            continue;
        add(text, "%s%s", separator, constant->name);
        separator = "|";
        value &= ~(int64_t)constant->value;
    }
    if (value || !*separator)
        add(text, "%s%" PRId64, separator, value);
}

/* The name that a user gave to a live object, or NULL. */
static const char *object_name(enum mur_show show, const void *handle)
{
    const struct mur_comm *comm = show == MUR_SHOW_COMM ? mur_object_find(handle, MUR_KIND_COMM) : NULL;
    const struct mur_type *type = show == MUR_SHOW_TYPE ? mur_object_find(handle, MUR_KIND_TYPE) : NULL;
    const struct mur_win *win = show == MUR_SHOW_WIN ? mur_object_find(handle, MUR_KIND_WIN) : NULL;
    const char *name = comm ? comm->name : type ? type->name : win ? win->name : "";

    return *name ? name : NULL;
}

static void add_value(struct text *text, enum mur_show show, int64_t value)
{
    const void *pointer = (const void *)(intptr_t)value;
    const char *name = NULL;

    if (show == MUR_SHOW_AMODE || show == MUR_SHOW_ASSERTION) {
        add_flags(text, show, value);
        return;
    }
    if (show == MUR_SHOW_STRING && pointer) {
        add(text, "\"%.100s\"", (const char *)pointer);
        return;
    }
    if (show == MUR_SHOW_STATUS && !pointer)
        name = "MPI_STATUS_IGNORE";
    else if (show == MUR_SHOW_BUFFER && pointer == MPI_IN_PLACE)
        name = "MPI_IN_PLACE";
    else if (show > MUR_SHOW_BUFFER)
        name = mur_constant_name(show, value);
    if (name) {
        add(text, "%s", name);
        return;
    }
    if (show == MUR_SHOW_NUMBER || show > MUR_SHOW_WIN) {
        add(text, "%" PRId64, value);
        return;
    }
    name = object_name(show, pointer);
    if (name)
        add(text, "\"%s\"", name);
    else if (pointer)
        add(text, "%p", pointer);
    else
        add(text, "NULL");
}

static void add_call(struct text *text, const struct mur_call *call, const int64_t *values)
{
    add(text, "%s(", call->name);
    for (int i = 0; i < call->parameter_count; i++) {
        const struct mur_parameter *parameter = &call->parameters[i];

        add(text, "%s%s=", i ? ", " : "", parameter->name);
        if (parameter->is_pointer && values[i]) {
            add(text, "&");
            add_value(text, parameter->show, *(const intptr_t *)(intptr_t)values[i]);
        } else {
            add_value(text, parameter->is_pointer ? MUR_SHOW_POINTER : parameter->show, values[i]);
        }
    }
    add(text, "): ");
}

/* Whose error it is. A handler of users gets the address of the handle. */
struct owner {
    uint32_t kind;
    void *handle;
    struct mur_errhandler *handler;
};

static _Thread_local struct mur_comm *blamed; /* a reference */

int mur_entry_blame(struct mur_comm *comm, int code)
{
    if (code && comm && !blamed) {
        blamed = comm;
        mur_comm_retain(comm);
    }
    return code;
}

static struct owner owner_comm(struct mur_comm *comm)
{
    if (comm->file)
        return (struct owner){MUR_KIND_FILE, comm->file, *mur_file_errhandler(comm->file)};
    if (comm->win)
        return (struct owner){MUR_KIND_WIN, mur_object_handle(comm->win), comm->win->errhandler};
    return (struct owner){MUR_KIND_COMM, mur_object_handle(comm), comm->errhandler};
}

/* Of errors that belong to no object MPI_COMM_SELF is the owner (MPI-5.0 §9.3). Up to MPI-3 it was MPI_COMM_WORLD, and
 * many programs set a handler there only, which other libraries respect: so do we while nobody has set one for
 * MPI_COMM_SELF. */
static struct owner owner_none(void)
{
    bool has_world = mur_comm_find(MPI_COMM_WORLD) != NULL;

    if (has_world && mur_comm_world.has_own_errhandler && !mur_comm_self.has_own_errhandler && !mur_is_strict())
        return owner_comm(&mur_comm_world);
    if (mur_process.phase == MUR_PHASE_RUNNING && mur_comm_self.errhandler)
        return owner_comm(&mur_comm_self);
    return (struct owner){MUR_KIND_COMM, MPI_COMM_SELF, *mur_errhandler_initial()};
}

/* Of calls that make the object, with this handler (MPI-5.0 §7.4.2, §11.3.1): there is no object to tell it of. */
static struct owner owner_to_be(const struct mur_call *call, const int64_t *values)
{
    struct mur_errhandler *handler = mur_errhandler_find((void *)(intptr_t)values[call->owner]);
    bool is_session = strncmp(call->name, "MPI_Session", strlen("MPI_Session")) == 0;
    uint32_t kind = is_session ? MUR_KIND_SESSION : MUR_KIND_COMM;

    if (!handler || (handler->serves && handler->serves != kind))
        return owner_none();
    return (struct owner){kind, is_session ? (void *)MPI_SESSION_NULL : (void *)MPI_COMM_NULL, handler};
}

static struct owner owner_find(const struct mur_call *call, const int64_t *values, struct mur_comm *comm)
{
    const struct mur_parameter *parameter;
    void *handle;
    struct mur_errhandler **slot_p;
    struct mur_session *session;
    struct mur_win *win;

    if (call->owner >= 0 && call->parameters[call->owner].show == MUR_SHOW_ERRHANDLER)
        return owner_to_be(call, values);
    if (!mur_process.instances)
        return owner_none();
    if (comm)
        return owner_comm(comm);
    if (call->owner == MUR_OWNER_FILE_NULL)
        return (struct owner){MUR_KIND_FILE, MPI_FILE_NULL, *mur_file_errhandler(NULL)};
    if (call->owner < 0)
        return owner_none();
    parameter = &call->parameters[call->owner];
    handle = (void *)(intptr_t)values[call->owner];
    if (parameter->is_pointer)
        handle = handle ? *(void **)handle : NULL;
    if (parameter->show == MUR_SHOW_COMM && (comm = mur_comm_find(handle)) != NULL)
        return owner_comm(comm);
    if (parameter->show == MUR_SHOW_SESSION && (session = mur_session_find(handle)) != NULL)
        return (struct owner){MUR_KIND_SESSION, handle, session->errhandler};
    if (parameter->show == MUR_SHOW_WIN && (win = mur_win_find(handle)) != NULL)
        return (struct owner){MUR_KIND_WIN, handle, win->errhandler};
    if (parameter->show == MUR_SHOW_FILE && (slot_p = mur_file_errhandler(handle)) != NULL)
        return (struct owner){MUR_KIND_FILE, handle, *slot_p};
    return owner_none();
}

const char *mur_error_describe(int code)
{
    const char *text = mur_error_text(code);
    int error_class = mur_error_class(code);

    if (!text)
        text = mur_user_error_text(code);
    for (size_t i = 0; !text && i < mur_constant_count; i++)
        if (mur_constants[i].group == MUR_SHOW_ERROR && mur_constants[i].value == error_class)
            text = mur_constants[i].meaning;
    return text ? text : "an error code that this library does not know";
}

/* Ends the job with a message that says who, what and why. */
static void die(int code, const char *why)
{
    const char *class_name = mur_constant_name(MUR_SHOW_ERROR, mur_user_error_class(code));
    char who[64] = "", message[MPI_MAX_ERROR_STRING + 256];
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    if (mur_process.phase == MUR_PHASE_RUNNING)
        snprintf(who, sizeof who, " on rank %d of %d", mur_process.rank, mur_process.size);
    snprintf(message, sizeof message, "Murmur: error%s (host %s, pid %d): %s [%s]", who, host, (int)getpid(), why,
             class_name ? class_name : "a class of the program's own");
    mur_boot_abort(1, message);
}

/* The call returns what the function leaves as the code. */
static int call_user(const struct owner *owner, int code)
{
    void *handle = owner->handle;

    if (owner->handler->state)
        code = owner->handler->function.stateful(owner->handler->state, handle, code);
    else if (owner->kind == MUR_KIND_COMM)
        owner->handler->function.comm((MPI_Comm *)&handle, &code, NULL);
    else if (owner->kind == MUR_KIND_SESSION)
        owner->handler->function.session((MPI_Session *)&handle, &code, NULL);
    else if (owner->kind == MUR_KIND_WIN)
        owner->handler->function.win((MPI_Win *)&handle, &code, NULL);
    else
        owner->handler->function.file((MPI_File *)&handle, &code, NULL);
    return code;
}

int mur_errhandler_raise(uint32_t kind, void *handle, struct mur_errhandler *handler, int code)
{
    const struct owner owner = {kind, handle, handler};

    switch (handler->action) {
    case MUR_ERRORS_ARE_FATAL:
    case MUR_ERRORS_ABORT:
        die(code, mur_error_describe(code));
        break;
    case MUR_ERRORS_RETURN:
        break;
    case MUR_ERRORS_CALL:
        return call_user(&owner, code);
    }
    return code;
}

int mur_entry_fail(const struct mur_call *call, int code, const int64_t *values)
{
    struct mur_comm *comm = blamed;
    struct owner owner;
    struct text text = {.length = 0};

    blamed = NULL; /* the handler may call MPI */
    mur_engine_lock_any_time();
    owner = owner_find(call, values, comm);
    mur_errhandler_retain(owner.handler); /* the user's function, or another thread, may free it */
    mur_engine_unlock_any_time();
    add_call(&text, call, values);
    add(&text, "%s", mur_error_describe(code));
    if (mur_error_text(code))
        mur_error_set_text(code, text.bytes);
    else if (owner.handler->action == MUR_ERRORS_ARE_FATAL || owner.handler->action == MUR_ERRORS_ABORT)
        die(code, text.bytes);
    code = mur_errhandler_raise(owner.kind, owner.handle, owner.handler, code);
    mur_engine_lock_any_time();
    mur_errhandler_release(owner.handler);
    if (comm)
        mur_comm_release(comm);
    mur_engine_unlock_any_time();
    return code;
}
