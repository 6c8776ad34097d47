/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing process mappings.
 *
 *     mapping = "(vector" { "," item } ")"
 *     item    = "(" node "," nodes "," ranks ")"     `ranks` ranks on each of `nodes` nodes from `node` on
 *             | node                                 one rank
 *             | "[" item { "," item } "]x" times     the items, repeated
 *
 * Items that end before the last rank begin anew: "(vector,(0,2,1))" deals ranks to two nodes in turn. The writer uses
 * this to say only one period, and never brackets, which older readers do not know. */
#include "boot/pmi/mapping.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NESTED = 8 };

struct reader {
    const char *at;
    int *node_of;
    int size, filled;
};

static bool items(struct reader *reader, int depth);

static bool symbol(struct reader *reader, char wanted)
{
    if (*reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static bool number(struct reader *reader, int least, int *value)
{
    long parsed = 0;

    if (*reader->at < '0' || *reader->at > '9')
        return false;
    while (*reader->at >= '0' && *reader->at <= '9') {
        parsed = parsed * 10 + (*reader->at++ - '0');
        if (parsed > INT_MAX)
            return false;
    }
    *value = (int)parsed;
    return parsed >= least;
}

static bool place(struct reader *reader, int node, int nodes, int ranks)
{
    if (nodes - 1 > INT_MAX - node)
        return false;
    for (int i = 0; i < nodes; i++)
        for (int j = 0; j < ranks; j++) {
            if (reader->filled == reader->size)
                return true;
            reader->node_of[reader->filled++] = node + i;
        }
    return true;
}

static bool block(struct reader *reader)
{
    int node, nodes, ranks;

    return symbol(reader, '(') && number(reader, 0, &node) && symbol(reader, ',') && number(reader, 1, &nodes) &&
           symbol(reader, ',') && number(reader, 1, &ranks) && symbol(reader, ')') && place(reader, node, nodes, ranks);
}

/* Reads the items in brackets again for each repetition that still has ranks to place: each places one at least. */
static bool repetition(struct reader *reader, int depth)
{
    const char *start = reader->at, *end;
    int times;

    if (depth == MOST_NESTED || !symbol(reader, '[') || !items(reader, depth + 1) || !symbol(reader, ']') ||
        !symbol(reader, 'x') || !number(reader, 1, &times))
        return false;
    end = reader->at;
    for (int i = 1; i < times && reader->filled < reader->size; i++) {
        reader->at = start + 1;
        items(reader, depth + 1);
    }
    reader->at = end;
    return true;
}

static bool items(struct reader *reader, int depth)
{
    int node;
    bool is_good;

    do {
        if (*reader->at == '(')
            is_good = block(reader);
        else if (*reader->at == '[')
            is_good = repetition(reader, depth);
        else
            is_good = number(reader, 0, &node) && place(reader, node, 1, 1);
    } while (is_good && symbol(reader, ','));
    return is_good;
}

bool mur_pmi_mapping_read(const char *text, int size, int *node_of)
{
    static const char start[] = "(vector,";
    struct reader reader = {.at = text + sizeof start - 1, .node_of = node_of, .size = size};

    if (strncmp(text, start, sizeof start - 1) != 0 || !items(&reader, 0) || !symbol(&reader, ')') || *reader.at)
        return false;
    for (int i = reader.filled; i < size; i++)
        node_of[i] = node_of[i - reader.filled];
    return true;
}

/* The length of the shortest beginning whose repetition makes the whole: n less its longest border (Knuth, Morris and
 * Pratt 1977). */
static int period(const int *node_of, int size)
{
    int *border = malloc((size_t)size * sizeof *border);
    int matched = 0;

    if (!border)
        return size;
    border[0] = 0;
    for (int i = 1; i < size; i++) {
        while (matched > 0 && node_of[i] != node_of[matched])
            matched = border[matched - 1];
        if (node_of[i] == node_of[matched])
            matched++;
        border[i] = matched;
    }
    free(border);
    return size - matched;
}

static int run_length(const int *node_of, int size)
{
    int length = 1;

    while (length < size && node_of[length] == node_of[0])
        length++;
    return length;
}

bool mur_pmi_mapping_write(const int *node_of, int size, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "(vector");
    int length = size > 0 ? period(node_of, size) : 0;

    for (int at = 0; at < length && used < bytes;) {
        int first = node_of[at], ranks = run_length(node_of + at, length - at), nodes = 0;

        do {
            nodes++;
            at += ranks;
        } while (at < length && node_of[at] == first + nodes && run_length(node_of + at, length - at) == ranks);
        used += (size_t)snprintf(text + used, bytes - used, ",(%d,%d,%d)", first, nodes, ranks);
    }
    if (used < bytes)
        used += (size_t)snprintf(text + used, bytes - used, ")");
    return length > 0 && used < bytes;
}
