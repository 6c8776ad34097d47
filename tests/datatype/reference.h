/* SPDX-License-Identifier: BSD-3-Clause */
/* A naive datatype to compare with: the type map, written out entry by entry. */
#ifndef MUR_TESTS_REFERENCE_H
#define MUR_TESTS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Markers are entries of the type map, as the standard once had it; so are the ends of components with their padding.
 */
enum entry_kind { ENTRY_DATA, ENTRY_LB, ENTRY_UB, ENTRY_PADDED };

struct entry {
    enum entry_kind kind;
    long offset;
    long size;      /* bytes; 0 for all but data */
    long alignment; /* 1 for all but data */
};

struct reference {
    struct entry *entries;
    long count, capacity;
};

/* Random numbers from a seed that the test prints. */
extern uint64_t random_state;
long random_below(long limit);
long random_from(long low, long high);
void random_start(void); /* the seed: MUR_TEST_SEED, or the time */

void reference_free(struct reference *reference);
void reference_add(struct reference *reference, struct entry entry);
void reference_append(struct reference *to, const struct reference *from, long displacement);
void reference_append_block(struct reference *to, const struct reference *from, long displacement, long copies);

/* Removes the markers and sets others. */
void reference_resize(struct reference *reference, long lb, long ub);

long reference_size(const struct reference *reference);
void reference_bounds(const struct reference *reference, long *lb, long *extent);
void reference_true_bounds(const struct reference *reference, long *lb, long *extent);

/* The offset of every byte of `count` elements, in order; the caller frees the array. */
long *reference_bytes(const struct reference *reference, long count);

#endif
