/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree itself: see document.h. Maps are short, so their members are searched one after the other. */
#include "mpijob/document/document.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"

struct mur_value *mur_value_new(enum mur_value_kind kind)
{
    struct mur_value *node = mur_alloc(1, sizeof *node);

    node->kind = kind;
    return node;
}

struct mur_value *mur_value_text(const char *format, ...)
{
    struct mur_value *node = mur_value_new(MUR_STRING);
    va_list args;

    va_start(args, format);
    if (vasprintf(&node->text, format, args) < 0)
        node->text = mur_alloc(1, 1);
    va_end(args);
    return node;
}

struct mur_value *mur_value_integer(long long value)
{
    struct mur_value *node = mur_value_new(MUR_INTEGER);

    node->integer = value;
    node->text = mur_alloc_text("%lld", value);
    return node;
}

struct mur_value *mur_value_bool(bool value)
{
    struct mur_value *node = mur_value_new(MUR_BOOL);

    node->integer = value;
    node->text = mur_alloc_text("%s", value ? "true" : "false");
    return node;
}

struct mur_value *mur_value_copy(const struct mur_value *node)
{
    struct mur_value *copy;

    if (!node)
        return NULL;
    copy = mur_value_new(node->kind);
    copy->line = node->line;
    copy->integer = node->integer;
    if (node->text)
        copy->text = mur_alloc_text("%s", node->text);
    copy->count = node->count;
    copy->members = mur_alloc((size_t)node->count, sizeof *copy->members);
    for (int i = 0; i < node->count; i++) {
        copy->members[i].line = node->members[i].line;
        copy->members[i].name = node->members[i].name ? mur_alloc_text("%s", node->members[i].name) : NULL;
        copy->members[i].value = mur_value_copy(node->members[i].value);
    }
    return copy;
}

void mur_value_free(struct mur_value *node)
{
    if (!node)
        return;
    for (int i = 0; i < node->count; i++) {
        free(node->members[i].name);
        mur_value_free(node->members[i].value);
    }
    free(node->members);
    free(node->text);
    free(node);
}

/* The order of a map's members does not count. */
bool mur_value_equal(const struct mur_value *a, const struct mur_value *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind || a->count != b->count || strcmp(a->text ? a->text : "", b->text ? b->text : "") != 0)
        return false;
    for (int i = 0; i < a->count; i++) {
        const struct mur_value *other =
            a->kind == MUR_LIST ? b->members[i].value : mur_value_get(b, a->members[i].name);

        if (!mur_value_equal(a->members[i].value, other))
            return false;
    }
    return true;
}

struct mur_value *mur_value_get(const struct mur_value *map, const char *name)
{
    if (!map || map->kind != MUR_MAP)
        return NULL;
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->members[i].name, name) == 0)
            return map->members[i].value;
    return NULL;
}

struct mur_value *mur_value_at(const struct mur_value *root, const char *path)
{
    char name[256];
    const struct mur_value *node = root;

    while (node && *path) {
        size_t length = strcspn(path, ".");

        snprintf(name, sizeof name, "%.*s", (int)length, path);
        node = mur_value_get(node, name);
        path += length + (path[length] == '.');
    }
    return (struct mur_value *)node;
}

const char *mur_value_string(const struct mur_value *root, const char *path, const char *otherwise)
{
    const struct mur_value *node = mur_value_at(root, path);

    return node && node->text && node->kind != MUR_NULL ? node->text : otherwise;
}

long long mur_value_long(const struct mur_value *root, const char *path, long long otherwise)
{
    const struct mur_value *node = mur_value_at(root, path);

    return node && node->kind == MUR_INTEGER ? node->integer : otherwise;
}

bool mur_value_true(const struct mur_value *root, const char *path)
{
    const struct mur_value *node = mur_value_at(root, path);

    return node && node->kind == MUR_BOOL && node->integer;
}

int mur_value_count(const struct mur_value *node)
{
    return node ? node->count : 0;
}

static void append(struct mur_value *node, char *name, struct mur_value *value)
{
    node->members = mur_alloc_again(node->members, (size_t)node->count + 1, sizeof *node->members);
    node->members[node->count++] = (struct mur_member){.name = name, .line = value->line, .value = value};
}

void mur_value_put(struct mur_value *map, const char *name, struct mur_value *value)
{
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->members[i].name, name) == 0) {
            mur_value_free(map->members[i].value);
            map->members[i].value = value;
            return;
        }
    append(map, mur_alloc_text("%s", name), value);
}

void mur_value_set(struct mur_value *root, const char *path, struct mur_value *value)
{
    char name[256];
    size_t length;

    while (length = strcspn(path, "."), path[length] == '.') {
        struct mur_value *next;

        snprintf(name, sizeof name, "%.*s", (int)length, path);
        next = mur_value_get(root, name);
        if (!next || next->kind != MUR_MAP)
            mur_value_put(root, name, next = mur_value_new(MUR_MAP));
        root = next;
        path += length + 1;
    }
    mur_value_put(root, path, value);
}

void mur_value_add(struct mur_value *list, struct mur_value *value)
{
    append(list, NULL, value);
}

void mur_value_drop(struct mur_value *map, const char *name)
{
    for (int i = 0; map && i < map->count; i++)
        if (strcmp(map->members[i].name, name) == 0) {
            free(map->members[i].name);
            mur_value_free(map->members[i].value);
            memmove(&map->members[i], &map->members[i + 1], (size_t)(map->count - i - 1) * sizeof *map->members);
            map->count--;
            return;
        }
}

struct mur_value *mur_document_read(const char *text, size_t length, struct mur_document_error *error)
{
    size_t start = 0;
    struct mur_value *node, *list;

    while (start < length && isspace((unsigned char)text[start]))
        start++;
    if (start == length || text[start] != '{')
        return mur_yaml_read(text, length, error);
    node = mur_json_read(text, length, error);
    if (!node)
        return NULL;
    list = mur_value_new(MUR_LIST);
    mur_value_add(list, node);
    return list;
}
