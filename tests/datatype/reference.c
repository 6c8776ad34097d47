/* SPDX-License-Identifier: BSD-3-Clause */
/* The naive datatype. Meant to be obviously right, and slow. */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>

#include "draw.h"

uint64_t random_state;

void random_start(void)
{
    random_state = draw_seed();
    printf("seed %llu\n", (unsigned long long)random_state);
    fflush(stdout);
}

/* splitmix64 */
long random_below(long limit)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (long)((z ^ (z >> 31)) % (uint64_t)limit);
}

long random_from(long low, long high)
{
    return low + random_below(high - low + 1);
}

void reference_free(struct reference *reference)
{
    free(reference->entries);
    *reference = (struct reference){0};
}

void reference_add(struct reference *reference, struct entry entry)
{
    if (reference->count == reference->capacity) {
        reference->capacity = 2 * reference->capacity + 16;
        reference->entries = realloc(reference->entries, (size_t)reference->capacity * sizeof entry);
        if (!reference->entries)
            abort();
    }
    reference->entries[reference->count++] = entry;
}

void reference_append(struct reference *to, const struct reference *from, long displacement)
{
    long lb, extent;

    for (long i = 0; i < from->count; i++) {
        struct entry entry = from->entries[i];
        entry.offset += displacement;
        reference_add(to, entry);
    }
    reference_bounds(from, &lb, &extent);
    if (extent > 0)
        reference_add(to, (struct entry){ENTRY_PADDED, displacement + lb + extent, 0, 1});
}

void reference_append_block(struct reference *to, const struct reference *from, long displacement, long copies)
{
    long lb, extent;

    reference_bounds(from, &lb, &extent);
    for (long i = 0; i < copies; i++)
        reference_append(to, from, displacement + i * extent);
}

void reference_resize(struct reference *reference, long lb, long ub)
{
    long kept = 0;

    for (long i = 0; i < reference->count; i++)
        if (reference->entries[i].kind == ENTRY_DATA)
            reference->entries[kept++] = reference->entries[i];
    reference->count = kept;
    reference_add(reference, (struct entry){ENTRY_LB, lb, 0, 1});
    reference_add(reference, (struct entry){ENTRY_UB, ub, 0, 1});
}

long reference_size(const struct reference *reference)
{
    long size = 0;

    for (long i = 0; i < reference->count; i++)
        size += reference->entries[i].size;
    return size;
}

void reference_true_bounds(const struct reference *reference, long *lb, long *extent)
{
    bool has_data = false;
    long low = 0, high = 0;

    for (long i = 0; i < reference->count; i++) {
        const struct entry *entry = &reference->entries[i];
        if (entry->kind != ENTRY_DATA)
            continue;
        if (!has_data || entry->offset < low)
            low = entry->offset;
        if (!has_data || entry->offset + entry->size > high)
            high = entry->offset + entry->size;
        has_data = true;
    }
    *lb = low;
    *extent = high - low;
}

/* The formulas of MPI-5.0 §5.1.6, with their epsilon; the padding of components counts. */
void reference_bounds(const struct reference *reference, long *lb, long *extent)
{
    bool has_marks = false;
    long low = 0, high = 0, alignment = 1;

    for (long i = 0; i < reference->count; i++)
        if (reference->entries[i].alignment > alignment)
            alignment = reference->entries[i].alignment;
    reference_true_bounds(reference, lb, extent);
    for (long i = 0; *extent && i < reference->count; i++)
        if (reference->entries[i].kind == ENTRY_PADDED && reference->entries[i].offset > *lb + *extent)
            *extent = reference->entries[i].offset - *lb;
    while (*extent % alignment)
        ++*extent;
    for (long i = 0; i < reference->count; i++) {
        const struct entry *entry = &reference->entries[i];
        if (entry->kind == ENTRY_LB && (!has_marks || entry->offset < low))
            low = entry->offset;
        /* a type has no LB marker without a UB marker, and the LB comes first */
        if (entry->kind == ENTRY_UB && (!has_marks || entry->offset > high))
            high = entry->offset;
        has_marks |= entry->kind == ENTRY_UB;
    }
    if (has_marks) {
        *lb = low;
        *extent = high - low;
    }
}

long *reference_bytes(const struct reference *reference, long count)
{
    long *bytes = malloc((size_t)(count * reference_size(reference) + 1) * sizeof *bytes);
    long lb, extent, n = 0;

    if (!bytes)
        abort();
    reference_bounds(reference, &lb, &extent);
    for (long k = 0; k < count; k++)
        for (long i = 0; i < reference->count; i++)
            for (long b = 0; b < reference->entries[i].size; b++)
                bytes[n++] = k * extent + reference->entries[i].offset + b;
    return bytes;
}
