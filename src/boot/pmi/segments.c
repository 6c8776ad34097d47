/* SPDX-License-Identifier: BSD-3-Clause */
/* put and get on the wire protocols, whose keys belong to the whole job and whose values are short.
 *
 * KEY of rank R is stored as KEY.R. A value goes escaped; one that is too long for a command goes in pieces under
 * KEY.R+0, KEY.R+1, ..., and KEY.R itself says how many: %+N, which no escaped value begins with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/pmi/escape.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

enum { WIRE_KEY_BYTES = 64, SEGMENTS_MAX = 1 << 20 };

static void wire_key(char *wire, int rank, const char *key)
{
    if (rank == MUR_PMI_JOB)
        snprintf(wire, WIRE_KEY_BYTES, "%s", key);
    else
        snprintf(wire, WIRE_KEY_BYTES, "%s.%d", key, rank);
}

static int put_pieces(struct mur_pmi *pmi, const char *wire, const char *value, size_t length)
{
    int count = (int)((length + pmi->value_max - 1) / pmi->value_max);
    char key[WIRE_KEY_BYTES + 16], head[16];
    char *piece = malloc(pmi->value_max + 1);
    int rc = piece ? MPI_SUCCESS : mur_pmi_no_memory();

    for (int i = 0; i < count && !rc; i++) {
        snprintf(key, sizeof key, "%s+%d", wire, i);
        snprintf(piece, pmi->value_max + 1, "%s", value + (size_t)i * pmi->value_max);
        rc = pmi->protocol->store(pmi, key, piece);
    }
    free(piece);
    snprintf(head, sizeof head, "%%+%d", count);
    return rc ? rc : pmi->protocol->store(pmi, wire, head);
}

int mur_pmi_segments_put(struct mur_pmi *pmi, const char *key, const char *value)
{
    char wire[WIRE_KEY_BYTES];
    char *escaped = mur_pmi_escape(value);
    size_t length;
    int rc;

    if (!escaped)
        return mur_pmi_no_memory();
    length = strlen(escaped);
    wire_key(wire, pmi->rank, key);
    if (length <= pmi->value_max)
        rc = pmi->protocol->store(pmi, wire, escaped);
    else if (length / pmi->value_max < SEGMENTS_MAX)
        rc = put_pieces(pmi, wire, escaped, length);
    else
        rc = mur_error(MPI_ERR_OTHER, "the value of %s is too long for the launcher: %zu bytes", wire, length);
    free(escaped);
    return rc;
}

static int get_pieces(struct mur_pmi *pmi, const char *wire, int count, char **value)
{
    struct mur_pmi_text whole = {0};
    char key[WIRE_KEY_BYTES + 16];
    char *piece;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && !rc; i++) {
        snprintf(key, sizeof key, "%s+%d", wire, i);
        rc = pmi->protocol->fetch(pmi, key, &piece);
        if (!rc && !piece)
            rc = mur_error(MPI_ERR_OTHER, "the launcher lost a piece of a value: key %s of %d", key, count);
        if (!rc)
            mur_pmi_text_add(&whole, "%s", piece);
        if (!rc)
            free(piece);
    }
    if (!rc && (whole.failed || !whole.at))
        rc = mur_pmi_no_memory();
    if (rc)
        free(whole.at);
    else
        *value = whole.at;
    return rc;
}

int mur_pmi_segments_get(struct mur_pmi *pmi, int rank, const char *key, char **value)
{
    char wire[WIRE_KEY_BYTES];
    char *first;
    int count, rc;

    *value = NULL;
    wire_key(wire, rank, key);
    rc = pmi->protocol->fetch(pmi, wire, &first);
    if (rc || !first)
        return rc;
    if (strncmp(first, "%+", 2) == 0) {
        if (!mur_pmi_number(first + 2, &count) || count < 1 || count > SEGMENTS_MAX)
            rc = mur_error(MPI_ERR_OTHER, "the launcher has '%.40s' under %s, which is no number of pieces", first,
                           wire);
        else
            rc = get_pieces(pmi, wire, count, value);
        free(first);
    } else {
        *value = first;
    }
    if (!rc)
        mur_pmi_unescape(*value);
    return rc;
}
