/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate of a file's shared file state: writes in the background and sieves that overlap keep out of each other's
 * way, whoever came first; those that do not overlap go on. Three ranks are three views of one piece of memory. */
#include <stdio.h>
#include <stdlib.h>

#include "io/shared_state.h"

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { RANKS = 3, FAR = 1 << 20 };

static struct mur_shared_state shared_states[RANKS];

static void background_first(struct mur_shared_state *writer, struct mur_shared_state *siever)
{
    EXPECT(mur_shared_state_gate_begin(writer, 10000, 50000));
    EXPECT(!mur_shared_state_gate_enter(siever, 0, 20000, true)); /* its end */
    EXPECT(!mur_shared_state_gate_enter(siever, 40000, FAR, true));
    EXPECT(!mur_shared_state_gate_enter(siever, 20000, 20001, true)); /* within */
    EXPECT(mur_shared_state_gate_enter(siever, FAR, 2 * FAR, true));
    mur_shared_state_gate_leave(siever);
    EXPECT(mur_shared_state_gate_begin(writer, FAR + 10, FAR + 20)); /* a second one */
    EXPECT(!mur_shared_state_gate_enter(siever, FAR, 2 * FAR, true));
    mur_shared_state_gate_end(writer);
    EXPECT(!mur_shared_state_gate_enter(siever, 0, 20000, true)); /* one of both is still under way */
    mur_shared_state_gate_end(writer);
    EXPECT(mur_shared_state_gate_enter(siever, 0, 2 * FAR, true));
    mur_shared_state_gate_leave(siever);
}

static void sieve_first(struct mur_shared_state *writer, struct mur_shared_state *siever)
{
    EXPECT(mur_shared_state_gate_enter(siever, 10000, 50000, true));
    EXPECT(!mur_shared_state_gate_begin(writer, 0, 20000));
    EXPECT(mur_shared_state_gate_begin(writer, FAR, 2 * FAR));
    EXPECT(!mur_shared_state_gate_begin(writer, 40000, 50000)); /* would reach from there to here */
    mur_shared_state_gate_end(writer);
    EXPECT(!mur_shared_state_gate_begin(siever, FAR, 2 * FAR)); /* the rank itself is in the gate */
    mur_shared_state_gate_leave(siever);
    EXPECT(mur_shared_state_gate_begin(writer, 0, 20000));
    mur_shared_state_gate_end(writer);
}

int main(void)
{
    struct mur_shared_state_memory *memory =
        aligned_alloc(64, (sizeof *memory + RANKS * sizeof memory->entries[0] + 63) & ~(size_t)63);

    EXPECT(memory);
    *memory = (struct mur_shared_state_memory){.pointer = 0};
    for (int rank = 0; rank < RANKS; rank++) {
        memory->entries[rank] = (struct mur_entry){.posted = 0};
        shared_states[rank] = (struct mur_shared_state){.memory = memory, .rank = rank, .size = RANKS};
    }
    for (int writer = 0; writer < RANKS; writer++)
        for (int siever = 0; siever < RANKS; siever++) {
            background_first(&shared_states[writer], &shared_states[siever]);
            if (siever != writer)
                sieve_first(&shared_states[writer], &shared_states[siever]);
        }
    free(memory);
    return 0;
}
