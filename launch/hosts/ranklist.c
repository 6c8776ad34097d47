/* SPDX-License-Identifier: BSD-3-Clause */
/* A list stays the text that it is: it is looked at once a rank. */
#include "launch/hosts/ranklist.h"

#include <string.h>

#include "launch/jobspec.h"

/* Reads the next range and moves on behind it; false: it is none. */
static bool take_range(const char **list, int *low, int *high)
{
    size_t digits = strspn(*list, "0123456789");
    const char *rest = *list + digits;

    if (!mur_number_read(*list, digits, 0, MUR_RANKS_MAX, low))
        return false;
    *high = *low;
    if (*rest == '-') {
        rest++;
        digits = strspn(rest, "0123456789");
        *high = MUR_RANKS_MAX;
        if (digits && !mur_number_read(rest, digits, *low, MUR_RANKS_MAX, high))
            return false;
        rest += digits;
    }
    *list = rest;
    return *rest == '\0' || *rest == ',';
}

static bool means_all(const char *list)
{
    return strcmp(list, "all") == 0 || strcmp(list, "-1") == 0;
}

bool mur_ranklist_is_good(const char *list)
{
    int low, high;

    if (means_all(list))
        return true;
    while (take_range(&list, &low, &high))
        if (!*list++)
            return true;
    return false;
}

bool mur_ranklist_has(const char *list, int rank)
{
    int low, high;

    if (means_all(list))
        return true;
    while (take_range(&list, &low, &high)) {
        if (rank >= low && rank <= high)
            return true;
        if (!*list++)
            break;
    }
    return false;
}
