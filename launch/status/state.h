/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank is doing, as its agent has found: the text of a MUR_FRAME_STATE. All hosts of a job run the same version
 * (tree/door.c), so it travels as it is. */
#ifndef MUR_LAUNCH_STATUS_STATE_H
#define MUR_LAUNCH_STATUS_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "boot/look.h"

enum mur_state_kind {
    MUR_STATE_UNKNOWN,    /* its agent has not answered */
    MUR_STATE_ENDED,      /* the process has ended */
    MUR_STATE_OUTSIDE,    /* it is not in MPI: before MPI_Init, after MPI_Finalize, or of another library */
    MUR_STATE_STARTING,   /* it is in MPI_Init */
    MUR_STATE_UNREADABLE, /* its memory cannot be read: `error` is an errno; 0: it is of another version */
    MUR_STATE_COMPUTING,  /* not in MPI, and not been there between two looks */
    MUR_STATE_INSIDE,     /* in a call, without rest */
    MUR_STATE_BUSY,       /* in and out of MPI */
    MUR_STATE_WAITING,    /* it rests, and `waits` tell what for */
    MUR_STATE_KINDS,
};

/* Times are in ms, and end when the agent looked. */
struct mur_rank_state {
    uint32_t kind; /* enum mur_state_kind */
    uint32_t call; /* the one that it is in, or was in last: an index of mur_call_names */
    int32_t pid;   /* of the MPI program, if it is known */
    int32_t error;
    char process;   /* as ps shows it: 'R', 'S', 'D', 'T' (stopped), 't' (by a debugger) ... */
    uint8_t is_any; /* one of the things that it waits for is enough */
    uint16_t shown; /* `waits` that follow */
    uint32_t wait_count;
    int64_t since_ms; /* it waits; or since it has waited last, if ever (else since MPI began) */
    int64_t age_ms;   /* since MPI began */
    int64_t rest_ms;  /* of that time it has rested in MPI; waits that were shorter than the spin are not in it */
    int64_t cpu_ms;   /* of the process */
    uint64_t sends, send_bytes, receives, receive_bytes, collectives, puts, put_bytes, gets, get_bytes;
    uint32_t message_count, hold_count;
    struct mur_look_message messages[MUR_LOOK_MESSAGES];
    struct mur_look_hold holds[MUR_LOOK_HOLDS];
    struct mur_look_wait waits[MUR_LOOK_WAITS];
};

/* What a rank has sent to another one, where that is something. */
struct mur_rank_traffic {
    int32_t to;
    uint32_t large;       /* messages that were announced first, */
    uint64_t large_bytes; /* and their bytes */
    uint64_t path_bytes;  /* that have gone by lane or by connection: frames with their headers, large messages in
                           * pieces.  Those of a node that are copied from memory to memory are not in it, nor are
                           * collectives on  the board */
};

static inline size_t mur_state_bytes(const struct mur_rank_state *state)
{
    return offsetof(struct mur_rank_state, waits) + state->shown * sizeof state->waits[0];
}

#endif
