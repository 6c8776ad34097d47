/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "launch/loop.h"
#include "launch/status/findings.h"
#include "launch/status/report.h"
#include "launch/status/words.h"

static const char *const state_names[MUR_STATE_KINDS] = {
    [MUR_STATE_UNKNOWN] = "unknown",       [MUR_STATE_ENDED] = "ended",
    [MUR_STATE_OUTSIDE] = "outside",       [MUR_STATE_STARTING] = "starting",
    [MUR_STATE_UNREADABLE] = "unreadable", [MUR_STATE_COMPUTING] = "computing",
    [MUR_STATE_INSIDE] = "inside",         [MUR_STATE_BUSY] = "busy",
    [MUR_STATE_WAITING] = "waiting",
};

static const char *const wait_names[MUR_WAIT_KINDS] = {
    [MUR_WAIT_OTHER] = "other",
    [MUR_WAIT_SEND] = "send",
    [MUR_WAIT_RECEIVE] = "receive",
    [MUR_WAIT_PROBE] = "probe",
    [MUR_WAIT_COLLECTIVE] = "collective",
    [MUR_WAIT_LOCK] = "lock",
    [MUR_WAIT_FLUSH] = "flush",
    [MUR_WAIT_POSTS] = "post",
    [MUR_WAIT_COMPLETES] = "complete",
    [MUR_WAIT_FILE_LOCK] = "file lock",
    [MUR_WAIT_FILE] = "file",
    [MUR_WAIT_MEETING] = "other job",
    [MUR_WAIT_ENDING] = "ending",
};

/* Bytes that are not ASCII pass as they are: names are UTF-8 where they are anything. */
static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

/* A rank, or null: none; "any" and "foreign" are words. */
static void write_peer(FILE *out, const char *name, int rank)
{
    fprintf(out, ",\"%s\":", name);
    if (rank == MUR_LOOK_ANY)
        fputs("\"any\"", out);
    else if (rank == MUR_LOOK_FOREIGN)
        fputs("\"foreign\"", out);
    else if (rank < 0)
        fputs("null", out);
    else
        fprintf(out, "%d", rank);
}

static void write_wait(FILE *out, const struct mur_look_wait *wait)
{
    fprintf(out, "{\"for\":\"%s\",\"communicator\":{\"name\":",
            wait->kind < MUR_WAIT_KINDS ? wait_names[wait->kind] : "other");
    write_string(out, wait->name);
    fprintf(out, ",\"context\":%u,\"size\":%d}", wait->context, wait->size);
    write_peer(out, "peer", wait->peer);
    write_peer(out, "rank", wait->process);
    write_peer(out, "tag", wait->tag);
    write_peer(out, "holder", wait->holder);
    if (wait->bytes != MUR_LOOK_NONE)
        fprintf(out, ",\"bytes\":%" PRId64, wait->bytes);
    if (wait->number)
        fprintf(out, ",\"number\":%" PRIu64, wait->number);
    if (wait->round != MUR_LOOK_NONE)
        fprintf(out, ",\"round\":%d", wait->round + 1);
    fprintf(out, ",\"missing_count\":%d,\"missing\":[", wait->missing_count);
    for (int i = 0; i < wait->missing_count && i < MUR_LOOK_MISSING; i++)
        if (wait->missing[i] >= 0)
            fprintf(out, "%s%d", i ? "," : "", wait->missing[i]);
        else
            fprintf(out, "%s\"foreign\"", i ? "," : "");
    fputs("]}", out);
}

static void write_waits(FILE *out, const struct mur_rank_state *state)
{
    fprintf(out, ",\"wait_count\":%u,\"one_is_enough\":%s,\"waits\":[", state->wait_count,
            state->is_any ? "true" : "false");
    for (int i = 0; i < state->shown; i++) {
        fputs(i ? "," : "", out);
        write_wait(out, &state->waits[i]);
    }
    fprintf(out, "],\"unexpected_count\":%u,\"unexpected\":[", state->message_count);
    for (uint32_t i = 0; i < state->message_count && i < MUR_LOOK_MESSAGES; i++)
        fprintf(out, "%s{\"context\":%u,\"peer\":%d,\"tag\":%d,\"bytes\":%" PRId64 "}", i ? "," : "",
                state->messages[i].context, state->messages[i].source, state->messages[i].tag,
                state->messages[i].bytes);
    fputs("],\"locks\":[", out);
    for (uint32_t i = 0; i < state->hold_count && i < MUR_LOOK_HOLDS; i++)
        fprintf(out, "%s{\"context\":%u,\"peer\":%d,\"exclusive\":%s}", i ? "," : "", state->holds[i].context,
                state->holds[i].rank, state->holds[i].is_exclusive ? "true" : "false");
    fputc(']', out);
}

static void write_rank(FILE *out, const struct mur_sample *sample, int rank)
{
    const struct mur_rank_state *state = &sample->states[rank];
    const char *call = mur_words_call(state);

    fprintf(out, "{\"rank\":%d,\"host\":", rank);
    write_string(out, mur_jobspec_host(sample->job, rank));
    fprintf(out, ",\"pid\":%d,\"state\":\"%s\",\"stopped\":%s,\"process\":\"%c\",\"call\":", state->pid,
            state_names[state->kind], mur_state_is_stopped(state) ? "true" : "false",
            state->process >= 'A' && state->process <= 'z' ? state->process : '?');
    if (call)
        write_string(out, call);
    else
        fputs("null", out);
    fprintf(out,
            ",\"since_ms\":%" PRId64 ",\"in_mpi_ms\":%" PRId64 ",\"resting_ms\":%" PRId64 ",\"resting_share\":%.4f"
            ",\"cpu_ms\":%" PRId64,
            state->since_ms, state->age_ms, state->rest_ms,
            state->age_ms > 0 ? (double)state->rest_ms / (double)state->age_ms : 0.0, state->cpu_ms);
    fprintf(out,
            ",\"sends\":%" PRIu64 ",\"send_bytes\":%" PRIu64 ",\"receives\":%" PRIu64 ",\"receive_bytes\":%" PRIu64
            ",\"collectives\":%" PRIu64 ",\"puts\":%" PRIu64 ",\"put_bytes\":%" PRIu64 ",\"gets\":%" PRIu64
            ",\"get_bytes\":%" PRIu64,
            state->sends, state->send_bytes, state->receives, state->receive_bytes, state->collectives, state->puts,
            state->put_bytes, state->gets, state->get_bytes);
    if (state->kind == MUR_STATE_WAITING)
        write_waits(out, state);
    fputc('}', out);
}

static void write_findings(FILE *out, const struct mur_sample *sample)
{
    struct mur_status_findings findings;

    mur_findings_make(&findings, sample);
    for (int i = 0; i < findings.count; i++) {
        const struct mur_status_finding *finding = &findings.items[i];

        fprintf(out, "%s{\"kind\":\"%s\",\"ranks\":[", i ? "," : "", finding->kind);
        for (int k = 0; k < finding->count; k++)
            fprintf(out, "%s%d", k ? "," : "", finding->ranks[k]);
        fputs("],\"text\":", out);
        write_string(out, finding->text);
        fputc('}', out);
    }
    mur_findings_free(&findings);
}

char *mur_status_json(const struct mur_sample *sample)
{
    char *text;
    size_t bytes;
    FILE *out = mur_text_open(&text, &bytes);

    fputs("{\"job\":", out);
    write_string(out, sample->job->id);
    fprintf(out, ",\"size\":%d,\"age_ms\":%" PRId64 ",\"ranks\":[", sample->job->size,
            mur_loop_now() - sample->started_at);
    for (int rank = 0; rank < sample->job->size; rank++) {
        fputs(rank ? "," : "", out);
        write_rank(out, sample, rank);
    }
    fputs("],\"traffic\":[", out);
    for (int i = 0; i < sample->flow_count; i++) {
        const struct mur_rank_traffic *traffic = &sample->flows[i].traffic;

        fprintf(out, "%s{\"from\":%d,\"to\":%d,\"path_bytes\":%" PRIu64 ",\"large\":%u,\"large_bytes\":%" PRIu64 "}",
                i ? "," : "", sample->flows[i].from, traffic->to, traffic->path_bytes, traffic->large,
                traffic->large_bytes);
    }
    fputs("],\"findings\":[", out);
    write_findings(out, sample);
    fputs("]}\n", out);
    fclose(out);
    return text;
}
