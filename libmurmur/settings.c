/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/settings.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "libmurmur/parity.h"

static const char *text_of(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static bool read_number(const char *name, long low, long high, int *value, struct mur_flaw *flaw)
{
    const char *text = text_of(name);
    char *end;
    long number;

    if (!text)
        return true;
    errno = 0;
    number = strtol(text, &end, 10);
    if (errno || *end || number < low || number > high)
        return mur_flaw_set(flaw, "%s is \"%.100s\", but must be a number from %ld to %ld", name, text, low, high);
    *value = (int)number;
    return true;
}

static bool read_interval(double *value, struct mur_flaw *flaw)
{
    const char *text = text_of("MUR_CKPT_INTERVAL");
    char *end;

    if (!text)
        return true;
    *value = strtod(text, &end);
    return (*end == '\0' && *value >= 0 && isfinite(*value)) ||
           mur_flaw_set(flaw, "MUR_CKPT_INTERVAL is \"%.100s\", but must be a number of seconds", text);
}

static bool read_restart(int64_t *value, struct mur_flaw *flaw)
{
    const char *text = text_of("MUR_CKPT_RESTART");
    char *end;

    if (!text || strcmp(text, "none") == 0)
        return true;
    if (strcmp(text, "latest") == 0) {
        *value = MUR_RESTART_LATEST;
        return true;
    }
    errno = 0;
    *value = strtoll(text, &end, 10);
    return (!errno && *end == '\0' && *value >= 0) ||
           mur_flaw_set(flaw, "MUR_CKPT_RESTART is \"%.100s\", but must be none, latest, or a snapshot's number", text);
}

static bool read_redundancy(struct mur_ckpt_settings *settings, struct mur_flaw *flaw)
{
    static const char *const words[] = {
        [MUR_REDUNDANCY_NONE] = "none", [MUR_REDUNDANCY_PARTNER] = "partner", [MUR_REDUNDANCY_XOR] = "xor"};
    const char *text = text_of("MUR_CKPT_REDUNDANCY");

    if (!text)
        return true;
    for (int i = MUR_REDUNDANCY_NONE; i <= MUR_REDUNDANCY_XOR; i++)
        if (strcmp(text, words[i]) == 0) {
            settings->redundancy = (enum mur_redundancy)i;
            return true;
        }
    return mur_flaw_set(flaw, "MUR_CKPT_REDUNDANCY is \"%.100s\", but must be none, partner or xor", text);
}

bool mur_ckpt_settings_read(struct mur_ckpt_settings *settings, struct mur_flaw *flaw)
{
    *settings = (struct mur_ckpt_settings){.prefix = text_of("MUR_CKPT_PREFIX"),
                                           .local = text_of("MUR_CKPT_LOCAL"),
                                           .restart = MUR_RESTART_NONE,
                                           .group = 8,
                                           .flush = 10,
                                           .keep = 2};
    return read_interval(&settings->interval, flaw) && read_restart(&settings->restart, flaw) &&
           read_redundancy(settings, flaw) &&
           read_number("MUR_CKPT_GROUP", 2, MUR_PARITY_GROUP_MAX, &settings->group, flaw) &&
           read_number("MUR_CKPT_FLUSH", 1, 1000000, &settings->flush, flaw) &&
           read_number("MUR_CKPT_KEEP", 1, 1000000, &settings->keep, flaw) &&
           read_number("MUR_CKPT_SIGNAL", 1, SIGRTMAX, &settings->signal, flaw);
}
