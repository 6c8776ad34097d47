/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON (RFC 8259), read into nodes that know their lines, which JSON libraries do not keep, and written with two
 * columns of indentation a level, or in one line. Maps of trees are searched one member after the other, so the reader
 * bounds their size: what comes from a network must not cost more than its length allows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/document/document.h"

enum { DEEPEST = 100, WIDEST = 10000, ONE_LINE = -1 };

struct reader {
    const char *at, *end;
    int line, depth;
    struct mur_document_error *error;
};

static struct mur_value *read_value(struct reader *reader);

static void *fail(struct reader *reader, const char *text)
{
    if (!reader->error->text[0]) {
        reader->error->line = reader->line;
        snprintf(reader->error->text, sizeof reader->error->text, "not JSON: %s", text);
    }
    return NULL;
}

/* The next character that counts, which is not consumed; 0 at the end. */
static char peek(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at) {
        reader->line += *reader->at == '\n';
        reader->at++;
    }
    return (char)(reader->at < reader->end ? *reader->at : 0);
}

static bool read_hex(struct reader *reader, unsigned *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdefABCDEF", *found;
        unsigned digit;

        if (reader->at == reader->end || !*reader->at || !(found = strchr(digits, *reader->at)))
            return false;
        digit = (unsigned)(found - digits);
        *value = *value * 16 + (digit < 16 ? digit : digit - 6);
        reader->at++;
    }
    return true;
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c >= 0x10000) {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
    } else if (c >= 0x800) {
        *to++ = (char)(0xe0 | c >> 12);
    }
    if (c >= 0x800)
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    else
        *to++ = (char)(0xc0 | c >> 6);
    *to++ = (char)(0x80 | (c & 0x3f));
    return to;
}

/* After a backslash. Two escapes may make one character beyond the first 65536. */
static char *read_escape(struct reader *reader, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = (char)(reader->at < reader->end ? *reader->at++ : 0);
    const char *found = c ? strchr(from, c) : NULL;
    unsigned value, low;

    if (found) {
        *to++ = into[found - from];
        return to;
    }
    if (c != 'u' || !read_hex(reader, &value))
        return fail(reader, "an unknown escape in a text");
    if (value >= 0xd800 && value < 0xdc00) {
        if (reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u')
            return fail(reader, "half of a surrogate pair");
        reader->at += 2;
        if (!read_hex(reader, &low) || low < 0xdc00 || low >= 0xe000)
            return fail(reader, "half of a surrogate pair");
        value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
    } else if (value >= 0xdc00 && value < 0xe000) {
        return fail(reader, "half of a surrogate pair");
    }
    return value == 0 ? fail(reader, "a text has a zero byte") : put_utf8(to, value);
}

/* The bytes of the character of UTF-8 that begins there (RFC 3629); 0: it is none. */
static int utf8_bytes(const char *at, const char *end)
{
    const unsigned char *c = (const unsigned char *)at;
    const int count = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;

    if (count > end - at)
        return 0;
    for (int i = 1; i < count; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] >= 0xa0) || (*c == 0xf0 && c[1] < 0x90) ||
        (*c == 0xf4 && c[1] >= 0x90)) /* longer than need be, a surrogate, or beyond the last character */
        return 0;
    return count;
}

static char *copy_character(struct reader *reader, char *to)
{
    int bytes = utf8_bytes(reader->at, reader->end);

    if (!bytes)
        return fail(reader, "a text that is not UTF-8");
    memcpy(to, reader->at, (size_t)bytes);
    reader->at += bytes;
    return to + bytes;
}

/* From a quote on: how long the source of a text is; the text itself is no longer. */
static size_t length_of_text(const struct reader *reader)
{
    const char *at = reader->at + 1;

    while (at < reader->end && *at != '"')
        at += *at == '\\' && at + 1 < reader->end ? 2 : 1;
    return (size_t)(at - reader->at);
}

static char *read_text(struct reader *reader)
{
    char *text = mur_alloc(length_of_text(reader) + 1, 1), *to = text;

    for (reader->at++; reader->at < reader->end && to;) {
        char c = *reader->at;

        if (c == '"') {
            reader->at++;
            *to = '\0';
            return text;
        }
        if (c == '\\') {
            reader->at++;
            to = read_escape(reader, to);
        } else if ((unsigned char)c < 0x20) {
            to = fail(reader, "a control character in a text");
        } else {
            to = copy_character(reader, to);
        }
    }
    free(text);
    return fail(reader, "a text without its closing quote");
}

static bool read_member(struct reader *reader, struct mur_value *node)
{
    char *name = NULL;
    int line = reader->line;
    struct mur_value *value = NULL;

    if (node->kind == MUR_LIST) {
        value = read_value(reader);
        if (value)
            mur_value_add(node, value);
        return value != NULL;
    }
    if (peek(reader) != '"')
        return fail(reader, "the name of a field is not a text in quotes") != NULL;
    line = reader->line;
    name = read_text(reader);
    if (name && peek(reader) != ':')
        fail(reader, "a colon is missing after the name of a field");
    else if (name && mur_value_get(node, name))
        fail(reader, "a field occurs twice in an object");
    else if (name && node->count >= WIDEST)
        fail(reader, "an object has more than 10000 fields");
    else if (name && reader->at++)
        value = read_value(reader);
    if (value) {
        mur_value_put(node, name, value);
        node->members[node->count - 1].line = line;
    }
    free(name);
    return value != NULL;
}

static struct mur_value *read_collection(struct reader *reader, enum mur_value_kind kind, char end)
{
    struct mur_value *node = mur_value_new(kind);

    node->line = reader->line;
    reader->at++;
    if (++reader->depth > DEEPEST)
        fail(reader, "nested too deeply");
    else if (peek(reader) == end)
        goto done;
    while (!reader->error->text[0] && read_member(reader, node)) {
        char c = peek(reader);

        if (c == end)
            goto done;
        if (c != ',')
            fail(reader, kind == MUR_MAP ? "a comma or } is missing" : "a comma or ] is missing");
        reader->at++;
    }
    mur_value_free(node);
    return NULL;

done:
    reader->at++;
    reader->depth--;
    return node;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(const char *text)
{
    size_t digits;

    text += *text == '-';
    digits = strspn(text, "0123456789");
    if (digits == 0 || (digits > 1 && text[0] == '0'))
        return false;
    text += digits;
    if (*text == '.') {
        digits = strspn(text + 1, "0123456789");
        if (digits == 0)
            return false;
        text += 1 + digits;
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '+' || text[1] == '-' ? 2 : 1;
        digits = strspn(text, "0123456789");
        if (digits == 0)
            return false;
        text += digits;
    }
    return *text == '\0';
}

/* A number, or one of three words. */
static struct mur_value *read_plain(struct reader *reader)
{
    size_t length = 0;
    struct mur_value *node = mur_value_new(MUR_NUMBER);
    char *end;

    while (reader->at + length < reader->end && strchr("0123456789+-.eEtrufalsn", reader->at[length]) &&
           reader->at[length])
        length++;
    node->line = reader->line;
    node->text = mur_alloc_text("%.*s", (int)length, reader->at);
    reader->at += length;
    if (strcmp(node->text, "null") == 0) {
        node->kind = MUR_NULL;
    } else if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0) {
        node->kind = MUR_BOOL;
        node->integer = node->text[0] == 't';
    } else if (length && strspn(node->text, "0123456789+-.eE") == length) {
        errno = 0;
        node->integer = strtoll(node->text, &end, 10);
        if (!is_number(node->text))
            fail(reader, "a number is malformed");
        else if (*end == '\0' && errno == 0)
            node->kind = MUR_INTEGER;
    } else {
        fail(reader, "a value is missing");
    }
    if (!reader->error->text[0])
        return node;
    mur_value_free(node);
    return NULL;
}

static struct mur_value *read_value(struct reader *reader)
{
    char c = peek(reader);
    int line = reader->line;
    struct mur_value *node;
    char *text;

    if (c == '{')
        return read_collection(reader, MUR_MAP, '}');
    if (c == '[')
        return read_collection(reader, MUR_LIST, ']');
    if (c != '"')
        return read_plain(reader);
    text = read_text(reader);
    if (!text)
        return NULL;
    node = mur_value_new(MUR_STRING);
    node->line = line;
    node->text = text;
    return node;
}

struct mur_value *mur_json_read(const char *text, size_t length, struct mur_document_error *error)
{
    struct reader reader = {.at = text, .end = text + length, .line = 1, .error = error};
    struct mur_value *node;

    *error = (struct mur_document_error){0};
    node = read_value(&reader);
    if (node && peek(&reader)) {
        fail(&reader, "something follows the value");
        mur_value_free(node);
        return NULL;
    }
    return node;
}

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", file);
        else if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fputc(*text, file);
    }
    fputc('"', file);
}

static void write_node(FILE *file, const struct mur_value *node, int depth);

static void write_members(FILE *file, const struct mur_value *node, int depth)
{
    bool is_map = node->kind == MUR_MAP, is_line = depth == ONE_LINE;

    for (int i = 0; i < node->count; i++) {
        fputs(i ? "," : is_map ? "{" : "[", file);
        if (!is_line)
            fprintf(file, "\n%*s", 2 * depth + 2, "");
        if (is_map) {
            write_text(file, node->members[i].name);
            fputs(is_line ? ":" : ": ", file);
        }
        write_node(file, node->members[i].value, is_line ? ONE_LINE : depth + 1);
    }
    if (!is_line)
        fprintf(file, "\n%*s", 2 * depth, "");
    fputc(is_map ? '}' : ']', file);
}

static void write_node(FILE *file, const struct mur_value *node, int depth)
{
    bool is_map = node->kind == MUR_MAP;

    if (node->kind == MUR_STRING) {
        write_text(file, node->text);
    } else if (node->kind == MUR_NULL) {
        fputs("null", file);
    } else if (node->kind != MUR_LIST && !is_map) {
        fputs(node->text, file);
    } else if (node->count == 0) {
        fputs(is_map ? "{}" : "[]", file);
    } else {
        write_members(file, node, depth);
    }
}

void mur_json_write(FILE *file, const struct mur_value *node)
{
    write_node(file, node, 0);
    fputc('\n', file);
}

char *mur_json_text(const struct mur_value *node)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    write_node(file, node, ONE_LINE);
    fclose(file);
    return text;
}
