/* SPDX-License-Identifier: BSD-3-Clause */
/* The MACs of a handshake: over a word for the message, the hello, what else is of the challenge, and the numbers told
 * so far. That of the hello covers the hello without itself. */
#include "base/handshake.h"

#include <string.h>

static const char magic[] = "MURMUR\r\n"; /* shows a connection that changes the ends of lines */
enum { BYTE_ORDER = 0x01020304 };

struct covered {
    char word[8];
    struct mur_hello hello;
    unsigned char nonce[MUR_NONCE_BYTES];
    uint64_t seal;
    uint64_t numbers[3];
};

static struct covered cover(const struct mur_handshake *h, const char *word, uint64_t first, uint64_t second,
                            uint64_t third)
{
    struct covered covered = {.hello = h->hello, .seal = h->seal, .numbers = {first, second, third}};

    memcpy(covered.word, word, strlen(word));
    memcpy(covered.nonce, h->nonce, sizeof covered.nonce);
    return covered;
}

static struct covered cover_hello(const struct mur_handshake *h)
{
    struct covered covered = cover(h, "hello", 0, 0, 0);

    memset(covered.hello.mac, 0, sizeof covered.hello.mac);
    memset(covered.nonce, 0, sizeof covered.nonce);
    covered.seal = 0;
    return covered;
}

void mur_handshake_call(struct mur_handshake *h, const unsigned char *secret, uint32_t purpose, uint64_t job, int from,
                        int to)
{
    *h = (struct mur_handshake){0};
    memcpy(h->secret, secret, sizeof h->secret);
    memcpy(h->hello.magic, magic, sizeof h->hello.magic);
    h->hello.protocol = MUR_WIRE_PROTOCOL;
    h->hello.byte_order = BYTE_ORDER;
    h->hello.purpose = purpose;
    h->hello.job = job;
    h->hello.from = from;
    h->hello.to = to;
    mur_secret_random(h->hello.nonce, sizeof h->hello.nonce);
    mur_handshake_offer(h, 0);
}

void mur_handshake_offer(struct mur_handshake *h, uint32_t seal)
{
    struct covered covered;

    h->hello.seal = seal;
    covered = cover_hello(h);
    mur_secret_mac(h->hello.mac, &covered, sizeof covered, h->secret);
}

bool mur_handshake_prove(struct mur_handshake *h, const struct mur_challenge *challenge, uint64_t received,
                         struct mur_proof *proof)
{
    struct covered covered;

    memcpy(h->nonce, challenge->nonce, sizeof h->nonce);
    h->seal = challenge->seal;
    covered = cover(h, "answer", 0, 0, 0);
    if (!mur_secret_check(challenge->mac, &covered, sizeof covered, h->secret))
        return false;
    proof->received = received;
    covered = cover(h, "proof", received, 0, 0);
    mur_secret_mac(proof->mac, &covered, sizeof covered, h->secret);
    return true;
}

bool mur_handshake_is_welcome(const struct mur_handshake *h, uint64_t received, const struct mur_welcome *welcome)
{
    struct covered covered = cover(h, "welcome", received, welcome->received, welcome->verdict);

    return mur_secret_check(welcome->mac, &covered, sizeof covered, h->secret);
}

size_t mur_hello_bytes(const struct mur_hello *hello, size_t got)
{
    size_t head = offsetof(struct mur_hello, from);

    if (got >= head && memcmp(hello->magic, magic, sizeof hello->magic) == 0 && hello->protocol != MUR_WIRE_PROTOCOL)
        return head;
    return sizeof *hello;
}

enum mur_hello_fault mur_handshake_answer(struct mur_handshake *h, const unsigned char *secret, uint32_t purpose,
                                          const struct mur_hello *hello, struct mur_challenge *challenge)
{
    struct covered covered;

    *h = (struct mur_handshake){.hello = *hello};
    memcpy(h->secret, secret, sizeof h->secret);
    if (memcmp(hello->magic, magic, sizeof hello->magic) != 0 || hello->purpose != purpose)
        return MUR_HELLO_STRANGER;
    if (hello->protocol != MUR_WIRE_PROTOCOL || hello->byte_order != BYTE_ORDER)
        return MUR_HELLO_VERSION;
    covered = cover_hello(h);
    if (!mur_secret_check(hello->mac, &covered, sizeof covered, secret))
        return MUR_HELLO_STRANGER;
    mur_secret_random(h->nonce, sizeof h->nonce);
    mur_handshake_settle(h, 0, challenge);
    return MUR_HELLO_FINE;
}

void mur_handshake_settle(struct mur_handshake *h, uint32_t seal, struct mur_challenge *challenge)
{
    struct covered covered;

    h->seal = seal;
    *challenge = (struct mur_challenge){.seal = seal};
    memcpy(challenge->nonce, h->nonce, sizeof h->nonce);
    covered = cover(h, "answer", 0, 0, 0);
    mur_secret_mac(challenge->mac, &covered, sizeof covered, h->secret);
}

bool mur_handshake_is_proven(const struct mur_handshake *h, const struct mur_proof *proof)
{
    struct covered covered = cover(h, "proof", proof->received, 0, 0);

    return mur_secret_check(proof->mac, &covered, sizeof covered, h->secret);
}

void mur_handshake_welcome(const struct mur_handshake *h, const struct mur_proof *proof, uint64_t verdict,
                           uint64_t received, struct mur_welcome *welcome)
{
    struct covered covered = cover(h, "welcome", proof->received, received, verdict);

    welcome->received = received;
    welcome->verdict = verdict;
    mur_secret_mac(welcome->mac, &covered, sizeof covered, h->secret);
}

static void make_key(const struct mur_handshake *h, const char *word, unsigned char key[MUR_MAC_BYTES])
{
    struct covered covered = cover(h, word, 0, 0, 0);

    mur_secret_mac(key, &covered, sizeof covered, h->secret);
}

void mur_handshake_keys(const struct mur_handshake *h, bool is_caller, unsigned char send[MUR_MAC_BYTES],
                        unsigned char receive[MUR_MAC_BYTES])
{
    make_key(h, "to call", is_caller ? receive : send);
    make_key(h, "to serve", is_caller ? send : receive);
}
