/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the hosts, then walks over them rank by rank: see placement.h for the rules. */
#include "launch/hosts/placement.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/hosts/managers.h"
#include "launch/hosts/rankfile.h"
#include "launch/say.h"

struct placement {
    struct mur_jobspec *job;
    struct mur_hosts all;
    const char *source;         /* of the list, for messages; NULL: there is none, and the only host is this machine */
    int *used;                  /* ranks on each host */
    struct mur_rankfile places; /* of -rankfile or -rankmap; empty: there is none */
    bool may_crowd;
    mur_part_counter *counter;
    struct mur_problem *problem;
};

struct choice { /* the hosts that the ranks of a context may run on, as indices */
    int *hosts;
    int count;
    int next;     /* whose turn it is */
    int64_t laps; /* how often every host offers its slots */
};

/* ---- the hosts ---- */

static int own_cpus(void)
{
    cpu_set_t mask;

    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

/* Whether the name of -host means this host of the list: without a port or user it means any of that name. */
static bool is_meant(const struct mur_host *named, const struct mur_host *host)
{
    if (named->is_local && host->is_local)
        return true;
    return strcmp(named->name, host->name) == 0 && (!named->port || named->port == host->port) &&
           (!named->user || (host->user && strcmp(named->user, host->user) == 0));
}

/* Every host that a context's -host names must be in the file, which may then offer less than written there. */
static bool check_named(struct placement *placement, const struct mur_hosts *named)
{
    for (int i = 0; i < named->count; i++) {
        bool is_found = false;

        for (int k = 0; k < placement->all.count; k++) {
            if (!is_meant(&named->items[i], &placement->all.items[k]))
                continue;
            is_found = true;
            if (named->items[i].has_slots)
                placement->all.items[k].slots = named->items[i].slots;
        }
        if (!is_found)
            return mur_problem_set(placement->problem, "-host names %s, which is not in %s", named->items[i].name,
                                   placement->source);
    }
    return true;
}

static void find_local(struct placement *placement, struct mur_hosts *hosts)
{
    mur_hosts_find_local(hosts, placement->job->host);
    for (int i = 0; i < hosts->count; i++)
        hosts->items[i].is_local &= !placement->job->launcher.is_for_local;
}

static bool add_own(struct placement *placement)
{
    struct mur_host own = {.name = placement->job->host, .slots = own_cpus(), .has_slots = true};

    placement->source = NULL;
    if (!mur_hosts_add(&placement->all, &own, placement->problem))
        return false;
    placement->all.items[0].is_local = true;
    return true;
}

static bool collect_named(struct placement *placement, bool *has_names)
{
    struct mur_jobspec *job = placement->job;
    struct mur_hosts *all = &placement->all;

    *has_names = false;
    for (int i = 0; i < job->context_count; i++)
        *has_names |= job->contexts[i].hosts.count > 0;
    if (job->placing.hostfile) {
        placement->source = job->placing.hostfile;
        return mur_hosts_add_file(all, job->placing.hostfile, placement->problem);
    }
    if (*has_names)
        placement->source = "-host";
    else if (placement->places.count && placement->places.has_names) {
        placement->source = job->placing.rank_file;
        return mur_rankfile_hosts(&placement->places, all, placement->problem);
    }
    for (int i = 0; i < job->context_count; i++)
        for (int k = 0; k < job->contexts[i].hosts.count; k++)
            if (!mur_hosts_add(all, &job->contexts[i].hosts.items[k], placement->problem))
                return false;
    return true;
}

static bool collect(struct placement *placement)
{
    struct mur_jobspec *job = placement->job;
    struct mur_problem *problem = placement->problem;
    bool has_names;

    if (job->placing.only_local)
        return add_own(placement);
    if (!collect_named(placement, &has_names))
        return false;
    if (!placement->source && !mur_hosts_from_settings(&placement->all, &placement->source, problem))
        return false;
    if (!placement->source) {
        if (!mur_hosts_from_manager(&placement->all, job->placing.manager, &placement->source, problem))
            return false;
        job->manager = placement->source;
    }
    if (!placement->source)
        return add_own(placement);
    job->has_list = true;
    find_local(placement, &placement->all);
    for (int i = 0; i < job->context_count; i++) {
        find_local(placement, &job->contexts[i].hosts);
        if (job->placing.hostfile && !check_named(placement, &job->contexts[i].hosts))
            return false;
    }
    return true;
}

/* A stable sort by insertion: hosts are few, and mostly in order. */
static void order_hosts(struct placement *placement)
{
    int sign = placement->job->placing.order == MUR_HOSTS_ASCENDING ? 1 : -1;
    struct mur_host *items = placement->all.items;

    if (placement->job->placing.order == MUR_HOSTS_AS_LISTED)
        return;
    for (int i = 1; i < placement->all.count; i++) {
        struct mur_host host = items[i];
        int k = i;

        for (; k > 0 && sign * items[k - 1].slots > sign * host.slots; k--)
            items[k] = items[k - 1];
        items[k] = host;
    }
}

/* ---- the slots ---- */

static bool is_allowed(const struct mur_context *context, const struct mur_host *host)
{
    for (int i = 0; i < context->hosts.count; i++)
        if (is_meant(&context->hosts.items[i], host))
            return true;
    return false;
}

/* Whether the options leave the host to any context. */
static bool is_wanted(const struct placement *placement, const struct mur_host *host)
{
    if (placement->job->placing.skips_local && host->is_local)
        return false;
    if (!placement->source)
        return true;
    for (int i = 0; i < placement->job->context_count; i++)
        if (!placement->job->contexts[i].hosts.count || is_allowed(&placement->job->contexts[i], host))
            return true;
    return false;
}

static bool count_own(const struct placement *placement, enum mur_part part, int *count)
{
    struct mur_hardware topology;

    if (!mur_topology_load(&topology, placement->problem))
        return false;
    *count = topology.parts[part].count;
    mur_topology_free(&topology);
    return true;
}

/* How many of a part each host has; 0 for a host that no rank may run on. */
static bool count_objects(const struct placement *placement, enum mur_part part, int *counts)
{
    const struct mur_hosts *all = &placement->all;
    bool has_others = false;

    for (int i = 0; i < all->count; i++) {
        if (!is_wanted(placement, &all->items[i]))
            continue;
        counts[i] = part == MUR_PART_MACHINE ? 1 : MUR_PART_UNKNOWN;
        if (part == MUR_PART_MACHINE)
            continue;
        if (!all->items[i].is_local)
            has_others = true;
        else if (!count_own(placement, part, &counts[i]))
            return false;
    }
    if (has_others && !placement->counter(placement->job, all, part, counts, placement->problem))
        return false;
    for (int i = 0; i < all->count; i++)
        if (counts[i] == 0 && is_wanted(placement, &all->items[i]))
            return mur_problem_set(placement->problem, "%s has no %s to map ranks by", all->items[i].name,
                                   mur_part_name(part));
    return true;
}

/* With ppr:N:OBJECT, every host takes N ranks for each. */
static bool set_object_slots(struct placement *placement)
{
    const struct mur_placing *placing = &placement->job->placing;
    int *counts = mur_alloc((size_t)placement->all.count, sizeof *counts);
    bool is_good = count_objects(placement, placing->object, counts);

    for (int i = 0; is_good && i < placement->all.count; i++) {
        if (counts[i] > MUR_SLOTS_MAX / placing->per_object)
            is_good = mur_problem_set(placement->problem, "ppr: more than %d ranks a host", MUR_SLOTS_MAX);
        else
            placement->all.items[i].slots = placing->per_object * counts[i];
    }
    free(counts);
    return is_good;
}

static bool set_slots(struct placement *placement)
{
    const struct mur_placing *placing = &placement->job->placing;

    for (int i = 0; i < placement->all.count; i++) {
        struct mur_host *host = &placement->all.items[i];

        if (!host->has_slots && placing->default_slots)
            host->slots = placing->default_slots;
        if (placing->per_host)
            host->slots = placing->per_host;
    }
    if (placing->per_object && !set_object_slots(placement))
        return false;
    for (int i = 0; i < placement->all.count; i++) {
        struct mur_host *host = &placement->all.items[i];

        if (host->max_slots && host->slots > host->max_slots)
            host->slots = host->max_slots;
    }
    /* A machine that nobody has limited takes what comes; one slot more or less is then no matter. */
    placement->may_crowd =
        placing->crowding == MUR_CROWD_ALLOWED || (placing->crowding == MUR_CROWD_UNSET && !placing->per_object);
    return true;
}

/* ---- the walk ---- */

static void choose_hosts(const struct placement *placement, const struct mur_context *context, struct choice *choice)
{
    const struct mur_placing *placing = &placement->job->placing;
    /* The list of an only context is the whole list already. */
    bool is_limited =
        placement->source && context->hosts.count && (placing->hostfile || placement->job->context_count > 1);

    *choice = (struct choice){.hosts = mur_alloc((size_t)placement->all.count, sizeof(int)), .laps = 1};
    for (int i = 0; i < placement->all.count; i++) {
        const struct mur_host *host = &placement->all.items[i];

        if ((!is_limited || is_allowed(context, host)) && !(placing->skips_local && host->is_local))
            choice->hosts[choice->count++] = i;
    }
}

static int64_t count_slots(const struct placement *placement, const struct choice *choice)
{
    int64_t slots = 0;

    for (int i = 0; i < choice->count; i++)
        slots += placement->all.items[choice->hosts[i]].slots;
    return slots;
}

static bool has_room(const struct placement *placement, int host, int64_t laps)
{
    int64_t room = placement->all.items[host].slots * laps;
    int limit = placement->all.items[host].max_slots;

    return placement->used[host] < (limit && limit < room ? limit : room);
}

/* Finds the next host with room; -1 when all offered slots are taken. */
static int find_room(const struct placement *placement, struct choice *choice)
{
    for (int tried = 0; tried < choice->count; tried++) {
        int host = choice->hosts[choice->next];

        if (has_room(placement, host, choice->laps)) {
            if (placement->job->placing.is_by_node)
                choice->next = (choice->next + 1) % choice->count;
            return host;
        }
        choice->next = (choice->next + 1) % choice->count;
    }
    return -1;
}

/* Once more around: is there a host that may take more than it has? */
static bool can_go_on(const struct placement *placement, const struct choice *choice)
{
    for (int i = 0; i < choice->count; i++) {
        int host = choice->hosts[i];

        if (has_room(placement, host, MUR_RANKS_MAX + (int64_t)1))
            return true;
    }
    return false;
}

static bool fail_full(const struct placement *placement, const struct choice *choice)
{
    const struct mur_placing *placing = &placement->job->placing;
    const char *source = placement->source ? placement->source : "the CPUs of this machine";
    const char *advice =
        "name more hosts or slots, start fewer ranks, or allow more ranks than slots by -oversubscribe";
    int64_t slots = count_slots(placement, choice);
    char hosts[32];

    snprintf(hosts, sizeof hosts, "%d host%s", choice->count, choice->count == 1 ? "" : "s");
    if (placing->per_object)
        return mur_problem_set(placement->problem,
                               "not enough slots for %d ranks: %d for each %s are %lld on %s (from %s); %s",
                               placement->job->size, placing->per_object,
                               placing->object == MUR_PART_MACHINE ? "host" : mur_part_name(placing->object),
                               (long long)slots, hosts, source, advice);
    return mur_problem_set(placement->problem,
                           "not enough slots for %d ranks: there %s %lld slot%s on %s (from %s)%s; %s",
                           placement->job->size, slots == 1 ? "is" : "are", (long long)slots, slots == 1 ? "" : "s",
                           hosts, source, placement->may_crowd && slots ? ", and max_slots allows no more" : "",
                           placement->may_crowd ? "name more hosts or slots, or start fewer ranks" : advice);
}

static bool place_context(struct placement *placement, int first, int ranks, struct choice *choice)
{
    for (int rank = first; rank < first + ranks; rank++) {
        int host = find_room(placement, choice);

        if (host < 0) {
            if (!placement->may_crowd || !can_go_on(placement, choice))
                return fail_full(placement, choice);
            choice->laps++;
            choice->next = 0;
            rank--; /* the same rank again */
            continue;
        }
        placement->used[host]++;
        placement->job->node_of[rank] = host;
    }
    return true;
}

/* -rank-by: the context keeps as many ranks on each host as it was given there, but their numbers go through the hosts
 * one after the other, or over all of them in turn. */
static void number_anew(struct placement *placement, int first, int ranks)
{
    int *node_of = placement->job->node_of, count = placement->all.count, *left, host = 0;
    bool is_in_turn = placement->job->placing.ranking == MUR_RANK_BY_NODE;

    if (placement->job->placing.ranking == MUR_RANK_AS_MAPPED)
        return;
    left = mur_alloc((size_t)count, sizeof *left);
    for (int rank = first; rank < first + ranks; rank++)
        left[node_of[rank]]++;
    for (int rank = first; rank < first + ranks; rank++) {
        while (!left[host])
            host = (host + 1) % count;
        node_of[rank] = host;
        left[host]--;
        host = is_in_turn ? (host + 1) % count : host;
    }
    free(left);
}

/* The number of ranks of a job that gives none is that of its slots, when somebody has listed hosts or slots. */
static bool set_default_ranks(struct placement *placement, const struct choice *choice)
{
    struct mur_jobspec *job = placement->job;
    int64_t slots = count_slots(placement, choice);

    if (job->context_count > 1 || job->contexts[0].has_ranks)
        return true;
    if (!placement->source && !job->placing.per_host && !job->placing.per_object)
        return true;
    if (slots < 1 || slots > MUR_RANKS_MAX)
        return mur_problem_set(placement->problem, "%s gives %lld slots; say how many ranks are wanted by -n",
                               placement->source ? placement->source : "this machine", (long long)slots);
    job->contexts[0].ranks = (int)slots;
    job->size = (int)slots;
    return true;
}

/* -rankfile and -rankmap say where each rank runs, whatever slots there are. */
static bool place_as_listed(struct placement *placement)
{
    struct mur_jobspec *job = placement->job;
    const struct mur_rankfile *places = &placement->places;

    if (job->context_count == 1 && !job->contexts[0].has_ranks)
        job->contexts[0].ranks = job->size = places->count;
    if (places->count < job->size)
        return mur_problem_set(placement->problem, "%s has places for %d ranks, and the job has %d", places->name,
                               places->count, job->size);
    job->node_of = mur_alloc((size_t)job->size, sizeof *job->node_of);
    for (int rank = 0; rank < job->size; rank++) {
        int host = mur_rankfile_find(places, rank, &placement->all, job->host, placement->problem);

        if (host < 0)
            return false;
        placement->used[host]++;
        job->node_of[rank] = host;
    }
    if (places->slots) {
        job->binding.slots = places->slots;
        job->binding.slot_count = job->size;
    }
    return true;
}

static bool place_all(struct placement *placement)
{
    struct mur_jobspec *job = placement->job;
    bool is_good = true;
    int first = 0;

    for (int i = 0; is_good && i < job->context_count; i++) {
        struct choice choice;

        choose_hosts(placement, &job->contexts[i], &choice);
        if (choice.count == 0)
            is_good = mur_problem_set(placement->problem,
                                      "-nolocal leaves no host for the ranks: %s; name some by -host or -hostfile",
                                      placement->source ? "only this machine is listed" : "no hosts are listed");
        is_good = is_good && set_default_ranks(placement, &choice);
        if (is_good && i == 0)
            job->node_of = mur_alloc((size_t)job->size, sizeof *job->node_of);
        is_good = is_good && place_context(placement, first, job->contexts[i].ranks, &choice);
        if (is_good)
            number_anew(placement, first, job->contexts[i].ranks);
        first += job->contexts[i].ranks;
        free(choice.hosts);
    }
    return is_good;
}

/* What jobs that ranks spawn may use, and how many ranks there could be in all: the slots, or more where ranks share
 * them. */
static void keep_offered(struct placement *placement)
{
    struct mur_jobspec *job = placement->job;
    struct mur_hosts *offered = &job->offered;
    int64_t universe = 0;

    offered->items = mur_alloc((size_t)placement->all.count, sizeof *offered->items);
    for (int i = 0; i < placement->all.count; i++) {
        struct mur_host host = placement->all.items[i];

        if (!is_wanted(placement, &host))
            continue;
        host.ranks = placement->used[i];
        universe += host.slots > host.ranks ? host.slots : host.ranks;
        offered->items[offered->count++] = host;
    }
    if (!job->universe)
        job->universe = universe < MUR_RANKS_MAX ? (int)universe : MUR_RANKS_MAX;
}

/* Only hosts that run ranks stay in the job's list; and the ranks of each are counted. */
static void keep_used(struct placement *placement)
{
    struct mur_jobspec *job = placement->job;
    int *places = mur_alloc((size_t)placement->all.count, sizeof *places);
    int kept = 0;

    for (int i = 0; i < placement->all.count; i++)
        if (placement->used[i]) {
            places[i] = kept;
            placement->all.items[kept++] = placement->all.items[i];
        }
    placement->all.count = kept;
    job->hosts = placement->all;
    job->local_of = mur_alloc((size_t)job->size, sizeof *job->local_of);
    for (int rank = 0; rank < job->size; rank++) {
        job->node_of[rank] = places[job->node_of[rank]];
        job->local_of[rank] = job->hosts.items[job->node_of[rank]].ranks++;
    }
    free(places);
}

bool mur_placement_make(struct mur_jobspec *job, mur_part_counter *counter, struct mur_problem *problem)
{
    struct placement placement = {.job = job, .counter = counter, .problem = problem};
    bool is_good;

    if (!mur_rankfile_read(&placement.places, &job->placing, problem) || !collect(&placement) || !set_slots(&placement))
        return false;
    order_hosts(&placement);
    placement.used = mur_alloc((size_t)placement.all.count, sizeof *placement.used);
    is_good = placement.places.count ? place_as_listed(&placement) : place_all(&placement);
    if (is_good) {
        keep_offered(&placement);
        keep_used(&placement);
    }
    free(placement.used);
    return is_good;
}

/* ---- the map ---- */

int mur_placement_first(const struct mur_jobspec *job, int node)
{
    int rank = 0;

    while (rank < job->size - 1 && job->node_of[rank] != node)
        rank++;
    return rank;
}

int mur_placement_find(const struct mur_jobspec *job, int node, int local, int *number)
{
    int rank = 0;

    for (int i = 0; i < job->context_count; i++)
        for (int left = job->contexts[i].ranks; left > 0; left--, rank++)
            if (job->node_of[rank] == node && job->local_of[rank] == local) {
                *number = rank;
                return i;
            }
    return *number = -1;
}

/* Appends "0-3,8" to the line as far as it fits. */
static void add_ranks(char *line, size_t size, const struct mur_jobspec *job, int node)
{
    size_t length = strlen(line);
    bool is_first = true;

    for (int rank = 0; rank < job->size && length + 32 < size; rank++) {
        int first = rank;

        if (job->node_of[rank] != node)
            continue;
        while (rank + 1 < job->size && job->node_of[rank + 1] == node)
            rank++;
        length += (size_t)snprintf(line + length, size - length, "%s%d", is_first ? "" : ",", first);
        if (rank > first)
            length += (size_t)snprintf(line + length, size - length, "-%d", rank);
        is_first = false;
        if (length + 32 >= size)
            snprintf(line + length, size - length, ",...");
    }
}

void mur_placement_show(const struct mur_jobspec *job)
{
    for (int node = 0; node < job->hosts.count; node++) {
        char line[1024];

        snprintf(line, sizeof line, "%s runs rank ", job->hosts.items[node].name);
        add_ranks(line, sizeof line, job, node);
        mur_say("%s", line);
    }
}
