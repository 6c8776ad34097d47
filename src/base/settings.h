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
    long tcp_seal; /* enum mur_seal_mode; -1: by place */
    long spawn_timeout;
    long connect_timeout;
    long unexpected_max;
    long wait_spin;
    long wait_yield;
    long coll_board, coll_flat;
    long coll_verbose;
    long coll_piece;
    long coll_line_ns;
    long coll_reproducible;
    long coll_check;
    long rma_direct, rma_assist_max, rma_patience, rma_joint;
    long progress_thread;
    long check; /* enum mur_strictness */
    long io_shared;
    long io_uring;
    long huge_pages;
    long alloc_shared;
    long info;
};
extern struct mur_settings mur_settings;

/* What is an error by the standard, but works with MPICH and with Open MPI, works here as well, unless this is strict.
 */
enum mur_strictness { MUR_FORGIVING, MUR_STRICT };

static inline bool mur_is_strict(void)
{
    return mur_settings.check == MUR_STRICT;
}

/* When a setting may be changed by a tool (MPI_T_cvar_write). */
enum mur_change { MUR_BEFORE_START, MUR_ANY_TIME };

struct mur_setting {
    const char *name; /* as in the environment */
    const char *part; /* of the library that it belongs to: a category of MPI_T */
    const char *unit;
    long default_value;
    long minimum, maximum;
    size_t offset; /* of the value in struct mur_settings */
    enum mur_change change;
    bool is_equal; /* must be the same at all ranks */
    const char *meaning;
};
extern const struct mur_setting mur_setting_table[];
extern const size_t mur_setting_count;

/* Settings that are texts: they stay in the environment, and are read where they are used. */
struct mur_text_setting {
    const char *name, *part, *meaning;
};
extern const struct mur_text_setting mur_text_setting_table[];
extern const size_t mur_text_setting_count;

/* Never NULL. */
const char *mur_text_setting_value(const struct mur_text_setting *setting);

/* Reads all settings from the environment, the first time that it is called. A value that is no number or out of range
 * leaves the default and is reported: returns a description of the first such value, or NULL. */
const char *mur_settings_read(void);

/* 0 or 1. */
static inline bool mur_setting_is_switch(const struct mur_setting *setting)
{
    return setting->minimum == 0 && setting->maximum == 1;
}

static inline long *mur_setting_value(const struct mur_setting *setting)
{
    return (long *)((char *)&mur_settings + setting->offset);
}

#endif
