/* SPDX-License-Identifier: BSD-3-Clause */
/* YAML, read by libyaml's events. Plain scalars get their types as in YAML 1.1, which is what Kubernetes reads: `on`
 * and `yes` are booleans. Aliases are copies; a merge key `<<` adds what the map does not have. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "launch/alloc.h"
#include "mpijob/document/document.h"

enum { DEEPEST = 100, MOST_NODES = 1000000 }; /* of a file that is meant well */

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    struct mur_value *anchors; /* by name */
    struct mur_document_error *error;
    int depth, nodes;
};

static struct mur_value *read_node(struct reader *reader);

static void *fail(struct reader *reader, int line, const char *text, const char *what)
{
    if (!reader->error->text[0]) {
        reader->error->line = line;
        snprintf(reader->error->text, sizeof reader->error->text, "%s%s%s%s", text, what ? " \"" : "", what ? what : "",
                 what ? "\"" : "");
    }
    return NULL;
}

static bool next(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (yaml_parser_parse(&reader->parser, &reader->event))
        return true;
    memset(&reader->event, 0, sizeof reader->event);
    fail(reader, (int)reader->parser.problem_mark.line + 1, "error converting YAML to JSON: yaml: ", NULL);
    snprintf(reader->error->text, sizeof reader->error->text, "error converting YAML to JSON: yaml: %s%s%s",
             reader->parser.problem ? reader->parser.problem : "not YAML", reader->parser.context ? ", " : "",
             reader->parser.context ? reader->parser.context : "");
    return false;
}

static int line_of(const struct reader *reader)
{
    return (int)reader->event.start_mark.line + 1;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

/* A word is written small, with a large initial, or large. */
static void resolve_plain(struct mur_value *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", "no", "No", "NO",
                                         "off",   "Off",   "OFF",   "n",  "N",  NULL};
    const char *digits = node->text + (node->text[0] == '-' || node->text[0] == '+');
    char *end;

    if (is_one_of(node->text, nulls)) {
        node->kind = MUR_NULL;
    } else if (is_one_of(node->text, trues) || is_one_of(node->text, falses)) {
        node->kind = MUR_BOOL;
        node->integer = is_one_of(node->text, trues);
        free(node->text);
        node->text = mur_alloc_text("%s", node->integer ? "true" : "false");
    } else if ((*digits >= '0' && *digits <= '9') || (*digits == '.' && digits[1] >= '0' && digits[1] <= '9')) {
        int base = digits[0] == '0' && digits[1] && strchr("01234567", digits[1]) ? 8 : 10;

        if (digits[0] == '0' && digits[1] == 'x')
            base = 16;
        errno = 0;
        node->integer = strtoll(node->text, &end, base);
        if (*end == '\0' && errno == 0) {
            node->kind = MUR_INTEGER;
            if (base != 10) {
                free(node->text);
                node->text = mur_alloc_text("%lld", node->integer);
            }
            return;
        }
        node->integer = 0;
        if (strspn(node->text, "0123456789+-.eE") == strlen(node->text)) {
            strtod(node->text, &end);
            if (*end == '\0')
                node->kind = MUR_NUMBER;
        }
    }
}

static struct mur_value *read_scalar(struct reader *reader)
{
    struct mur_value *node = mur_value_new(MUR_STRING);
    const char *tag = (const char *)reader->event.data.scalar.tag;

    node->line = line_of(reader);
    node->text = mur_alloc_text("%s", (const char *)reader->event.data.scalar.value);
    if (strlen(node->text) != reader->event.data.scalar.length) {
        mur_value_free(node);
        return fail(reader, line_of(reader), "a text has a zero byte", NULL);
    }
    if (reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && (!tag || strcmp(tag, YAML_STR_TAG) != 0))
        resolve_plain(node);
    return node;
}

static void merge(struct mur_value *map, const struct mur_value *other)
{
    if (other->kind == MUR_LIST)
        for (int i = 0; i < other->count; i++)
            merge(map, other->members[i].value);
    else
        for (int i = 0; i < other->count; i++)
            if (!mur_value_get(map, other->members[i].name))
                mur_value_put(map, other->members[i].name, mur_value_copy(other->members[i].value));
}

/* The value of a name has been read. */
static bool add_member(struct reader *reader, struct mur_value *map, struct mur_value *merged, char *name, int line)
{
    struct mur_value *value = next(reader) ? read_node(reader) : NULL;

    if (!value)
        return false;
    if (strcmp(name, "<<") == 0) {
        mur_value_add(merged, value);
        return true;
    }
    if (mur_value_get(map, name)) {
        mur_value_free(value);
        return fail(reader, line, "yaml: key already set in map:", name) != NULL;
    }
    mur_value_put(map, name, value);
    map->members[map->count - 1].line = line;
    return true;
}

static bool read_members(struct reader *reader, struct mur_value *node, struct mur_value *merged)
{
    bool is_list = node->kind == MUR_LIST;

    while (next(reader)) {
        char *name;
        bool is_well;

        if (reader->event.type == YAML_SEQUENCE_END_EVENT || reader->event.type == YAML_MAPPING_END_EVENT)
            return true;
        if (is_list) {
            struct mur_value *value = read_node(reader);

            if (!value)
                return false;
            mur_value_add(node, value);
            continue;
        }
        if (reader->event.type != YAML_SCALAR_EVENT)
            return fail(reader, line_of(reader), "yaml: the name of a field is not a text", NULL) != NULL;
        name = mur_alloc_text("%s", (const char *)reader->event.data.scalar.value);
        is_well = add_member(reader, node, merged, name, line_of(reader));
        free(name);
        if (!is_well)
            return false;
    }
    return false;
}

static struct mur_value *read_collection(struct reader *reader, enum mur_value_kind kind)
{
    struct mur_value *node = mur_value_new(kind), *merged = mur_value_new(MUR_LIST);
    bool is_well;

    node->line = line_of(reader);
    is_well = ++reader->depth <= DEEPEST ? read_members(reader, node, merged)
                                         : fail(reader, node->line, "yaml: nested too deeply", NULL) != NULL;
    reader->depth--;
    if (is_well)
        merge(node, merged);
    mur_value_free(merged);
    if (is_well)
        return node;
    mur_value_free(node);
    return NULL;
}

static int nodes_in(const struct mur_value *node)
{
    int sum = 1;

    for (int i = 0; i < node->count; i++)
        sum += nodes_in(node->members[i].value);
    return sum;
}

/* What the current event begins. */
static struct mur_value *read_node(struct reader *reader)
{
    char *anchor = NULL;
    struct mur_value *node = NULL;
    yaml_event_t *event = &reader->event;

    if (event->type == YAML_ALIAS_EVENT) {
        const struct mur_value *meant = mur_value_get(reader->anchors, (const char *)event->data.alias.anchor);

        if (!meant)
            return fail(reader, line_of(reader), "yaml: unknown anchor", (const char *)event->data.alias.anchor);
        reader->nodes += nodes_in(meant);
        if (reader->nodes > MOST_NODES)
            return fail(reader, line_of(reader), "yaml: document contains excessive aliasing", NULL);
        return mur_value_copy(meant);
    }
    if (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor)
        anchor = mur_alloc_text("%s", (const char *)event->data.scalar.anchor);
    if (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor)
        anchor = mur_alloc_text("%s", (const char *)event->data.mapping_start.anchor);
    if (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor)
        anchor = mur_alloc_text("%s", (const char *)event->data.sequence_start.anchor);

    if (event->type == YAML_SCALAR_EVENT)
        node = read_scalar(reader);
    else
        node = read_collection(reader, event->type == YAML_MAPPING_START_EVENT ? MUR_MAP : MUR_LIST);
    if (anchor && node)
        mur_value_put(reader->anchors, anchor, mur_value_copy(node));
    free(anchor);
    return node;
}

static bool read_documents(struct reader *reader, struct mur_value *list)
{
    while (next(reader)) {
        struct mur_value *node;

        if (reader->event.type == YAML_STREAM_END_EVENT)
            return true;
        if (reader->event.type != YAML_DOCUMENT_START_EVENT)
            continue;
        if (!next(reader) || !(node = read_node(reader)))
            return false;
        if (node->kind == MUR_NULL) /* nothing between two lines of dashes */
            mur_value_free(node);
        else
            mur_value_add(list, node);
    }
    return false;
}

struct mur_value *mur_yaml_read(const char *text, size_t length, struct mur_document_error *error)
{
    struct reader reader = {.error = error};
    struct mur_value *list = mur_value_new(MUR_LIST);
    bool is_well;

    *error = (struct mur_document_error){0};
    if (!yaml_parser_initialize(&reader.parser)) {
        fail(&reader, 0, "no memory to read YAML", NULL);
        mur_value_free(list);
        return NULL;
    }
    reader.anchors = mur_value_new(MUR_MAP);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    is_well = read_documents(&reader, list);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    mur_value_free(reader.anchors);
    if (is_well)
        return list;
    mur_value_free(list);
    return NULL;
}
