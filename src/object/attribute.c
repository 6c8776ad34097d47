/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys are numbers, rows of a table above all predefined keys; a row is used again when its key has been freed and no
 * attribute refers to it.
 *
 * An attribute is busy while a callback works on its value, without the engine's lock. It stays in its list then; other
 * threads that want to change, delete or copy it wait, and a callback that tries so itself is refused. So a value is
 * deleted once, and by nobody while another copies it. */
#include "object/attribute.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/lock.h"

enum { KEYVAL_FIRST = 4096 };

struct keyval {
    uint32_t kind; /* 0: the row is free */
    bool is_freed; /* by the user */
    bool owns_state;
    int references; /* attributes, and the user's one */
    union mur_copy_function copy;
    union mur_delete_function delete;
    void *extra_state;
};

struct mur_attribute {
    struct mur_attribute *next;
    int keyval;
    bool is_busy;
    pthread_t user; /* the thread whose callback works on the value, while it is busy */
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
    int row = keyval < KEYVAL_FIRST ? -1 : keyval - KEYVAL_FIRST;

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
                   ? mur_error(MPI_ERR_KEYVAL,
                               "the key %d is predefined: its value can only be asked for, of the kind of object that "
                               "has it",
                               keyval)
                   : mur_error(MPI_ERR_KEYVAL, "%d is no key that MPI has given out, or one that was freed", keyval);
    if (row->kind != kind)
        return mur_error(MPI_ERR_KEYVAL, "the key was created for %s, not for %s", kind_name(row->kind),
                         kind_name(kind));
    return MPI_SUCCESS;
}

int mur_attribute_keyval_create(uint32_t kind, union mur_copy_function copy, union mur_delete_function delete,
                                void *extra_state, int *keyval)
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

void mur_attribute_keyval_own_state(int keyval)
{
    row_of(keyval)->owns_state = true;
}

static void keyval_release(int keyval)
{
    struct keyval *row = row_of(keyval);

    if (--row->references > 0)
        return;
    row->kind = 0;
    if (row->owns_state)
        free(row->extra_state);
}

/* A key that attributes still use may be freed again, which changes nothing: libraries free theirs in the delete
 * function of each object that has it. */
int mur_attribute_keyval_free(uint32_t kind, int *keyval)
{
    int rc = find_keyval(*keyval, kind);

    if (rc)
        return rc;
    if (!row_of(*keyval)->is_freed) {
        row_of(*keyval)->is_freed = true;
        keyval_release(*keyval);
    }
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

/* The attribute with this key, which nobody else works on; NULL in *found_p where there is none (any more). */
static int claim(struct mur_attribute *const *list, int keyval, struct mur_attribute **found_p)
{
    while ((*found_p = find(*list, keyval)) && (*found_p)->is_busy) {
        if (pthread_equal((*found_p)->user, pthread_self()))
            return mur_error(MPI_ERR_OTHER,
                             "a callback of the attribute with key %d, which is not done with its "
                             "value, makes this call",
                             keyval);
        mur_engine_breathe();
    }
    return MPI_SUCCESS;
}

static void begin_callback(struct mur_attribute *attribute)
{
    attribute->is_busy = true;
    attribute->user = pthread_self();
}

static struct mur_attribute *create(int keyval, void *value)
{
    struct mur_attribute *attribute = malloc(sizeof *attribute);

    if (attribute) {
        *attribute = (struct mur_attribute){.keyval = keyval, .value = value};
        row_of(keyval)->references++;
    }
    return attribute;
}

static void push(struct mur_attribute **list, struct mur_attribute *attribute)
{
    attribute->next = *list;
    *list = attribute;
}

static void destroy(struct mur_attribute *attribute)
{
    keyval_release(attribute->keyval);
    free(attribute);
}

/* Meanwhile the callback may change the list, but for this attribute. */
static int delete_one(struct mur_attribute **list, void *object, struct mur_attribute *attribute)
{
    int rc;

    begin_callback(attribute);
    rc = call_delete(object, attribute->keyval, attribute->value);
    attribute->is_busy = false;
    if (rc)
        return rc;
    while (*list != attribute)
        list = &(*list)->next;
    *list = attribute->next;
    destroy(attribute);
    return MPI_SUCCESS;
}

int mur_attribute_set(struct mur_attribute **list, void *object, int keyval, void *value)
{
    int rc = find_keyval(keyval, kind_of(object));
    struct mur_attribute *before, *made;

    if (rc)
        return rc;
    if (row_of(keyval)->is_freed && !find(*list, keyval))
        return mur_error(MPI_ERR_KEYVAL, "the key has been freed");
    made = create(keyval, value);
    if (!made)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an attribute");
    rc = claim(list, keyval, &before);
    if (!rc && before)
        rc = delete_one(list, object, before);
    if (!rc)
        push(list, made);
    else
        destroy(made);
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

    if (rc || (rc = claim(list, keyval, &found)))
        return rc;
    if (!found)
        return mur_error(MPI_ERR_KEYVAL, "the object has no attribute with this key");
    return delete_one(list, object, found);
}

static int copy_one(struct mur_attribute *const *list, void *object, int keyval, struct mur_attribute **copies)
{
    struct mur_attribute *attribute, *made;
    void *copy = NULL;
    int flag, rc = claim(list, keyval, &attribute);

    if (rc || !attribute)
        return rc;
    begin_callback(attribute);
    rc = call_copy(object, keyval, attribute->value, &copy, &flag);
    attribute->is_busy = false;
    if (rc || !flag)
        return rc;
    made = create(keyval, copy);
    if (!made)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an attribute");
    push(copies, made);
    return MPI_SUCCESS;
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
    while (count-- > 0 && !rc)
        rc = copy_one(list, object, keys[count], copies);
    free(keys);
    return rc;
}

int mur_attributes_delete(struct mur_attribute **list, void *object)
{
    int rc = MPI_SUCCESS;

    while (*list && !rc) {
        struct mur_attribute *latest;

        rc = claim(list, (*list)->keyval, &latest);
        if (!rc && latest)
            rc = delete_one(list, object, latest);
    }
    return rc;
}
