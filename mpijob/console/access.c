/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may use the console: tokens, and the sessions that they open.
 *
 * A session is its cookie: "EXPIRES.NONCE.MAC", where the MAC is of the rest, keyed with the user's token. So a session
 * holds when the console is started again with the same tokens, ends when its token is taken away, and nothing that
 * strangers send makes the console remember anything. Sessions that were ended early are remembered until they would
 * have expired. */
#include <ctype.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/console/console.h"

enum { SHORTEST_TOKEN = 16, MAC_BYTES = 32, NONCE_BYTES = 16, TOKEN_BYTES = 24, LONGEST_COOKIE = 200 };

static struct mur_user *users;
static int user_count;

static struct ended {
    struct ended *next;
    long long expires;
    char *cookie;
} * ended;

static const char *const role_names[] = {"nobody", "look", "submit", "administer"};

const char *mur_role_name(enum mur_role role)
{
    return role_names[role];
}

static void add_user(const char *token, const char *name, enum mur_role role)
{
    users = mur_alloc_again(users, (size_t)user_count + 1, sizeof *users);
    users[user_count++] = (struct mur_user){mur_alloc_text("%s", token), mur_alloc_text("%s", name), role};
}

static enum mur_role role_of(const char *text)
{
    for (int i = MUR_ROLE_LOOK; i <= MUR_ROLE_ADMINISTER; i++)
        if (strcmp(role_names[i], text) == 0)
            return (enum mur_role)i;
    return MUR_ROLE_NOBODY;
}

/* The name stands in annotations of jobs and in lines that the console says. */
static bool is_name(const char *text)
{
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.@", *at))
            return false;
    return *text && strlen(text) <= 63;
}

void mur_users_read(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[4096];

    if (!file)
        mur_quit(MUR_EXIT_USAGE, "cannot read the file of tokens %s: %s", path, strerror(errno));
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        char *rest, *role = strtok_r(line, " \t\r\n", &rest), *token = strtok_r(NULL, " \t\r\n", &rest);
        char *name = strtok_r(NULL, " \t\r\n", &rest);

        if (!role || *role == '#')
            continue;
        if (role_of(role) == MUR_ROLE_NOBODY || !token || (name && !is_name(name)) || strtok_r(NULL, " \t\r\n", &rest))
            mur_quit(MUR_EXIT_USAGE,
                     "%s:%d: ROLE TOKEN [NAME] is expected, where the role is look, submit or administer", path,
                     number);
        if (strlen(token) < SHORTEST_TOKEN)
            mur_quit(MUR_EXIT_USAGE, "%s:%d: the token is shorter than %d characters", path, number, SHORTEST_TOKEN);
        if (mur_user_find(token))
            mur_quit(MUR_EXIT_USAGE, "%s:%d: the token has been there before", path, number);
        add_user(token, name ? name : role, role_of(role));
    }
    fclose(file);
    if (user_count == 0)
        mur_quit(MUR_EXIT_USAGE, "%s: there is no token in it", path);
}

static void write_hex(const unsigned char *data, size_t length, char *to)
{
    for (size_t i = 0; i < length; i++)
        sprintf(to + 2 * i, "%02x", data[i]);
}

static void write_random(size_t length, char *to)
{
    unsigned char random[TOKEN_BYTES];

    if (gnutls_rnd(GNUTLS_RND_KEY, random, length) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "there is no random number for a token");
    write_hex(random, length, to);
}

void mur_users_make(const char *origin)
{
    for (int i = MUR_ROLE_LOOK; i <= MUR_ROLE_ADMINISTER; i++) {
        char token[2 * TOKEN_BYTES + 1];

        write_random(TOKEN_BYTES, token);
        add_user(token, role_names[i], (enum mur_role)i);
        printf("%-11s %s/#token=%s\n", role_names[i], origin, token);
    }
    fflush(stdout);
}

/* Takes as long for a wrong token as for a right one of the same length. */
const struct mur_user *mur_user_find(const char *token)
{
    const struct mur_user *found = NULL;

    for (int i = 0; i < user_count; i++)
        if (strlen(token) == strlen(users[i].token) && gnutls_memcmp(token, users[i].token, strlen(token)) == 0)
            found = &users[i];
    return found;
}

/* As hexadecimal digits. The purpose keeps the MACs of cookies and of change tokens apart. */
static void write_mac(const struct mur_user *user, const char *purpose, const char *text, char *to)
{
    char *whole = mur_alloc_text("%s|%d|%s|%s", purpose, (int)user->role, user->name, text);
    unsigned char mac[MAC_BYTES];

    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, user->token, strlen(user->token), whole, strlen(whole), mac) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "GnuTLS has no HMAC with SHA-256");
    write_hex(mac, MAC_BYTES, to);
    free(whole);
}

char *mur_session_make(const struct mur_user *user)
{
    char nonce[2 * NONCE_BYTES + 1], mac[2 * MAC_BYTES + 1];
    char *start, *cookie;

    write_random(NONCE_BYTES, nonce);
    start = mur_alloc_text("%lld.%s", (long long)time(NULL) + mur_console.session, nonce);
    write_mac(user, "session", start, mac);
    cookie = mur_alloc_text("%s.%s", start, mac);
    free(start);
    return cookie;
}

static bool has_ended(const char *cookie)
{
    for (const struct ended *one = ended; one; one = one->next)
        if (strcmp(one->cookie, cookie) == 0)
            return true;
    return false;
}

bool mur_session_find(const char *cookie, struct mur_login *login)
{
    const char *last = cookie ? strrchr(cookie, '.') : NULL;
    char mac[2 * MAC_BYTES + 1], *start, *end;

    *login = (struct mur_login){0};
    if (!last || strlen(cookie) > LONGEST_COOKIE || strlen(last + 1) != 2 * MAC_BYTES)
        return false;
    start = mur_alloc_text("%.*s", (int)(last - cookie), cookie);
    for (int i = 0; i < user_count; i++) {
        write_mac(&users[i], "session", start, mac);
        if (gnutls_memcmp(mac, last + 1, 2 * MAC_BYTES) == 0)
            login->user = &users[i];
    }
    login->expires = strtoll(start, &end, 10);
    if (*end != '.' || login->expires <= (long long)time(NULL) || has_ended(cookie))
        login->user = NULL;
    if (login->user)
        write_mac(login->user, "change", cookie, login->change_token);
    free(start);
    return login->user != NULL;
}

void mur_session_end(const char *cookie)
{
    struct mur_login login;
    struct ended **at = &ended, *one;

    while ((one = *at))
        if (one->expires <= (long long)time(NULL)) {
            *at = one->next;
            free(one->cookie);
            free(one);
        } else {
            at = &one->next;
        }
    if (!mur_session_find(cookie, &login))
        return;
    one = mur_alloc(1, sizeof *one);
    *one = (struct ended){ended, login.expires, mur_alloc_text("%s", cookie)};
    ended = one;
}
