/* SPDX-License-Identifier: BSD-3-Clause */
/* Patches: of JSON (RFC 6902), merge patches (RFC 7386), and Kubernetes' strategic merge patches, in which lists of
 * objects are merged by a key. All make a new tree. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/server/server.h"

enum { MOST_COPIED = 3 << 20, LONGEST_LIST = 10000 }; /* bytes; items */

struct mur_value *mur_patch_merge(const struct mur_value *old, const struct mur_value *patch)
{
    struct mur_value *result;

    if (patch->kind != MUR_MAP)
        return mur_value_copy(patch);
    result = old && old->kind == MUR_MAP ? mur_value_copy(old) : mur_value_new(MUR_MAP);
    for (int i = 0; i < patch->count; i++) {
        const char *name = patch->members[i].name;

        if (patch->members[i].value->kind == MUR_NULL)
            mur_value_drop(result, name);
        else
            mur_value_put(result, name, mur_patch_merge(mur_value_get(result, name), patch->members[i].value));
    }
    return result;
}

/* Lists whose items are told apart by a field; others are replaced. */
static const char *key_of(const char *list, const struct mur_value *patch)
{
    static const char *const keys[][2] = {
        {"containers", "name"},     {"initContainers", "name"},    {"env", "name"},
        {"volumes", "name"},        {"volumeMounts", "mountPath"}, {"imagePullSecrets", "name"},
        {"ownerReferences", "uid"}, {"conditions", "type"},        {"hostAliases", "ip"},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i][0], list) == 0)
            return keys[i][1];
    if (strcmp(list, "ports") != 0 || patch->count == 0)
        return NULL;
    return mur_value_get(patch->members[0].value, "containerPort") ? "containerPort" : "port";
}

static bool is_directive(const char *name)
{
    return name[0] == '$';
}

static int find_item(const struct mur_value *list, const char *key, const char *text)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(mur_value_string(list->members[i].value, key, ""), text) == 0)
            return i;
    return -1;
}

static void drop_item(struct mur_value *list, int at)
{
    mur_value_free(list->members[at].value);
    memmove(&list->members[at], &list->members[at + 1], (size_t)(list->count - at - 1) * sizeof *list->members);
    list->count--;
}

static struct mur_value *merge_lists(const struct mur_value *old, const struct mur_value *patch, const char *key)
{
    struct mur_value *result = mur_value_copy(old);

    for (int i = 0; i < patch->count; i++) {
        const struct mur_value *item = patch->members[i].value;
        const char *text = mur_value_string(item, key, ""), *directive = mur_value_string(item, "$patch", "");
        int at = find_item(result, key, text);

        if (strcmp(directive, "replace") == 0) { /* an item that says: the whole list is new */
            while (result->count > 0)
                drop_item(result, 0);
        } else if (strcmp(directive, "delete") == 0) {
            if (at >= 0)
                drop_item(result, at);
        } else if (at >= 0) {
            struct mur_value *merged = mur_patch_strategic(result->members[at].value, item);

            mur_value_free(result->members[at].value);
            result->members[at].value = merged;
        } else {
            mur_value_add(result, mur_patch_strategic(NULL, item));
        }
    }
    return result;
}

/* "$deleteFromPrimitiveList/finalizers": values that go. */
static void delete_values(struct mur_value *result, const char *name, const struct mur_value *values)
{
    struct mur_value *list = mur_value_get(result, name);

    for (int i = 0; list && list->kind == MUR_LIST && i < values->count; i++)
        for (int j = list->count - 1; j >= 0; j--)
            if (mur_value_equal(list->members[j].value, values->members[i].value))
                drop_item(list, j);
}

/* Finalizers are the one list of plain values that is merged. */
static struct mur_value *merge_values(const struct mur_value *old, const struct mur_value *patch)
{
    struct mur_value *result = mur_value_copy(old);

    for (int i = 0; i < patch->count; i++) {
        bool is_there = false;

        for (int j = 0; j < result->count; j++)
            is_there |= mur_value_equal(result->members[j].value, patch->members[i].value);
        if (!is_there)
            mur_value_add(result, mur_value_copy(patch->members[i].value));
    }
    return result;
}

static struct mur_value *merge_member(const struct mur_value *old, const char *name, const struct mur_value *patch)
{
    const char *key = patch->kind == MUR_LIST ? key_of(name, patch) : NULL;

    if (old && old->kind == MUR_LIST && key)
        return merge_lists(old, patch, key);
    if (old && old->kind == MUR_LIST && patch->kind == MUR_LIST && strcmp(name, "finalizers") == 0)
        return merge_values(old, patch);
    return mur_patch_strategic(old, patch);
}

/* "$retainKeys": of the fields, only these stay. */
static void retain_fields(struct mur_value *result, const struct mur_value *names)
{
    for (int i = result->count - 1; i >= 0; i--) {
        bool stays = false;

        for (int j = 0; j < names->count; j++)
            stays |=
                names->members[j].value->text && strcmp(names->members[j].value->text, result->members[i].name) == 0;
        if (!stays)
            mur_value_drop(result, result->members[i].name);
    }
}

struct mur_value *mur_patch_strategic(const struct mur_value *old, const struct mur_value *patch)
{
    static const char deleted[] = "$deleteFromPrimitiveList/";
    struct mur_value *result;

    if (patch->kind != MUR_MAP)
        return mur_value_copy(patch);
    if (strcmp(mur_value_string(patch, "$patch", ""), "replace") == 0)
        old = NULL;
    result = old && old->kind == MUR_MAP ? mur_value_copy(old) : mur_value_new(MUR_MAP);
    if (strcmp(mur_value_string(patch, "$patch", ""), "delete") == 0) {
        mur_value_free(result);
        return mur_value_new(MUR_MAP);
    }
    if (mur_value_get(patch, "$retainKeys"))
        retain_fields(result, mur_value_get(patch, "$retainKeys"));
    for (int i = 0; i < patch->count; i++) {
        const char *name = patch->members[i].name;
        const struct mur_value *value = patch->members[i].value;

        if (strncmp(name, deleted, sizeof deleted - 1) == 0)
            delete_values(result, name + sizeof deleted - 1, value);
        else if (value->kind == MUR_NULL)
            mur_value_drop(result, name);
        else if (!is_directive(name))
            mur_value_put(result, name, merge_member(mur_value_get(result, name), name, value));
    }
    return result;
}

/* ---- JSON patches ---- */

/* The next part of a pointer (RFC 6901), unescaped, which the caller frees. */
static char *take_part(const char **pointer)
{
    size_t length = strcspn(*pointer + 1, "/");
    char *part = mur_alloc_text("%.*s", (int)length, *pointer + 1), *to = part;

    for (const char *from = part; *from; from++)
        if (from[0] == '~' && (from[1] == '0' || from[1] == '1'))
            *to++ = *++from == '0' ? '~' : '/';
        else
            *to++ = *from;
    *to = '\0';
    *pointer += 1 + length;
    return part;
}

/* Of a list: 0 to its length, "-" for behind the last; -1 for none of them. */
static int position_of(const struct mur_value *list, const char *part)
{
    char *end;
    long at = strtol(part, &end, 10);

    if (strcmp(part, "-") == 0)
        return list->count;
    if (!*part || *end || *part == '+' || *part == ' ' || (part[0] == '0' && part[1]))
        return -1;
    return at < 0 || at > list->count ? -1 : (int)at;
}

static struct mur_value *child_of(struct mur_value *node, const char *part)
{
    int at;

    if (!node || node->kind != MUR_LIST)
        return mur_value_get(node, part);
    at = position_of(node, part);
    return at >= 0 && at < node->count ? node->members[at].value : NULL;
}

/* What holds the place of a pointer, and the pointer's last part, which the caller frees. NULL if nothing does. */
static struct mur_value *holder_of(struct mur_value *root, const char *pointer, char **last)
{
    struct mur_value *node = root;

    *last = NULL;
    if (*pointer != '/')
        return NULL;
    for (;;) {
        char *part = take_part(&pointer);

        if (!*pointer) {
            *last = part;
            return node && (node->kind == MUR_MAP || node->kind == MUR_LIST) ? node : NULL;
        }
        node = child_of(node, part);
        free(part);
    }
}

static struct mur_value *value_at(struct mur_value *root, const char *pointer)
{
    char *last;
    struct mur_value *holder = holder_of(root, pointer, &last), *value = *pointer ? NULL : root;

    if (holder)
        value = child_of(holder, last);
    free(last);
    return value;
}

/* Takes the value over. */
static bool add_at(struct mur_value *root, const char *pointer, struct mur_value *value)
{
    char *last;
    struct mur_value *holder = holder_of(root, pointer, &last);
    int at = holder && holder->kind == MUR_LIST ? position_of(holder, last) : 0;
    bool fits = holder && at >= 0;

    if (!fits) {
        mur_value_free(value);
    } else if (holder->kind == MUR_MAP) {
        mur_value_put(holder, last, value);
    } else {
        struct mur_member member;

        mur_value_add(holder, value);
        member = holder->members[holder->count - 1];
        memmove(&holder->members[at + 1], &holder->members[at], (size_t)(holder->count - 1 - at) * sizeof member);
        holder->members[at] = member;
    }
    free(last);
    return fits;
}

static bool remove_at(struct mur_value *root, const char *pointer)
{
    char *last;
    struct mur_value *holder = holder_of(root, pointer, &last);
    bool is_there = holder && child_of(holder, last);

    if (is_there && holder->kind == MUR_MAP)
        mur_value_drop(holder, last);
    else if (is_there)
        drop_item(holder, position_of(holder, last));
    free(last);
    return is_there;
}

static size_t size_of(const struct mur_value *node)
{
    char *text = mur_json_text(node);
    size_t size = strlen(text);

    free(text);
    return size;
}

/* *room is how much copies may still add: a few operations could double an object again and again. */
static bool operate(struct mur_value *root, const struct mur_value *operation, size_t *room)
{
    const char *what = mur_value_string(operation, "op", ""), *path = mur_value_string(operation, "path", "");
    const char *from = mur_value_string(operation, "from", "");
    const struct mur_value *value = mur_value_get(operation, "value");
    struct mur_value *copy;

    if (strcmp(what, "test") == 0)
        return value && mur_value_equal(value_at(root, path), value);
    if (strcmp(what, "remove") == 0)
        return remove_at(root, path);
    if (strcmp(what, "add") == 0)
        return value && add_at(root, path, mur_value_copy(value));
    if (strcmp(what, "replace") == 0)
        return value && remove_at(root, path) && add_at(root, path, mur_value_copy(value));
    if (strcmp(what, "move") != 0 && strcmp(what, "copy") != 0)
        return false;
    if (!value_at(root, from) || (*what == 'm' && strncmp(path, from, strlen(from)) == 0 && path[strlen(from)] == '/'))
        return false;
    if (*what == 'c') {
        size_t size = size_of(value_at(root, from));

        if (size > *room)
            return false;
        *room -= size;
    }
    copy = mur_value_copy(value_at(root, from));
    if (*what == 'm')
        remove_at(root, from);
    return add_at(root, path, copy);
}

struct mur_value *mur_patch_operations(const struct mur_value *old, const struct mur_value *list, char **why)
{
    struct mur_value *result = mur_value_copy(old);
    size_t room = MOST_COPIED;

    for (int i = 0; i < list->count; i++)
        if (!operate(result, list->members[i].value, &room)) {
            char *text = mur_json_text(list->members[i].value);

            *why = mur_alloc_text("operation %d of the patch does not fit the object: %s", i, text);
            free(text);
            mur_value_free(result);
            return NULL;
        }
    return result;
}

static struct mur_value *apply(const struct mur_api_request *request, const struct mur_value *old,
                               const struct mur_value *patch, struct mur_reply *reply)
{
    bool is_list = strncmp(request->content_type, "application/json-patch+json", 27) == 0;
    char *why = NULL;
    struct mur_value *result;

    if (patch->kind != (is_list ? MUR_LIST : MUR_MAP)) {
        mur_reply_fail(reply, 400, "BadRequest", "a patch of type %s is %s", request->content_type,
                       is_list ? "a list of operations" : "an object");
        return NULL;
    }
    if (!is_list)
        return strncmp(request->content_type, "application/strategic", 21) == 0 ? mur_patch_strategic(old, patch)
                                                                                : mur_patch_merge(old, patch);
    result = mur_patch_operations(old, patch, &why);
    if (why)
        mur_reply_fail(reply, 422, "Invalid", "%s", why);
    free(why);
    return result;
}

/* Lists are merged item by item. */
static bool is_too_long(const struct mur_value *node)
{
    if (node->kind == MUR_LIST && node->count > LONGEST_LIST)
        return true;
    for (int i = 0; i < node->count; i++)
        if (is_too_long(node->members[i].value))
            return true;
    return false;
}

bool mur_patch_is_known(const struct mur_api_request *request, struct mur_reply *reply)
{
    const char *type = request->content_type;
    bool is_strategic = strncmp(type, "application/strategic-merge-patch+json", 38) == 0;

    if (strncmp(type, "application/apply-patch", 23) == 0)
        mur_reply_fail(reply, 415, "UnsupportedMediaType",
                       "application/apply-patch+yaml is not supported: this server keeps no managed fields; use "
                       "kubectl apply without --server-side");
    else if (is_strategic && strcmp(request->resource->kind, "MPIJob") == 0)
        mur_reply_fail(reply, 415, "UnsupportedMediaType",
                       "strategic merge patches are not supported for MPIJob: use a merge patch");
    else if (!is_strategic && strncmp(type, "application/merge-patch+json", 28) != 0 &&
             strncmp(type, "application/json-patch+json", 27) != 0)
        mur_reply_fail(reply, 415, "UnsupportedMediaType",
                       "the type of the patch is \"%s\", where application/json-patch+json, "
                       "application/merge-patch+json or application/strategic-merge-patch+json is expected",
                       type);
    return !reply->body;
}

struct mur_value *mur_patch(const struct mur_api_request *request, const struct mur_value *old, struct mur_reply *reply)
{
    struct mur_document_error error;
    struct mur_value *patch = mur_json_read(request->body, request->length, &error), *result = NULL;

    if (!patch)
        mur_reply_fail(reply, 400, "BadRequest", "the patch is not readable: %s", error.text);
    else if (is_too_long(patch))
        mur_reply_fail(reply, 422, "Invalid", "a list in the patch has more than %d items", LONGEST_LIST);
    else
        result = apply(request, old, patch, reply);
    mur_value_free(patch);
    return result;
}
