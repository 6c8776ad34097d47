/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/status/words.h"

#include <inttypes.h>
#include <string.h>

#include "boot/calls.h"
#include "launch/say.h"

enum { RANGES_SHOWN = 24, WAITS_SHOWN = 3 };

FILE *mur_text_open(char **text, size_t *bytes)
{
    FILE *out = open_memstream(text, bytes);

    if (!out)
        mur_quit(MUR_EXIT_TROUBLE, "no memory for a text");
    return out;
}

const char *mur_words_call(const struct mur_rank_state *state)
{
    return state->call < MUR_CALL_NUMBERS ? mur_call_names[state->call] : NULL;
}

void mur_words_comm(FILE *out, const struct mur_look_wait *wait)
{
    if (wait->name[0])
        fprintf(out, "%s", wait->name);
    else
        fprintf(out, "a communicator of %d rank%s (context %u)", wait->size, wait->size == 1 ? "" : "s", wait->context);
}

void mur_words_ranks(FILE *out, const bool *is_set, int count)
{
    int ranges = 0, last;

    for (int i = 0; i < count; i = last + 1) {
        last = i;
        if (!is_set[i])
            continue;
        while (last + 1 < count && is_set[last + 1])
            last++;
        if (ranges++ == RANGES_SHOWN) {
            fputs(" ...", out);
            return;
        }
        fprintf(out, last > i + 1 ? "%s%d-%d" : last > i ? "%s%d,%d" : "%s%d", ranges > 1 ? "," : "", i, last);
    }
}

void mur_words_time(FILE *out, int64_t ms)
{
    if (ms < 10000)
        fprintf(out, "%.1f s", (double)ms / 1000);
    else if (ms < 600000)
        fprintf(out, "%" PRId64 " s", ms / 1000);
    else if (ms < 36000000)
        fprintf(out, "%" PRId64 " min", ms / 60000);
    else
        fprintf(out, "%" PRId64 " h", ms / 3600000);
}

/* "5", or "2 (5 of the job)" where the communicator numbers its ranks in another way. */
static void write_peer(FILE *out, const struct mur_look_wait *wait)
{
    if (wait->peer == MUR_LOOK_ANY)
        fputs("any rank", out);
    else if (wait->process == MUR_LOOK_FOREIGN)
        fprintf(out, "%d (a process of another job)", wait->peer);
    else if (wait->process >= 0 && wait->process != wait->peer)
        fprintf(out, "%d (%d of the job)", wait->peer, wait->process);
    else
        fprintf(out, "%d", wait->peer);
}

static void write_message(FILE *out, const struct mur_look_wait *wait)
{
    if (wait->tag == MUR_LOOK_ANY)
        fputs(", any tag", out);
    else
        fprintf(out, ", tag %d", wait->tag);
    if (wait->bytes != MUR_LOOK_NONE)
        fprintf(out, ", %s%" PRId64 " bytes", wait->kind == MUR_WAIT_RECEIVE ? "at most " : "", wait->bytes);
    fputs(", on ", out);
    mur_words_comm(out, wait);
}

/* The ranks that something lacks, as ranks of the job. */
static void write_missing(FILE *out, const struct mur_look_wait *wait)
{
    int known = wait->missing_count < MUR_LOOK_MISSING ? wait->missing_count : MUR_LOOK_MISSING;

    for (int i = 0; i < known; i++) {
        fputs(i ? "," : known > 1 ? "ranks " : "rank ", out);
        if (wait->missing[i] == MUR_LOOK_FOREIGN)
            fputs("of another job", out);
        else
            fprintf(out, "%d", wait->missing[i]);
    }
    if (wait->missing_count > known)
        fprintf(out, " and %d more", wait->missing_count - known);
}

/* Which one it is, after a word that says what. */
static void write_collective(FILE *out, const struct mur_look_wait *wait)
{
    fputs(" on ", out);
    mur_words_comm(out, wait);
    if (wait->number)
        fprintf(out, " (call %" PRIu64, wait->number);
    if (wait->round != MUR_LOOK_NONE)
        fprintf(out, "%sround %d", wait->number ? ", " : " (", wait->round + 1);
    if (wait->number || wait->round != MUR_LOOK_NONE)
        fputs(")", out);
    if (wait->missing_count) {
        fputs(", for ", out);
        write_missing(out, wait);
    }
}

static void write_window(FILE *out, const struct mur_look_wait *wait)
{
    if (wait->name[0])
        fprintf(out, "window '%s'", wait->name);
    else
        fprintf(out, "a window of %d rank%s (context %u)", wait->size, wait->size == 1 ? "" : "s", wait->context);
}

static void write_lock(FILE *out, const struct mur_look_wait *wait)
{
    fputs("the lock of rank ", out);
    write_peer(out, wait);
    fputs(" of ", out);
    write_window(out, wait);
    if (wait->holder != MUR_LOOK_NONE)
        fprintf(out, ", which its rank %d holds", wait->holder);
}

static void write_file(FILE *out, const struct mur_look_wait *wait)
{
    fprintf(out, "file '%s'", wait->name);
    if (wait->missing_count) {
        fputs(", where it lacks ", out);
        write_missing(out, wait);
    }
}

void mur_words_wait(FILE *out, const struct mur_look_wait *wait)
{
    static const char *const what[MUR_WAIT_KINDS] = {
        [MUR_WAIT_OTHER] = "what it has started, on ",
        [MUR_WAIT_FLUSH] = "its operations on ",
        [MUR_WAIT_COMPLETES] = "MPI_Win_complete of others, on ",
        [MUR_WAIT_COLLECTIVE] = "a collective",
        [MUR_WAIT_POSTS] = "MPI_Win_post of rank ",
        [MUR_WAIT_RECEIVE] = "a message from ",
        [MUR_WAIT_PROBE] = "a message from ",
        [MUR_WAIT_SEND] = "its message to be taken by ",
        [MUR_WAIT_MEETING] = "a process of another job",
        [MUR_WAIT_ENDING] = "what others still need of it",
        [MUR_WAIT_FILE_LOCK] = "a lock of ",
    };

    if (wait->kind >= MUR_WAIT_KINDS)
        return;
    if (what[wait->kind])
        fputs(what[wait->kind], out);
    switch (wait->kind) {
    case MUR_WAIT_SEND:
    case MUR_WAIT_RECEIVE:
    case MUR_WAIT_PROBE:
        write_peer(out, wait);
        write_message(out, wait);
        break;
    case MUR_WAIT_COLLECTIVE:
        write_collective(out, wait);
        break;
    case MUR_WAIT_LOCK:
        write_lock(out, wait);
        break;
    case MUR_WAIT_POSTS:
        write_peer(out, wait);
        fputs(", on ", out);
        write_window(out, wait);
        break;
    case MUR_WAIT_FLUSH:
    case MUR_WAIT_COMPLETES:
        write_window(out, wait);
        break;
    case MUR_WAIT_FILE_LOCK:
    case MUR_WAIT_FILE:
        write_file(out, wait);
        if (wait->holder != MUR_LOOK_NONE)
            fprintf(out, ", which process %d holds", wait->holder);
        break;
    case MUR_WAIT_MEETING:
        break;
    case MUR_WAIT_ENDING:
        if (wait->missing_count)
            fputs(", ", out);
        write_missing(out, wait);
        break;
    default:
        mur_words_comm(out, wait);
        break;
    }
}

static void write_waits(FILE *out, const struct mur_rank_state *state)
{
    int shown = state->shown < WAITS_SHOWN ? state->shown : WAITS_SHOWN;

    if (!shown)
        return;
    if (state->wait_count == 1 && state->waits[0].kind == MUR_WAIT_COLLECTIVE) {
        write_collective(out, &state->waits[0]);
        return;
    }
    fputs(", for ", out);
    if (state->wait_count > 1)
        fprintf(out, state->is_any ? "one of %u things: " : "%u things: ", state->wait_count);
    for (int i = 0; i < shown; i++) {
        fputs(i ? "; " : "", out);
        mur_words_wait(out, &state->waits[i]);
    }
    if ((int)state->wait_count > shown)
        fputs("; ...", out);
}

void mur_words_short(FILE *out, const struct mur_rank_state *state)
{
    const char *call = mur_words_call(state);

    fprintf(out, "in %s", call ? call : "MPI");
    if (state->shown == 1 && state->waits[0].size) {
        fputs(" on ", out);
        mur_words_comm(out, &state->waits[0]);
    }
}

void mur_words_since(FILE *out, const struct mur_rank_state *state)
{
    if (state->kind != MUR_STATE_WAITING && state->kind != MUR_STATE_COMPUTING)
        return;
    fputs(state->kind == MUR_STATE_WAITING ? ", " : ", since at most ", out);
    mur_words_time(out, state->since_ms);
}

void mur_words_state(FILE *out, const struct mur_rank_state *state)
{
    const char *call = mur_words_call(state);

    switch (state->kind) {
    case MUR_STATE_ENDED:
        fputs("gone: it has ended", out);
        break;
    case MUR_STATE_OUTSIDE:
        fputs("not in MPI", out);
        break;
    case MUR_STATE_STARTING:
        fputs("in MPI_Init", out);
        break;
    case MUR_STATE_UNREADABLE:
        fputs("in MPI, but its memory cannot be read: ", out);
        fputs(state->error ? strerror(state->error) : "it is of another version", out);
        break;
    case MUR_STATE_COMPUTING:
        fputs(state->process == 'R'   ? "computing"
              : state->process == 'D' ? "outside MPI, waiting for the system"
              : state->process == 'S' ? "outside MPI, at rest"
                                      : "outside MPI",
              out);
        if (call)
            fprintf(out, " (last call: %s)", call);
        break;
    case MUR_STATE_INSIDE:
        fprintf(out, "in %s, at work", call ? call : "MPI");
        break;
    case MUR_STATE_BUSY:
        fprintf(out, "in and out of MPI (last call: %s)", call ? call : "none");
        break;
    case MUR_STATE_WAITING:
        fprintf(out, "in %s", call ? call : "MPI");
        write_waits(out, state);
        break;
    default:
        fputs("unknown: its host has not answered", out);
        break;
    }
    if (mur_state_is_stopped(state))
        fputs(state->process == 'T' ? "; stopped by a signal" : "; stopped by a debugger", out);
}
