/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that two sides share: each unit is taken once, by one of them, whatever the sizes of chunks, and neither takes
 * anything of work that is closed or has another number. */
#include "engine/claim.h"

#include <pthread.h>

#include "unit.h"

enum { ROUNDS = 300 };

static struct mur_claim work;
static struct mur_claim_chunks chunks;
static uint32_t all, number;
static atomic_uint taken[MUR_CLAIM_UNITS_MAX], last_parts;

static uint32_t take_all(enum mur_claim_side side)
{
    uint32_t sum = 0;

    for (;;) {
        struct mur_claim_part part = mur_claim_take(&work, number, all, side, &chunks);

        if (!part.units)
            return sum;
        for (uint32_t i = 0; i < part.units; i++)
            atomic_fetch_add_explicit(&taken[part.start + i], 1, memory_order_relaxed);
        last_parts += part.is_last;
        sum += part.units;
        mur_claim_finish(&work, part.units);
    }
}

static void *back(void *sum)
{
    *(uint32_t *)sum = take_all(MUR_CLAIM_BACK);
    return NULL;
}

static void share(void)
{
    uint32_t from_back = 0, from_front;
    pthread_t thread;

    memset(taken, 0, sizeof taken);
    last_parts = 0;
    mur_claim_open(&work, number);
    CHECK(pthread_create(&thread, NULL, back, &from_back) == 0);
    from_front = take_all(MUR_CLAIM_FRONT);
    mur_claim_wait(&work, all);
    pthread_join(thread, NULL);
    CHECK(from_front + from_back == all && mur_claim_done(&work) == all && last_parts == 1);
    for (uint32_t i = 0; i < all; i++)
        CHECK(taken[i] == 1);
    CHECK(mur_claim_take(&work, number, all, MUR_CLAIM_BACK, &chunks).is_last);
}

static void refuse(void)
{
    mur_claim_open(&work, number);
    CHECK(!mur_claim_take(&work, number + 1, all, MUR_CLAIM_FRONT, &chunks).units);
    mur_claim_close(&work, number);
    CHECK(!mur_claim_take(&work, number, all, MUR_CLAIM_BACK, &chunks).units && mur_claim_look(&work) >> 32 == number);
}

/* As many units as there is room for, whatever the bytes. */
static void units(void)
{
    uint64_t bytes = (uint64_t)below(1 << 24) << below(24), unit = mur_claim_unit(bytes, 4096);
    uint32_t count = mur_claim_count(bytes, unit);

    CHECK(count <= MUR_CLAIM_UNITS_MAX && (unit == 4096 || count > MUR_CLAIM_UNITS_MAX / 2));
    if (count)
        CHECK((count - 1) * unit + mur_claim_bytes(bytes, unit, count - 1, 1) == bytes);
}

int main(void)
{
    unit_start();
    for (int i = 0; i < ROUNDS; i++) {
        all = 1 + (uint32_t)below(i % 2 ? MUR_CLAIM_UNITS_MAX : 40);
        number = i % 3 ? (uint32_t)i : UINT32_MAX;
        chunks = (struct mur_claim_chunks){.least = 1 + (uint32_t)below(8), .most = 8 + (uint32_t)below(128)};
        if (i % 4 == 0)
            chunks.even = 1 + (uint32_t)below(20);
        share();
        refuse();
        units();
    }
    return unit_end();
}
