/* SPDX-License-Identifier: BSD-3-Clause */
/* libsodium at run time. Here only two functions of its interface are used, which have not changed since its first
 * version; their declarations here spare the build its headers. Others find theirs by mur_secret_function. */
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

static mac_function *mac_of;
static compare_function *compare;
static void *library;

bool mur_secret_open(char *complaint, size_t bytes)
{
    static const char *const names[] = {"libsodium.so.23", "libsodium.so.26", "libsodium.so"};
    int (*init)(void);

    if (mac_of)
        return true;
    for (size_t i = 0; !library && i < sizeof names / sizeof names[0]; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(complaint, bytes,
                 "connections between processes (spawned jobs, ports, ranks on several hosts) are proven by libsodium, "
                 "which cannot be loaded (%s); install it on every host (package libsodium23 or libsodium26 of Debian "
                 "and Ubuntu, libsodium elsewhere)",
                 dlerror());
        return false;
    }
    *(void **)&init = dlsym(library, "sodium_init");
    *(void **)&mac_of = dlsym(library, "crypto_auth_hmacsha256");
    *(void **)&compare = dlsym(library, "sodium_memcmp");
    if (init && mac_of && compare && init() >= 0)
        return true;
    mac_of = NULL;
    snprintf(complaint, bytes,
             "the libsodium of this host is not one that Murmur can use; install version 1.0 or later");
    return false;
}

void *mur_secret_function(const char *name)
{
    return dlsym(library, name);
}

void mur_secret_mac(unsigned char mac[MUR_MAC_BYTES], const void *text, size_t bytes, const unsigned char *key)
{
    mac_of(mac, text, bytes, key);
}

bool mur_secret_check(const unsigned char mac[MUR_MAC_BYTES], const void *text, size_t bytes, const unsigned char *key)
{
    unsigned char expected[MUR_MAC_BYTES];

    mac_of(expected, text, bytes, key);
    return compare(expected, mac, sizeof expected) == 0;
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
