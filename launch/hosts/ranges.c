/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges in host names: n[01-03,7] stands for n01, n02, n03 and n7; the width of the lower bound is kept.
 *
 * A name may have several; they make all combinations, the last range going fastest. */
#include "launch/hosts/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"

struct expansion {
    struct mur_names *names;
    struct mur_problem *problem;
    const char *word; /* the whole, for messages */
    int word_length;
    char name[MUR_HOST_NAME_MAX + 1]; /* what is put together so far */
};

bool mur_number_read(const char *text, size_t length, int low, int high, int *number)
{
    long long value = 0;

    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
        if (value > high)
            return false;
    }
    *number = (int)value;
    return value >= low;
}

void mur_names_free(struct mur_names *names)
{
    for (int i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct mur_names){0};
}

static bool fail(const struct expansion *expansion, const char *what)
{
    return mur_problem_set(expansion->problem, "'%.*s': %s", expansion->word_length, expansion->word, what);
}

static bool take_name(struct expansion *expansion, size_t length)
{
    struct mur_names *names = expansion->names;

    if (length == 0)
        return fail(expansion, "a host has no name");
    if (names->count == MUR_HOSTS_MAX)
        return mur_problem_set(expansion->problem, "'%.*s' stands for more than %d hosts", expansion->word_length,
                               expansion->word, MUR_HOSTS_MAX);
    if ((names->count & (names->count - 1)) == 0) /* the space is always a power of two */
        names->items = mur_alloc_again(names->items, names->count ? (size_t)names->count * 2 : 1, sizeof *names->items);
    names->items[names->count++] = mur_alloc_text("%.*s", (int)length, expansion->name);
    return true;
}

static bool expand(struct expansion *expansion, size_t done, const char *rest, size_t length);

/* One item of a range: 7, or 01-03; then what follows the range. */
static bool expand_item(struct expansion *expansion, size_t done, const char *item, size_t length, const char *rest,
                        size_t rest_length)
{
    const char *dash = memchr(item, '-', length);
    size_t width = dash ? (size_t)(dash - item) : length;
    int low;
    int high;

    if (!mur_number_read(item, width, 0, 999999999, &low))
        return fail(expansion, "a range has numbers, as in n[01-03,7]");
    high = low;
    if (dash && !mur_number_read(dash + 1, length - width - 1, 0, 999999999, &high))
        return fail(expansion, "a range has numbers, as in n[01-03,7]");
    if (high < low)
        return fail(expansion, "the range ends below its start");
    for (int number = low; number <= high; number++) {
        size_t room = sizeof expansion->name - done;
        int more = snprintf(expansion->name + done, room, "%0*d", (int)width, number);

        if (more < 0 || (size_t)more >= room)
            return fail(expansion, "the name is too long");
        if (!expand(expansion, done + (size_t)more, rest, rest_length))
            return false;
    }
    return true;
}

/* `done` bytes of the name are there; `rest` is still to be expanded. */
static bool expand(struct expansion *expansion, size_t done, const char *rest, size_t length)
{
    const char *open = memchr(rest, '[', length);
    size_t plain = open ? (size_t)(open - rest) : length;
    const char *close;
    const char *item;

    if (memchr(rest, ']', plain))
        return fail(expansion, "']' without '['");
    if (plain >= sizeof expansion->name - done)
        return fail(expansion, "the name is too long");
    memcpy(expansion->name + done, rest, plain);
    done += plain;
    if (!open)
        return take_name(expansion, done);
    close = memchr(open, ']', length - plain);
    if (!close)
        return fail(expansion, "'[' without ']'");
    item = open + 1;
    for (;;) {
        const char *comma = memchr(item, ',', (size_t)(close - item));
        const char *end = comma ? comma : close;

        if (!expand_item(expansion, done, item, (size_t)(end - item), close + 1, (size_t)(rest + length - (close + 1))))
            return false;
        if (!comma)
            return true;
        item = comma + 1;
    }
}

bool mur_names_expand(struct mur_names *names, const char *word, size_t length, struct mur_problem *problem)
{
    struct expansion expansion = {
        .names = names, .problem = problem, .word = word, .word_length = length < 80 ? (int)length : 80};

    return expand(&expansion, 0, word, length);
}
