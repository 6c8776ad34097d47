/* SPDX-License-Identifier: BSD-3-Clause */
/* Selectors: a list of demands, all of which an object must meet. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/api/api.h"

enum relation { IS_ONE_OF, IS_NONE_OF, IS_THERE, IS_NOT_THERE };

struct demand {
    char *name;
    enum relation relation;
    char **values;
    int count;
};

struct mur_selector {
    bool is_of_labels;
    struct demand *demands;
    int count;
};

void mur_selector_free(struct mur_selector *selector)
{
    if (!selector)
        return;
    for (int i = 0; i < selector->count; i++) {
        for (int j = 0; j < selector->demands[i].count; j++)
            free(selector->demands[i].values[j]);
        free(selector->demands[i].values);
        free(selector->demands[i].name);
    }
    free(selector->demands);
    free(selector);
}

bool mur_selector_is_empty(const struct mur_selector *selector)
{
    return selector->count == 0;
}

static const char *skip_spaces(const char *text)
{
    return text + strspn(text, " \t");
}

/* A name or value; *text moves behind it. */
static char *take_word(const char **text)
{
    size_t length = strcspn(*text, " \t,=!()");
    char *word = mur_alloc_text("%.*s", (int)length, *text);

    *text = skip_spaces(*text + length);
    return word;
}

static void add_value(struct demand *demand, char *value)
{
    demand->values = mur_alloc_again(demand->values, (size_t)demand->count + 1, sizeof *demand->values);
    demand->values[demand->count++] = value;
}

/* (a, b). Returns false if it is not that. */
static bool take_set(const char **text, struct demand *demand)
{
    if (**text != '(')
        return false;
    do {
        *text = skip_spaces(*text + 1);
        add_value(demand, take_word(text));
    } while (**text == ',');
    if (**text != ')')
        return false;
    *text = skip_spaces(*text + 1);
    return true;
}

/* After the name: = == != in notin, or nothing. */
static bool take_relation(const char **text, struct demand *demand)
{
    bool is_not = **text == '!';
    size_t length = strspn(*text, "!=");

    if (**text == '\0' || **text == ',') {
        demand->relation = IS_THERE;
        return true;
    }
    if (length > 0 && (length == 1 ? !is_not : length == 2 && (*text)[1] == '=')) {
        demand->relation = is_not ? IS_NONE_OF : IS_ONE_OF;
        *text = skip_spaces(*text + length);
        add_value(demand, take_word(text));
        return true;
    }
    if (strncmp(*text, "in", 2) != 0 && strncmp(*text, "notin", 5) != 0)
        return false;
    demand->relation = **text == 'n' ? IS_NONE_OF : IS_ONE_OF;
    *text = skip_spaces(*text + (**text == 'n' ? 5 : 2));
    return take_set(text, demand);
}

static bool take_demand(const char **text, struct mur_selector *selector)
{
    struct demand *demand;

    selector->demands = mur_alloc_again(selector->demands, (size_t)selector->count + 1, sizeof *selector->demands);
    demand = &selector->demands[selector->count++];
    *demand = (struct demand){.relation = IS_NOT_THERE};
    if (**text == '!') {
        *text = skip_spaces(*text + 1);
        demand->name = take_word(text);
        return *demand->name != '\0';
    }
    demand->name = take_word(text);
    return *demand->name && take_relation(text, demand);
}

static struct mur_selector *read_selector(const char *text, bool is_of_labels, char **why)
{
    struct mur_selector *selector = mur_alloc(1, sizeof *selector);
    const char *at = skip_spaces(text);

    selector->is_of_labels = is_of_labels;
    while (*at) {
        if (!take_demand(&at, selector) || (*at && *at != ',')) {
            *why = mur_alloc_text("unable to parse the selector \"%s\" at \"%s\"", text, at);
            mur_selector_free(selector);
            return NULL;
        }
        if (*at == ',')
            at = skip_spaces(at + 1);
    }
    return selector;
}

struct mur_selector *mur_selector_labels(const char *text, char **why)
{
    return read_selector(text, true, why);
}

struct mur_selector *mur_selector_fields(const char *text, const struct mur_resource *resource, char **why)
{
    struct mur_selector *selector = read_selector(text, false, why);

    for (int i = 0; selector && i < selector->count; i++) {
        const struct demand *demand = &selector->demands[i];
        bool is_known = mur_words_have("metadata.name metadata.namespace", demand->name) ||
                        (resource->fields && mur_words_have(resource->fields, demand->name));

        if (is_known && demand->relation <= IS_NONE_OF && demand->count == 1)
            continue;
        *why = is_known ? mur_alloc_text("the field selector \"%s\" is not of the form NAME=VALUE", text)
                        : mur_alloc_text("field label not supported: %s", demand->name);
        mur_selector_free(selector);
        selector = NULL;
    }
    return selector;
}

static const char *value_for(const struct mur_selector *selector, const struct demand *demand,
                             const struct mur_value *object)
{
    const struct mur_value *label;

    if (!selector->is_of_labels)
        return mur_value_string(object, demand->name, "");
    label = mur_value_get(mur_value_at(object, "metadata.labels"), demand->name);
    return label && label->text ? label->text : NULL;
}

static bool meets(const struct demand *demand, const char *value)
{
    bool is_one = false;

    if (demand->relation == IS_THERE || demand->relation == IS_NOT_THERE)
        return (value != NULL) == (demand->relation == IS_THERE);
    for (int i = 0; value && i < demand->count; i++)
        is_one |= strcmp(value, demand->values[i]) == 0;
    return is_one == (demand->relation == IS_ONE_OF);
}

bool mur_selector_matches(const struct mur_selector *selector, const struct mur_value *object)
{
    for (int i = 0; i < selector->count; i++)
        if (!meets(&selector->demands[i], value_for(selector, &selector->demands[i], object)))
            return false;
    return true;
}
