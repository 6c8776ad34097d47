/* SPDX-License-Identifier: BSD-3-Clause */
/* The one registry of settings: each has a name, a default, a meaning, and an environment variable MUR_<NAME>. */
#ifndef MUR_BASE_SETTINGS_H
#define MUR_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The values in force; mur_settings_read fills them from the environment. Units are in the table in settings.c. */
struct mur_settings {
    long shm_single_copy;
    long shm_eager_max;
    long shm_copy_chunk;
    long shm_lane_slots;
    long shm_lane_bytes;
    long tcp_eager_max;
    long tcp_buffer;
    long tcp_timeout;
    long unexpected_max;
    long wait_spin;
    long wait_yield;
    long coll_board;
    long coll_verbose;
    long rma_direct;
    long progress_thread;
    long io_shared;
    long info;
};
extern struct mur_settings mur_settings;

struct mur_setting {
    const char *name; /* as in the environment */
    const char *unit;
    long default_value;
    long minimum, maximum;
    size_t offset; /* of the value in struct mur_settings */
    const char *meaning;
};
extern const struct mur_setting mur_setting_table[];
extern const size_t mur_setting_count;

/* Reads all settings from the environment. A value that is no number or out of range leaves the default and is
 * reported: returns the number of such values, the first described in `complaint`. */
int mur_settings_read(char *complaint, size_t bytes);

static inline long *mur_setting_value(const struct mur_setting *setting)
{
    return (long *)((char *)&mur_settings + setting->offset);
}

#endif
