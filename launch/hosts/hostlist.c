/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts as words: [user@]host[:slots], and lists of such words between commas.
 *
 * An IPv6 address has colons of its own: it is taken whole, or stands in brackets, as in [fd00::1]:4. Brackets
 * elsewhere are ranges. */
#include "launch/hosts/hosts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define USER_MAX 64

static int shown(size_t length)
{
    return length < 80 ? (int)length : 80; /* bytes of a word that messages show */
}

static bool is_address6(const char *text, size_t length)
{
    char name[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (length >= sizeof name)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return strlen(name) == length && inet_pton(AF_INET6, name, &address) == 1;
}

/* Names go to a start command and into messages: they hold nothing that means something there. */
bool mur_name_is_good(const char *text, size_t length)
{
    if (length == 0 || text[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80; /* names beyond ASCII */

        if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '.' && c != '_')
            return false;
    }
    return true;
}

static bool add_name(struct mur_hosts *hosts, const char *name, size_t length, const struct mur_host *pattern,
                     struct mur_problem *problem)
{
    char copy[MUR_HOST_NAME_MAX + 1];
    struct mur_host host = *pattern;

    if (length >= sizeof copy || (!mur_name_is_good(name, length) && !is_address6(name, length)))
        return mur_problem_set(problem, "'%.*s' is no name of a host", shown(length), name);
    memcpy(copy, name, length);
    copy[length] = '\0';
    host.name = copy;
    return mur_hosts_add(hosts, &host, problem);
}

static bool add_names(struct mur_hosts *hosts, const char *name, size_t length, const struct mur_host *pattern,
                      struct mur_problem *problem)
{
    struct mur_names names = {0};
    bool is_good = mur_names_expand(&names, name, length, problem);

    for (int i = 0; is_good && i < names.count; i++)
        is_good = add_name(hosts, names.items[i], strlen(names.items[i]), pattern, problem);
    mur_names_free(&names);
    return is_good;
}

/* The user before '@'. */
static bool take_user(const char *word, size_t length, char user[USER_MAX + 1], struct mur_problem *problem)
{
    if (length > USER_MAX || !mur_name_is_good(word, length))
        return mur_problem_set(problem, "'%.*s' before '@' is no name of a user", shown(length), word);
    memcpy(user, word, length);
    user[length] = '\0';
    return true;
}

/* The number behind `colon`, up to `end`. */
static bool take_slots(struct mur_host *host, const char *colon, const char *end, struct mur_problem *problem)
{
    if (host->has_slots)
        return mur_problem_set(problem, "the slots are given twice, as '%.*s' and otherwise",
                               shown((size_t)(end - colon)), colon);
    if (!mur_number_read(colon + 1, (size_t)(end - colon - 1), 0, MUR_SLOTS_MAX, &host->slots))
        return mur_problem_set(problem, "'%.*s' wants a number of slots from 0 to %d behind ':'",
                               shown((size_t)(end - colon)), colon, MUR_SLOTS_MAX);
    host->has_slots = true;
    return true;
}

bool mur_hosts_add_word(struct mur_hosts *hosts, const char *word, size_t length, const struct mur_host *more,
                        struct mur_problem *problem)
{
    const char *end = word + length;
    const char *at = memchr(word, '@', length);
    const char *colon;
    struct mur_host host = *more;
    char user[USER_MAX + 1];

    if (at) {
        if (!take_user(word, (size_t)(at - word), user, problem))
            return false;
        host.user = user;
        word = at + 1;
    }
    if (!host.has_slots)
        host.slots = 1;
    if (word < end && *word == '[') { /* [address], [address]:slots */
        const char *close = memchr(word, ']', (size_t)(end - word));

        if (!close || !is_address6(word + 1, (size_t)(close - word - 1)))
            return mur_problem_set(problem, "'%.*s' is no IPv6 address in brackets", shown((size_t)(end - word)), word);
        if (close + 1 < end && close[1] != ':')
            return mur_problem_set(problem, "'%.*s' follows an address; only ':slots' may",
                                   shown((size_t)(end - close - 1)), close + 1);
        if (close + 1 < end && !take_slots(&host, close + 1, end, problem))
            return false;
        return add_name(hosts, word + 1, (size_t)(close - word - 1), &host, problem);
    }
    if (is_address6(word, (size_t)(end - word)))
        return add_name(hosts, word, (size_t)(end - word), &host, problem);
    colon = memchr(word, ':', (size_t)(end - word));
    if (colon && !take_slots(&host, colon, end, problem))
        return false;
    return add_names(hosts, word, (size_t)((colon ? colon : end) - word), &host, problem);
}

bool mur_hosts_add_list(struct mur_hosts *hosts, const char *list, struct mur_problem *problem)
{
    const struct mur_host nothing = {0};

    for (;;) {
        size_t length = 0;
        int depth = 0; /* commas in brackets belong to a range */

        while (list[length] && (list[length] != ',' || depth > 0)) {
            depth += list[length] == '[' ? 1 : list[length] == ']' ? -1 : 0;
            length++;
        }
        if (!mur_hosts_add_word(hosts, list, length, &nothing, problem))
            return false;
        if (!list[length])
            return true;
        list += length + 1;
    }
}
