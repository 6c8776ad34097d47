/* SPDX-License-Identifier: BSD-3-Clause */
/* Random posts, arrivals, withdrawals and receives with wildcards, against two plain lists that are searched from the
 * front; counting and draining what waits, by context, in every bucket of the table. The seed is printed; MUR_TEST_SEED
 * repeats one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "draw.h"
#include "match/match.h"

enum { STEPS = 200000, MOST = 3000, SOURCES = 4, TAGS = 5, CONTEXTS = 2 };

struct entry {
    struct mur_match_key key;
    struct mur_match_node node; /* of a posted receive */
    uint32_t number;            /* of a message: its content */
};

static struct entry *posted[MOST], *waiting[MOST];
static int posted_count, waiting_count;
static unsigned state;

static unsigned below(unsigned limit)
{
    return draw_next(&state) % limit;
}

static void drop(struct entry **list, int *count, int at)
{
    for (int i = at; i + 1 < *count; i++)
        list[i] = list[i + 1];
    --*count;
}

static int fits(const struct mur_match_key *receive, const struct mur_match_key *message)
{
    return receive->context == message->context &&
           (receive->source == MUR_ANY_SOURCE || receive->source == message->source) &&
           (receive->tag == MUR_ANY_TAG || receive->tag == message->tag);
}

static struct mur_match_key draw(int is_receive)
{
    struct mur_match_key key = {
        .context = below(CONTEXTS), .source = (int)below(SOURCES), .tag = (int)below(TAGS) * 4096};

    if (is_receive && below(4) == 0)
        key.source = MUR_ANY_SOURCE;
    if (is_receive && below(4) == 0)
        key.tag = MUR_ANY_TAG;
    return key;
}

static void arrive(uint32_t number)
{
    struct mur_match_key key = draw(0);
    struct mur_frame frame = {.context = key.context, .source = key.source, .tag = key.tag, .bytes = sizeof number};
    struct mur_match_node *node = mur_match_arrival(key.context, key.source, key.tag);
    int at = 0;

    while (at < posted_count && !fits(&posted[at]->key, &key))
        at++;
    if (at < posted_count) {
        assert_ptr_equal(node, &posted[at]->node);
        free(posted[at]);
        drop(posted, &posted_count, at);
        return;
    }
    assert_null(node);
    assert_non_null(mur_match_keep(NULL, &frame, &number));
    waiting[waiting_count] = calloc(1, sizeof **waiting);
    waiting[waiting_count]->key = key;
    waiting[waiting_count++]->number = number;
}

static void receive(void)
{
    struct mur_match_key key = draw(1);
    struct mur_message *message = mur_match_find(&key);
    int at = 0;

    while (at < waiting_count && !fits(&key, &waiting[at]->key))
        at++;
    if (at < waiting_count) {
        assert_non_null(message);
        assert_int_equal(*(uint32_t *)message->data, waiting[at]->number);
        mur_match_take(message);
        mur_match_message_free(message);
        free(waiting[at]);
        drop(waiting, &waiting_count, at);
        return;
    }
    assert_null(message);
    posted[posted_count] = calloc(1, sizeof **posted);
    posted[posted_count]->key = posted[posted_count]->node.key = key;
    mur_match_post(&posted[posted_count++]->node);
}

static void withdraw(void)
{
    int at = (int)below((unsigned)posted_count);

    mur_match_withdraw(&posted[at]->node);
    free(posted[at]);
    drop(posted, &posted_count, at);
}

/* Phases in which messages or receives prevail, so that both lists get long. */
static void random_steps(void **unused)
{
    (void)unused;
    state = draw_seed();
    printf("seed %u\n", state);
    assert_int_equal(mur_match_setup(), 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        unsigned messages = step / 5000 % 2 ? 7 : 3;

        if (below(10) < messages ? waiting_count < MOST - 1 : posted_count >= MOST - 1)
            arrive(step);
        else
            receive();
        if (posted_count && below(50) == 0)
            withdraw();
    }
    while (waiting_count)
        free(waiting[--waiting_count]);
    while (posted_count)
        free(posted[--posted_count]);
    mur_match_teardown();
}

/* One message of each of many contexts, so that all buckets have some: each is counted, found as any of its context,
 * and as any of a range of contexts, also once the table has grown and messages lie under wildcards, too. */
static void contexts(void **unused)
{
    enum { ALL = 2000 };
    struct mur_match_key any = {.context = 1, .source = MUR_ANY_SOURCE, .tag = MUR_ANY_TAG};

    (void)unused;
    assert_int_equal(mur_match_setup(), 0);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t context = 0; context < ALL; context++) {
            struct mur_frame frame = {.context = context, .bytes = sizeof context};

            assert_null(mur_match_any(context, 1));
            assert_int_equal(mur_match_count(context), 0);
            assert_non_null(mur_match_keep(NULL, &frame, &context));
            assert_int_equal(mur_match_count(context), 1);
            assert_int_equal(mur_match_any(context, 1)->frame.context, context);
        }
        if (round)
            assert_non_null(mur_match_find(&any)); /* from here on under all wildcards */
        for (uint32_t left = ALL; left; left--) {
            struct mur_message *message = mur_match_any(ALL - left, left);

            assert_true(message->frame.context >= ALL - left && message->frame.context < ALL);
            message = mur_match_any(ALL - left, 1);
            assert_int_equal(*(uint32_t *)message->data, ALL - left);
            mur_match_take(message);
            mur_match_message_free(message);
        }
        assert_null(mur_match_any(0, ALL));
    }
    mur_match_teardown();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_steps), cmocka_unit_test(contexts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
