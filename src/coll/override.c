/* SPDX-License-Identifier: BSD-3-Clause */
/* What users ask for by name: MUR_COLL=allreduce:ring,bcast:chain for the whole job, the info keys mur_allreduce,
 * mur_bcast, ... for one communicator, which come first. All ranks must ask for the same. */
#include "coll/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { NO_OVERRIDE, BOARD, FIRST_ALGORITHM }; /* an algorithm is FIRST_ALGORITHM + its place in the list */

bool mur_override_is_any;
static unsigned char of_job[MUR_COLLECTIVE_KINDS];

/* The value for a name, or -1. */
static int find(enum mur_collective_kind kind, const char *name, size_t length)
{
    const struct mur_algorithm *algorithm = mur_algorithm_find(kind, name, length);

    if (algorithm)
        return FIRST_ALGORITHM + (int)(algorithm - mur_algorithms);
    return length == strlen(MUR_BOARD_NAME) && !strncmp(name, MUR_BOARD_NAME, length) ? BOARD : -1;
}

static const char *name_of(int override)
{
    return override == BOARD ? MUR_BOARD_NAME : mur_algorithms[override - FIRST_ALGORITHM].name;
}

/* All names of a kind. */
static void list_names(enum mur_collective_kind kind, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, MUR_BOARD_NAME);

    for (size_t i = 0; i < mur_algorithm_count; i++)
        if (mur_algorithms[i].kind == kind && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, ", %s", mur_algorithms[i].name);
}

static void list_kinds(char *text, size_t bytes)
{
    size_t used = 0;

    for (int kind = 0; kind < MUR_COLLECTIVE_KINDS && used < bytes; kind++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", kind ? ", " : "",
                                 mur_collective_name((enum mur_collective_kind)kind));
}

static int find_kind(const char *name, size_t length)
{
    for (int kind = 0; kind < MUR_COLLECTIVE_KINDS; kind++) {
        const char *known = mur_collective_name((enum mur_collective_kind)kind);

        if (strlen(known) == length && !strncmp(known, name, length))
            return kind;
    }
    return -1;
}

/* Takes over one "kind:name"; writes a complaint and returns false when it is none. */
static bool take(const char *text, size_t length, char *complaint, size_t bytes)
{
    const char *colon = memchr(text, ':', length);
    size_t kind_length = colon ? (size_t)(colon - text) : length;
    int kind = find_kind(text, kind_length), override;
    char list[512];

    if (kind < 0 || !colon) {
        list_kinds(list, sizeof list);
        snprintf(complaint, bytes,
                 "MUR_COLL has '%.*s', but must be a list of collective:algorithm; collectives are %s", (int)length,
                 text, list);
        return false;
    }
    override = find((enum mur_collective_kind)kind, colon + 1, length - kind_length - 1);
    if (override < 0) {
        list_names((enum mur_collective_kind)kind, list, sizeof list);
        snprintf(complaint, bytes, "MUR_COLL has '%.*s', but there is no such algorithm; those of %s are %s",
                 (int)length, text, mur_collective_name((enum mur_collective_kind)kind), list);
        return false;
    }
    of_job[kind] = (unsigned char) override;
    mur_override_is_any = true;
    return true;
}

const char *mur_override_read(void)
{
    static char complaint[1024];
    const char *text = getenv("MUR_COLL");

    while (text && *text) {
        size_t length = strcspn(text, ",");

        if (length && !complaint[0])
            take(text, length, complaint, sizeof complaint);
        text += length + (text[length] == ',');
    }
    return complaint[0] ? complaint : NULL;
}

enum { KEY_BYTES = 64 };

static const char *write_key(char key[KEY_BYTES], int kind)
{
    snprintf(key, KEY_BYTES, "mur_%s", mur_collective_name((enum mur_collective_kind)kind));
    return key;
}

static const char *value_of(const struct mur_info *info, int kind)
{
    char key[KEY_BYTES];

    return mur_info_get(info, write_key(key, kind));
}

int mur_override_check(const struct mur_info *info)
{
    for (int kind = 0; kind < MUR_COLLECTIVE_KINDS; kind++) {
        const char *value = value_of(info, kind), *name = mur_collective_name((enum mur_collective_kind)kind);
        char list[512];

        if (!value || !*value || find((enum mur_collective_kind)kind, value, strlen(value)) >= 0)
            continue;
        list_names((enum mur_collective_kind)kind, list, sizeof list);
        return mur_error(MPI_ERR_INFO_VALUE, "the info key mur_%s is '%s', but must be one of %s", name, value, list);
    }
    return MPI_SUCCESS;
}

int mur_override_set(struct mur_comm *comm, const struct mur_info *info)
{
    int rc = mur_override_check(info);

    for (int kind = 0; kind < MUR_COLLECTIVE_KINDS && !rc; kind++) {
        const char *value = value_of(info, kind);

        if (!value)
            continue;
        if (!comm->overrides && !(comm->overrides = calloc(MUR_COLLECTIVE_KINDS, 1)))
            return mur_error(MPI_ERR_NO_MEM, "no memory for the algorithms that a communicator is to use");
        comm->overrides[kind] =
            *value ? (unsigned char)find((enum mur_collective_kind)kind, value, strlen(value)) : NO_OVERRIDE;
    }
    return rc;
}

int mur_override_get(const struct mur_comm *comm, struct mur_info *info)
{
    int rc = MPI_SUCCESS;

    for (int kind = 0; comm->overrides && kind < MUR_COLLECTIVE_KINDS && !rc; kind++) {
        char key[KEY_BYTES];

        if (comm->overrides[kind])
            rc = mur_info_set(info, write_key(key, kind), name_of(comm->overrides[kind]));
    }
    return rc;
}

const struct mur_algorithm *mur_override(const struct mur_comm *comm, enum mur_collective_kind kind, bool *is_board)
{
    int override = comm->overrides && comm->overrides[kind] ? comm->overrides[kind] : of_job[kind];

    *is_board = override == BOARD;
    return override >= FIRST_ALGORITHM ? &mur_algorithms[override - FIRST_ALGORITHM] : NULL;
}
