/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses CPUs for ranks: see binding.h for the rule. */
#include "launch/hosts/binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/jobspec.h"
#include "launch/say.h"

static struct mur_hardware here; /* of this machine, once mur_binding_start has found it */

/* ---- the request ---- */

/* One set of a list: 3, 1+2, 4-7, 0-1+8. */
static bool read_set(const char *text, size_t length, cpu_set_t *set, struct mur_problem *problem)
{
    const char *end = text + length;

    CPU_ZERO(set);
    for (;;) {
        const char *plus = memchr(text, '+', (size_t)(end - text));
        const char *stop = plus ? plus : end;
        const char *dash = memchr(text, '-', (size_t)(stop - text));
        int low;
        int high;

        if (!mur_number_read(text, (size_t)((dash ? dash : stop) - text), 0, CPU_SETSIZE - 1, &low) ||
            (dash && !mur_number_read(dash + 1, (size_t)(stop - dash - 1), low, CPU_SETSIZE - 1, &high)))
            return mur_problem_set(problem, "user: wants CPUs below %d for each rank, as in user:0,1+2,4-7, not '%.*s'",
                                   CPU_SETSIZE, (int)length, end - length);
        for (int cpu = low; cpu <= (dash ? high : low); cpu++)
            CPU_SET(cpu, set);
        if (!plus)
            return true;
        text = plus + 1;
    }
}

static bool read_list(struct mur_binding_request *request, const char *text, struct mur_problem *problem)
{
    request->list = NULL;
    request->list_count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        cpu_set_t set;

        if (!read_set(text, length, &set, problem))
            return false;
        request->list = mur_alloc_again(request->list, (size_t)request->list_count + 1, sizeof *request->list);
        request->list[request->list_count++] = set;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

bool mur_binding_read(struct mur_binding_request *request, const char *text, struct mur_problem *problem)
{
    int length = (int)strcspn(text, ":");
    const char *number = text[length] ? text + length + 1 : NULL;
    enum mur_part part;

    request->is_explicit = true;
    request->is_auto = false;
    if (strncmp(text, "user:", 5) == 0)
        return read_list(request, text + 5, problem);
    if (strcmp(text, "user") == 0)
        return mur_problem_set(problem, "user wants the CPUs of each rank behind it, as in user:0,1+2,4-7");
    if (strcmp(text, "auto") == 0) {
        request->is_auto = true;
        text = "core";
        length = 4;
    }
    part = mur_part_read(text, length);
    if (part == MUR_PART_COUNT)
        return mur_problem_set(problem,
                               "wants none, hwthread, core, l1cache to l5cache, numa, socket, machine, auto or "
                               "user:LIST, not '%s'",
                               text);
    request->bind = part;
    request->list = NULL;
    if (!number || strcmp(number, "overload-allowed") == 0 || strcmp(number, "if-supported") == 0)
        return true;
    if (!mur_number_read(number, strlen(number), 1, CPU_SETSIZE, &request->width))
        return mur_problem_set(problem, "wants a number of objects for each rank behind ':', not '%s'", number);
    return true;
}

/* A low and a high number out of "3" or "4-7", up to `length`. */
static bool read_range(const char *text, size_t length, int most, int *low, int *high)
{
    const char *dash = memchr(text, '-', length);
    size_t digits = dash ? (size_t)(dash - text) : length;

    return mur_number_read(text, digits, 0, most, low) &&
           mur_number_read(dash ? dash + 1 : text, dash ? length - digits - 1 : digits, *low, most, high);
}

bool mur_binding_read_cpus(struct mur_binding_request *request, const char *text, struct mur_problem *problem)
{
    request->is_explicit = true;
    request->list = NULL;
    request->list_count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        int low, high;

        if (!read_range(at, length, CPU_SETSIZE - 1, &low, &high))
            return mur_problem_set(problem, "wants CPUs below %d, as in 0,2-5, not '%s'", CPU_SETSIZE, text);
        request->list =
            mur_alloc_again(request->list, (size_t)(request->list_count + high - low + 1), sizeof *request->list);
        for (int cpu = low; cpu <= high; cpu++) {
            CPU_ZERO(&request->list[request->list_count]);
            CPU_SET(cpu, &request->list[request->list_count++]);
        }
        at += length;
        if (!*at)
            return true;
    }
}

bool mur_binding_read_limit(struct mur_binding_request *request, const char *text, struct mur_problem *problem)
{
    struct mur_binding_request read = {0};

    if (!mur_binding_read_cpus(&read, text, problem))
        return false;
    CPU_ZERO(&request->limit);
    for (int i = 0; i < read.list_count; i++)
        CPU_OR(&request->limit, &request->limit, &read.list[i]);
    free(read.list);
    request->is_limited = true;
    return true;
}

/* ---- the choice ---- */

/* A part that this machine may lack is stood for by the one that means the same on it. */
static enum mur_part present_part(const struct mur_hardware *topology, enum mur_part part)
{
    if (part == MUR_PART_CORE && topology->parts[part].count == 0)
        return MUR_PART_HWTHREAD;
    if ((part == MUR_PART_SOCKET || part == MUR_PART_NUMA) && topology->parts[part].count == 0)
        return MUR_PART_MACHINE;
    return part;
}

/* Adds to *set the `wanted`th of the sets that touch `within`, and returns how many do. */
static int add_nth(const cpu_set_t *sets, int count, const cpu_set_t *within, int wanted, cpu_set_t *set)
{
    int found = 0;

    for (int i = 0; i < count; i++) {
        cpu_set_t common;

        CPU_AND(&common, &sets[i], within);
        if (CPU_COUNT(&common) > 0 && found++ == wanted)
            CPU_OR(set, set, &sets[i]);
    }
    return found;
}

bool mur_binding_choose(const struct mur_hardware *topology, const struct mur_binding_request *request, int local_rank,
                        cpu_set_t *set)
{
    enum mur_part bind = present_part(topology, request->bind);
    enum mur_part map = present_part(topology, request->map ? request->map : MUR_PART_MACHINE);
    const cpu_set_t *sets = topology->parts[bind].sets;
    int count = topology->parts[bind].count;
    int width = request->width ? request->width : 1;
    int block = request->block ? request->block : 1;
    int maps = topology->parts[map].count;
    const cpu_set_t *within;
    int64_t turn;
    int objects;

    CPU_ZERO(set);
    if (request->list) {
        *set = request->list[local_rank % request->list_count];
        return true;
    }
    if (bind == MUR_PART_NONE || count == 0 || maps == 0)
        return false;
    if (map == bind) /* one object is all there is within it: take the next ones beside it */
        map = MUR_PART_MACHINE;
    maps = topology->parts[map].count;
    within = &topology->parts[map].sets[local_rank / block % maps];
    turn = (int64_t)(local_rank / (block * maps)) * block + local_rank % block;
    objects = add_nth(sets, count, within, -1, set);
    for (int i = 0; i < width && i < objects; i++)
        add_nth(sets, count, within, (int)((turn * width + i) % objects), set);
    return CPU_COUNT(set) > 0;
}

/* The cores `low` to `high` of those that touch `within`. */
static bool add_cores(const struct mur_hardware *topology, const cpu_set_t *within, int low, int high, cpu_set_t *set)
{
    enum mur_part core = present_part(topology, MUR_PART_CORE);
    const cpu_set_t *sets = topology->parts[core].sets;
    int count = topology->parts[core].count;

    if (high >= add_nth(sets, count, within, -1, set))
        return false;
    for (int i = low; i <= high; i++)
        add_nth(sets, count, within, i, set);
    return true;
}

bool mur_binding_read_slot(const struct mur_hardware *topology, const char *text, cpu_set_t *set)
{
    enum mur_part part = present_part(topology, MUR_PART_SOCKET);
    const cpu_set_t *within;

    CPU_ZERO(set);
    if (topology->parts[MUR_PART_MACHINE].count == 0)
        return false;
    within = &topology->parts[MUR_PART_MACHINE].sets[0];
    for (;; text++) {
        size_t length = strcspn(text, ","), before = strcspn(text, ":");
        int low, high;

        if (before < length) { /* the socket, which holds until another one comes */
            if (!mur_number_read(text, before, 0, topology->parts[part].count - 1, &low))
                return false;
            within = &topology->parts[part].sets[low];
            text += before + 1;
            length -= before + 1;
        }
        if (length == 1 && *text == '*')
            CPU_OR(set, set, within);
        else if (!read_range(text, length, CPU_SETSIZE, &low, &high) || !add_cores(topology, within, low, high, set))
            return false;
        text += length;
        if (!*text)
            return true;
    }
}

static bool has_parts_for(const struct mur_binding_request *request, int ranks)
{
    enum mur_part bind = present_part(&here, request->bind);

    return (int64_t)ranks * (request->width ? request->width : 1) <= here.parts[bind].count;
}

bool mur_binding_of(const struct mur_jobspec *job, int rank, cpu_set_t *set)
{
    const struct mur_binding_request *request = &job->binding;

    if (rank < request->slot_count)
        return request->slots[rank] && mur_binding_read_slot(&here, request->slots[rank], set);
    if (request->is_auto && !has_parts_for(request, job->hosts.items[job->node_of[rank]].ranks))
        return false;
    return mur_binding_choose(&here, request, job->local_of[rank], set);
}

/* ---- once a process ---- */

const char *mur_binding_text(const cpu_set_t *set, char *text, int size)
{
    int length = 0;

    text[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE && length < size; cpu++) {
        int first = cpu;

        if (!CPU_ISSET(cpu, set))
            continue;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set))
            cpu++;
        length += snprintf(text + length, (size_t)(size - length), "%s%d", length ? "," : "", first);
        if (cpu > first && length < size)
            length += snprintf(text + length, (size_t)(size - length), "-%d", cpu);
    }
    return text;
}

static bool check_list(const struct mur_binding_request *request, struct mur_problem *problem)
{
    char text[256];
    cpu_set_t mask;

    if (sched_getaffinity(0, sizeof mask, &mask) < 0)
        return mur_problem_set(problem, "binding knows machines of up to %d CPUs only", CPU_SETSIZE);
    for (int i = 0; i < request->list_count; i++) {
        cpu_set_t common;

        CPU_AND(&common, &request->list[i], &mask);
        if (!CPU_EQUAL(&common, &request->list[i]))
            return mur_problem_set(problem, "-bind-to user: names CPUs %s, but this process may use %s only",
                                   mur_binding_text(&request->list[i], (char[256]){0}, 256),
                                   mur_binding_text(&mask, text, sizeof text));
    }
    return true;
}

static bool check_parts(const struct mur_binding_request *request, struct mur_problem *problem)
{
    enum mur_part parts[] = {present_part(&here, request->bind), present_part(&here, request->map)};

    for (int i = 0; i < 2; i++)
        if (parts[i] != MUR_PART_NONE && here.parts[parts[i]].count == 0)
            return mur_problem_set(problem, "this machine has no %s to %s", mur_part_name(parts[i]),
                                   i == 0 ? "bind ranks to" : "map ranks by");
    return true;
}

/* Ranks that share what they are bound to run at a fraction of their speed: nobody wants that unknowingly. */
static void note_sharing(const struct mur_jobspec *job, int node)
{
    int ranks = job->hosts.items[node].ranks;
    enum mur_part bind = present_part(&here, job->binding.bind);
    int width = job->binding.width ? job->binding.width : 1;

    if ((bind == MUR_PART_CORE || bind == MUR_PART_HWTHREAD) && !job->binding.is_auto)
        if ((int64_t)ranks * width > here.parts[bind].count)
            mur_say("note: %d ranks with %d %s%s each share the %d of %s", ranks, width, mur_part_name(bind),
                    width == 1 ? "" : "s", here.parts[bind].count, job->hosts.items[node].name);
}

static void report(const struct mur_jobspec *job, int node)
{
    for (int rank = 0; rank < job->size; rank++) {
        char text[512];
        cpu_set_t set;

        if (job->node_of[rank] != node)
            continue;
        if (mur_binding_of(job, rank, &set))
            mur_say("rank %d on %s is bound to CPU%s %s", rank, job->hosts.items[node].name,
                    CPU_COUNT(&set) == 1 ? "" : "s", mur_binding_text(&set, text, sizeof text));
        else
            mur_say("rank %d on %s is not bound", rank, job->hosts.items[node].name);
    }
}

static bool check_slots(const struct mur_jobspec *job, int node, struct mur_problem *problem)
{
    for (int rank = 0; rank < job->size && rank < job->binding.slot_count; rank++) {
        const char *slot = job->binding.slots[rank];
        cpu_set_t set;

        if (job->node_of[rank] == node && slot && !mur_binding_read_slot(&here, slot, &set))
            return mur_problem_set(problem, "-rankfile gives rank %d slot=%s, which %s does not have", rank, slot,
                                   job->hosts.items[node].name);
    }
    return true;
}

/* For this process, and so for the ranks that it will start. */
static bool set_limit(const struct mur_binding_request *request, struct mur_problem *problem)
{
    char text[256];

    if (sched_setaffinity(0, sizeof request->limit, &request->limit) == 0)
        return true;
    return mur_problem_set(problem, "-cpu-set: this process may use none of the CPUs %s",
                           mur_binding_text(&request->limit, text, sizeof text));
}

bool mur_binding_start(const struct mur_jobspec *job, int node, struct mur_problem *problem)
{
    const struct mur_binding_request *request = &job->binding;

    if (request->is_limited && !set_limit(request, problem))
        return false;
    if (request->slot_count) {
        if (!mur_topology_load(&here, problem) || !check_slots(job, node, problem))
            return false;
    } else if (request->list) {
        if (!check_list(request, problem))
            return false;
    } else if (request->bind != MUR_PART_NONE) {
        if (!mur_topology_load(&here, problem) || !check_parts(request, problem))
            return false;
        note_sharing(job, node);
    }
    if (request->is_reported)
        report(job, node);
    return true;
}
