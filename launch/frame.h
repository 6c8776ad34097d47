/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpiexec and its agent say to each other: one struct mur_tree_frame a packet, over a SOCK_SEQPACKET pair;
 * agents on other hosts say it through the tree (tree/tree.h).
 *
 * The agent does and sees, mpiexec decides. mpiexec passes signals on and tells when and how to end the job; the agent
 * tells of failures as it sees them, and at the very end, when no process is left and all output is out, that it is
 * done. End of file on either side means that the other is dead: the survivor kills what is left. */
#ifndef MUR_LAUNCH_FRAME_H
#define MUR_LAUNCH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mur_tree_frame_kind {
    MUR_FRAME_SIGNAL = 1, /* to the agent: pass `signal` to all ranks */
    MUR_FRAME_END,        /* to the agent: send `signal`, kill what is left after `grace_ms` */
    MUR_FRAME_LOOK,       /* to the agent: tell what each rank is doing; `code` numbers the question */
    MUR_FRAME_STATE,    /* from the agent: the answer for `rank`: `text` is a struct mur_rank_state (status/state.h) */
    MUR_FRAME_TRAFFIC,  /* from the agent, before that: what `rank` has sent to whom, struct mur_rank_traffic in `text`
                         */
    MUR_FRAME_STARTED,  /* from the agent: `rank` runs as `pid` (only for a verbose job) */
    MUR_FRAME_FAILURE,  /* from the agent: see `cause` */
    MUR_FRAME_EXITED,   /* from the agent: `rank` ended by `signal` or with `code` (only for a job that shows exits) */
    MUR_FRAME_STANDING, /* from the agent of the host that has `rank`: see `standing` */
    MUR_FRAME_SNAPSHOT, /* to the agent: freeze and write this host's part of snapshot `code`, in the folder `text` */
    MUR_FRAME_FROZEN, /* from the agent of host number `rank`: that is done; or, with `code` not 0, `text` says why not
                       */
    MUR_FRAME_THAW,   /* to the agent: go on; with `code` not 0 what was written is of no use */
    MUR_FRAME_SAVED,  /* from the agent of host number `rank`: as FROZEN, and `text` has the checksums */
    MUR_FRAME_LEFT,   /* from the agent of host number `rank`: no rank of it runs any more (only with snapshots) */
    MUR_FRAME_DONE,   /* from the agent: `ended` ranks were still running when MUR_FRAME_END came, `killed` of
                       * them did not end by themselves */
};

enum mur_cause {
    MUR_CAUSE_NONE,
    MUR_CAUSE_START,       /* a rank or the node's memory could not be made: `text` says why, `code` is for exit */
    MUR_CAUSE_EXIT,        /* a rank exited with `code`, which is not 0, and was not in MPI */
    MUR_CAUSE_SIGNAL,      /* a rank died by `signal` */
    MUR_CAUSE_UNFINALIZED, /* a rank exited with `code` after its INIT and before it was FINALIZED */
    MUR_CAUSE_MISSING,     /* a rank exited with `code` and another one waits for it in MPI: `standing` says more */
    MUR_CAUSE_ABORT,       /* a rank asked for the job's end with `code` and `text` */
    MUR_CAUSE_PIPE,        /* nobody reads our output any more */
    MUR_CAUSE_OUTPUT,      /* our output cannot be written: `text` says why */
};

#define MUR_FRAME_KEEP_OUTPUT (-1)

/* Programs are counted from 1 on, those that have begun MPI (boot/job.h: a generation's number and one). */
struct mur_standing {
    uint32_t highest; /* number of a program that a rank of the host is in MPI with; 0: no rank is in MPI */
    int32_t highest_rank;
    uint32_t left; /* the least count of programs that a rank of the host had begun when it ended */
    int32_t left_rank;
    int32_t left_pid;
    int32_t left_code;
    uint32_t has_left; /* 0: no rank has ended */
};

struct mur_tree_frame {
    uint32_t kind;
    uint32_t cause;
    int32_t rank;
    int32_t pid;
    int32_t signal; /* 0: none */
    int32_t code;
    int32_t grace_ms;
    int32_t drain_ms; /* output nobody has taken this long after the ranks' end is dropped; or MUR_FRAME_KEEP_OUTPUT */
    int32_t ended;
    int32_t killed;
    struct mur_standing standing;
    uint8_t has_core;
    uint8_t is_unknown;    /* nobody saw how the process ended */
    uint8_t is_tolerated;  /* only the exit code is to show it: the rank was not in MPI, and the job keeps going */
    uint8_t has_oom;       /* the kernel killed for lack of memory while the job ran */
    uint8_t wants_traffic; /* of a MUR_FRAME_LOOK: MUR_FRAME_TRAFFIC is to come, too */
    uint16_t length;       /* of text, which has no terminating NUL */
    char text[2036];
};

/* Both block and return false when the other side is dead. A frame that does not hold together counts as that. */
bool mur_frame_send(int fd, const struct mur_tree_frame *frame);
bool mur_frame_receive(int fd, struct mur_tree_frame *frame);
size_t mur_frame_bytes(const struct mur_tree_frame *frame);
bool mur_frame_unpack(struct mur_tree_frame *frame, const void *data,
                      size_t bytes); /* false: it does not hold together */
void mur_frame_set_text(struct mur_tree_frame *frame, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes it MUR_FRAME_FAILURE of MUR_CAUSE_START, of no rank in particular, with this text. */
void mur_frame_set_failure(struct mur_tree_frame *frame, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
