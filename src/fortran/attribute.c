/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes (MPI-5.0 §7.7, §19.3.6). C has a pointer in each, Fortran an integer. What Fortran sets is kept in a cell,
 * and C gets the cell's address: a pointer to the integer, as the standard wants. Fortran gets the integer back where
 * the pointer is a cell, else the pointer itself as an integer. The callbacks of keys that Fortran creates are called
 * through C functions that translate; these make and free the cells of copies. A cell under a key that C created is
 * never freed, since nobody says when the last copy of its address is gone. */
#include <pthread.h>
#include <stdlib.h>

#include "fortran/fortran.h"

union cell {
    MPI_Aint value;
    union cell *next; /* while it is free */
};

enum { CHUNK_CELLS = 255 };
struct chunk {
    struct chunk *next;
    union cell cells[CHUNK_CELLS];
};

static struct chunk *chunks;
static union cell *free_cells;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_chunk(void)
{
    struct chunk *chunk = malloc(sizeof *chunk);

    if (!chunk)
        return;
    chunk->next = chunks;
    chunks = chunk;
    for (int i = 0; i < CHUNK_CELLS; i++) {
        chunk->cells[i].next = free_cells;
        free_cells = &chunk->cells[i];
    }
}

/* NULL: no memory. */
static union cell *cell_new(MPI_Aint value)
{
    union cell *cell;

    pthread_mutex_lock(&lock);
    if (!free_cells)
        add_chunk();
    cell = free_cells;
    if (cell) {
        free_cells = cell->next;
        cell->value = value;
    }
    pthread_mutex_unlock(&lock);
    return cell;
}

static bool is_cell(const void *pointer)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (struct chunk *chunk = chunks; chunk && !is_found; chunk = chunk->next)
        is_found = (uintptr_t)pointer - (uintptr_t)chunk->cells < sizeof chunk->cells;
    pthread_mutex_unlock(&lock);
    return is_found;
}

static void cell_free(void *pointer)
{
    union cell *cell = pointer;

    pthread_mutex_lock(&lock);
    cell->next = free_cells;
    free_cells = cell;
    pthread_mutex_unlock(&lock);
}

/* The integer that Fortran sees in a pointer. */
static MPI_Aint value_of(const void *pointer)
{
    return is_cell(pointer) ? ((const union cell *)pointer)->value : (MPI_Aint)(intptr_t)pointer;
}

/* ---- Keys */

typedef void copy_function(MPI_Fint *handle, MPI_Fint *keyval, MPI_Aint *extra_state, MPI_Aint *in, MPI_Aint *out,
                           MPI_Fint *flag, MPI_Fint *ierror);
typedef void delete_function(MPI_Fint *handle, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra_state,
                             MPI_Fint *ierror);
typedef void old_copy_function(MPI_Fint *handle, MPI_Fint *keyval, MPI_Fint *extra_state, MPI_Fint *in, MPI_Fint *out,
                               MPI_Fint *flag, MPI_Fint *ierror);
typedef void old_delete_function(MPI_Fint *handle, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *extra_state,
                                 MPI_Fint *ierror);

/* The extra state that C has of a key from Fortran. It is kept for good: attributes may outlive their key. */
struct key {
    copy_function *copy;
    delete_function *delete;
    old_copy_function *old_copy; /* of the deprecated procedures; else NULL */
    old_delete_function *old_delete;
    MPI_Aint extra_state;
    MPI_Fint old_extra_state;
};

static int run_copy(struct key *key, MPI_Fint handle, MPI_Fint keyval, void *in, void *out, int *flag)
{
    MPI_Aint value = value_of(in), result = 0;
    MPI_Fint old_value = (MPI_Fint)value, old_result = 0;
    MPI_Fint is_copied = mur_fortran_false, ierror = MPI_SUCCESS;

    if (key->old_copy) {
        key->old_copy(&handle, &keyval, &key->old_extra_state, &old_value, &old_result, &is_copied, &ierror);
        result = old_result;
    } else {
        key->copy(&handle, &keyval, &key->extra_state, &value, &result, &is_copied, &ierror);
    }
    *flag = mur_logical_in(is_copied);
    if (ierror || !*flag)
        return ierror;
    *(void **)out = is_cell(in) ? (void *)cell_new(result) : (void *)(intptr_t)result;
    return is_cell(in) && !*(void **)out ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static int run_delete(struct key *key, MPI_Fint handle, MPI_Fint keyval, void *pointer)
{
    MPI_Aint value = value_of(pointer);
    MPI_Fint old_value = (MPI_Fint)value, ierror = MPI_SUCCESS;

    if (key->old_delete)
        key->old_delete(&handle, &keyval, &old_value, &key->old_extra_state, &ierror);
    else
        key->delete (&handle, &keyval, &value, &key->extra_state, &ierror);
    if (!ierror && is_cell(pointer))
        cell_free(pointer);
    return ierror;
}

/* The C callbacks, and the procedures of one kind of object. */
#define MUR_ATTRIBUTES(Stem, Name, lower, UPPER)                                                                       \
    static int lower##_copy(MPI_##Name handle, int keyval, void *key, void *in, void *out, int *flag)                  \
    {                                                                                                                  \
        return run_copy(key, mur_##Name##_number(handle), keyval, in, out, flag);                                      \
    }                                                                                                                  \
    static int lower##_delete(MPI_##Name handle, int keyval, void *value, void *key)                                   \
    {                                                                                                                  \
        return run_delete(key, mur_##Name##_number(handle), keyval, value);                                            \
    }                                                                                                                  \
    void pmpi_##lower##_create_keyval_(copy_function *copy, delete_function *delete, MPI_Fint *keyval,                 \
                                       const MPI_Aint *extra_state, MPI_Fint *ierror)                                  \
    {                                                                                                                  \
        struct key *key = key_new(copy, delete, *extra_state);                                                         \
                                                                                                                       \
        mur_give(ierror,                                                                                               \
                 key ? PMPI_##Stem##_create_keyval(lower##_copy, lower##_delete, keyval, key) : mur_no_memory());      \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_##lower##_create_keyval_, lower##_create_keyval, UPPER##_CREATE_KEYVAL)                       \
    MUR_ALL_NAMES(pmpi_##lower##_create_keyval_, lower##_create_keyval_f08, UPPER##_CREATE_KEYVAL_F08)                 \
    void pmpi_##lower##_set_attr_(const MPI_Fint *handle, const MPI_Fint *keyval, const MPI_Aint *value,               \
                                  MPI_Fint *ierror)                                                                    \
    {                                                                                                                  \
        union cell *cell = cell_new(*value);                                                                           \
        int code = cell ? PMPI_##Stem##_set_attr(mur_##Name##_handle(*handle), *keyval, cell) : mur_no_memory();       \
                                                                                                                       \
        if (code && cell)                                                                                              \
            cell_free(cell);                                                                                           \
        mur_give(ierror, code);                                                                                        \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_##lower##_set_attr_, lower##_set_attr, UPPER##_SET_ATTR)                                      \
    MUR_ALL_NAMES(pmpi_##lower##_set_attr_, lower##_set_attr_f08, UPPER##_SET_ATTR_F08)                                \
    void pmpi_##lower##_get_attr_(const MPI_Fint *handle, const MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag,     \
                                  MPI_Fint *ierror)                                                                    \
    {                                                                                                                  \
        void *pointer;                                                                                                 \
        int found = 0,                                                                                                 \
            code = PMPI_##Stem##_get_attr(mur_##Name##_handle(*handle), mur_keyval_in(*keyval), &pointer, &found);     \
                                                                                                                       \
        if (!code) {                                                                                                   \
            *flag = mur_logical_out(found);                                                                            \
            if (found)                                                                                                 \
                *value = predefined_or_own(mur_keyval_in(*keyval), pointer);                                           \
        }                                                                                                              \
        mur_give(ierror, code);                                                                                        \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_##lower##_get_attr_, lower##_get_attr, UPPER##_GET_ATTR)                                      \
    MUR_ALL_NAMES(pmpi_##lower##_get_attr_, lower##_get_attr_f08, UPPER##_GET_ATTR_F08)

#define mur_Comm_number     mur_comm_out
#define mur_Comm_handle     mur_comm_in
#define mur_Datatype_number mur_datatype_out
#define mur_Datatype_handle mur_datatype_in
#define mur_Win_number      mur_win_out
#define mur_Win_handle      mur_win_in

static struct key *key_new(copy_function *copy, delete_function *delete, MPI_Aint extra_state)
{
    struct key *key = calloc(1, sizeof *key);

    if (key) {
        key->copy = copy;
        key->delete = delete;
        key->extra_state = extra_state;
    }
    return key;
}

/* In C the predefined attributes are pointers to integers, but for the base of a window, which is the address itself.
 */
static MPI_Aint predefined_or_own(int keyval, const void *pointer)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        return (MPI_Aint)(intptr_t)pointer;
    case MPI_WIN_SIZE:
        return *(const MPI_Aint *)pointer;
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *(const int *)pointer;
    default:
        return value_of(pointer);
    }
}

MUR_ATTRIBUTES(Comm, Comm, comm, COMM)
MUR_ATTRIBUTES(Type, Datatype, type, TYPE)
MUR_ATTRIBUTES(Win, Win, win, WIN)

/* ---- The deprecated procedures, whose values are default integers */

void pmpi_keyval_create_(old_copy_function *copy, old_delete_function *delete, MPI_Fint *keyval,
                         const MPI_Fint *extra_state, MPI_Fint *ierror)
{
    struct key *key = key_new(NULL, NULL, 0);

    if (key) {
        key->old_copy = copy;
        key->old_delete = delete;
        key->old_extra_state = *extra_state;
    }
    mur_give(ierror, key ? PMPI_Comm_create_keyval(comm_copy, comm_delete, keyval, key) : mur_no_memory());
}
MUR_OTHER_NAMES(pmpi_keyval_create_, keyval_create, KEYVAL_CREATE)

void pmpi_attr_put_(const MPI_Fint *comm, const MPI_Fint *keyval, const MPI_Fint *value, MPI_Fint *ierror)
{
    union cell *cell = cell_new(*value);
    int code = cell ? PMPI_Attr_put(mur_comm_in(*comm), *keyval, cell) : mur_no_memory();

    if (code && cell)
        cell_free(cell);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_attr_put_, attr_put, ATTR_PUT)

void pmpi_attr_get_(const MPI_Fint *comm, const MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror)
{
    void *pointer;
    int found = 0, code = PMPI_Attr_get(mur_comm_in(*comm), mur_keyval_in(*keyval), &pointer, &found);

    if (!code) {
        *flag = mur_logical_out(found);
        if (found)
            *value = (MPI_Fint)predefined_or_own(mur_keyval_in(*keyval), pointer);
    }
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_attr_get_, attr_get, ATTR_GET)

/* ---- The predefined callbacks: procedures like those of users */

static void copy_nothing(MPI_Fint *handle, MPI_Fint *keyval, MPI_Aint *extra_state, MPI_Aint *in, MPI_Aint *out,
                         MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)handle, (void)keyval, (void)extra_state, (void)in, (void)out;
    *flag = mur_fortran_false;
    *ierror = MPI_SUCCESS;
}

static void copy_value(MPI_Fint *handle, MPI_Fint *keyval, MPI_Aint *extra_state, MPI_Aint *in, MPI_Aint *out,
                       MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)handle, (void)keyval, (void)extra_state;
    *out = *in;
    *flag = mur_fortran_true;
    *ierror = MPI_SUCCESS;
}

static void old_copy_value(MPI_Fint *handle, MPI_Fint *keyval, MPI_Fint *extra_state, MPI_Fint *in, MPI_Fint *out,
                           MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)handle, (void)keyval, (void)extra_state;
    *out = *in;
    *flag = mur_fortran_true;
    *ierror = MPI_SUCCESS;
}

static void delete_nothing(MPI_Fint *handle, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra_state, MPI_Fint *ierror)
{
    (void)handle, (void)keyval, (void)value, (void)extra_state;
    *ierror = MPI_SUCCESS;
}

MUR_PREDEFINED(copy_nothing, null_copy_fn, NULL_COPY_FN)
MUR_PREDEFINED(copy_nothing, comm_null_copy_fn, COMM_NULL_COPY_FN)
MUR_PREDEFINED(copy_nothing, type_null_copy_fn, TYPE_NULL_COPY_FN)
MUR_PREDEFINED(copy_nothing, win_null_copy_fn, WIN_NULL_COPY_FN)
MUR_PREDEFINED(copy_value, comm_dup_fn, COMM_DUP_FN)
MUR_PREDEFINED(copy_value, type_dup_fn, TYPE_DUP_FN)
MUR_PREDEFINED(copy_value, win_dup_fn, WIN_DUP_FN)
MUR_PREDEFINED(old_copy_value, dup_fn, DUP_FN)
MUR_PREDEFINED(delete_nothing, null_delete_fn, NULL_DELETE_FN)
MUR_PREDEFINED(delete_nothing, comm_null_delete_fn, COMM_NULL_DELETE_FN)
MUR_PREDEFINED(delete_nothing, type_null_delete_fn, TYPE_NULL_DELETE_FN)
MUR_PREDEFINED(delete_nothing, win_null_delete_fn, WIN_NULL_DELETE_FN)
