/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of data representations, and conversion. Callbacks of users run without the engine's lock. */
#include "io/datarep.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "datatype/elements.h"
#include "datatype/external.h"
#include "datatype/layout.h"
#include "engine/lock.h"

static struct mur_datarep external32 = {.name = "external32", .is_external32 = true};
static struct mur_datarep *reps = &external32;

static bool is_native(const char *name)
{
    return strcmp(name, "native") == 0 || strcmp(name, "internal") == 0;
}

static struct mur_datarep *find(const char *name)
{
    struct mur_datarep *rep = reps;

    while (rep && strcmp(rep->name, name) != 0)
        rep = rep->next;
    return rep;
}

int mur_datarep_find(const char *name, struct mur_datarep **rep_p)
{
    *rep_p = is_native(name) ? NULL : find(name);
    if (*rep_p || is_native(name))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_UNSUPPORTED_DATAREP,
                     "datarep is '%.100s', but must be 'native', 'internal', 'external32' or one that was registered",
                     name);
}

int mur_datarep_register(const struct mur_datarep *made)
{
    struct mur_datarep *rep;

    if (is_native(made->name) || find(made->name))
        return mur_error(MPI_ERR_DUP_DATAREP, "a data representation '%.100s' exists already", made->name);
    rep = malloc(sizeof *rep);
    if (!rep)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a data representation");
    *rep = *made;
    rep->next = reps;
    reps = rep;
    return MPI_SUCCESS;
}

static int failed(const struct mur_datarep *rep, const char *what, int code)
{
    return mur_error(MPI_ERR_CONVERSION, "the %s function of data representation '%.60s' returned %d", what, rep->name,
                     code);
}

static int user_extent(const struct mur_datarep *rep, MPI_Datatype handle, MPI_Count *bytes)
{
    MPI_Aint extent = 0;
    int rc;

    mur_engine_unlock();
    rc = rep->extent(handle, &extent, rep->state);
    mur_engine_lock();
    if (rc)
        return failed(rep, "extent", rc);
    if (extent <= 0)
        return mur_error(MPI_ERR_CONVERSION, "the extent function of data representation '%.60s' gave %lld bytes",
                         rep->name, (long long)extent);
    *bytes = extent;
    return MPI_SUCCESS;
}

int mur_datarep_extent(const struct mur_datarep *rep, const struct mur_type *basic, MPI_Count *bytes)
{
    if (!rep->is_external32)
        return user_extent(rep, mur_basics[basic->basic].handle, bytes);
    *bytes = mur_external_size(basic);
    return MPI_SUCCESS;
}

/* Data items of a user's representation: predefined types, of which a pair is one. Counted until one more would not fit
 * into `limit` bytes of the file. The extent of the latest type is remembered: mostly there is but one. */
struct items {
    const struct mur_datarep *rep;
    MPI_Datatype latest;
    MPI_Count extent;
    MPI_Count count, file_bytes, native_bytes, limit;
    int rc;
};

static int count_item(void *argument, const struct mur_basic_row *row, int part, MPI_Count offset)
{
    struct items *items = argument;

    (void)offset;
    if (part)
        return 0;
    if (items->latest != row->handle) {
        items->rc = user_extent(items->rep, row->handle, &items->extent);
        items->latest = row->handle;
    }
    if (items->rc || items->file_bytes + items->extent > items->limit)
        return 1;
    items->count++;
    items->file_bytes += items->extent;
    items->native_bytes += row->size;
    return 0;
}

static int count_items(const struct mur_datarep *rep, const struct mur_type *type, MPI_Count limit, struct items *items)
{
    *items = (struct items){.rep = rep, .latest = MPI_DATATYPE_NULL, .limit = limit};
    mur_elements_walk(type, count_item, items);
    return items->rc;
}

int mur_datarep_size(const struct mur_datarep *rep, const struct mur_type *type, MPI_Count *bytes)
{
    struct items items;
    int rc;

    if (!rep || rep->is_external32) {
        *bytes = rep ? mur_external_size(type) : type->size;
        return MPI_SUCCESS;
    }
    rc = count_items(rep, type, LLONG_MAX, &items);
    *bytes = items.file_bytes;
    return rc;
}

/* One call of a user's function; `position` and `items` count data items. */
static int call_user(const struct mur_datarep *rep, bool is_write, void *buffer, struct mur_type *type, MPI_Count items,
                     void *bytes, MPI_Count position)
{
    MPI_Datarep_conversion_function *function = is_write ? rep->write : rep->read;
    MPI_Datarep_conversion_function_c *large = is_write ? rep->write_large : rep->read_large;
    MPI_Datatype handle = mur_object_handle(type);
    int rc;

    mur_engine_unlock();
    rc = function ? function(buffer, handle, (int)items, bytes, (MPI_Offset)position, rep->state)
                  : large(buffer, handle, items, bytes, (MPI_Offset)position, rep->state);
    mur_engine_lock();
    return rc ? failed(rep, is_write ? "write conversion" : "read conversion", rc) : MPI_SUCCESS;
}

/* Whole elements, as many a call as an int can count, and then `rest` items of one more. */
static int convert_user(const struct mur_datarep *rep, bool is_write, void *buffer, MPI_Count count,
                        struct mur_type *type, const struct items *each, MPI_Count rest, char *bytes)
{
    MPI_Count most, position = 0;
    int rc = MPI_SUCCESS;

    if (each->count > INT_MAX && (is_write ? rep->write : rep->read))
        return mur_error(MPI_ERR_CONVERSION,
                         "one element has %lld data items, more than a conversion function that was registered without "
                         "the large count can be told",
                         (long long)each->count);
    most = each->count ? INT_MAX / each->count : 1;
    most = most ? most : 1;
    for (MPI_Count done = 0, now; done < count && !rc; done += now) {
        now = count - done < most ? count - done : most;
        rc = call_user(rep, is_write, buffer, type, now * each->count, bytes + done * each->file_bytes, position);
        position += now * each->count;
    }
    if (!rc && rest)
        rc = call_user(rep, is_write, buffer, type, rest, bytes + count * each->file_bytes, position);
    return rc;
}

/* Without a function the bytes of the file are those of memory. */
static bool has_function(const struct mur_datarep *rep, bool is_write)
{
    return is_write ? rep->write || rep->write_large : rep->read || rep->read_large;
}

static int check_plain(const struct mur_datarep *rep, const struct mur_type *type, const struct items *each)
{
    return each->file_bytes == type->size
               ? MPI_SUCCESS
               : mur_error(MPI_ERR_CONVERSION,
                           "data representation '%.60s' has no conversion function, but says that the %lld bytes of an "
                           "element are %lld in the file",
                           rep->name, (long long)type->size, (long long)each->file_bytes);
}

int mur_datarep_encode(const struct mur_datarep *rep, const void *buffer, MPI_Count count, struct mur_type *type,
                       void *out)
{
    struct mur_cursor cursor;
    struct items each;
    int rc;

    if (rep->is_external32)
        return mur_external_pack(buffer, count, type, out);
    rc = count_items(rep, type, LLONG_MAX, &each);
    if (rc)
        return rc;
    if (has_function(rep, true))
        return convert_user(rep, true, (void *)(uintptr_t)buffer, count, type, &each, 0, out);
    rc = check_plain(rep, type, &each);
    mur_cursor_start(&cursor, buffer, count, type);
    if (!rc)
        mur_cursor_pack(&cursor, out, cursor.bytes);
    return rc;
}

static int decode_external32(const char *in, MPI_Count bytes, void *buffer, MPI_Count count, struct mur_type *type,
                             MPI_Count *native)
{
    MPI_Count size = mur_external_size(type), whole = size ? bytes / size : count;
    char *rest = (char *)((uintptr_t)buffer + (uintptr_t)(whole * type->extent));
    int rc = mur_external_unpack(in, buffer, whole, type);

    *native = whole * type->size;
    if (!rc && whole < count)
        rc = mur_external_unpack_some(in + whole * size, bytes - whole * size, rest, type, native);
    return rc;
}

static int decode_user(const struct mur_datarep *rep, const char *in, MPI_Count bytes, void *buffer, MPI_Count count,
                       struct mur_type *type, MPI_Count *native)
{
    struct items each, rest = {0};
    struct mur_cursor cursor;
    MPI_Count whole;
    int rc = count_items(rep, type, LLONG_MAX, &each);

    if (rc)
        return rc;
    whole = each.file_bytes ? bytes / each.file_bytes : count;
    if (whole < count)
        rc = count_items(rep, type, bytes - whole * each.file_bytes, &rest);
    *native = whole * type->size + rest.native_bytes;
    if (!rc && has_function(rep, false))
        return convert_user(rep, false, buffer, whole, type, &each, rest.count, (char *)(uintptr_t)in);
    rc = rc ? rc : check_plain(rep, type, &each);
    mur_cursor_start(&cursor, buffer, count, type);
    if (!rc)
        mur_cursor_unpack(&cursor, in, (size_t)bytes);
    return rc;
}

int mur_datarep_decode(const struct mur_datarep *rep, const void *in, MPI_Count bytes, void *buffer, MPI_Count count,
                       struct mur_type *type, MPI_Count *native)
{
    if (rep->is_external32)
        return decode_external32(in, bytes, buffer, count, type, native);
    return decode_user(rep, in, bytes, buffer, count, type, native);
}
