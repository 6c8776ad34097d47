/* SPDX-License-Identifier: BSD-3-Clause */
/* The greeting of the daemon and the keys that follow from it. */
#include "launch/daemon/protocol.h"

#include <stdio.h>
#include <string.h>

#include "base/secret.h"

static const char magic[] = "MURSMPD\n";

void mur_daemon_hello_fill(struct mur_daemon_hello *hello, const unsigned char *public, const char *user)
{
    *hello = (struct mur_daemon_hello){.protocol = MUR_DAEMON_PROTOCOL};
    memcpy(hello->magic, magic, sizeof hello->magic);
    memcpy(hello->public, public, sizeof hello->public);
    snprintf(hello->user, sizeof hello->user, "%s", user);
}

void mur_daemon_challenge_fill(struct mur_daemon_challenge *challenge, const unsigned char *public)
{
    *challenge = (struct mur_daemon_challenge){.protocol = MUR_DAEMON_PROTOCOL};
    memcpy(challenge->magic, magic, sizeof challenge->magic);
    memcpy(challenge->public, public, sizeof challenge->public);
}

bool mur_daemon_is_magic(const char text[8])
{
    return memcmp(text, magic, 8) == 0;
}

/* A key of the exchange becomes one that only those have who know the phrase, and whose greeting was not altered. */
static void bind_key(unsigned char key[MUR_SEAL_KEY_BYTES], const struct mur_daemon_hello *hello,
                     const struct mur_daemon_challenge *challenge, const unsigned char *phrase_key)
{
    struct {
        struct mur_daemon_hello hello;
        struct mur_daemon_challenge challenge;
        unsigned char exchanged[MUR_SEAL_KEY_BYTES];
    } covered;

    covered.hello = *hello;
    covered.challenge = *challenge;
    memcpy(covered.exchanged, key, sizeof covered.exchanged);
    mur_secret_mac(key, &covered, sizeof covered, phrase_key);
    mur_seal_wipe(&covered, sizeof covered);
}

bool mur_daemon_keys(struct mur_seal_keys *keys, bool is_caller, const struct mur_daemon_hello *hello,
                     const struct mur_daemon_challenge *challenge, const unsigned char *own_secret,
                     const unsigned char *phrase_key)
{
    const unsigned char *own = is_caller ? hello->public : challenge->public;
    const unsigned char *other = is_caller ? challenge->public : hello->public;

    if (!mur_seal_exchange(keys, is_caller, own, own_secret, other))
        return false;
    bind_key(keys->send, hello, challenge, phrase_key);
    bind_key(keys->receive, hello, challenge, phrase_key);
    return true;
}
