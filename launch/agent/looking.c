/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at the ranks of this host when mpiexec asks (MUR_FRAME_LOOK): each is told of by a MUR_FRAME_STATE.
 *
 * Their memory is read from outside (boot/look.h), so what they do does not matter, nor whether they run at all.
 * Whether a rank computes takes two looks, and a wait describes itself only after MUR_LOOK_WAIT_MS: so ranks that are
 * not understood yet are looked at again, a few times. Nothing happens here while nobody asks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "boot/calls.h"
#include "boot/job.h"
#include "launch/agent/inside.h"
#include "launch/status/state.h"

enum {
    LOOK_AGAIN_MS = 60,
    LOOKS_MOST = 4,        /* at a rank: then it is told what is known. More than MUR_LOOK_WAIT_MS in all */
    BETWEEN_RESTS_MS = 20, /* a rank that rests again and again still waits */
};
_Static_assert(LOOK_AGAIN_MS *(LOOKS_MOST - 1) > MUR_LOOK_WAIT_MS + LOOK_AGAIN_MS, "waits are described by then");
_Static_assert(sizeof(struct mur_rank_state) <= sizeof((struct mur_tree_frame *)0)->text, "a state is a frame's text");

/* One look at a rank. */
struct sight {
    struct mur_look look;
    uint32_t word; /* of the call */
    struct mur_counters counters;
};

bool mur_agent_read_memory(pid_t pid, uint64_t address, void *out, size_t bytes)
{
    struct iovec local = {.iov_base = out, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = bytes};
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

    if (got >= 0 && (size_t)got != bytes)
        errno = EFAULT;
    return got >= 0 && (size_t)got == bytes;
}

/* Copies the rank's description, and again if it was written meanwhile. A rank that was stopped in the middle of that
 * has none: its wait counts as one that is not described. */
static bool read_look(pid_t pid, uint64_t address, struct mur_look *look)
{
    for (int tries = 0; tries < 3; tries++) {
        uint32_t after;

        if (!mur_agent_read_memory(pid, address, look, sizeof *look) ||
            !mur_agent_read_memory(pid, address + offsetof(struct mur_look, version), &after, sizeof after))
            return false;
        if (look->version == after && !(after & 1))
            return true;
    }
    look->described = 0;
    return true;
}

static bool is_known(const struct mur_look *look)
{
    return look->form == MUR_LOOK_FORM && look->calls == MUR_CALLS_VERSION && look->bytes == sizeof *look;
}

/* A process that this agent does not see by its number may be another one. */
static bool read_sight(pid_t pid, uint64_t address, struct sight *sight)
{
    if (!read_look(pid, address, &sight->look))
        return false;
    if (!is_known(&sight->look)) {
        errno = ESRCH;
        return false;
    }
    if (!sight->look.call_at)
        return true; /* it is still starting */
    return mur_agent_read_memory(pid, sight->look.call_at, &sight->word, sizeof sight->word) &&
           mur_agent_read_memory(pid, sight->look.counters_at, &sight->counters, sizeof sight->counters);
}

/* State and CPU time of a process; false: it is not there. */
static bool read_process(pid_t pid, struct mur_rank_state *state)
{
    char path[40], line[1024], *end;
    unsigned long long user = 0, system = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL; /* a name may hold anything */
    if (file)
        fclose(file);
    if (!end ||
        sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &state->process, &user, &system) != 3)
        return false;
    state->cpu_ms = (int64_t)((user + system) * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK));
    return true;
}

static int64_t ms_between(uint64_t from, uint64_t to)
{
    return to > from ? (int64_t)((to - from) / 1000000) : 0;
}

/* Programs choose names, which are shown on terminals. */
static void clean_name(char name[MUR_LOOK_NAME])
{
    name[MUR_LOOK_NAME - 1] = '\0';
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
}

static void copy_description(struct mur_rank_state *state, const struct mur_look *look)
{
    state->is_any = look->is_any != 0;
    state->wait_count = look->wait_count;
    state->shown = (uint16_t)(look->wait_count < MUR_LOOK_WAITS ? look->wait_count : MUR_LOOK_WAITS);
    memcpy(state->waits, look->waits, state->shown * sizeof state->waits[0]);
    for (int i = 0; i < state->shown; i++)
        clean_name(state->waits[i].name);
    state->message_count = look->message_count;
    state->hold_count = look->hold_count;
    memcpy(state->messages, look->messages, sizeof state->messages);
    memcpy(state->holds, look->holds, sizeof state->holds);
}

static void copy_counters(struct mur_rank_state *state, const struct sight *sight, uint64_t now)
{
    const struct mur_counters *c = &sight->counters;

    state->age_ms = ms_between(sight->look.began, now);
    state->rest_ms = (int64_t)(c->sleep_ns / 1000000);
    if (sight->look.since && !sight->look.until)
        state->rest_ms += ms_between(sight->look.slept, now);
    state->sends = c->eager_sends + c->rendezvous_sends;
    state->send_bytes = c->eager_send_bytes + c->rendezvous_send_bytes;
    state->receives = c->eager_receives + c->rendezvous_receives;
    state->receive_bytes = c->eager_receive_bytes + c->rendezvous_receive_bytes;
    for (int i = 0; i < MUR_COUNTED_KINDS; i++)
        state->collectives += c->collectives[i];
    state->puts = c->puts;
    state->put_bytes = c->put_bytes;
    state->gets = c->gets;
    state->get_bytes = c->get_bytes;
}

/* A rest, or the time between two rests of one wait. */
static bool is_waiting(const struct sight *sight, uint64_t now)
{
    const struct mur_look *look = &sight->look;

    if (!look->since || !look->until)
        return look->since != 0;
    return look->described >= look->since && sight->word == (2 * look->call | MUR_LOOK_INSIDE) &&
           ms_between(look->until, now) < BETWEEN_RESTS_MS;
}

/* Understands what the looks show; false: another one is needed. */
static bool understand(struct mur_agent_rank *rank, const struct sight *sight, struct mur_rank_state *state)
{
    const struct mur_look *look = &sight->look;
    uint64_t now = mur_clock_ns();
    bool is_first = rank->looks == 1, is_inside = sight->word & MUR_LOOK_INSIDE;
    bool has_moved = !is_first && (sight->word != rank->word || sight->counters.passes != rank->passes);

    copy_counters(state, sight, now);
    if (!look->call_at) {
        state->kind = MUR_STATE_STARTING;
        return true;
    }
    if (is_waiting(sight, now)) {
        state->kind = MUR_STATE_WAITING;
        state->call = look->call;
        state->since_ms = ms_between(look->since, now);
        if (look->described >= look->since)
            copy_description(state, look);
        return look->described >= look->since;
    }
    rank->has_moved |= has_moved;
    rank->word = sight->word;
    rank->passes = sight->counters.passes;
    state->call = sight->word / 2;
    state->since_ms = ms_between(look->since ? look->until : look->began, now);
    state->kind = rank->has_moved ? MUR_STATE_BUSY : is_inside ? MUR_STATE_INSIDE : MUR_STATE_COMPUTING;
    return !is_first && !is_inside && !rank->has_moved;
}

/* Looks once; true: the state is known. */
static bool look_at(struct mur_agent_rank *rank, struct mur_rank_state *state, struct sight *sight)
{
    pid_t pid = rank->program ? rank->program : rank->pid;

    *state = (struct mur_rank_state){.kind = MUR_STATE_ENDED, .pid = pid};
    if (!rank->pid || !read_process(pid, state))
        return true;
    state->kind = MUR_STATE_OUTSIDE;
    if (!rank->is_in_mpi)
        return true;
    state->kind = MUR_STATE_UNREADABLE;
    if (!rank->look.address)
        return true;
    rank->looks++;
    if (read_sight(pid, rank->look.address, sight))
        return understand(rank, sight, state) || rank->looks >= LOOKS_MOST;
    state->error = errno;
    return true;
}

static void tell(const struct mur_agent_rank *rank, const struct mur_rank_state *state, const struct mur_look *look)
{
    struct mur_tree_frame frame = {
        .kind = MUR_FRAME_STATE, .rank = rank->number, .code = rank->agent->question, .pid = state->pid};

    frame.length = (uint16_t)mur_state_bytes(state);
    memcpy(frame.text, state, frame.length);
    if (rank->agent->wants_traffic && state->kind > MUR_STATE_UNREADABLE)
        mur_agent_tell_traffic(rank, state->pid, look);
    mur_agent_report(rank->agent, &frame);
}

/* A round over all ranks that are not told of yet. */
void mur_agent_look_again(void *owner)
{
    struct mur_agent *agent = owner;
    static struct sight sight;
    struct mur_rank_state state;
    bool is_over = true;

    for (int i = 0; i < agent->count; i++) {
        struct mur_agent_rank *rank = &agent->ranks[i];

        if (!rank->agent || rank->is_told)
            continue; /* a rank that has not been started is told of by what hindered it */
        rank->is_told = look_at(rank, &state, &sight);
        is_over &= rank->is_told;
        if (rank->is_told)
            tell(rank, &state, &sight.look);
    }
    if (!is_over)
        mur_timer_set(&agent->sight_timer, LOOK_AGAIN_MS);
}

void mur_agent_look(struct mur_agent *agent, int question, bool wants_traffic)
{
    agent->question = question;
    agent->wants_traffic = wants_traffic;
    for (int i = 0; i < agent->count; i++) {
        agent->ranks[i].is_told = agent->ranks[i].has_moved = false;
        agent->ranks[i].looks = 0;
    }
    mur_agent_look_again(agent);
}

void mur_agent_note_look(struct mur_agent_rank *rank, const char *text, size_t bytes)
{
    struct mur_control_look look;

    rank->look.address = 0;
    if (bytes != sizeof look)
        return;
    memcpy(&look, text, sizeof look);
    if (look.form == MUR_LOOK_FORM && look.calls == MUR_CALLS_VERSION && look.bytes == sizeof(struct mur_look))
        rank->look = look;
}
