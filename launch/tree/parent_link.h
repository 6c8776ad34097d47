/* SPDX-License-Identifier: BSD-3-Clause */
/* The way up from an agent on another host to its parent. */
#ifndef MUR_LAUNCH_TREE_PARENT_LINK_H
#define MUR_LAUNCH_TREE_PARENT_LINK_H

#include "base/address.h"
#include "base/handshake.h"
#include "launch/frame.h"
#include "launch/tree/branch.h"
#include "launch/tree/call.h"

enum {
    MUR_PARENT_LINK_CREDIT = 32 << 10, /* bytes of stdout, and of stderr, that may be on their way */
    MUR_PARENT_LINK_INPUT = 16 << 10,  /* bytes of a piece of standard input */
};

struct mur_parent_link;

struct mur_parent_link_output { /* this agent's own stdout or stderr */
    struct mur_parent_link *parent_link;
    struct mur_watch pipe; /* fd -1: it has ended */
    char channel;
    uint32_t credit; /* bytes that may be sent now */
};

struct mur_parent_link {
    struct mur_loop *loop;
    struct mur_branch branch;
    unsigned char secret[MUR_MAC_BYTES];
    int place, parent;
    struct mur_address addresses[MUR_ADDRESSES_MAX];
    int address_count;
    int64_t cut_since; /* 0: connected */
    struct mur_parent_call call;
    int calling; /* the address that is called */
    int fault;   /* of this round's first address: ECONNREFUSED, nobody listens there any more; EPROTO, somebody */
                 /* does who does not go on after our hello */
    char faults[1024]; /* of all of this round's, as text */
    size_t faults_length;
    bool is_opening, has_given_up;
    struct mur_timer timer;
    struct mur_parent_link_output outputs[2];
    struct mur_watch input; /* the pipe that is this agent's standard input; fd -1: closed */
    char *input_data;       /* what it has not taken yet */
    size_t input_start, input_end;

    /* Called with what comes down; set by the part that serves it at the time. */
    void (*spec)(void *owner, const char *data, size_t bytes);
    void (*frame)(void *owner, const struct mur_tree_frame *frame);
    void (*value)(void *owner, const char *key, const char *value); /* NULL: there is none */
    void (*barrier)(void *owner);
    void (*lost)(void *owner); /* there is no parent any more */
    void *owner;
};

/* Calls the parent at the addresses that are set, for as long as a host may be silent. NULL, or why it cannot be
 * reached. */
const char *mur_parent_link_open(struct mur_parent_link *parent_link, struct mur_loop *loop);

/* From now on this process's stdout and stderr go to the parent, and its stdin comes from there. False with errno. */
bool mur_parent_link_redirect(struct mur_parent_link *parent_link);

void mur_parent_link_frame(struct mur_parent_link *parent_link, const struct mur_tree_frame *frame);

/* Everything that was written to stdout and stderr has arrived at the parent, and all else that was said. */
bool mur_parent_link_is_flushed(const struct mur_parent_link *parent_link);

#endif
