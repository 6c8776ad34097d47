/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks access the file for the others. Each rank tells its host, the node that it belongs to, and for how many
 * open files it does so already; from that all ranks choose alike: the nodes in turns, so that each has its share of
 * the traffic, and on a node the rank with the least to do.
 *
 * The hint cb_config_list says how many of a host may serve: items HOST:N or *:N, N a number or *, separated by commas;
 * the first that names a host is for it, and what no item names has none. Without :N it is one. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/process.h"
#include "coll/coll.h"
#include "engine/engine.h"
#include "io/file.h"
#include "object/comm.h"

struct place {
    int32_t node; /* the lowest rank of it */
    int32_t load; /* open files that it serves */
    char host[sizeof mur_process.host];
};

struct choice {
    const struct place *places;
    int *left;      /* by node: how many it may still have */
    bool *is_taken; /* by rank */
    int ranks, count, wanted;
    int *chosen;
};

static int load; /* of this process */

static struct place own_place(const struct mur_comm *comm)
{
    struct place place = {.load = load};

    while (place.node < comm->rank && mur_engine.peers[comm->processes[place.node]].local < 0)
        place.node++;
    memcpy(place.host, mur_process.host, sizeof place.host);
    return place;
}

static int gather(struct mur_comm *comm, struct place *places)
{
    struct mur_schedule *s = mur_file_schedule(comm);
    struct mur_blocks blocks = mur_blocks_regular(places, sizeof *places, mur_type_find(MPI_BYTE));

    places[comm->rank] = own_place(comm);
    if (s)
        mur_coll_allgather(s, MPI_IN_PLACE, 0, NULL, &blocks);
    return mur_schedule_run(s);
}

static bool is_named(const char *item, size_t length, const char *host)
{
    return (length == 1 && *item == '*') || (strlen(host) == length && strncmp(item, host, length) == 0);
}

static int allowed(const char *list, const char *host, int ranks)
{
    while (*list) {
        size_t length = strcspn(list, ","), name = strcspn(list, ":,");

        if (is_named(list, name, host)) {
            const char *number = list + name + 1;
            long limit = name < length ? strtol(number, NULL, 10) : 1;

            return name < length && *number == '*' ? ranks : limit < 0 ? 0 : limit > ranks ? ranks : (int)limit;
        }
        list += length + (list[length] == ',');
    }
    return 0;
}

static int best_of_node(const struct choice *choice, int node)
{
    int best = -1;

    for (int r = node; r < choice->ranks; r++)
        if (choice->places[r].node == node && !choice->is_taken[r] &&
            (best < 0 || choice->places[r].load < choice->places[best].load))
            best = r;
    return best;
}

/* One of each node that may have one more. False: none may. */
static bool go_round(struct choice *choice)
{
    int before = choice->count;

    for (int node = 0; node < choice->ranks && choice->count < choice->wanted; node++) {
        int best = choice->left[node] > 0 ? best_of_node(choice, node) : -1;

        if (best < 0)
            continue;
        choice->is_taken[best] = true;
        choice->left[node]--;
        choice->chosen[choice->count++] = best;
    }
    return choice->count > before;
}

/* Hosts may hold several nodes, where ranks share no memory: what a host may have goes to the first that asks. */
static void set_limits(struct choice *choice, const char *list)
{
    for (int r = 0; r < choice->ranks; r++) {
        bool is_first = choice->places[r].node == r;

        for (int i = 0; i < r && is_first && *list; i++)
            is_first = strcmp(choice->places[i].host, choice->places[r].host) != 0;
        if (!*list)
            choice->left[r] = is_first ? choice->ranks : 0;
        else
            choice->left[r] = is_first ? allowed(list, choice->places[r].host, choice->ranks) : 0;
    }
}

/* A list that leaves nobody is ignored, as a hint may be. */
static void choose(struct choice *choice, const char *list)
{
    set_limits(choice, list);
    while (choice->count < choice->wanted && go_round(choice))
        continue;
    if (choice->count || !*list)
        return;
    choose(choice, "");
}

static void count_load(const struct mur_file *file, int change)
{
    for (int i = 0; i < file->aggregator_count; i++)
        load += file->aggregators[i] == file->comm->rank ? change : 0;
}

void mur_aggregators_drop(struct mur_file *file)
{
    count_load(file, -1);
    free(file->aggregators);
    file->aggregators = NULL;
    file->aggregator_count = 0;
}

int mur_aggregators_choose(struct mur_file *file, int wanted, const char *list)
{
    struct mur_comm *comm = file->comm;
    size_t ranks = (size_t)comm->size;
    struct place *places = malloc(ranks * sizeof *places);
    struct choice choice = {.places = places,
                            .left = calloc(ranks, sizeof *choice.left),
                            .is_taken = calloc(ranks, sizeof *choice.is_taken),
                            .ranks = comm->size,
                            .wanted = wanted < comm->size ? wanted : comm->size,
                            .chosen = malloc(ranks * sizeof *choice.chosen)};
    bool has_memory = places && choice.left && choice.is_taken && choice.chosen;
    int rc = mur_file_agree(
        file,
        has_memory ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory to choose who accesses file '%s'", file->name),
        "choose who accesses");

    if (!rc)
        rc = gather(comm, places);
    if (!rc) {
        choose(&choice, list);
        mur_aggregators_drop(file);
        file->aggregators = choice.chosen;
        file->aggregator_count = choice.count;
        count_load(file, 1);
        choice.chosen = NULL;
    }
    free(places);
    free(choice.left);
    free(choice.is_taken);
    free(choice.chosen);
    return rc;
}
