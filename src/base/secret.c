/* SPDX-License-Identifier: BSD-3-Clause */
/* libsodium at run time. Here only two functions of its interface are used, which have not changed since its first
 * version; their declarations here spare the build its headers. Others find theirs by mur_secret_find. */
#include "base/secret.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

typedef int mac_function(unsigned char *out, const unsigned char *in, unsigned long long bytes,
                         const unsigned char *key);
typedef int compare_function(const void *a, const void *b, size_t bytes);

static struct mur_mac_functions {
    int (*init)(void);
    mac_function *mac;
    compare_function *compare;
} sodium;
static void *library;
static bool is_ready;

bool mur_secret_open(char *complaint, size_t bytes)
{
    static const char *const names[] = {"libsodium.so.23", "libsodium.so.26", "libsodium.so"};
    static const struct mur_library_function functions[] = {
        {"sodium_init", offsetof(struct mur_mac_functions, init)},
        {"crypto_auth_hmacsha256", offsetof(struct mur_mac_functions, mac)},
        {"sodium_memcmp", offsetof(struct mur_mac_functions, compare)},
    };

    if (is_ready)
        return true;
    if (!library)
        library = mur_library_open(names, sizeof names / sizeof names[0]);
    if (!library) {
        snprintf(complaint, bytes,
                 "connections between processes (spawned jobs, ports, ranks on several hosts) are proven by libsodium, "
                 "which cannot be loaded (%s); install it on every host (package libsodium23 or libsodium26 of Debian "
                 "and Ubuntu, libsodium elsewhere)",
                 dlerror());
        return false;
    }
    is_ready =
        !mur_library_find(library, &sodium, functions, sizeof functions / sizeof functions[0]) && sodium.init() >= 0;
    if (!is_ready)
        snprintf(complaint, bytes,
                 "the libsodium of this host is not one that Murmur can use; install version 1.0 or later");
    return is_ready;
}

bool mur_secret_find(void *table, const struct mur_library_function *functions, size_t count, char *complaint,
                     size_t bytes)
{
    const char *missing;

    if (!mur_secret_open(complaint, bytes))
        return false;
    missing = mur_library_find(library, table, functions, count);
    if (missing)
        snprintf(complaint, bytes, "the libsodium of this host has no %s; install version 1.0.14 or later", missing);
    return !missing;
}

void mur_secret_mac(unsigned char mac[MUR_MAC_BYTES], const void *text, size_t bytes, const unsigned char *key)
{
    sodium.mac(mac, text, bytes, key);
}

bool mur_secret_check(const unsigned char mac[MUR_MAC_BYTES], const void *text, size_t bytes, const unsigned char *key)
{
    unsigned char expected[MUR_MAC_BYTES];

    sodium.mac(expected, text, bytes, key);
    return sodium.compare(expected, mac, sizeof expected) == 0;
}

void mur_secret_random(void *out, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t got = getrandom((char *)out + done, bytes - done, 0);

        if (got > 0) {
            done += (size_t)got;
        } else if (got < 0 && errno != EINTR) {
            fprintf(stderr, "Murmur: the system gives no random bytes: %s\n", strerror(errno));
            abort();
        }
    }
}

void mur_secret_write(char *text, const unsigned char *secret, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", secret[i]);
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

bool mur_secret_read(const char *text, unsigned char *secret, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);

        if (low < 0)
            return false;
        secret[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}
