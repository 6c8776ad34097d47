/* SPDX-License-Identifier: BSD-3-Clause */
/* Documents: a random tree that is written as JSON is the same when it is read again, by the reader of JSON and by that
 * of YAML; damaged texts are errors with a line, or other documents, but never a crash; quantities are numbers. */
#include "mpijob/document/document.h"
#include "mpijob/schema/schema.h"
#include "unit.h"

static struct mur_value *draw_text(void)
{
    static const char *const parts[] = {"a", "true", "12", "\"",       "\\", "\n", " ",
                                        "{", "}",    "\t", "\303\244", "-",  ": ", "#"};
    char text[64] = "";

    for (unsigned i = below(6); i > 0; i--)
        strcat(text, parts[below(sizeof parts / sizeof *parts)]);
    return mur_value_text("%s", text);
}

static struct mur_value *draw_tree(int depth)
{
    struct mur_value *node;
    char name[16];

    switch (below(depth > 0 ? 6 : 4)) {
    case 0:
        return mur_value_integer((long long)below(2000000) - 1000000);
    case 1:
        return mur_value_bool(below(2));
    case 2:
    case 3:
        return draw_text();
    case 4:
        node = mur_value_new(MUR_LIST);
        for (unsigned i = below(5); i > 0; i--)
            mur_value_add(node, draw_tree(depth - 1));
        return node;
    default:
        node = mur_value_new(MUR_MAP);
        for (unsigned i = below(5); i > 0; i--) {
            snprintf(name, sizeof name, "n%u", below(20));
            mur_value_put(node, name, draw_tree(depth - 1));
        }
        return node;
    }
}

static void check_again(void)
{
    struct mur_value *tree = mur_value_new(MUR_MAP), *again, *list;
    struct mur_document_error error;
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    mur_value_put(tree, "root", draw_tree(4));
    mur_json_write(file, tree);
    fclose(file);
    again = mur_json_read(text, length, &error);
    CHECK(again && mur_value_equal(tree, again));
    mur_value_free(again);
    if (!strchr(text, '\t')) {
        list = mur_yaml_read(text, length, &error);
        CHECK(list && list->count == 1 && mur_value_equal(tree, list->members[0].value));
        mur_value_free(list);
    }
    for (int damage = 0; damage < 4; damage++) {
        text[below(length)] = "{}[],:\"\\x\n&*"[below(12)];
        list = mur_document_read(text, below(length + 1), &error);
        CHECK(list || (error.text[0] && error.line >= 0));
        mur_value_free(list);
    }
    mur_value_free(tree);
    free(text);
}

static void check_lines(void)
{
    static const char json[] = "{\n \"a\": 1,\n\n \"b\": [true,\n \"\\u00e9\\ud83d\\ude00\\n\"]}";
    static const char yaml[] = "base: &x {k: on, n: 0x10}\nother:\n  <<: *x\n  k: 'on'\n---\n---\nlast: 010\n";
    struct mur_document_error error;
    struct mur_value *node = mur_json_read(json, sizeof json - 1, &error), *list;

    CHECK(mur_value_get(node, "b")->line == 4);
    CHECK(mur_value_get(node, "b")->members[1].value->line == 5);
    CHECK(strcmp(mur_value_get(node, "b")->members[1].value->text, "\303\251\360\237\230\200\n") == 0);
    mur_value_free(node);
    list = mur_yaml_read(yaml, sizeof yaml - 1, &error);
    CHECK(list && list->count == 2);
    node = list->members[0].value;
    CHECK(mur_value_true(node, "base.k") && mur_value_long(node, "other.n", 0) == 16);
    CHECK(mur_value_at(node, "other.k")->kind == MUR_STRING && mur_value_at(node, "other.k")->line == 4);
    CHECK(mur_value_long(list->members[1].value, "last", 0) == 8 && list->members[1].value->line == 7);
    mur_value_free(list);
}

static void check_quantities(void)
{
    CHECK(mur_quantity("500m") == 0.5 && mur_quantity("2") == 2 && mur_quantity("1Ki") == 1024);
    CHECK(mur_quantity("1e3") == 1000 && mur_quantity("1.5Gi") == 1.5 * 1073741824 && mur_quantity("1E") == 1e18);
    CHECK(mur_quantity("") < 0 && mur_quantity("Mi") < 0 && mur_quantity("1Zi") < 0 && mur_quantity("-1") < 0);
}

int main(void)
{
    unit_start();
    check_lines();
    check_quantities();
    for (int i = 0; i < 3000; i++)
        check_again();
    return unit_end();
}
