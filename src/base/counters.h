/* SPDX-License-Identifier: BSD-3-Clause */
/* The one registry of counters: what the library counts while it works, and what tools read as performance variables.
 *
 * Hot places add to a field of mur_counters, in memory of their own process and with the engine's lock held, so a plain
 * addition will do. Tools only read: a counter never goes back, and what a tool resets is its own handle's. */
#ifndef MUR_BASE_COUNTERS_H
#define MUR_BASE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

enum { MUR_COUNTED_KINDS = 13 }; /* of collectives: enum mur_collective_kind in coll/collective.h */

struct mur_counters {
    /* point-to-point, this process's side of each message */
    uint64_t eager_sends, eager_send_bytes;
    uint64_t rendezvous_sends, rendezvous_send_bytes;
    uint64_t eager_receives, eager_receive_bytes;
    uint64_t rendezvous_receives, rendezvous_receive_bytes;
    uint64_t straight_bytes; /* over the network from where they lay */
    uint64_t spliced_bytes;  /* of them without a copy */
    uint64_t altered;        /* connections, whose bytes somebody has altered */
    uint64_t copied_bytes;   /* of large messages, by this process, from memory to memory */
    uint64_t piece_bytes;    /* of large messages, through lanes and sockets */
    uint64_t unexpected;     /* messages that arrived before their receive */
    uint64_t unexpected_now, unexpected_peak;
    uint64_t unexpected_bytes_now, unexpected_bytes_peak;
    uint64_t holds; /* times that a sender was told to hold */
    /* the engine */
    uint64_t passes, idle_sleeps, idle_yields, backlogged;
    uint64_t sleep_ns;
    /* collectives */
    uint64_t collectives[MUR_COUNTED_KINDS];
    uint64_t board_collectives, schedules;
    /* one-sided */
    uint64_t puts, put_bytes, gets, get_bytes, accumulates, rma_messages, assists, assists_done;
    uint64_t joint_operations, joint_pieces;
    /* files */
    uint64_t file_reads, file_read_bytes, file_writes, file_write_bytes;
    uint64_t file_background; /* of them that the kernel performed meanwhile */
    /* memory */
    uint64_t allocated, huge_bytes, shared_bytes;
};
extern struct mur_counters mur_counters;

enum mur_counter_class {
    MUR_COUNTER, /* of events, or of bytes that went by */
    MUR_LEVEL,   /* how much there is now */
    MUR_PEAK,    /* the most of a level; the row names both */
    MUR_TIMER,   /* nanoseconds, that tools see as seconds */
};

/* A row of the registry: a name, where the values are, what they mean. */
struct mur_counter {
    const char *name, *part;
    enum mur_counter_class class;
    const char *unit;
    size_t offset; /* of the first value in struct mur_counters */
    size_t level;  /* of the level that a peak follows */
    int count;     /* of values; 0 says 1 */
    const char *meaning;
};
extern const struct mur_counter mur_counter_table[];
extern const size_t mur_counter_count;

static inline uint64_t *mur_counter_at(size_t offset)
{
    return (uint64_t *)((char *)&mur_counters + offset);
}

/* Something more of a level whose peak is kept. */
static inline void mur_level_add(uint64_t *level, uint64_t *peak, uint64_t more)
{
    *level += more;
    if (*level > *peak)
        *peak = *level;
}

#endif
