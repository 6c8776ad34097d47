/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a document against its table of fields. Messages are those of the API server; each names file and line.
 */
#include "mpijob/schema/schema.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"

void mur_finding(struct mur_findings *findings, enum mur_severity severity, int line, const char *format, ...)
{
    static const char *const names[] = {"error", "refused", "note"};
    int *counts[] = {&findings->errors, &findings->refused, &findings->notes};
    va_list args;
    char *text;

    if (severity != MUR_SEVERITY_ERROR && !findings->tells_use)
        return;
    if (severity == MUR_SEVERITY_NOTE && findings->hides_notes)
        return;
    ++*counts[severity];
    if (!findings->out && !findings->take)
        return;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = mur_alloc_text("no memory for the text");
    va_end(args);
    if (findings->out)
        fprintf(findings->out, "%s:%d: %s: %s\n", findings->file, line, names[severity], text);
    if (findings->take)
        findings->take(findings->whom, severity, line, text);
    free(text);
}

const struct mur_schema *mur_schema_of(const struct mur_value *object)
{
    const char *version = mur_value_string(object, "apiVersion", ""), *kind = mur_value_string(object, "kind", "");

    for (const struct mur_schema *schema = mur_schemas; schema->version; schema++)
        if (strcmp(schema->version, version) == 0 && strcmp(schema->kind, kind) == 0)
            return schema;
    return NULL;
}

double mur_quantity(const char *text)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {{"", 1},
                    {"n", 1e-9},
                    {"u", 1e-6},
                    {"m", 1e-3},
                    {"k", 1e3},
                    {"M", 1e6},
                    {"G", 1e9},
                    {"T", 1e12},
                    {"P", 1e15},
                    {"E", 1e18},
                    {"Ki", 1024.0},
                    {"Mi", 1048576.0},
                    {"Gi", 1073741824.0},
                    {"Ti", 1099511627776.0},
                    {"Pi", 1125899906842624.0},
                    {"Ei", 1152921504606846976.0}};
    size_t digits = strspn(text + (text[0] == '+'), "0123456789.") + (text[0] == '+');
    char *end;
    double value;

    if (digits == (size_t)(text[0] == '+'))
        return -1;
    if ((text[digits] == 'e' || text[digits] == 'E') && strspn(text + digits + 1, "+-0123456789") > 0)
        digits += 1 + strspn(text + digits + 1, "+-0123456789");
    value = strtod(text, &end);
    if (end != text + digits)
        return -1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(end, suffixes[i].suffix) == 0)
            return value * suffixes[i].factor;
    return -1;
}

static const char *type_name(enum mur_field_type type)
{
    switch (type) {
    case MUR_TYPE_INTEGER:
        return "integer";
    case MUR_TYPE_BOOLEAN:
        return "boolean";
    case MUR_TYPE_OBJECT:
    case MUR_TYPE_STRING_MAP:
    case MUR_TYPE_QUANTITY_MAP:
        return "object";
    case MUR_TYPE_OBJECTS:
    case MUR_TYPE_STRINGS:
        return "array";
    default:
        return "string";
    }
}

static const char *kind_name(enum mur_value_kind kind)
{
    static const char *const names[] = {"null", "boolean", "integer", "number", "string", "array", "object"};

    return names[kind];
}

static bool has_type(const struct mur_value *node, enum mur_field_type type)
{
    switch (type) {
    case MUR_TYPE_STRING:
        return node->kind == MUR_STRING;
    case MUR_TYPE_INTEGER:
        return node->kind == MUR_INTEGER;
    case MUR_TYPE_BOOLEAN:
        return node->kind == MUR_BOOL;
    case MUR_TYPE_QUANTITY:
        return node->kind == MUR_STRING || node->kind == MUR_INTEGER || node->kind == MUR_NUMBER;
    case MUR_TYPE_PORT:
        return node->kind == MUR_STRING || node->kind == MUR_INTEGER;
    case MUR_TYPE_OBJECT:
    case MUR_TYPE_STRING_MAP:
    case MUR_TYPE_QUANTITY_MAP:
        return node->kind == MUR_MAP;
    case MUR_TYPE_OBJECTS:
    case MUR_TYPE_STRINGS:
        return node->kind == MUR_LIST;
    case MUR_TYPE_ANY:
        return true;
    }
    return false;
}

static bool is_of(const char *text, const char *words)
{
    size_t length = strlen(text);

    for (;; words += strcspn(words, "|") + 1) {
        size_t word = strcspn(words, "|");

        if (word == length && strncmp(text, words, word) == 0)
            return true;
        if (!words[word])
            return false;
    }
}

static void refuse_word(const struct mur_value *node, const char *words, const char *path,
                        struct mur_findings *findings)
{
    char list[400] = "";
    size_t length = 0;

    for (;; words += strcspn(words, "|") + 1) {
        size_t word = strcspn(words, "|");

        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s\"%.*s\"", length ? ", " : "", (int)word, words);
        if (!words[word] || length >= sizeof list)
            break;
    }
    mur_finding(findings, MUR_SEVERITY_ERROR, node->line, "%s: Unsupported value: \"%s\": supported values: %s", path,
                node->text, list);
}

static void check_range(const struct mur_value *node, const struct mur_field *field, const char *path,
                        struct mur_findings *findings)
{
    if (field->has_minimum && node->integer < field->minimum)
        mur_finding(findings, MUR_SEVERITY_ERROR, node->line,
                    "%s: Invalid value: %s: %s in body should be greater than or equal to %lld", path, node->text, path,
                    field->minimum);
    else if (field->maximum && node->integer > field->maximum)
        mur_finding(findings, MUR_SEVERITY_ERROR, node->line,
                    "%s: Invalid value: %s: %s in body should be less than or equal to %lld", path, node->text, path,
                    field->maximum);
}

static void check_type(const struct mur_value *node, enum mur_field_type type, const char *path,
                       struct mur_findings *findings);

/* Lists and maps of scalars. */
static void check_members(const struct mur_value *node, enum mur_field_type type, const char *path,
                          struct mur_findings *findings)
{
    for (int i = 0; i < node->count; i++) {
        char *member = node->kind == MUR_LIST ? mur_alloc_text("%s[%d]", path, i)
                                              : mur_alloc_text("%s.%s", path, node->members[i].name);

        check_type(node->members[i].value, type, member, findings);
        free(member);
    }
}

static void check_type(const struct mur_value *node, enum mur_field_type type, const char *path,
                       struct mur_findings *findings)
{
    if (!has_type(node, type))
        mur_finding(findings, MUR_SEVERITY_ERROR, node->line,
                    "%s: Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", path, kind_name(node->kind),
                    path, type_name(type), kind_name(node->kind));
    else if (type == MUR_TYPE_QUANTITY && mur_quantity(node->text) < 0)
        mur_finding(findings, MUR_SEVERITY_ERROR, node->line,
                    "%s: Invalid value: \"%s\": quantities must match the regular expression "
                    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', and must not be negative",
                    path, node->text);
    else if (type == MUR_TYPE_STRINGS || type == MUR_TYPE_STRING_MAP)
        check_members(node, MUR_TYPE_STRING, path, findings);
    else if (type == MUR_TYPE_QUANTITY_MAP)
        check_members(node, MUR_TYPE_QUANTITY, path, findings);
}

static void check_field(const struct mur_value *node, const struct mur_field *field, const char *path,
                        struct mur_findings *findings)
{
    int errors = findings->errors;

    check_type(node, field->type, path, findings);
    if (findings->errors > errors)
        return;
    if (field->words && !is_of(node->text, field->words))
        refuse_word(node, field->words, path, findings);
    if (field->type == MUR_TYPE_INTEGER)
        check_range(node, field, path, findings);
    if (field->fields && field->type == MUR_TYPE_OBJECT)
        mur_fields_check(node, field->fields, path, findings);
    for (int i = 0; field->fields && field->type == MUR_TYPE_OBJECTS && i < node->count; i++) {
        char *item = mur_alloc_text("%s[%d]", path, i);

        check_type(node->members[i].value, MUR_TYPE_OBJECT, item, findings);
        if (node->members[i].value->kind == MUR_MAP)
            mur_fields_check(node->members[i].value, field->fields, item, findings);
        free(item);
    }
    if (field->use != MUR_USE_ACTED)
        mur_finding(findings, field->use == MUR_USE_IDLE ? MUR_SEVERITY_NOTE : MUR_SEVERITY_REFUSED, node->line,
                    "%s: mpijob run does %s: %s", path,
                    field->use == MUR_USE_IDLE ? "nothing about it" : "not run a job with it", field->why);
}

/* A field that is null is as one that is not there. */
void mur_fields_check(const struct mur_value *object, const struct mur_field *fields, const char *path,
                      struct mur_findings *findings)
{
    const char *dot = path[0] ? "." : "";

    for (int i = 0; i < object->count; i++) {
        const struct mur_member *member = &object->members[i];
        const struct mur_field *field = fields;
        char *inner = mur_alloc_text("%s%s%s", path, dot, member->name);

        while (field->name && strcmp(field->name, member->name) != 0)
            field++;
        if (!field->name)
            mur_finding(findings, MUR_SEVERITY_ERROR, member->line, "unknown field \"%s\"", inner);
        else if (member->value->kind != MUR_NULL)
            check_field(member->value, field, inner, findings);
        free(inner);
    }
    for (const struct mur_field *field = fields; field->name; field++) {
        const struct mur_value *value = mur_value_get(object, field->name);

        if (field->is_required && (!value || value->kind == MUR_NULL))
            mur_finding(findings, MUR_SEVERITY_ERROR, object->line, "%s%s%s: Required value", path, dot, field->name);
    }
}

void mur_schema_check(const struct mur_value *object, struct mur_findings *findings)
{
    const struct mur_schema *schema = mur_schema_of(object);

    if (object->kind != MUR_MAP)
        mur_finding(findings, MUR_SEVERITY_ERROR, object->line, "an object is expected, not a value of type %s",
                    kind_name(object->kind));
    else if (schema)
        mur_fields_check(object, schema->fields, "", findings);
    else if (!mur_value_get(object, "apiVersion") || !mur_value_get(object, "kind"))
        mur_finding(findings, MUR_SEVERITY_ERROR, object->line, "%s: Required value",
                    mur_value_get(object, "kind") ? "apiVersion" : "kind");
    else if (strcmp(mur_value_string(object, "kind", ""), "MPIJob") == 0)
        mur_finding(findings, MUR_SEVERITY_ERROR, mur_value_get(object, "apiVersion")->line,
                    "no matches for kind \"MPIJob\" in version \"%s\": supported are kubeflow.org/v2beta1 and "
                    "kubeflow.org/v1",
                    mur_value_string(object, "apiVersion", ""));
    else
        mur_finding(findings, MUR_SEVERITY_NOTE, object->line, "a %s of %s is not looked at",
                    mur_value_string(object, "kind", ""), mur_value_string(object, "apiVersion", ""));
}

void mur_documents_check(const struct mur_value *documents, struct mur_findings *findings)
{
    if (documents->count == 0)
        mur_finding(findings, MUR_SEVERITY_ERROR, 1, "no objects are in the file");
    for (int i = 0; i < documents->count; i++) {
        int errors = findings->errors;

        mur_schema_check(documents->members[i].value, findings);
        if (findings->errors == errors)
            mur_rules_check(documents->members[i].value, findings);
    }
}
