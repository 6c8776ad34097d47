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

/* The first three are kept in struct mur_hints. The others are texts: kept as they are given, unless `words` says that
 * they mean nothing; `preset` is what holds if none is given. Of FIXED ones the user has no say. */
enum kind { NUMBER, CHOICE, LIST, TEXT, COUNT, COUNTS, OCTAL, WORD, WORDS, FIXED };

static const struct row {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct mur_hints */
    long usual;
    long minimum;
    const char *preset, *words;
} rows[] = {
    {"cb_buffer_size", NUMBER, offsetof(struct mur_hints, cb_buffer_size), 8 << 20, 1, NULL, NULL},
    {"cb_nodes", NUMBER, offsetof(struct mur_hints, cb_nodes), 8, 1, NULL, NULL},
    {"ind_rd_buffer_size", NUMBER, offsetof(struct mur_hints, read_sieve), 1 << 20, 1, NULL, NULL},
    {"ind_wr_buffer_size", NUMBER, offsetof(struct mur_hints, write_sieve), 512 << 10, 1, NULL, NULL},
    {"striping_unit", NUMBER, offsetof(struct mur_hints, stripes.unit), 4096, 1, NULL, NULL},
    {"striping_factor", NUMBER, offsetof(struct mur_hints, stripes.factor), 0, 1, NULL, NULL},
    {"romio_cb_read", CHOICE, offsetof(struct mur_hints, cb_read), MUR_AUTOMATIC, 0, NULL, NULL},
    {"romio_cb_write", CHOICE, offsetof(struct mur_hints, cb_write), MUR_AUTOMATIC, 0, NULL, NULL},
    {"romio_ds_read", CHOICE, offsetof(struct mur_hints, ds_read), MUR_AUTOMATIC, 0, NULL, NULL},
    {"romio_ds_write", CHOICE, offsetof(struct mur_hints, ds_write), MUR_AUTOMATIC, 0, NULL, NULL},
    {"cb_config_list", LIST, offsetof(struct mur_hints, config_list), 0, 0, NULL, NULL},
    {.name = "access_style",
     .kind = WORDS,
     .words = "read_once,write_once,read_mostly,write_mostly,sequential,reverse_sequential,random"},
    {.name = "cb_block_size", .kind = COUNT, .minimum = 1},
    {.name = "chunked", .kind = COUNTS, .minimum = 1},
    {.name = "chunked_item", .kind = COUNTS, .minimum = 1},
    {.name = "chunked_size", .kind = COUNTS, .minimum = 1},
    {.name = "collective_buffering", .kind = WORD, .words = "true,false"},
    {.name = "direct_read", .kind = WORD, .preset = "false", .words = "true,false"},
    {.name = "direct_write", .kind = WORD, .preset = "false", .words = "true,false"},
    {.name = "file_perm", .kind = OCTAL},
    {.name = "filename", .kind = FIXED},
    {.name = "io_node_list", .kind = TEXT},
    {.name = "mpi_memory_alloc_kinds", .kind = FIXED, .preset = "mpi,system"},
    {.name = "nb_proc", .kind = COUNT, .minimum = 1},
    {.name = "num_io_nodes", .kind = COUNT, .minimum = 1},
    {.name = "romio_cb_alltoall", .kind = WORD, .preset = "automatic", .words = "automatic,enable,disable"},
    {.name = "romio_cb_ds_threshold", .kind = COUNT, .preset = "0"},
    {.name = "romio_cb_fr_alignment", .kind = COUNT, .minimum = 1, .preset = "1"},
    {.name = "romio_cb_fr_types", .kind = WORD, .preset = "aar", .words = "aar,fsize,user"},
    {.name = "romio_cb_pfr", .kind = WORD, .preset = "disable", .words = "automatic,enable,disable"},
    {.name = "romio_no_indep_rw", .kind = WORD, .preset = "false", .words = "true,false"},
    {.name = "romio_synchronized_flush", .kind = WORD, .preset = "disable", .words = "enable,disable"},
    {.name = "romio_visibility_immediate", .kind = WORD, .preset = "true", .words = "true,false"},
    {.name = "start_iodevice", .kind = COUNT, .preset = "0"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *const choices[] = {"automatic", "enable", "disable"};

static long *value_of(struct mur_hints *hints, const struct row *row)
{
    return (long *)(void *)((char *)hints + row->offset);
}

/* A number from the row's minimum on, which ends where the text or, in a list, a comma does. */
static bool parse_number(const struct row *row, const char *text, int base, long *value, const char **rest)
{
    char *end;

    errno = 0;
    *value = strtol(text, &end, base);
    *rest = *end == ',' ? end + 1 : end;
    return end != text && (!*end || *end == ',') && !errno && *value >= row->minimum && *value <= INT_MAX;
}

static bool is_number(const struct row *row, const char *text, int base, long *value)
{
    const char *rest;

    return !strchr(text, ',') && parse_number(row, text, base, value, &rest);
}

static bool is_list_of_numbers(const struct row *row, const char *text)
{
    const char *rest = text;
    long value;

    while (parse_number(row, rest, 10, &value, &rest))
        if (!*rest)
            return rest[-1] != ',';
    return false;
}

/* Whether one of the known words, which commas separate, is this one. */
static bool is_word(const char *words, const char *text, size_t length)
{
    while (strncmp(words, text, length) != 0 || (words[length] && words[length] != ',')) {
        words = strchr(words, ',');
        if (!words)
            return false;
        words++;
    }
    return length > 0;
}

static bool are_words(const char *words, const char *text)
{
    for (size_t length; length = strcspn(text, ","), is_word(words, text, length); text += length + 1)
        if (!text[length])
            return true;
    return false;
}

/* False: the text means nothing. The value is that of rows that have one. */
static bool parse(const struct row *row, const char *text, long *value)
{
    switch (row->kind) {
    case CHOICE:
        for (int i = 0; i < 3; i++)
            if (strcmp(text, choices[i]) == 0) {
                *value = i;
                return true;
            }
        return false;
    case NUMBER:
    case COUNT:
        return is_number(row, text, 10, value);
    case OCTAL:
        return is_number(row, text, 8, value) && *value <= 07777;
    case COUNTS:
        return is_list_of_numbers(row, text);
    case WORD:
        return !strchr(text, ',') && is_word(row->words, text, strlen(text));
    case WORDS:
        return are_words(row->words, text);
    case LIST:
        return *text && strlen(text) < MUR_CONFIG_LIST;
    case TEXT:
        return *text;
    default:
        return false;
    }
}

int mur_hints_permissions(const struct mur_info *info)
{
    const struct row octal = {.kind = OCTAL};
    const char *text = mur_info_get(info, "file_perm");
    long value;

    return text && parse(&octal, text, &value) ? (int)value : 0666;
}

/* What the file system has told is so, whatever the user asks for. */
static void read_numbers(struct mur_hints *hints, const struct mur_info *info)
{
    const struct mur_stripes stripes = hints->stripes;
    const char *buffering = mur_info_get(info, "collective_buffering");

    if (buffering && (strcmp(buffering, "true") == 0 || strcmp(buffering, "false") == 0))
        hints->cb_read = hints->cb_write = *buffering == 't' ? MUR_ENABLE : MUR_DISABLE;
    for (int i = 0; i < ROWS; i++) {
        const char *text = rows[i].kind <= LIST ? mur_info_get(info, rows[i].name) : NULL;
        long value;

        if (!text || !parse(&rows[i], text, &value))
            continue;
        if (rows[i].kind == LIST)
            strcpy(hints->config_list, text);
        else
            *value_of(hints, &rows[i]) = value;
        hints->has_cb_nodes |= rows[i].offset == offsetof(struct mur_hints, cb_nodes);
    }
    if (hints->is_striped)
        hints->stripes = stripes;
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

/* What holds of a row that is a text: what is given, what was before, or what is usual. */
static const char *text_of(const struct mur_file *file, const struct row *row, const struct mur_info *given)
{
    const char *text = row->kind == FIXED ? NULL : mur_info_get(given, row->name);
    long value;

    if (text && parse(row, text, &value))
        return text;
    if (strcmp(row->name, "filename") == 0)
        return strlen(file->name) < MPI_MAX_INFO_VAL ? file->name : NULL;
    return mur_info_get(file->info, row->name) ? NULL : row->preset;
}

/* The values in force, as texts. */
static int write_back(struct mur_file *file, const struct mur_info *given)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < ROWS && !rc; i++) {
        const char *text;
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
        } else {
            text = text_of(file, &rows[i], given);
        }
        if (text)
            rc = mur_info_set(file->info, rows[i].name, text);
    }
    return rc;
}

/* Rank 0's values at all ranks. */
static int share(struct mur_comm *comm, struct mur_hints *hints)
{
    struct mur_schedule *s = comm->size > 1 ? mur_file_schedule(comm) : NULL;

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

    if (file->shared || file->comm->size == 1)
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
