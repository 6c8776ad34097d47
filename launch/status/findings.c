/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/status/findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/status/graph.h"
#include "launch/status/words.h"

enum { FINDINGS_MOST = 32, CIRCLE_SHOWN = 16, NAMED_SHOWN = 4 };

/* Collects findings. Of each kind so many as anybody reads. */
struct collector {
    struct mur_status_findings *findings;
    const struct mur_sample *sample;
    int size;
    struct mur_wait_graph graph;
    bool *is_told; /* [size] a finding says of this rank that others wait for it */
    char *text;    /* what `out` is writing */
    size_t bytes;
    FILE *out;
};

static const struct mur_rank_state *state_of(const struct collector *c, int rank)
{
    return &c->sample->states[rank];
}

static FILE *begin(struct collector *c)
{
    c->out = mur_text_open(&c->text, &c->bytes);
    return c->out;
}

static void end(struct collector *c, const char *kind, const int *ranks, int count)
{
    struct mur_status_finding *finding;

    fclose(c->out);
    if (c->findings->count == FINDINGS_MOST) {
        free(c->text);
        return;
    }
    finding = &c->findings->items[c->findings->count++];
    *finding = (struct mur_status_finding){.kind = kind, .count = count, .text = c->text};
    finding->ranks = mur_alloc((size_t)count + 1, sizeof *finding->ranks);
    memcpy(finding->ranks, ranks, (size_t)count * sizeof *ranks);
}

static int count_set(const bool *is_set, int count)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        found += is_set[i];
    return found;
}

static char *words_of(const struct collector *c, int rank)
{
    char *text;
    size_t bytes;
    FILE *out = mur_text_open(&text, &bytes);

    mur_words_state(out, state_of(c, rank));
    fclose(out);
    return text;
}

static void write_rank(struct collector *c, int rank)
{
    fprintf(c->out, "rank %d is ", rank);
    mur_words_state(c->out, state_of(c, rank));
    mur_words_since(c->out, state_of(c, rank));
}

/* The first few; those of the same words share them. */
static void write_ranks(struct collector *c, const bool *is_set)
{
    bool *is_left = mur_alloc((size_t)c->size, sizeof *is_left),
         *is_alike = mur_alloc((size_t)c->size, sizeof *is_left);
    int told = 0;

    memcpy(is_left, is_set, (size_t)c->size * sizeof *is_left);
    for (int rank = 0; rank < c->size; rank++) {
        char *text;

        if (!is_left[rank])
            continue;
        fputs(told ? "; " : "", c->out);
        if (told++ == NAMED_SHOWN) {
            fputs("...", c->out);
            break;
        }
        text = words_of(c, rank);
        memset(is_alike, 0, (size_t)c->size * sizeof *is_alike);
        for (int other = rank; other < c->size; other++) {
            char *words = is_left[other] ? words_of(c, other) : NULL;

            is_alike[other] = words && strcmp(words, text) == 0;
            is_left[other] &= !is_alike[other];
            free(words);
        }
        if (count_set(is_alike, c->size) == 1) {
            write_rank(c, rank);
        } else {
            fputs("ranks ", c->out);
            mur_words_ranks(c->out, is_alike, c->size);
            fprintf(c->out, " are %s", text);
        }
        free(text);
    }
    free(is_left);
    free(is_alike);
}

/* ---- processes that stand still ---- */

static void find_stopped(struct collector *c)
{
    for (int rank = 0; rank < c->size; rank++) {
        const struct mur_rank_state *state = state_of(c, rank);

        if (!mur_state_is_stopped(state))
            continue;
        fprintf(begin(c), "rank %d on %s (pid %d) is stopped by a %s", rank, mur_jobspec_host(c->sample->job, rank),
                state->pid, state->process == 'T' ? "signal" : "debugger");
        if (state->process == 'T')
            fprintf(c->out, "; kill -CONT %d lets it go on", state->pid);
        end(c, "stopped", &rank, 1);
    }
}

/* ---- circles ---- */

static bool all_wait_for(const struct collector *c, const int *ranks, int count, enum mur_wait_kind kind)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < state_of(c, ranks[i])->shown; k++)
            if (state_of(c, ranks[i])->waits[k].kind != kind)
                return false;
    return true;
}

static bool takes_any(const struct collector *c, const int *ranks, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < state_of(c, ranks[i])->shown; k++)
            if (state_of(c, ranks[i])->waits[k].peer == MUR_LOOK_ANY)
                return true;
    return false;
}

static void explain_circle(struct collector *c, const int *ranks, int count)
{
    if (takes_any(c, ranks, count)) {
        fputs("whoever could send what these wait for, from any rank, waits as well", c->out);
    } else if (count == 1) {
        fputs("it waits for itself, ", c->out);
        mur_words_short(c->out, state_of(c, ranks[0]));
    } else if (all_wait_for(c, ranks, count, MUR_WAIT_RECEIVE)) {
        fputs("each receives from the next, and nobody sends", c->out);
    } else if (all_wait_for(c, ranks, count, MUR_WAIT_SEND)) {
        fputs("each sends to the next, and nobody receives", c->out);
    } else if (all_wait_for(c, ranks, count, MUR_WAIT_PROBE)) {
        fputs("each probes for a message from the next, and nobody sends", c->out);
    } else if (all_wait_for(c, ranks, count, MUR_WAIT_LOCK)) {
        fputs("each waits for a lock that the next one holds", c->out);
    } else {
        fputs("each waits for the next: ", c->out);
        for (int i = 0; i < count && i < NAMED_SHOWN; i++) {
            fprintf(c->out, "%srank %d is ", i ? ", " : "", ranks[i]);
            mur_words_short(c->out, state_of(c, ranks[i]));
        }
        if (count > NAMED_SHOWN)
            fputs(", ...", c->out);
    }
}

/* It begins with the lowest rank, whoever it was found by. */
static void turn_to_lowest(int *ranks, int count)
{
    int lowest = 0;
    int *turned = mur_alloc((size_t)count, sizeof *turned);

    for (int i = 1; i < count; i++)
        if (ranks[i] < ranks[lowest])
            lowest = i;
    for (int i = 0; i < count; i++)
        turned[i] = ranks[(lowest + i) % count];
    memcpy(ranks, turned, (size_t)count * sizeof *ranks);
    free(turned);
}

static void tell_circle(struct collector *c, int *ranks, int count)
{
    turn_to_lowest(ranks, count);
    begin(c);
    for (int i = 0; i < count && i < CIRCLE_SHOWN; i++)
        fprintf(c->out, "%d → ", ranks[i]);
    if (count > CIRCLE_SHOWN)
        fprintf(c->out, "... (%d ranks) → ", count);
    fprintf(c->out, "%d: ", ranks[0]);
    explain_circle(c, ranks, count);
    end(c, "circle", ranks, count);
}

static void find_circles(struct collector *c)
{
    int *ranks = mur_alloc((size_t)c->size, sizeof *ranks);
    bool *is_in_one = mur_alloc((size_t)c->size, sizeof *is_in_one);

    for (int rank = 0; rank < c->size; rank++) {
        bool is_known = false;
        int count = c->graph.is_stuck[rank] ? mur_graph_circle(&c->graph, rank, ranks) : 0;

        for (int i = 0; i < count; i++) {
            is_known |= is_in_one[ranks[i]];
            is_in_one[ranks[i]] = true;
        }
        if (count && !is_known)
            tell_circle(c, ranks, count);
    }
    free(ranks);
    free(is_in_one);
}

/* ---- collectives to which somebody has not come ---- */

static const struct mur_look_wait *collective_of(const struct mur_rank_state *state)
{
    for (int i = 0; state->kind == MUR_STATE_WAITING && i < state->shown; i++)
        if (state->waits[i].kind == MUR_WAIT_COLLECTIVE || state->waits[i].kind == MUR_WAIT_FILE)
            return &state->waits[i];
    return NULL;
}

static bool is_together(const struct mur_rank_state *a, const struct mur_rank_state *b)
{
    const struct mur_look_wait *one = collective_of(a), *other = collective_of(b);

    return one && other && one->context == other->context && one->size == other->size && one->number == other->number &&
           a->call == b->call;
}

static void mark(void *is_set, int rank)
{
    ((bool *)is_set)[rank] = true;
}

static void tell_late(struct collector *c, const bool *is_in, const bool *is_late)
{
    int *ranks = mur_alloc((size_t)c->size, sizeof *ranks), count = 0, first = 0, in = count_set(is_in, c->size);
    const struct mur_look_wait *wait;
    const char *call;

    while (!is_in[first])
        first++;
    wait = collective_of(state_of(c, first));
    call = mur_words_call(state_of(c, first));
    begin(c);
    fprintf(c->out, in == 1 ? "rank " : "%d ranks (", in);
    mur_words_ranks(c->out, is_in, c->size);
    fprintf(c->out, in == 1 ? " waits in %s (" : ") wait in %s (", call ? call : "MPI");
    if (wait->number)
        fprintf(c->out, "call %" PRIu64 " ", wait->number);
    fputs("on ", c->out);
    mur_words_comm(c->out, wait);
    fputs("), to which ", c->out);
    for (int rank = 0; rank < c->size; rank++) {
        if (!is_late[rank])
            continue;
        c->is_told[rank] = true;
        ranks[count++] = rank;
    }
    fprintf(c->out, count == 1 ? "rank " : "%d ranks (", count);
    mur_words_ranks(c->out, is_late, c->size);
    fputs(count == 1 ? " has not come: " : ") have not come: ", c->out);
    write_ranks(c, is_late);
    end(c, "late", ranks, count);
    free(ranks);
}

static void find_late(struct collector *c)
{
    bool *is_done = mur_alloc((size_t)c->size, sizeof *is_done);

    for (int rank = 0; rank < c->size; rank++) {
        bool *is_in, *is_late;

        if (is_done[rank] || !collective_of(state_of(c, rank)))
            continue;
        is_in = mur_alloc((size_t)c->size, sizeof *is_in);
        is_late = mur_alloc((size_t)c->size, sizeof *is_late);
        for (int other = rank; other < c->size; other++)
            if (is_together(state_of(c, rank), state_of(c, other))) {
                is_done[other] = is_in[other] = true;
                mur_graph_needs(c->sample, other, collective_of(state_of(c, other)), mark, is_late);
            }
        for (int other = 0; other < c->size; other++)
            is_late[other] &= !is_in[other];
        if (count_set(is_late, c->size))
            tell_late(c, is_in, is_late);
        free(is_in);
        free(is_late);
    }
    free(is_done);
}

/* ---- locks, messages, and others that are waited for ---- */

/* The rank whose process this is, on the host of another rank; -1: none. */
static int rank_of_process(const struct collector *c, int pid, int neighbour)
{
    const int *node_of = c->sample->job->node_of;

    for (int rank = 0; rank < c->size; rank++)
        if (state_of(c, rank)->pid == pid && node_of[rank] == node_of[neighbour])
            return rank;
    return -1;
}

static void tell_lock(struct collector *c, int rank, const struct mur_look_wait *wait)
{
    int holder = wait->kind == MUR_WAIT_FILE_LOCK ? rank_of_process(c, wait->holder, rank) : -1;

    fprintf(begin(c), "rank %d waits for ", rank);
    mur_words_wait(c->out, wait);
    if (holder >= 0) {
        fputs("; that process is a rank: ", c->out);
        write_rank(c, holder);
    }
    for (int other = 0; other < c->size; other++) {
        if (other == rank || !mur_graph_waits(c->sample, rank, other))
            continue;
        c->is_told[other] = true;
        fprintf(c->out, "; rank %d holds it: ", other);
        write_rank(c, other);
    }
    end(c, "lock", &rank, 1);
}

static void find_locks(struct collector *c)
{
    for (int rank = 0; rank < c->size; rank++)
        for (int i = 0; state_of(c, rank)->kind == MUR_STATE_WAITING && i < state_of(c, rank)->shown; i++) {
            const struct mur_look_wait *wait = &state_of(c, rank)->waits[i];

            if (wait->kind == MUR_WAIT_LOCK || wait->kind == MUR_WAIT_FILE_LOCK)
                tell_lock(c, rank, wait);
        }
}

/* A message of the same communicator that has come instead of the one that is waited for. */
static bool is_near(const struct mur_look_wait *wait, const struct mur_look_message *message)
{
    bool is_from, is_tagged;

    if ((wait->kind != MUR_WAIT_RECEIVE && wait->kind != MUR_WAIT_PROBE) || wait->context != message->context)
        return false;
    is_from = wait->peer == MUR_LOOK_ANY || wait->peer == message->source;
    is_tagged = wait->tag == MUR_LOOK_ANY || wait->tag == message->tag;
    return is_from != is_tagged;
}

static void find_messages(struct collector *c)
{
    for (int rank = 0; rank < c->size; rank++) {
        const struct mur_rank_state *state = state_of(c, rank);

        for (uint32_t m = 0; state->kind == MUR_STATE_WAITING && m < state->message_count && m < MUR_LOOK_MESSAGES; m++)
            for (int i = 0; i < state->shown; i++) {
                const struct mur_look_message *message = &state->messages[m];

                if (!is_near(&state->waits[i], message))
                    continue;
                fprintf(begin(c), "rank %d waits for ", rank);
                mur_words_wait(c->out, &state->waits[i]);
                fprintf(c->out,
                        "; what has come, and nobody has received, is one from %d, tag %d, of %" PRId64 " bytes",
                        message->source, message->tag, message->bytes);
                end(c, "message", &rank, 1);
            }
    }
}

/* Ranks that do not wait themselves, and that others wait for, where nothing has been said of that yet. */
static void find_awaited(struct collector *c)
{
    bool *is_waiting = mur_alloc((size_t)c->size, sizeof *is_waiting);

    for (int rank = 0; rank < c->size; rank++) {
        int count;

        if (c->is_told[rank] || state_of(c, rank)->kind == MUR_STATE_WAITING)
            continue;
        for (int other = 0; other < c->size; other++) {
            const struct mur_rank_state *state = state_of(c, other);
            bool is_certain = state->shown == 1 && state->waits[0].peer != MUR_LOOK_ANY; /* else another may do */

            is_waiting[other] = is_certain && mur_graph_waits(c->sample, other, rank);
        }
        count = count_set(is_waiting, c->size);
        if (!count)
            continue;
        fputs(count == 1 ? "rank " : "ranks ", begin(c));
        mur_words_ranks(c->out, is_waiting, c->size);
        fprintf(c->out, count == 1 ? " waits for rank %d: " : " wait for rank %d: ", rank);
        write_rank(c, rank);
        end(c, "awaited", &rank, 1);
    }
    free(is_waiting);
}

void mur_findings_make(struct mur_status_findings *findings, const struct mur_sample *sample)
{
    struct collector c = {.findings = findings, .sample = sample, .size = sample->job->size};

    *findings = (struct mur_status_findings){.items = mur_alloc(FINDINGS_MOST, sizeof *findings->items)};
    c.is_told = mur_alloc((size_t)c.size, sizeof *c.is_told);
    mur_graph_make(&c.graph, sample);
    find_stopped(&c);
    find_circles(&c);
    find_late(&c);
    find_locks(&c);
    find_messages(&c);
    find_awaited(&c);
    mur_graph_free(&c.graph);
    free(c.is_told);
}

void mur_findings_free(struct mur_status_findings *findings)
{
    for (int i = 0; i < findings->count; i++) {
        free(findings->items[i].ranks);
        free(findings->items[i].text);
    }
    free(findings->items);
}
