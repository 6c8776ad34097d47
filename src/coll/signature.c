/* SPDX-License-Identifier: BSD-3-Clause */
/* A sequence x1..xn has the value of the polynomial x1 B^(n-1) + ... + xn, modulo 2^64: that of two sequences one after
 * the other follows from theirs, so a million copies need twenty steps. */
#include "coll/signature.h"

#include "datatype/elements.h"

#define BASE UINT64_C(0x9e3779b97f4a7c15)

struct sequence {
    uint64_t value;
    uint64_t power; /* BASE^length */
    bool is_vague;
};

static struct sequence join(struct sequence a, struct sequence b)
{
    return (struct sequence){a.value * b.power + b.value, a.power * b.power, a.is_vague || b.is_vague};
}

static struct sequence repeat(struct sequence one, MPI_Count count)
{
    struct sequence all = {.power = 1};

    for (; count > 0; count /= 2, one = join(one, one))
        if (count % 2)
            all = join(all, one);
    return all;
}

static struct sequence element(const struct mur_basic_row *row, int part)
{
    /* A character matches characters only, though other libraries compute with it. */
    enum mur_machine machine = row->class == MUR_CLASS_CHAR ? MUR_MACHINE_NONE : row->machine;

    return (struct sequence){.value = (uint64_t)machine * 2 + (uint64_t)part + 1,
                             .power = BASE,
                             .is_vague = row->class == MUR_CLASS_BYTE || row->class == MUR_CLASS_PACKED};
}

static int add_element(void *argument, const struct mur_basic_row *row, int part, MPI_Count offset)
{
    struct sequence *sequence = argument;

    (void)offset;
    *sequence = join(*sequence, element(row, part));
    return 0;
}

uint64_t mur_signature(MPI_Count count, struct mur_type *type)
{
    struct sequence one = {.power = 1};

    if (count == 0 || type->size == 0)
        return 1;
    if (type->basic != MUR_BASIC_MIXED && !mur_basics[type->basic].index_size)
        one = repeat(element(&mur_basics[type->basic], 0), type->basic_count);
    else
        mur_elements_walk(type, add_element, &one);
    one = repeat(one, count);
    return one.is_vague ? 0 : one.value | 1;
}
