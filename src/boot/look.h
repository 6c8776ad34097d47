/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank lets others see of it: the memory that its agent reads when somebody asks what the job is doing.
 *
 * The rank tells the agent where its `mur_look` is when it begins MPI (struct mur_control_look). The agent reads it
 * with process_vm_readv, so the rank takes no part: what it says can be read also while it computes, hangs or is
 * stopped, and costs nothing while nobody asks. The rank writes here only on the slow path of waiting (engine/rest.c):
 * when it begins to rest, and what it waits for once the wait has become long. All else the agent reads where the rank
 * keeps it anyway: the number of its latest call (engine/lock.h), and its counters.
 *
 * A reader copies all and then looks at `version` again: odd, or other than before, it may have copied halves of two
 * descriptions. The launcher includes this file: both sides compare MUR_LOOK_FORM and MUR_CALLS_VERSION first. */
#ifndef MUR_BOOT_LOOK_H
#define MUR_BOOT_LOOK_H

#include <stdatomic.h>
#include <stdint.h>

#define MUR_LOOK_FORM 1 /* raised whenever this file changes its meaning */

enum {
    MUR_LOOK_WAITS = 8,    /* things waited for that are described, */
    MUR_LOOK_MISSING = 8,  /* processes that one of them lacks, */
    MUR_LOOK_MESSAGES = 4, /* messages that wait for a receive, */
    MUR_LOOK_HOLDS = 4,    /* and locks that the rank holds */
    MUR_LOOK_NAME = 40,    /* bytes of a name; a longer one is cut */
    MUR_LOOK_WAIT_MS = 100 /* a wait that is as old is described */
};

enum mur_wait_kind {
    MUR_WAIT_OTHER, /* only the call is known */
    MUR_WAIT_SEND,
    MUR_WAIT_RECEIVE,
    MUR_WAIT_PROBE,
    MUR_WAIT_COLLECTIVE,
    MUR_WAIT_LOCK,      /* of the part of a window that `peer` has */
    MUR_WAIT_FLUSH,     /* for operations at `peer`, or at several */
    MUR_WAIT_POSTS,     /* for the MPI_Win_post of `peer` */
    MUR_WAIT_COMPLETES, /* for MPI_Win_complete of others */
    MUR_WAIT_FILE_LOCK, /* of bytes of a file, which the file system gives */
    MUR_WAIT_FILE,      /* for the other ranks of a file */
    MUR_WAIT_MEETING,   /* for a process of another job */
    MUR_WAIT_ENDING,    /* for what others still need from this process, before it leaves */
    MUR_WAIT_KINDS,
};

/* The word that says in which call the rank is: twice its number, and one while it is inside. */
enum { MUR_LOOK_INSIDE = 1 };

enum { MUR_LOOK_NONE = -1, MUR_LOOK_ANY = -2, MUR_LOOK_FOREIGN = -3 };

/* One thing that a rank waits for. What it does not have is 0, or MUR_LOOK_NONE where 0 has a meaning. */
struct mur_look_wait {
    uint32_t kind;    /* enum mur_wait_kind */
    uint32_t context; /* of the communicator */
    int32_t size;     /* ranks that it talks to; 0: there is none */
    int32_t peer;     /* rank in it; or MUR_LOOK_ANY */
    int32_t process;  /* the same as a rank of MPI_COMM_WORLD; or MUR_LOOK_ANY; MUR_LOOK_FOREIGN: of another job */
    int32_t tag;      /* MUR_LOOK_NONE: none, MUR_LOOK_ANY */
    int64_t bytes;    /* to send, or room to receive; MUR_LOOK_NONE: none */
    uint64_t number;  /* of the collective among those of the communicator; 0: not known */
    int32_t round;    /* of a collective made of messages; MUR_LOOK_NONE: it is none */
    int32_t holder;   /* of a lock: who has it, as a rank of the communicator, or as a process number (FILE_LOCK) */
    int32_t missing_count;             /* processes that have to do something before this ends, as far as is known */
    int32_t missing[MUR_LOOK_MISSING]; /* the first of them, as ranks of MPI_COMM_WORLD, or MUR_LOOK_FOREIGN */
    char name[MUR_LOOK_NAME];          /* of the communicator, window or file; may be empty */
};

/* A message that has come and waits for its receive. */
struct mur_look_message {
    uint32_t context;
    int32_t source, tag; /* rank in the communicator of the context */
    int32_t unused;
    int64_t bytes;
};

/* A lock that this rank holds of a part of a window. */
struct mur_look_hold {
    uint32_t context; /* of the window's communicator */
    int32_t rank;     /* in it */
    uint32_t is_exclusive, unused;
};

/* An array of structures in the rank's memory, and where in each of them numbers of 64 bits are that readers want. */
enum { MUR_LOOK_COLUMNS = 3, MUR_LOOK_RECORD = 32 };
struct mur_look_table {
    uint64_t at; /* 0: there is none */
    uint32_t rows, row_bytes;
    uint32_t columns[MUR_LOOK_COLUMNS]; /* bytes from the start of a row */
    uint32_t unused;
};

struct mur_look {
    uint32_t form, calls;   /* MUR_LOOK_FORM, MUR_CALLS_VERSION */
    uint32_t bytes;         /* of all this */
    uint32_t counter_bytes; /* of struct mur_counters */
    uint64_t call_at;       /* where the word of mur_lock is; 0: MPI is still being set up */
    uint64_t counters_at;   /* where mur_counters is */
    /* Positions that transports keep anyway, and what is counted of large messages: */
    struct mur_look_table lanes; /* by local rank: records, counted in MUR_LOOK_RECORD bytes, and bytes by two rings */
    struct mur_look_table peers; /* by rank: the address of the transport, and of its link to the rank */
    uint64_t network_at;         /* the address of the network's transport, */
    uint64_t link_queued;        /* and where in a link of it the bytes that were ever sent are */
    struct mur_look_table large; /* by rank: messages that were announced first, and their bytes */
    uint64_t began;              /* MPI, by mur_clock_ns, as all times here */
    _Atomic uint32_t version;    /* of what follows; odd while it is written */
    uint32_t call;               /* the call that rests, or that rested last */
    _Atomic uint64_t since;      /* when the latest wait that rested began; 0: none has */
    _Atomic uint64_t until;      /* when its latest rest ended; 0: it rests */
    uint64_t described;          /* when it was described; before `since`: it has not been */
    uint64_t slept;              /* when the latest rest began */
    uint32_t is_any;             /* one of the things that are waited for is enough */
    uint32_t wait_count;         /* things that are waited for; the first of them are */
    struct mur_look_wait waits[MUR_LOOK_WAITS];
    uint32_t message_count, hold_count;
    struct mur_look_message messages[MUR_LOOK_MESSAGES];
    struct mur_look_hold holds[MUR_LOOK_HOLDS];
};
extern struct mur_look mur_look;

#endif
