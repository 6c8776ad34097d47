/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: keys whose callbacks see handles of theirs, and predefined attributes whose values are constants. */
#include <stdlib.h>

#include "door.h"

/* Ends the creation of a key, whose state becomes the core's. */
static int keyval_created(int code, void *state, const int *core_keyval, int *keyval)
{
    if (code) {
        free(state);
        return error_out(code);
    }
    murmur_door.keyval_own(*core_keyval);
    *keyval = keyval_out(*core_keyval);
    return MPI_SUCCESS;
}

/* ---- Keys. A null function does nothing, here as there; the functions that MPI predefines are either null or real
 * ones of the family's library. `Create` is the function of the core. */
#define MUR_KEYVALS(Create, Handle, lower)                                                                             \
    typedef int lower##_copy(their_##lower, int, void *, void *, void *, int *);                                       \
    typedef int lower##_delete(their_##lower, int, void *, void *);                                                    \
                                                                                                                       \
    struct lower##_key {                                                                                               \
        lower##_copy *copy;                                                                                            \
        lower##_delete *delete;                                                                                        \
        void *state;                                                                                                   \
    };                                                                                                                 \
                                                                                                                       \
    static int lower##_copied(MPI_##Handle object, int keyval, void *state, void *value, void *copy, int *flag)        \
    {                                                                                                                  \
        const struct lower##_key *key = state;                                                                         \
                                                                                                                       \
        return mur_callback_in(key->copy(lower##_out(object), keyval_out(keyval), key->state, value, copy, flag));     \
    }                                                                                                                  \
                                                                                                                       \
    static int lower##_deleted(MPI_##Handle object, int keyval, void *value, void *state)                              \
    {                                                                                                                  \
        const struct lower##_key *key = state;                                                                         \
                                                                                                                       \
        return mur_callback_in(key->delete (lower##_out(object), keyval_out(keyval), value, key->state));              \
    }                                                                                                                  \
                                                                                                                       \
    MUR_DOOR(int, Create, lower##_copy *copy, lower##_delete *delete, int *keyval, void *extra_state)                  \
    {                                                                                                                  \
        struct lower##_key *key = malloc(sizeof *key);                                                                 \
        int core_keyval;                                                                                               \
                                                                                                                       \
        if (!key)                                                                                                      \
            return mur_door_raise(MPI_ERR_NO_MEM);                                                                     \
        *key = (struct lower##_key){copy, delete, extra_state};                                                        \
        return keyval_created(murmur_door.Create(copy ? lower##_copied : NULL, delete ? lower##_deleted : NULL,        \
                                                 keyval ? &core_keyval : NULL, key),                                   \
                              key, &core_keyval, keyval);                                                              \
    }
MUR_KEYVALS(Comm_create_keyval, Comm, comm)
MUR_KEYVALS(Type_create_keyval, Datatype, type)
MUR_KEYVALS(Win_create_keyval, Win, win)

MUR_DOOR(int, Keyval_create, comm_copy *copy, comm_delete *delete, int *keyval, void *extra_state)
{
    return door_Comm_create_keyval(copy, delete, keyval, extra_state);
}

/* ---- Values. Those of predefined attributes are addresses of ints. */

/* The address of an int for that of a core's attribute, in theirs. Attributes are the same as long as the program runs,
 * but for MPI_LASTUSEDCODE, which grows. */
static void *value_out(int keyval, void *value)
{
    static int io, host, last_code;
    static int flavors[8], models[8];
    const int *number = value;

    switch (keyval) {
    case MPI_IO:
        io = rank_out(*number);
        return &io;
    case MPI_HOST:
        host = rank_out(*number);
        return &host;
    case MPI_LASTUSEDCODE:
        last_code = *number > MPI_ERR_LASTCODE ? error_out(*number) : THEIR_ERR_LASTCODE;
        return &last_code;
    case MPI_WIN_CREATE_FLAVOR:
        flavors[*number & 7] = flavor_out(*number);
        return &flavors[*number & 7];
    case MPI_WIN_MODEL:
        models[*number & 7] = win_model_out(*number);
        return &models[*number & 7];
    default:
        return value;
    }
}

static int get_attr(int code, int keyval, void *value, const int *flag)
{
    if (!code && *flag)
        *(void **)value = value_out(keyval, *(void **)value);
    return error_out(code);
}

MUR_DOOR(int, Comm_get_attr, their_comm comm, int keyval, void *value, int *flag)
{
    keyval = keyval_in(keyval);
    return get_attr(murmur_door.Comm_get_attr(comm_in(comm), keyval, value, flag), keyval, value, flag);
}

MUR_DOOR(int, Attr_get, their_comm comm, int keyval, void *value, int *flag)
{
    keyval = keyval_in(keyval);
    return get_attr(murmur_door.Attr_get(comm_in(comm), keyval, value, flag), keyval, value, flag);
}

MUR_DOOR(int, Win_get_attr, their_win win, int keyval, void *value, int *flag)
{
    keyval = keyval_in(keyval);
    return get_attr(murmur_door.Win_get_attr(win_in(win), keyval, value, flag), keyval, value, flag);
}
