/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree itself: see document.h. Maps are short, so their members are searched one after the other. */
#include "mpijob/document/document.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"

struct mur_node *mur_node_new(enum mur_kind kind)
{
    struct mur_node *node = mur_alloc(1, sizeof *node);

    node->kind = kind;
    return node;
}

struct mur_node *mur_node_text(const char *format, ...)
{
    struct mur_node *node = mur_node_new(MUR_STRING);
    va_list args;

    va_start(args, format);
    if (vasprintf(&node->text, format, args) < 0)
        node->text = mur_alloc(1, 1);
    va_end(args);
    return node;
}

struct mur_node *mur_node_integer(long long value)
{
    struct mur_node *node = mur_node_new(MUR_INTEGER);

    node->integer = value;
    node->text = mur_alloc_text("%lld", value);
    return node;
}

struct mur_node *mur_node_bool(bool value)
{
    struct mur_node *node = mur_node_new(MUR_BOOL);

    node->integer = value;
    node->text = mur_alloc_text("%s", value ? "true" : "false");
    return node;
}

struct mur_node *mur_node_copy(const struct mur_node *node)
{
    struct mur_node *copy;

    if (!node)
        return NULL;
    copy = mur_node_new(node->kind);
    copy->line = node->line;
    copy->integer = node->integer;
    if (node->text)
        copy->text = mur_alloc_text("%s", node->text);
    copy->count = node->count;
    copy->members = mur_alloc((size_t)node->count, sizeof *copy->members);
    for (int i = 0; i < node->count; i++) {
        copy->members[i].line = node->members[i].line;
        copy->members[i].name = node->members[i].name ? mur_alloc_text("%s", node->members[i].name) : NULL;
        copy->members[i].value = mur_node_copy(node->members[i].value);
    }
    return copy;
}

void mur_node_free(struct mur_node *node)
{
    if (!node)
        return;
    for (int i = 0; i < node->count; i++) {
        free(node->members[i].name);
        mur_node_free(node->members[i].value);
    }
    free(node->members);
    free(node->text);
    free(node);
}

/* The order of a map's members does not count. */
bool mur_node_equal(const struct mur_node *a, const struct mur_node *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind || a->count != b->count || strcmp(a->text ? a->text : "", b->text ? b->text : "") != 0)
        return false;
    for (int i = 0; i < a->count; i++) {
        const struct mur_node *other = a->kind == MUR_LIST ? b->members[i].value : mur_node_get(b, a->members[i].name);

        if (!mur_node_equal(a->members[i].value, other))
            return false;
    }
    return true;
}

struct mur_node *mur_node_get(const struct mur_node *map, const char *name)
{
    if (!map || map->kind != MUR_MAP)
        return NULL;
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->members[i].name, name) == 0)
            return map->members[i].value;
    return NULL;
}

struct mur_node *mur_node_at(const struct mur_node *root, const char *path)
{
    char name[256];
    const struct mur_node *node = root;

    while (node && *path) {
        size_t length = strcspn(path, ".");

        snprintf(name, sizeof name, "%.*s", (int)length, path);
        node = mur_node_get(node, name);
        path += length + (path[length] == '.');
    }
    return (struct mur_node *)node;
}

const char *mur_node_string(const struct mur_node *root, const char *path, const char *otherwise)
{
    const struct mur_node *node = mur_node_at(root, path);

    return node && node->text && node->kind != MUR_NULL ? node->text : otherwise;
}

long long mur_node_long(const struct mur_node *root, const char *path, long long otherwise)
{
    const struct mur_node *node = mur_node_at(root, path);

    return node && node->kind == MUR_INTEGER ? node->integer : otherwise;
}

bool mur_node_true(const struct mur_node *root, const char *path)
{
    const struct mur_node *node = mur_node_at(root, path);

    return node && node->kind == MUR_BOOL && node->integer;
}

int mur_node_count(const struct mur_node *node)
{
    return node ? node->count : 0;
}

static void append(struct mur_node *node, char *name, struct mur_node *value)
{
    node->members = mur_alloc_again(node->members, (size_t)node->count + 1, sizeof *node->members);
    node->members[node->count++] = (struct mur_member){.name = name, .line = value->line, .value = value};
}

void mur_node_put(struct mur_node *map, const char *name, struct mur_node *value)
{
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->members[i].name, name) == 0) {
            mur_node_free(map->members[i].value);
            map->members[i].value = value;
            return;
        }
    append(map, mur_alloc_text("%s", name), value);
}

void mur_node_set(struct mur_node *root, const char *path, struct mur_node *value)
{
    char name[256];
    size_t length;

    while (length = strcspn(path, "."), path[length] == '.') {
        struct mur_node *next;

        snprintf(name, sizeof name, "%.*s", (int)length, path);
        next = mur_node_get(root, name);
        if (!next || next->kind != MUR_MAP)
            mur_node_put(root, name, next = mur_node_new(MUR_MAP));
        root = next;
        path += length + 1;
    }
    mur_node_put(root, path, value);
}

void mur_node_add(struct mur_node *list, struct mur_node *value)
{
    append(list, NULL, value);
}

void mur_node_drop(struct mur_node *map, const char *name)
{
    for (int i = 0; map && i < map->count; i++)
        if (strcmp(map->members[i].name, name) == 0) {
            free(map->members[i].name);
            mur_node_free(map->members[i].value);
            memmove(&map->members[i], &map->members[i + 1], (size_t)(map->count - i - 1) * sizeof *map->members);
            map->count--;
            return;
        }
}

struct mur_node *mur_document_read(const char *text, size_t length, struct mur_document_error *error)
{
    size_t start = 0;
    struct mur_node *node, *list;

    while (start < length && isspace((unsigned char)text[start]))
        start++;
    if (start == length || text[start] != '{')
        return mur_yaml_read(text, length, error);
    node = mur_json_read(text, length, error);
    if (!node)
        return NULL;
    list = mur_node_new(MUR_LIST);
    mur_node_add(list, node);
    return list;
}
