/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of counters. To add one: a field in struct mur_counters, an addition where it happens, and a row here;
 * MPI_T and murmur-info work from the table. */
#include "base/counters.h"

struct mur_counters mur_counters;

#define AT(field) offsetof(struct mur_counters, field)
#define EVENTS(name, part, field, text)                                                                                \
    {                                                                                                                  \
        name, part, MUR_COUNTER, "", AT(field), 0, 0, text                                                             \
    }
#define BYTES(name, part, field, text)                                                                                 \
    {                                                                                                                  \
        name, part, MUR_COUNTER, "bytes", AT(field), 0, 0, text                                                        \
    }

const struct mur_counter mur_counter_table[] = {
    EVENTS("eager_sends", "pt2pt", eager_sends, "messages that were sent at once"),
    BYTES("eager_send_bytes", "pt2pt", eager_send_bytes, "data of messages that were sent at once"),
    EVENTS("rendezvous_sends", "pt2pt", rendezvous_sends, "messages that were announced first, and sent on demand"),
    BYTES("rendezvous_send_bytes", "pt2pt", rendezvous_send_bytes, "data of messages that were announced first"),
    EVENTS("eager_receives", "pt2pt", eager_receives, "messages received that came at once"),
    BYTES("eager_receive_bytes", "pt2pt", eager_receive_bytes, "data received that came at once"),
    EVENTS("rendezvous_receives", "pt2pt", rendezvous_receives, "messages received that had been announced"),
    BYTES("rendezvous_receive_bytes", "pt2pt", rendezvous_receive_bytes, "data of received messages, announced before"),
    BYTES("copied_bytes", "pt2pt", copied_bytes, "data of large messages that this process copied between memories"),
    BYTES("piece_bytes", "pt2pt", piece_bytes, "data of large messages that this process sent in pieces"),
    BYTES("straight_bytes", "pt2pt", straight_bytes, "data that went to the network from where it lay in memory"),
    EVENTS("altered_connections", "tcp", altered,
           "connections given up since what came was not what the peer had sent"),
    BYTES("spliced_bytes", "tcp", spliced_bytes, "data that went to the network without a copy by this process"),
    EVENTS("unexpected", "pt2pt", unexpected, "messages that arrived before their receive was posted"),
    {"unexpected_length", "pt2pt", MUR_LEVEL, "", AT(unexpected_now), 0, 0, "messages that wait for their receive now"},
    {"unexpected_length_peak", "pt2pt", MUR_PEAK, "", AT(unexpected_peak), AT(unexpected_now), 0,
     "the most messages that waited for their receives"},
    {"unexpected_bytes", "pt2pt", MUR_LEVEL, "bytes", AT(unexpected_bytes_now), 0, 0,
     "data kept of messages that wait for their receive now"},
    {"unexpected_bytes_peak", "pt2pt", MUR_PEAK, "bytes", AT(unexpected_bytes_peak), AT(unexpected_bytes_now), 0,
     "the most data that was kept of messages that waited"},
    EVENTS("holds", "pt2pt", holds, "times that a sender was told to keep its messages, since too many wait here"),
    EVENTS("progress_passes", "engine", passes, "times that the library looked for something to do"),
    EVENTS("idle_yields", "engine", idle_yields, "times that a waiting rank gave its core to others"),
    EVENTS("idle_sleeps", "engine", idle_sleeps, "times that a waiting rank slept"),
    {"sleep_time", "engine", MUR_TIMER, "seconds", AT(sleep_ns), 0, 0, "time that waiting ranks slept"},
    EVENTS("backlogged_sends", "engine", backlogged,
           "sends that were queued for their peer, because there was no room or others were queued before"),
    {"collectives", "coll", MUR_COUNTER, "", AT(collectives), 0, MUR_COUNTED_KINDS,
     "collective operations started, or set up to be kept, by kind: barrier, bcast, gather, scatter, allgather, "
     "alltoall, reduce, allreduce, "
     "reduce_scatter, scan, exscan, neighbor_allgather, neighbor_alltoall"},
    EVENTS("board_collectives", "coll", board_collectives, "collective operations through memory that the node shares"),
    EVENTS("scheduled_collectives", "coll", schedules, "collective operations made of messages, when set up"),
    EVENTS("puts", "rma", puts, "puts into windows"),
    BYTES("put_bytes", "rma", put_bytes, "data put into windows"),
    EVENTS("gets", "rma", gets, "gets from windows"),
    BYTES("get_bytes", "rma", get_bytes, "data got from windows"),
    EVENTS("accumulates", "rma", accumulates, "accumulates of all kinds, swaps included"),
    EVENTS("rma_assists", "rma", assists, "one-sided operations that their target performed while it polled"),
    EVENTS("rma_assists_done", "rma", assists_done, "such operations that this process performed for others"),
    EVENTS("rma_joint", "rma", joint_operations, "large one-sided operations that their target did a part of"),
    EVENTS("rma_joint_pieces", "rma", joint_pieces, "pieces of such operations that this process did for others"),
    EVENTS("rma_messages", "rma", rma_messages, "one-sided operations that went to their target by message"),
    EVENTS("file_reads", "io", file_reads, "times that a file system was asked to read"),
    BYTES("file_read_bytes", "io", file_read_bytes, "data read from file systems"),
    EVENTS("file_writes", "io", file_writes, "times that a file system was asked to write"),
    BYTES("file_write_bytes", "io", file_write_bytes, "data written to file systems"),
    EVENTS("file_background", "io", file_background, "times that the kernel read or wrote while the program went on"),
    {"allocated_bytes", "process", MUR_LEVEL, "bytes", AT(allocated), 0, 0, "memory that MPI_Alloc_mem has given out"},
    {"huge_page_bytes", "process", MUR_LEVEL, "bytes", AT(huge_bytes), 0, 0,
     "of the memory that MPI_Alloc_mem has given out: that for which huge pages were asked"},
    {"shared_alloc_bytes", "process", MUR_LEVEL, "bytes", AT(shared_bytes), 0, 0,
     "of the memory that MPI_Alloc_mem has given out: that which the ranks of the node reach directly"},
};
const size_t mur_counter_count = sizeof mur_counter_table / sizeof mur_counter_table[0];
