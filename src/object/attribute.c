/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys are numbers, rows of a table above all predefined keys; a row is used again when its key has been freed and no
 * attribute refers to it. */
#include "object/attribute.h"

#include <stdlib.h>

#include "base/error.h"
#include "engine/lock.h"

enum { KEYVAL_FIRST = 4096 };

struct keyval {
    uint32_t kind;  /* 0: the row is free */
    bool is_freed;  /* by the user */
    int references; /* attributes, and the user's one */
    union mur_copy_function copy;
    union mur_delete_function delete;
    void *extra_state;
};

struct mur_attribute {
    struct mur_attribute *next;
    int keyval;
    void *value;
};

static struct {
    struct keyval *rows;
    int count;
} keyvals;

static const char *kind_name(uint32_t kind)
{
    return kind == MUR_KIND_COMM ? "communicators" : kind == MUR_KIND_TYPE ? "datatypes" : "windows";
}

static struct keyval *row_of(int keyval)
{
    int row = keyval - KEYVAL_FIRST;

    return row >= 0 && row < keyvals.count && keyvals.rows[row].kind ? &keyvals.rows[row] : NULL;
}

/* A key that users may name: freed ones are still good for objects that hold an attribute with them. */
static int find_keyval(int keyval, uint32_t kind)
{
    const struct keyval *row = row_of(keyval);

    if (keyval == MPI_KEYVAL_INVALID)
        return mur_error(MPI_ERR_KEYVAL, "the key is MPI_KEYVAL_INVALID");
    if (!row)
        return keyval >= MPI_TAG_UB && keyval <= MPI_WIN_MODEL
                   ? mur_error(MPI_ERR_KEYVAL, "the key %d is predefined, and its value cannot be changed", keyval)
                   : mur_error(MPI_ERR_KEYVAL, "%d is no key that MPI has given out, or one that was freed", keyval);
    if (row->kind != kind)
        return mur_error(MPI_ERR_KEYVAL, "the key was created for %s, not for %s", kind_name(row->kind),
                         kind_name(kind));
    return MPI_SUCCESS;
}

int mur_keyval_create(uint32_t kind, union mur_copy_function copy, union mur_delete_function delete, void *extra_state,
                      int *keyval)
{
    int row = 0;

    while (row < keyvals.count && keyvals.rows[row].kind)
        row++;
    if (row == keyvals.count) {
        int count = keyvals.count ? 2 * keyvals.count : 16;
        struct keyval *rows = realloc(keyvals.rows, (size_t)count * sizeof *rows);

        if (!rows)
            return mur_error(MPI_ERR_NO_MEM, "no memory for an attribute key");
        for (int i = keyvals.count; i < count; i++)
            rows[i].kind = 0;
        keyvals.rows = rows;
        keyvals.count = count;
    }
    keyvals.rows[row] =
        (struct keyval){.kind = kind, .references = 1, .copy = copy, .delete = delete, .extra_state = extra_state};
    *keyval = KEYVAL_FIRST + row;
    return MPI_SUCCESS;
}

static void keyval_release(int keyval)
{
    struct keyval *row = row_of(keyval);

    if (--row->references == 0)
        row->kind = 0;
}

int mur_keyval_free(uint32_t kind, int *keyval)
{
    int rc = find_keyval(*keyval, kind);

    if (rc)
        return rc;
    if (row_of(*keyval)->is_freed)
        return mur_error(MPI_ERR_KEYVAL, "the key has been freed already");
    row_of(*keyval)->is_freed = true;
    keyval_release(*keyval);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static struct mur_attribute *find(struct mur_attribute *list, int keyval)
{
    while (list && list->keyval != keyval)
        list = list->next;
    return list;
}

static uint32_t kind_of(const void *object)
{
    return ((const struct mur_object *)object)->kind;
}

/* The table of keys may move and the row change while the callback runs, so it is copied. */
static int call_delete(void *object, int keyval, void *value)
{
    struct keyval row = *row_of(keyval);
    void *handle = mur_object_handle(object);
    int rc = MPI_SUCCESS;

    if (!row.delete.comm)
        return MPI_SUCCESS;
    mur_engine_unlock();
    if (row.kind == MUR_KIND_COMM)
        rc = row.delete.comm(handle, keyval, value, row.extra_state);
    else if (row.kind == MUR_KIND_TYPE)
        rc = row.delete.type(handle, keyval, value, row.extra_state);
    else
        rc = row.delete.win(handle, keyval, value, row.extra_state);
    mur_engine_lock();
    return rc;
}

static int call_copy(void *object, int keyval, void *value, void **copy, int *flag)
{
    struct keyval row = *row_of(keyval);
    void *handle = mur_object_handle(object);
    int rc;

    *flag = 0;
    if (!row.copy.comm)
        return MPI_SUCCESS;
    if (row.copy.comm == MPI_COMM_DUP_FN) {
        *flag = 1;
        *copy = value;
        return MPI_SUCCESS;
    }
    mur_engine_unlock();
    if (row.kind == MUR_KIND_COMM)
        rc = row.copy.comm(handle, keyval, row.extra_state, value, copy, flag);
    else if (row.kind == MUR_KIND_TYPE)
        rc = row.copy.type(handle, keyval, row.extra_state, value, copy, flag);
    else
        rc = row.copy.win(handle, keyval, row.extra_state, value, copy, flag);
    mur_engine_lock();
    return rc;
}

static int add(struct mur_attribute **list, int keyval, void *value)
{
    struct mur_attribute *attribute = malloc(sizeof *attribute);

    if (!attribute)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an attribute");
    *attribute = (struct mur_attribute){.next = *list, .keyval = keyval, .value = value};
    row_of(keyval)->references++;
    *list = attribute;
    return MPI_SUCCESS;
}

/* Takes an attribute off the list, if a callback has not done so already. */
static void take_off(struct mur_attribute **list, int keyval)
{
    while (*list && (*list)->keyval != keyval)
        list = &(*list)->next;
    if (*list) {
        struct mur_attribute *attribute = *list;

        *list = attribute->next;
        free(attribute);
        keyval_release(keyval);
    }
}

/* The callback may do anything to the list, and to the key: what it needs is held on to. */
static int delete_one(struct mur_attribute **list, void *object, struct mur_attribute *attribute)
{
    int keyval = attribute->keyval, rc;

    row_of(keyval)->references++;
    rc = call_delete(object, keyval, attribute->value);
    if (!rc)
        take_off(list, keyval);
    keyval_release(keyval);
    return rc;
}

int mur_attribute_set(struct mur_attribute **list, void *object, int keyval, void *value)
{
    int rc = find_keyval(keyval, kind_of(object));
    struct mur_attribute *before;

    if (rc)
        return rc;
    before = find(*list, keyval);
    if (row_of(keyval)->is_freed && !before)
        return mur_error(MPI_ERR_KEYVAL, "the key has been freed");
    row_of(keyval)->references++;
    if (before)
        rc = delete_one(list, object, before);
    if (!rc)
        rc = add(list, keyval, value);
    keyval_release(keyval);
    return rc;
}

int mur_attribute_get(struct mur_attribute *const *list, void *object, int keyval, void **value, int *flag)
{
    int rc = find_keyval(keyval, kind_of(object));
    const struct mur_attribute *found;

    if (rc)
        return rc;
    found = find(*list, keyval);
    *flag = found != NULL;
    if (found)
        *value = found->value;
    return MPI_SUCCESS;
}

int mur_attribute_delete(struct mur_attribute **list, void *object, int keyval)
{
    int rc = find_keyval(keyval, kind_of(object));
    struct mur_attribute *found;

    if (rc)
        return rc;
    found = find(*list, keyval);
    if (!found)
        return mur_error(MPI_ERR_KEYVAL, "the object has no attribute with this key");
    return delete_one(list, object, found);
}

/* The oldest first, so that the copies end up in the same order. A callback may change the list: the keys are written
 * down before. */
int mur_attributes_copy(struct mur_attribute *const *list, void *object, struct mur_attribute **copies)
{
    int count = 0, rc = MPI_SUCCESS, *keys;

    for (const struct mur_attribute *a = *list; a; a = a->next)
        count++;
    if (!count)
        return MPI_SUCCESS;
    keys = malloc((size_t)count * sizeof *keys);
    if (!keys)
        return mur_error(MPI_ERR_NO_MEM, "no memory to copy attributes");
    count = 0;
    for (const struct mur_attribute *a = *list; a; a = a->next)
        keys[count++] = a->keyval;
    while (count-- > 0 && !rc) {
        const struct mur_attribute *attribute = find(*list, keys[count]);
        void *copy = NULL;
        int flag = 0;

        if (!attribute)
            continue;
        row_of(keys[count])->references++;
        rc = call_copy(object, keys[count], attribute->value, &copy, &flag);
        if (!rc && flag)
            rc = add(copies, keys[count], copy);
        keyval_release(keys[count]);
    }
    free(keys);
    return rc;
}

int mur_attributes_delete(struct mur_attribute **list, void *object)
{
    int rc = MPI_SUCCESS;

    while (*list && !rc)
        rc = delete_one(list, object, *list);
    return rc;
}
