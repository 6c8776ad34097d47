/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of one node share beside messages: memory, copies between their memories, and waking each other.
 * A node has one implementation of this, so these are plain functions, without a table.
 *
 *   node memory   header | one rank block a local rank | common memory | heap of what is shared | lanes
 *   beyond        the file goes on behind it: memory of any size that is mapped on its own, and given back
 *
 *   memory.c   opening the node's memory; pieces of its heap, which are never given back
 *   map.c      memory of any size behind it
 *   copy.c     copies between this process's memory and that of another process of the node, without its help
 *   wake.c     sleeping, and waking those who sleep
 *   cores.c    whether every rank can have a core of its own
 *   region.c    memory that any rank of the node finds by its address
 *   heap.c     pieces of regions, for MPI_Alloc_mem and windows
 *
 * A process of the node has a local rank, from 0 on, in the order of the ranks. "Near" is a process whose memory this
 * one may use; one on the same node may be far if the user wants it to be reached by the network (MUR_TRANSPORT,
 * boot/nodes.h). The engine's lock is held. */
#ifndef MUR_NODE_NODE_H
#define MUR_NODE_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <sys/un.h>

#define MUR_CACHE_LINE   64
#define MUR_ALIGNED_LINE __attribute__((aligned(MUR_CACHE_LINE)))

/* Offsets are bytes from the start of the node's memory; 0 is none. */
typedef uint64_t mur_offset;

struct mur_rank_block {
    _Atomic uint32_t is_asleep MUR_ALIGNED_LINE; /* futex word: not 0 while the rank sleeps or is about to */
    _Atomic mur_offset rung MUR_ALIGNED_LINE;    /* stack of lanes that have something for this rank (transport/shm) */
    _Atomic uint32_t has_left MUR_ALIGNED_LINE;  /* the rank is outside of MPI, until it opens another session */
    _Atomic uint32_t is_watched;                 /* some rank wants to be woken when that becomes 1 */
    _Atomic uint32_t is_ready;                   /* what follows is filled in */
    int32_t pid;
    uint64_t probe;    /* address, in the rank's memory, of its pid: peers try to read it */
    uint64_t cpus[16]; /* affinity mask */
    /* the socket of a rank that sleeps in the network: set once, before it first sleeps */
    struct sockaddr_un doorbell;
    uint32_t doorbell_length;
};

/* is_asleep: 0, or how the rank is woken. */
enum { MUR_AWAKE, MUR_ASLEEP_FUTEX, MUR_ASLEEP_DOORBELL };

struct mur_node_memory {
    _Atomic uint32_t needs_fence; /* some rank has no membarrier: senders fence themselves */
    _Atomic uint32_t sleepers;    /* ranks that sleep or are about to */
    _Atomic mur_offset heap;      /* bytes in use of the heap's first half */
    _Atomic mur_offset lanes;     /* of its second half */
    _Atomic uint64_t beyond;      /* bytes of the node's file handed out behind this memory (map.c) */
    struct mur_rank_block ranks[];
};

/* The node, as this process sees it. */
struct mur_node {
    struct mur_node_memory *memory;
    uint64_t bytes;
    int rank, size;      /* local; 0 of 1 where no other process is near */
    int near_count;      /* near processes, this one included; of local ranks there may be more */
    int *process_of;     /* [size] by local rank */
    int *local_of;       /* [size of the job] local ranks; -1: the process is far */
    size_t common_bytes; /* between the rank blocks and the heap */
    int ringer;          /* a socket that rings others' doorbells; -1: there are no others */
    int doorbell;        /* the same socket, with a name; -1: this process sleeps on the futex */
    bool has_membarrier;
    uint8_t *copy_state; /* [size] whether this process may copy from and to the rank's memory (copy.c) */
    int32_t pid;
};
extern struct mur_node mur_node;

static inline void *mur_node_at(mur_offset offset)
{
    return (char *)mur_node.memory + offset;
}

static inline mur_offset mur_node_offset(const void *address)
{
    return (mur_offset)((const char *)address - (const char *)mur_node.memory);
}

static inline struct mur_rank_block *mur_node_own_block(void)
{
    return &mur_node.memory->ranks[mur_node.rank];
}

/* ---- memory.c ---- */

/* Opens the memory of the node, once a process. `is_alone`: nobody else is near, even on this node. With so much common
 * memory, if every process of the job is near. */
int mur_node_open(bool is_alone, size_t common_bytes);

/* Common memory, which all processes of the job see, all zero at first, without any agreement; NULL: there is none. */
void *mur_node_common(void);

/* Memory that all near processes see, all zero, by a token that means the same to all; never given back. NULL: it is
 * used up. */
void *mur_node_share(size_t bytes, uint64_t *token);

/* The memory of a token. NULL: no memory can have this token; of others there are at least two cache lines, which need
 * not be what the token's sender means. */
void *mur_node_shared(uint64_t token);

/* Zeroed memory for a lane, aligned to cache lines; NULL when all is used up. Never given back. */
void *mur_node_allocate_lane(size_t bytes);

/* Bytes of memory for lanes that each ordered pair of ranks can have; UINT64_MAX: as many as the node was meant to. */
uint64_t mur_node_lane_share(void);

/* ---- map.c ---- */

/* Memory of any size, all zero at first, that near processes map. A *token of 0 makes new memory and is set; any other
 * maps what it names. NULL with errno: impossible. `discard` gives new memory back, once nobody will look at it any
 * more. */
void *mur_node_map(size_t bytes, uint64_t *token);
void mur_node_unmap(void *memory, size_t bytes);
void mur_node_discard(uint64_t token, size_t bytes);

/* ---- copy.c ---- */

/* Copying between this process's memory and that of a local rank, without its help: `local` and `remote` are addresses.
 * can_copy says, by trying once a rank, whether the system permits it; never for a far process, of local rank -1. After
 * that only bad addresses fail. */
bool mur_node_can_copy(int rank);
bool mur_node_read(int rank, void *local, uint64_t remote, size_t bytes);
bool mur_node_write(int rank, const void *local, uint64_t remote, size_t bytes);

/* The same for lists of stretches with as many bytes here as there: at most MUR_MOVE_STRETCHES, a gigabyte in all. */
enum { MUR_MOVE_STRETCHES = 512 };
bool mur_node_move(int rank, bool is_write, const struct iovec *local, int local_count, const struct iovec *remote,
                   int remote_count);

/* ---- wake.c ---- */

int mur_node_make_ringer(void);
void mur_node_barrier_setup(void);

/* Everything that this process stored before is visible to all near ones, and all of what they stored to it. */
void mur_node_barrier(void);

/* Announces that this process sleeps: from now on those who write what it may wait for wake it. It then looks once more
 * whether there is anything before it sleeps, until a time of mur_clock_ns at the latest (UINT64_MAX: any). `sleep` is
 * called without the engine's lock, and needs none; end_sleep follows in any case. */
void mur_node_announce_sleep(void);
void mur_node_sleep(uint64_t until);
void mur_node_end_sleep(void);

/* Ends a sleep of a local rank. Of this process's own also one that was announced and has not begun; only end_sleep,
 * and announce_sleep of another thread, take that back. */
void mur_node_wake(int rank);

/* Shared memory has been written, which these near processes may wait for: wakes those that sleep. */
void mur_node_rouse_slow(const int *processes, int count);
static inline void mur_node_rouse(const int *processes, int count)
{
    /* Like with lanes (transport/shm/shm.h), no fence is needed between the writing and the look at who sleeps: the
     * sleeper's barrier comes between its announcement and its last look at what was written. */
    if (__builtin_expect(atomic_load_explicit(&mur_node.memory->needs_fence, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&mur_node.memory->sleepers, memory_order_relaxed) != 0, 0))
        mur_node_rouse_slow(processes, count);
}

/* A descriptor that becomes readable when this process is to wake, for one who sleeps on several; -1 with errno. From
 * the first call on this process is woken by it, and no longer sleeps by mur_node_sleep. */
int mur_node_doorbell(void);

/* In a forked child; the network closes the doorbell. */
void mur_node_forked(void);

#endif
