/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells how the ranks ended, a line for each way, "ranks 0-2,5 exited with code 0", or, where
 * lines of output bear ranks (-l), a line for each rank when it ends. */
#include "launch/exits.h"

#include <stdio.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/report.h"
#include "launch/say.h"

void mur_exits_note(struct mur_exits *exits, const struct mur_jobspec *job, const struct mur_tree_frame *exited)
{
    if (!exits->outcomes)
        exits->outcomes = mur_alloc((size_t)job->size, sizeof *exits->outcomes);
    if (exited->rank >= 0 && exited->rank < job->size)
        exits->outcomes[exited->rank] = exited->signal ? -exited->signal : 1 + exited->code;
    if (!job->formats.is_ranked)
        return;
    if (exited->signal)
        mur_say("rank %d ended by signal %d (%s)", exited->rank, exited->signal, mur_report_signal(exited->signal));
    else
        mur_say("rank %d exited with code %d", exited->rank, exited->code);
}

/* Writes the ranks of this outcome from `first` on, as "0-2,5"; returns how many there are. */
static int list_ranks(const struct mur_exits *exits, const struct mur_jobspec *job, int first, char *text, size_t size)
{
    int outcome = exits->outcomes[first];
    size_t length = 0;
    int count = 0;

    for (int rank = first; rank < job->size; rank++) {
        int start = rank;

        if (exits->outcomes[rank] != outcome)
            continue;
        while (rank + 1 < job->size && exits->outcomes[rank + 1] == outcome)
            rank++;
        count += rank - start + 1;
        if (length + 40 > size) /* the rest would not fit */
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%d", length ? "," : "", start);
        if (rank > start)
            length += (size_t)snprintf(text + length, size - length, "-%d", rank);
        if (length + 40 > size)
            snprintf(text + length, size - length, ",...");
    }
    return count;
}

static bool is_first(const struct mur_exits *exits, int rank)
{
    for (int i = 0; i < rank; i++)
        if (exits->outcomes[i] == exits->outcomes[rank])
            return false;
    return true;
}

void mur_exits_print(const struct mur_exits *exits, const struct mur_jobspec *job)
{
    for (int rank = 0; exits->outcomes && !job->formats.is_ranked && rank < job->size; rank++) {
        int outcome = exits->outcomes[rank];
        char ranks[2048];
        const char *plural;

        if (!is_first(exits, rank))
            continue;
        plural = list_ranks(exits, job, rank, ranks, sizeof ranks) == 1 ? "" : "s";
        if (outcome > 0)
            mur_say("rank%s %s exited with code %d", plural, ranks, outcome - 1);
        else if (outcome < 0)
            mur_say("rank%s %s ended by signal %d (%s)", plural, ranks, -outcome, mur_report_signal(-outcome));
        else
            mur_say("rank%s %s did not run, or nobody saw the end", plural, ranks);
    }
}
