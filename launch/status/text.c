/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/loop.h"
#include "launch/status/findings.h"
#include "launch/status/report.h"
#include "launch/status/words.h"

enum { LINES_MOST = 64 };

static char *describe(const struct mur_rank_state *state)
{
    char *text;
    size_t bytes;
    FILE *out = mur_text_open(&text, &bytes);

    mur_words_state(out, state);
    fclose(out);
    return text;
}

/* Where ranks run, unless that is one host. */
static void write_hosts(FILE *out, const struct mur_jobspec *job)
{
    bool *is_there = mur_alloc((size_t)job->size, sizeof *is_there);

    for (int node = 0; node < job->hosts.count && job->hosts.count > 1; node++) {
        if (node == LINES_MOST) {
            fprintf(out, "  on %d more hosts: the others\n", job->hosts.count - node);
            break;
        }
        for (int rank = 0; rank < job->size; rank++)
            is_there[rank] = job->node_of[rank] == node;
        fprintf(out, "  on %s: ranks ", job->hosts.items[node].name);
        mur_words_ranks(out, is_there, job->size);
        fputc('\n', out);
    }
    free(is_there);
}

/* The longest of them. */
static void write_time(FILE *out, const struct mur_sample *sample, const bool *is_set)
{
    const struct mur_rank_state *longest = NULL;

    for (int rank = 0; rank < sample->job->size; rank++)
        if (is_set[rank] && (!longest || sample->states[rank].since_ms > longest->since_ms))
            longest = &sample->states[rank];
    if (longest)
        mur_words_since(out, longest);
}

/* The ranks of the same words as the first that has none yet share its line. */
static void write_states(FILE *out, const struct mur_sample *sample)
{
    int size = sample->job->size, lines = 0, left = 0;
    char **texts = mur_alloc((size_t)size, sizeof *texts);
    bool *is_set = mur_alloc((size_t)size, sizeof *is_set);

    for (int rank = 0; rank < size; rank++)
        texts[rank] = describe(&sample->states[rank]);
    for (int rank = 0; rank < size; rank++) {
        char *text = texts[rank];
        int count = 0;

        if (!text)
            continue;
        if (lines == LINES_MOST) {
            left++;
            continue;
        }
        memset(is_set, 0, (size_t)size * sizeof *is_set);
        for (int other = rank; other < size; other++)
            if (texts[other] && strcmp(texts[other], text) == 0) {
                is_set[other] = true;
                count++;
                if (other != rank)
                    free(texts[other]);
                texts[other] = NULL;
            }
        fputs(count == 1 ? "  rank " : "  ranks ", out);
        mur_words_ranks(out, is_set, size);
        fprintf(out, ": %s", text);
        write_time(out, sample, is_set);
        fputc('\n', out);
        free(text);
        lines++;
    }
    for (int rank = 0; rank < size; rank++)
        free(texts[rank]);
    if (left)
        fprintf(out, "  and %d more ranks; -json tells of all\n", left);
    free(texts);
    free(is_set);
}

char *mur_status_text(const struct mur_sample *sample)
{
    const struct mur_jobspec *job = sample->job;
    struct mur_status_findings findings;
    char *text;
    size_t bytes;
    FILE *out = mur_text_open(&text, &bytes);

    fprintf(out, "job %s: %d rank%s on %d host%s, ", job->id, job->size, job->size == 1 ? "" : "s", job->hosts.count,
            job->hosts.count == 1 ? "" : "s");
    mur_words_time(out, mur_loop_now() - sample->started_at);
    fputs(" old\n", out);
    write_hosts(out, job);
    write_states(out, sample);
    mur_findings_make(&findings, sample);
    for (int i = 0; i < findings.count; i++)
        fprintf(out, "%s  - %s\n", i ? "" : "What stands out:\n", findings.items[i].text);
    mur_findings_free(&findings);
    fclose(out);
    return text;
}
