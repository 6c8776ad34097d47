/* SPDX-License-Identifier: BSD-3-Clause */
/* A line each, the kind first. A path is the last of its line, and lines end with a NUL: a path may have any other
 * byte.
 */
#include "launch/checkpoint/notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"

void mur_notes_add_memory(struct mur_notes *notes, uint32_t generation, pid_t pid, int fd)
{
    notes->memories = mur_alloc_again(notes->memories, (size_t)notes->memory_count + 1, sizeof *notes->memories);
    notes->memories[notes->memory_count++] = (struct mur_memory_note){generation, (int32_t)pid, fd};
}

void mur_notes_add_file(struct mur_notes *notes, const char *path, uint64_t bytes)
{
    for (int i = 0; i < notes->file_count; i++)
        if (strcmp(notes->files[i].path, path) == 0)
            return;
    notes->files = mur_alloc_again(notes->files, (size_t)notes->file_count + 1, sizeof *notes->files);
    notes->files[notes->file_count++] = (struct mur_file_note){mur_alloc_text("%s", path), bytes};
}

static void write_ranks(const struct mur_notes *notes, FILE *file)
{
    for (int i = 0; i < notes->rank_count; i++) {
        const struct mur_rank_note *rank = &notes->ranks[i];
        const struct mur_rank_inodes *inodes = &rank->inodes;

        fprintf(file, "rank %d %d %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "%c",
                rank->runs, rank->is_in_mpi, rank->programs, inodes->in, inodes->out, inodes->err, inodes->control,
                inodes->pmi, 0);
    }
}

bool mur_notes_write(const struct mur_notes *notes, const char *path)
{
    FILE *file = fopen(path, "we");
    bool is_good;
    int error;

    if (!file)
        return false;
    fprintf(file, "line %" PRIu64 "%c", notes->line, 0);
    fprintf(file, "processor%s%c", notes->processor, 0);
    write_ranks(notes, file);
    for (int i = 0; i < notes->memory_count; i++)
        fprintf(file, "memory %" PRIu32 " %d %d%c", notes->memories[i].generation, notes->memories[i].pid,
                notes->memories[i].fd, 0);
    for (int i = 0; i < notes->file_count; i++)
        fprintf(file, "file %" PRIu64 " %s%c", notes->files[i].bytes, notes->files[i].path, 0);
    is_good = fflush(file) == 0 && fsync(fileno(file)) == 0;
    error = errno;
    fclose(file);
    errno = error;
    return is_good;
}

static bool read_rank(struct mur_notes *notes, const char *line)
{
    struct mur_rank_note rank = {0};
    struct mur_rank_inodes *inodes = &rank.inodes;

    if (sscanf(line, "rank %d %d %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &rank.runs,
               &rank.is_in_mpi, &rank.programs, &inodes->in, &inodes->out, &inodes->err, &inodes->control,
               &inodes->pmi) != 8)
        return false;
    notes->ranks = mur_alloc_again(notes->ranks, (size_t)notes->rank_count + 1, sizeof *notes->ranks);
    notes->ranks[notes->rank_count++] = rank;
    return true;
}

static bool read_line(struct mur_notes *notes, const char *line)
{
    uint64_t bytes;
    uint32_t generation;
    int pid, fd, path = 0;

    if (sscanf(line, "line %" SCNu64, &notes->line) == 1)
        return true;
    if (strncmp(line, "processor", 9) == 0) {
        notes->processor = mur_alloc_text("%s", line + 9);
        return true;
    }
    if (sscanf(line, "memory %" SCNu32 " %d %d", &generation, &pid, &fd) == 3) {
        mur_notes_add_memory(notes, generation, pid, fd);
        return true;
    }
    if (sscanf(line, "file %" SCNu64 " %n", &bytes, &path) == 1 && path) {
        mur_notes_add_file(notes, line + path, bytes);
        return true;
    }
    return read_rank(notes, line);
}

bool mur_notes_read(struct mur_notes *notes, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t space = 0;
    bool is_good = file != NULL;

    *notes = (struct mur_notes){0};
    while (is_good && getdelim(&line, &space, 0, file) > 0)
        is_good = read_line(notes, line);
    free(line);
    if (file)
        fclose(file);
    return is_good && notes->processor;
}

char *mur_notes_processor(void)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL, *words = NULL;
    size_t space = 0;

    while (!words && file && getline(&line, &space, file) > 0)
        if ((strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            words = mur_alloc_text("%s ", strchr(line, ':') + 1);
        }
    free(line);
    if (file)
        fclose(file);
    return words ? words : mur_alloc_text("%s", "");
}

char *mur_notes_lacking(const char *needed, const char *here)
{
    char *words = mur_alloc_text("%s", needed), *rest, *lacking = NULL;

    for (char *word = strtok_r(words, " ", &rest); word && !lacking; word = strtok_r(NULL, " ", &rest)) {
        char *apart = mur_alloc_text(" %s ", word);

        if (!strstr(here, apart))
            lacking = mur_alloc_text("%s", word);
        free(apart);
    }
    free(words);
    return lacking;
}
