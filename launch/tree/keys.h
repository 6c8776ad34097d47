/* SPDX-License-Identifier: BSD-3-Clause */
/* How an agent gets the job's secret where the command that starts it passes no standard input on, as `kubectl exec`
 * in the scripts of Kubernetes operators (kubexec.sh) does not:
 *
 *   parent                                                   agent
 *     the start command's words have a public key ----------->
 *     <--------- a line on the agent's standard output, which the start command brings back: its public key
 *     <--------- a greeting (base/handshake.h) by what both keys make together (X25519)
 *     its answer, and the job's secret, sealed, once --------->
 *
 * Nothing of that is secret but the last message. That the keys are those of these two is vouched for by the start
 * command, whose words and output nobody else can change. */
#ifndef MUR_LAUNCH_TREE_KEYS_H
#define MUR_LAUNCH_TREE_KEYS_H

#include "base/address.h"
#include "base/handshake.h"
#include "launch/loop.h"
#include "launch/seal.h"

/* The parent's keys, for all its children. */
struct mur_keys {
    bool is_made;
    unsigned char public[MUR_SEAL_PUBLIC_BYTES], secret[MUR_SEAL_KEY_BYTES];
};

/* What a child says on the start command's output. Everything that is no key goes to standard error. */
struct mur_keys_heard {
    struct mur_keys *own;
    struct mur_loop *loop;
    struct mur_watch output; /* fd -1: there is none, or it has ended */
    bool is_muted;           /* what is no key is dropped */
    char line[256];
    size_t length;
    bool is_known; /* `shared` is there, and the secret has not been fetched yet */
    unsigned char shared[MUR_MAC_BYTES];
};

/* The word for the start command; it begins with no '/', and is no address. */
char *mur_keys_word(struct mur_keys *keys);

/* Listens to the child's start command at `fd`, which is the listener's from now on, and no more to an earlier one.
 * `heard` is all zeros before the first. */
void mur_keys_listen(struct mur_keys_heard *heard, struct mur_keys *own, struct mur_loop *loop, int fd, bool is_muted);

/* The greeting is over: sends the secret, and forgets what only this child could know. */
void mur_keys_give(struct mur_keys_heard *heard, const struct mur_handshake *greeting, int fd,
                   const unsigned char *secret);

/* The agent's side: whether that is such a word; and fetching the secret from its parent. NULL, or why not. */
bool mur_keys_is_word(const char *word);
const char *mur_keys_fetch(const char *word, const struct mur_address *addresses, int count, int own, int parent,
                           unsigned char secret[MUR_MAC_BYTES]);

#endif
