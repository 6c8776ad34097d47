/* SPDX-License-Identifier: BSD-3-Clause */
/* How the two ends of a connection prove to each other that they know a secret (of their job; between jobs, of the
 * called process or port), before anything else is believed. Four messages, of fixed size, in the order of the bytes of
 * this machine:
 *
 *   caller                                      called
 *     hello: who calls whom, a nonce, a MAC ----->
 *     <----------------- challenge: a nonce, and a MAC over both messages
 *     proof: how far, and a MAC over all so far ->
 *     <------------- welcome: a verdict, how far, and a MAC over all so far
 *
 * A MAC is keyed by the secret, and covers a word that says which message it is for, so none can be sent back or
 * used for another connection. The hello's MAC proves nothing, since an eavesdropper can repeat it, but
 * keeps strangers apart from callers at once. `received` is for streams that go on where an earlier connection broke:
 * the bytes that have arrived at the sender of this message. The functions only build and check; the sockets are the
 * callers'. */
#ifndef MUR_BASE_HANDSHAKE_H
#define MUR_BASE_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/secret.h"

/* Raised whenever anything that goes through connections changes its meaning. */
enum { MUR_WIRE_PROTOCOL = 9 };

struct mur_hello {
    char magic[8];
    uint32_t protocol;
    uint32_t byte_order;
    uint32_t purpose; /* enum mur_purpose */
    int32_t from, to;
    uint32_t seal; /* what the caller offers; what it means is the callers' */
    uint64_t job;  /* the caller's, where that is not known anyway */
    unsigned char nonce[MUR_NONCE_BYTES];
    unsigned char mac[MUR_MAC_BYTES]; /* over all of the above */
};

enum mur_purpose {
    MUR_PURPOSE_RANKS = 1, /* of one job */
    MUR_PURPOSE_AGENTS,
    MUR_PURPOSE_FOREIGN, /* ranks of two jobs; the secret is that of the called one */
    MUR_PURPOSE_PORT,    /* a rank that connects to a port */
    MUR_PURPOSE_SECRET,  /* an agent that wants the job's secret (launch/tree/keys.h) */
};

struct mur_challenge {
    uint32_t seal; /* what is answered to the caller's offer */
    uint32_t spare;
    unsigned char nonce[MUR_NONCE_BYTES];
    unsigned char mac[MUR_MAC_BYTES];
};

struct mur_proof {
    uint64_t received;
    unsigned char mac[MUR_MAC_BYTES];
};

enum mur_verdict { MUR_VERDICT_WELCOME = 1, MUR_VERDICT_CROSSED /* both call; the other call is the one */ };

struct mur_welcome {
    uint64_t received;
    uint64_t verdict; /* enum mur_verdict */
    unsigned char mac[MUR_MAC_BYTES];
};

/* One side's memory of it. */
struct mur_handshake {
    unsigned char secret[MUR_MAC_BYTES]; /* a copy, since the caller's may be freed before the handshake ends */
    struct mur_hello hello;
    unsigned char nonce[MUR_NONCE_BYTES]; /* of the challenge */
    uint32_t seal;                        /* of the challenge */
};

enum mur_hello_fault { MUR_HELLO_FINE, MUR_HELLO_STRANGER, MUR_HELLO_VERSION };

/* The caller's half. */
void mur_handshake_call(struct mur_handshake *h, const unsigned char *secret, uint32_t purpose, uint64_t job, int from,
                        int to);
void mur_handshake_offer(struct mur_handshake *h, uint32_t seal); /* before the hello is sent; else it is 0 */
bool mur_handshake_prove(struct mur_handshake *h, const struct mur_challenge *challenge, uint64_t received,
                         struct mur_proof *proof);
bool mur_handshake_is_welcome(const struct mur_handshake *h, uint64_t received, const struct mur_welcome *welcome);

/* How many bytes of a hello to wait for, of which so many have come. The hello of another version may be shorter: of
 * that only the head counts. */
size_t mur_hello_bytes(const struct mur_hello *hello, size_t got);

/* The half of the side that is called. A stranger does not know the secret, or has another purpose. */
enum mur_hello_fault mur_handshake_answer(struct mur_handshake *h, const unsigned char *secret, uint32_t purpose,
                                          const struct mur_hello *hello, struct mur_challenge *challenge);
void mur_handshake_settle(struct mur_handshake *h, uint32_t seal,
                          struct mur_challenge *challenge); /* before that is sent; else the answer is 0 */
bool mur_handshake_is_proven(const struct mur_handshake *h, const struct mur_proof *proof);
void mur_handshake_welcome(const struct mur_handshake *h, const struct mur_proof *proof, uint64_t verdict,
                           uint64_t received, struct mur_welcome *welcome);

/* The keys for what follows on this connection, after the greeting, one each way, which both sides derive from the
 * secret, both nonces, and all that they have told each other about the seal. */
void mur_handshake_keys(const struct mur_handshake *h, bool is_caller, unsigned char send[MUR_MAC_BYTES],
                        unsigned char receive[MUR_MAC_BYTES]);

#endif
