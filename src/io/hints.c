/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of hints. A value that is no number, out of range or no known word is ignored, as a hint may be. */
#include "io/hints.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "io/file.h"
#include "object/info.h"

enum kind { NUMBER, CHOICE, LIST, TEXT };

static const struct row {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct mur_hints */
    long usual;
    long minimum;
} rows[] = {
    {"cb_buffer_size", NUMBER, offsetof(struct mur_hints, cb_buffer_size), 8 << 20, 1},
    {"cb_nodes", NUMBER, offsetof(struct mur_hints, cb_nodes), 8, 1},
    {"ind_rd_buffer_size", NUMBER, offsetof(struct mur_hints, read_sieve), 1 << 20, 1},
    {"ind_wr_buffer_size", NUMBER, offsetof(struct mur_hints, write_sieve), 512 << 10, 1},
    {"striping_unit", NUMBER, offsetof(struct mur_hints, stripes.unit), 4096, 1},
    {"striping_factor", NUMBER, offsetof(struct mur_hints, stripes.factor), 0, 1},
    {"romio_cb_read", CHOICE, offsetof(struct mur_hints, cb_read), MUR_AUTOMATIC, 0},
    {"romio_cb_write", CHOICE, offsetof(struct mur_hints, cb_write), MUR_AUTOMATIC, 0},
    {"romio_ds_read", CHOICE, offsetof(struct mur_hints, ds_read), MUR_AUTOMATIC, 0},
    {"romio_ds_write", CHOICE, offsetof(struct mur_hints, ds_write), MUR_AUTOMATIC, 0},
    {"access_style", TEXT, 0, 0, 0},
    {"cb_block_size", TEXT, 0, 0, 0},
    {"cb_config_list", LIST, offsetof(struct mur_hints, config_list), 0, 0},
    {"chunked", TEXT, 0, 0, 0},
    {"chunked_item", TEXT, 0, 0, 0},
    {"chunked_size", TEXT, 0, 0, 0},
    {"collective_buffering", TEXT, 0, 0, 0},
    {"file_perm", TEXT, 0, 0, 0},
    {"filename", TEXT, 0, 0, 0},
    {"io_node_list", TEXT, 0, 0, 0},
    {"nb_proc", TEXT, 0, 0, 0},
    {"num_io_nodes", TEXT, 0, 0, 0},
    {"romio_no_indep_rw", TEXT, 0, 0, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *const choices[] = {"automatic", "enable", "disable"};

static long *value_of(struct mur_hints *hints, const struct row *row)
{
    return (long *)(void *)((char *)hints + row->offset);
}

/* False: the text means nothing. */
static bool parse(const struct row *row, const char *text, long *value)
{
    char *end;

    if (row->kind == CHOICE) {
        for (int i = 0; i < 3; i++)
            if (strcmp(text, choices[i]) == 0) {
                *value = i;
                return true;
            }
        return false;
    }
    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && !*end && !errno && *value >= row->minimum && *value <= INT_MAX;
}

/* What the file system has told is so, whatever the user asks for. */
static void read_numbers(struct mur_hints *hints, const struct mur_info *info)
{
    const struct mur_stripes stripes = hints->stripes;
    const char *buffering = mur_info_get(info, "collective_buffering");

    if (buffering && (strcmp(buffering, "true") == 0 || strcmp(buffering, "false") == 0))
        hints->cb_read = hints->cb_write = *buffering == 't' ? MUR_ENABLE : MUR_DISABLE;
    for (int i = 0; i < ROWS; i++) {
        const char *text = rows[i].kind == TEXT ? NULL : mur_info_get(info, rows[i].name);
        long value;

        if (text && rows[i].kind == LIST && *text && strlen(text) < MUR_CONFIG_LIST)
            strcpy(hints->config_list, text);
        else if (text && rows[i].kind != LIST && parse(&rows[i], text, &value))
            *value_of(hints, &rows[i]) = value;
    }
    if (hints->is_striped)
        hints->stripes = stripes;
    hints->has_cb_nodes |= mur_info_get(info, "cb_nodes") != NULL;
}

/* Each of them is to access its own servers, or each server to be accessed by its own ranks. */
static long suited(long nodes, const struct mur_hints *hints)
{
    long factor = hints->stripes.factor;

    if (!hints->is_striped || hints->has_cb_nodes)
        return nodes;
    if (nodes >= factor)
        return nodes - nodes % factor;
    while (factor % nodes)
        nodes--;
    return nodes;
}

static void set_usual(const struct mur_file *file, struct mur_hints *hints)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].kind == NUMBER || rows[i].kind == CHOICE)
            *value_of(hints, &rows[i]) = rows[i].usual;
    hints->stripes = mur_stripes_of(file->fd);
    hints->is_striped = hints->stripes.factor > 0;
}

/* The values in force, as texts. */
static int write_back(struct mur_file *file, const struct mur_info *given)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < ROWS && !rc; i++) {
        const char *text = rows[i].kind == TEXT ? mur_info_get(given, rows[i].name) : NULL;
        char number[24];

        if (rows[i].kind == NUMBER) {
            long value = *value_of(&file->hints, &rows[i]);

            if (rows[i].offset == offsetof(struct mur_hints, cb_nodes) && file->aggregators)
                value = file->aggregator_count;
            snprintf(number, sizeof number, "%ld", value);
            text = value ? number : NULL;
        } else if (rows[i].kind == LIST) {
            text = *file->hints.config_list ? file->hints.config_list : NULL;
        } else if (rows[i].kind == CHOICE) {
            text = choices[*value_of(&file->hints, &rows[i])];
        }
        if (text)
            rc = mur_info_set(file->info, rows[i].name, text);
    }
    return rc;
}

/* Rank 0's values at all ranks. */
static int share(struct mur_comm *comm, struct mur_hints *hints)
{
    struct mur_schedule *s = comm->size > 1 ? mur_schedule_create(comm) : NULL;

    if (comm->size == 1)
        return MPI_SUCCESS;
    if (s)
        mur_coll_bcast(s, hints, sizeof *hints, mur_type_find(MPI_BYTE), 0);
    return mur_schedule_run(s);
}

/* Where they exchange messages, and not chosen so yet. What is started goes on with those that it has begun with. */
static int choose_aggregators(struct mur_file *file, const struct mur_hints *before)
{
    const struct mur_hints *hints = &file->hints;

    if (file->area || file->comm->size == 1)
        return MPI_SUCCESS;
    if (file->aggregators && before->cb_nodes == hints->cb_nodes && !strcmp(before->config_list, hints->config_list))
        return MPI_SUCCESS;
    return mur_aggregators_choose(file, (int)hints->cb_nodes, hints->config_list);
}

int mur_hints_set(struct mur_file *file, const struct mur_info *info)
{
    struct mur_hints before = file->hints;
    int rc;

    if (!file->hints.cb_buffer_size)
        set_usual(file, &file->hints);
    read_numbers(&file->hints, info);
    if (file->hints.cb_nodes > file->comm->size)
        file->hints.cb_nodes = file->comm->size;
    file->hints.cb_nodes = suited(file->hints.cb_nodes, &file->hints);
    rc = share(file->comm, &file->hints);
    if (!rc)
        rc = choose_aggregators(file, &before);
    return rc ? rc : mur_file_agree(file, write_back(file, info), "set the hints of");
}
