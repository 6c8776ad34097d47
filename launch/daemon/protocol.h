/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes between the daemon and its callers.
 *
 *   caller                                          daemon
 *     hello: a public key, whose phrase it is ------->
 *     <------------------------ challenge: a public key
 *   from here on all is sealed (seal.h), a message a record:
 *     PROOF ----------------------------------------->
 *     <-------------------------------- WELCOME or none
 *     COMMAND or START ------------------------------>
 *     <------------------- OUTPUT..., ENDED or REFUSED
 *
 * The keys of the seal come from an exchange of the public keys (crypto_kx), which are drawn for each connection, and
 * from the stretched phrase: so a record that opens proves the phrase, whoever listens learns nothing that phrases
 * could be tried on, and a recorded connection cannot be played again. The daemon seals nothing before the caller has
 * proved itself. Both sides are of the same version of Murmur. */
#ifndef MUR_LAUNCH_DAEMON_PROTOCOL_H
#define MUR_LAUNCH_DAEMON_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/seal.h"

enum { MUR_DAEMON_PORT = 8676, MUR_DAEMON_PROTOCOL = 1, MUR_DAEMON_USER_BYTES = 64 };

struct mur_daemon_hello {
    char magic[8];
    uint32_t protocol;
    uint32_t spare;
    unsigned char public[MUR_SEAL_PUBLIC_BYTES];
    char user[MUR_DAEMON_USER_BYTES]; /* whose phrase proves, and who is to own the ranks, where the daemon is root's */
};

struct mur_daemon_challenge {
    char magic[8];
    uint32_t protocol; /* of another version: the daemon says no more */
    uint32_t spare;
    unsigned char public[MUR_SEAL_PUBLIC_BYTES];
};

/* The first byte of each message. */
enum mur_daemon_kind {
    MUR_DAEMON_PROOF = 1, /* from the caller */
    MUR_DAEMON_COMMAND,   /* words, each ended by a NUL */
    MUR_DAEMON_START,     /* the same: the job's name, what the agent reads, and its words */
    MUR_DAEMON_WELCOME,   /* from the daemon: what it is, as text */
    MUR_DAEMON_OUTPUT,    /* a byte, 1 for stdout and 2 for stderr, and text */
    MUR_DAEMON_ENDED,     /* an int32_t: the exit code */
    MUR_DAEMON_REFUSED,   /* why, as text */
};

enum { MUR_DAEMON_TEXT_MAX = MUR_SEAL_CHUNK - 2 };

void mur_daemon_hello_fill(struct mur_daemon_hello *hello, const unsigned char *public, const char *user);
void mur_daemon_challenge_fill(struct mur_daemon_challenge *challenge, const unsigned char *public);
bool mur_daemon_is_magic(const char magic[8]);

/* The keys of a session. False: one of the public keys is none. */
bool mur_daemon_keys(struct mur_seal_keys *keys, bool is_caller, const struct mur_daemon_hello *hello,
                     const struct mur_daemon_challenge *challenge, const unsigned char *own_secret,
                     const unsigned char *phrase_key);

#endif
