/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's lists: n[01-03,7],login for the nodes, and 2(x3),1 for a number of each.
 *
 * The numbers go by position, so the order of the nodes must be Slurm's. For up to two ranges in a name that is ours,
 * the last one fastest; with three it is another, and then `scontrol` is asked, unless all numbers are equal. */
#include "launch/hosts/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"

#define RANGES_IN_ORDER 2

struct counts { /* a list like 2(x3),1 as it is walked through */
    const char *variable;
    const char *next;
    int value;
    int left; /* nodes that still have `value` */
};

/* Reads the next number of the list, "4" or "4(x2)". */
static bool read_count(struct counts *counts, struct mur_problem *problem)
{
    size_t length = strcspn(counts->next, ",");
    size_t digits = strspn(counts->next, "0123456789");
    const char *times = counts->next + digits;
    bool is_good = digits <= length && mur_number_read(counts->next, digits, 0, MUR_SLOTS_MAX, &counts->value);

    counts->left = 1;
    if (is_good && digits < length)
        is_good = length - digits > 3 && strncmp(times, "(x", 2) == 0 && counts->next[length - 1] == ')' &&
                  mur_number_read(times + 2, length - digits - 3, 1, MUR_HOSTS_MAX, &counts->left);
    if (!is_good)
        return mur_problem_set(problem, "%s: numbers like 2(x3),1 are wanted, not '%.80s'", counts->variable,
                               counts->next);
    counts->next += length + (counts->next[length] == ',');
    return true;
}

static bool take_count(struct counts *counts, int *count, struct mur_problem *problem)
{
    if (!counts->variable) {
        *count = 1;
        return true;
    }
    if (counts->left == 0 && !*counts->next)
        return mur_problem_set(problem, "%s has numbers for fewer nodes than there are", counts->variable);
    if (counts->left == 0 && !read_count(counts, problem))
        return false;
    counts->left--;
    *count = counts->value;
    return true;
}

static bool needs_scontrol(const char *list, const struct counts *counts)
{
    int ranges = 0;
    int most = 0;

    for (; *list; list++) {
        ranges += *list == '[';
        if (*list == ']' && list[1] == ',')
            ranges = 0;
        most = ranges > most ? ranges : most;
    }
    return most > RANGES_IN_ORDER && counts->variable && strchr(counts->next, ',');
}

/* Slurm's own word on its list. The list holds nothing that means something to the shell: it was expanded before. */
static bool ask_scontrol(struct mur_names *names, const char *list, struct mur_problem *problem)
{
    char *command = mur_alloc_text("scontrol show hostnames '%s'", list);
    FILE *answer = popen(command, "re");
    char line[MUR_HOST_NAME_MAX + 2];
    int expected = names->count;
    bool is_good = answer != NULL;

    mur_names_free(names);
    while (is_good && fgets(line, sizeof line, answer))
        is_good = mur_names_expand(names, line, strcspn(line, "\n"), problem);
    is_good = (!answer || pclose(answer) == 0) && is_good && names->count == expected;
    free(command);
    return is_good || mur_problem_set(problem, "'scontrol show hostnames' does not tell the order of '%.80s'", list);
}

/* Expands the list; commas in brackets belong to a range. */
static bool expand_list(struct mur_names *names, const char *list, struct mur_problem *problem)
{
    for (;;) {
        size_t length = 0;
        bool is_inside = false;

        while (list[length] && (list[length] != ',' || is_inside)) {
            is_inside = list[length] == '[' || (is_inside && list[length] != ']');
            length++;
        }
        if (memchr(list, '\'', length))
            return mur_problem_set(problem, "a quote is in the list of nodes");
        if (!mur_names_expand(names, list, length, problem))
            return false;
        if (!list[length])
            return true;
        list += length + 1;
    }
}

static bool add_nodes(struct mur_hosts *hosts, const struct mur_names *names, struct counts *counts,
                      struct mur_problem *problem)
{
    for (int i = 0; i < names->count; i++) {
        struct mur_host more = {.has_slots = counts->variable != NULL};

        if (!take_count(counts, &more.slots, problem) ||
            !mur_hosts_add_word(hosts, names->items[i], strlen(names->items[i]), &more, problem))
            return false;
    }
    return true;
}

bool mur_slurm_add_hosts(struct mur_hosts *hosts, const char *variable, struct mur_problem *problem)
{
    static const char *const numbers[] = {"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"};
    const char *list = getenv(variable);
    struct counts counts = {0};
    struct mur_problem what;
    struct mur_names names = {0};
    bool is_good;

    for (int i = 0; i < 2 && !counts.variable; i++)
        if (getenv(numbers[i]) && *getenv(numbers[i]))
            counts = (struct counts){.variable = numbers[i], .next = getenv(numbers[i])};
    is_good = expand_list(&names, list, &what);
    if (is_good && needs_scontrol(list, &counts))
        is_good = ask_scontrol(&names, list, &what);
    if (!is_good)
        mur_problem_set(problem, "%s: %.900s", variable, what.text);
    is_good = is_good && add_nodes(hosts, &names, &counts, problem);
    mur_names_free(&names);
    return is_good;
}
