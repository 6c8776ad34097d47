/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's key-value space against a plain table, with random puts, gets, removes, waits and settles, and its
 * limit. The seed is printed; MUR_TEST_SEED repeats one. */

#include "launch/kvs.h"
#include "unit.h"

enum { KEYS = 300, OWNERS = 7, STEPS = 200000 };

/* The reference: what each key holds, and how often each owner waits for it. */
static struct {
    bool is_there;
    unsigned value;
    int waiting[OWNERS];
} table[KEYS];
static int owners[OWNERS];

/* What the latest call of a waiter said. */
static int called;

static unsigned number_of(const char *key)
{
    return (unsigned)atoi(key + strcspn(key, "0123456789"));
}

static void told(void *owner, const char *key, const char *value)
{
    unsigned number = number_of(key);
    long index = (int *)owner - owners;

    called++;
    if (!table[number].is_there)
        CHECK(!value);
    else
        CHECK(value && strtoul(value, NULL, 10) == table[number].value);
    CHECK(table[number].waiting[index] > 0);
    table[number].waiting[index]--;
}

static int waiters_of(unsigned number)
{
    int sum = 0;

    for (int i = 0; i < OWNERS; i++)
        sum += table[number].waiting[i];
    return sum;
}

static void step(struct mur_kvs *kvs)
{
    unsigned number = below(KEYS), owner = below(OWNERS);
    int waiting = waiters_of(number);
    char key[32], value[16];
    bool is_first;

    snprintf(key, sizeof key, "%.*s%u", (int)(number % 9), "key-[/]-x", number);
    called = 0;
    switch (below(16)) {
    case 0:
    case 1:
    case 2:
        table[number].is_there = true;
        table[number].value = below(1u << 24);
        snprintf(value, sizeof value, "%u", table[number].value);
        CHECK(mur_kvs_put(kvs, key, value) && called == waiting);
        break;
    case 3:
    case 4:
        CHECK(mur_kvs_remove(kvs, key) == table[number].is_there);
        table[number].is_there = false;
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        table[number].waiting[owner]++;
        CHECK(mur_kvs_wait(kvs, key, told, &owners[owner], &is_first) && called == table[number].is_there);
        CHECK(is_first == (!table[number].is_there && waiting == 0));
        break;
    case 10:
        if (waiting) { /* told, and not kept */
            table[number].is_there = true;
            table[number].value = below(1u << 24);
            snprintf(value, sizeof value, "%u", table[number].value);
            CHECK(mur_kvs_give(kvs, key, value) && called == waiting && !mur_kvs_get(kvs, key));
            table[number].is_there = false;
        }
        break;
    case 9:
        mur_kvs_settle(kvs, key);
        CHECK(called == (table[number].is_there ? 0 : waiting));
        break;
    default:
        CHECK((mur_kvs_get(kvs, key) != NULL) == table[number].is_there);
        if (table[number].is_there)
            CHECK(strtoul(mur_kvs_get(kvs, key), NULL, 10) == table[number].value);
    }
}

static void test_random(void)
{
    struct mur_kvs *kvs = mur_kvs_create(1 << 24);
    unsigned there = 0;
    char key[32];

    for (int i = 0; i < STEPS; i++)
        step(kvs);
    for (unsigned i = 0; i < KEYS; i++)
        there += table[i].is_there;
    CHECK(mur_kvs_count(kvs) == there);
    for (unsigned i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "%.*s%u", (int)(i % 9), "key-[/]-x", i);
        mur_kvs_settle(kvs, key);
        mur_kvs_remove(kvs, key);
    }
    CHECK(mur_kvs_bytes(kvs) == 0 && mur_kvs_count(kvs) == 0); /* the account is right */
    mur_kvs_free(kvs);
}

static void never(void *owner, const char *key, const char *value)
{
    (void)owner, (void)key, (void)value;
    CHECK(!"called");
}

static void test_limit(void)
{
    struct mur_kvs *kvs = mur_kvs_create(10000);
    char key[32];
    bool is_first;
    int i;

    for (i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%d", i);
        if (!mur_kvs_put(kvs, key, "value"))
            break;
    }
    CHECK(i > 20 && i < 500 && mur_kvs_bytes(kvs) <= 10000 && mur_kvs_count(kvs) == (size_t)i);
    CHECK(!mur_kvs_get(kvs, key) && mur_kvs_get(kvs, "0"));
    for (i = 0; i < 1000 && mur_kvs_wait(kvs, "late", never, &owners[0], &is_first); i++)
        ;
    CHECK(i < 1000);
    CHECK(mur_kvs_remove(kvs, "0") && mur_kvs_put(kvs, "1", "other") && !strcmp(mur_kvs_get(kvs, "1"), "other"));
    mur_kvs_free(kvs); /* with waiters, who are not called */
}

int main(void)
{
    unit_start();
    test_random();
    test_limit();
    return unit_end();
}
