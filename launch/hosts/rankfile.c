/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what says where each rank runs. */
#include "launch/hosts/rankfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/jobspec.h"

static void make_room(struct mur_rankfile *ranks, int rank)
{
    if (rank < ranks->count)
        return;
    ranks->hosts = mur_alloc_again(ranks->hosts, (size_t)rank + 1, sizeof *ranks->hosts);
    ranks->slots = mur_alloc_again(ranks->slots, (size_t)rank + 1, sizeof *ranks->slots);
    for (; ranks->count <= rank; ranks->count++)
        ranks->hosts[ranks->count] = ranks->slots[ranks->count] = NULL;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

/* `rank N=HOST`, and behind it perhaps `slot=LIST` or `slots=LIST`. */
static bool read_line(struct mur_rankfile *ranks, const char *line, struct mur_problem *problem)
{
    const char *at = skip_blanks(line + 4);
    size_t digits = strspn(at, "0123456789"), length;
    int rank;

    if (strncmp(line, "rank", 4) != 0 || !mur_number_read(at, digits, 0, MUR_RANKS_MAX - 1, &rank))
        return mur_problem_set(problem, "%s: a line is to be 'rank N=HOST slot=CORES', not '%s'", ranks->name, line);
    at = skip_blanks(at + digits);
    at = *at == '=' ? skip_blanks(at + 1) : "";
    length = strcspn(at, " \t\r");
    if (length == 0)
        return mur_problem_set(problem, "%s: there is no host for rank %d in the line '%s'", ranks->name, rank, line);
    make_room(ranks, rank);
    if (ranks->hosts[rank])
        return mur_problem_set(problem, "%s gives rank %d two places", ranks->name, rank);
    ranks->hosts[rank] = mur_alloc_text("%.*s", (int)length, at);
    ranks->has_names |= *at != '+';
    at = skip_blanks(at + length);
    if (strncmp(at, "slot", 4) == 0) {
        at += 4 + (at[4] == 's');
        at = skip_blanks(*at == '=' ? at + 1 : at);
        length = strcspn(at, " \t\r");
        ranks->slots[rank] = mur_alloc_text("%.*s", (int)length, at);
        at = skip_blanks(at + length);
    }
    if (*at || (ranks->slots[rank] && !*ranks->slots[rank]))
        return mur_problem_set(problem, "%s: 'slot=CORES' is to follow the host, not '%s'", ranks->name, line);
    return true;
}

static bool read_file(struct mur_rankfile *ranks, struct mur_problem *problem)
{
    size_t length;
    char *text = mur_hosts_read_file(ranks->name, &length, problem), *line = text;
    bool is_good = text != NULL;

    while (is_good && *line) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;

        *end = '\0';
        line[strcspn(line, "#")] = '\0';
        line = (char *)(uintptr_t)skip_blanks(line);
        is_good = !*line || read_line(ranks, line, problem);
        line = next;
    }
    free(text);
    for (int rank = 0; is_good && rank < ranks->count; rank++)
        if (!ranks->hosts[rank])
            is_good = mur_problem_set(problem, "%s gives rank %d no place, but one to rank %d", ranks->name, rank,
                                      ranks->count - 1);
    if (is_good && !ranks->count)
        is_good = mur_problem_set(problem, "%s gives no rank a place", ranks->name);
    return is_good;
}

/* The option has looked at it already. */
static void read_map(struct mur_rankfile *ranks, const char *map)
{
    for (;; map++) {
        size_t length = strcspn(map, ",");

        make_room(ranks, ranks->count);
        ranks->hosts[ranks->count - 1] = mur_alloc_text("+n%.*s", (int)length, map);
        map += length;
        if (!*map)
            break;
    }
    free(ranks->slots);
    ranks->slots = NULL;
}

bool mur_rankfile_read(struct mur_rankfile *ranks, const struct mur_placing *placing, struct mur_problem *problem)
{
    *ranks = (struct mur_rankfile){.name = placing->rank_file ? placing->rank_file : "-rankmap"};
    if (placing->rank_file && placing->rank_map)
        return mur_problem_set(problem, "-rankfile and -rankmap both say where ranks run; one of them is enough");
    if (placing->rank_file)
        return read_file(ranks, problem);
    if (placing->rank_map)
        read_map(ranks, placing->rank_map);
    return true;
}

bool mur_rankfile_hosts(const struct mur_rankfile *ranks, struct mur_hosts *hosts, struct mur_problem *problem)
{
    for (int rank = 0; rank < ranks->count; rank++)
        if (ranks->hosts[rank][0] != '+' &&
            !mur_hosts_add_word(hosts, ranks->hosts[rank], strlen(ranks->hosts[rank]), &(struct mur_host){0}, problem))
            return false;
    return true;
}

/* This machine has several names. */
static bool is_own_name(const char *name, const char *own_name)
{
    struct mur_host host = {.name = (char *)(uintptr_t)name};
    struct mur_hosts hosts = {.items = &host, .count = 1, .space = 1};

    mur_hosts_find_local(&hosts, own_name);
    return host.is_local;
}

int mur_rankfile_find(const struct mur_rankfile *ranks, int rank, const struct mur_hosts *hosts, const char *own_name,
                      struct mur_problem *problem)
{
    const char *name = ranks->hosts[rank];
    bool is_own;
    int host;

    if (strncmp(name, "+n", 2) == 0) {
        if (mur_number_read(name + 2, strlen(name + 2), 0, hosts->count - 1, &host))
            return host;
        mur_problem_set(problem, "%s: rank %d is to run on host number %s, counted from 0, and there are %d",
                        ranks->name, rank, name + 2, hosts->count);
        return -1;
    }
    name = strchr(name, '@') ? strchr(name, '@') + 1 : name;
    is_own = is_own_name(name, own_name);
    for (host = 0; host < hosts->count; host++)
        if (strcmp(name, hosts->items[host].name) == 0 || (is_own && hosts->items[host].is_local))
            return host;
    mur_problem_set(problem, "%s: rank %d is to run on %s, which is not in the list of hosts", ranks->name, rank, name);
    return -1;
}
