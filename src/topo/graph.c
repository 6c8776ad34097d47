/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs. A distributed one is made by an exchange: whoever names an edge tells both of its ends. */
#include "topo/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "comm/agree.h"
#include "object/buffer.h"

int mur_graph_check(int nnodes, const int *ends, const int *edges, int size)
{
    int before = 0;

    if (nnodes < 0 || nnodes > size)
        return mur_error(MPI_ERR_ARG, "nnodes is %d, but must be from 0 to %d, the size of the communicator", nnodes,
                         size);
    for (int i = 0; i < nnodes; i++) {
        if (ends[i] < before)
            return mur_error(MPI_ERR_ARG, "index[%d] is %d, but must be at least %d: it counts the edges so far", i,
                             ends[i], before);
        before = ends[i];
    }
    if (before && !mur_is_memory(edges))
        return mur_error(MPI_ERR_ARG, "edges is %p, no address of memory, but there are %d", (const void *)edges,
                         before);
    for (int i = 0; i < before; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return mur_error(MPI_ERR_ARG, "edges[%d] is %d, but must be a node (0 to %d)", i, edges[i], nnodes - 1);
    return MPI_SUCCESS;
}

struct mur_topology *mur_graph_new(int nnodes, const int *ends, const int *edges)
{
    int nedges = nnodes ? ends[nnodes - 1] : 0;
    struct mur_topology *topology = mur_topology_create_graph(nnodes, nedges);

    if (!topology)
        return NULL;
    if (nnodes)
        memcpy(topology->graph.ends, ends, (size_t)nnodes * sizeof *ends);
    if (nedges)
        memcpy(topology->graph.edges, edges, (size_t)nedges * sizeof *edges);
    return topology;
}

/* What an end of an edge is told. */
struct notice {
    int is_source; /* whether the edge leaves the one who is told */
    int other;     /* end */
    int weight;
};
enum { NOTICE_INTS = sizeof(struct notice) / sizeof(int) };

/* What a rank says about itself to each other one. */
struct summary {
    MPI_Count notices; /* that follow */
    MPI_Count vote;    /* whether its edges have weights */
};
enum { SUMMARY_COUNTS = sizeof(struct summary) / sizeof(MPI_Count), NO_EDGES = 0, UNWEIGHTED, WEIGHTED, FAILED };

/* The arrays of an exchange; `ints` and `places` are counts and displacements for alltoallv. */
struct side {
    struct summary *summaries; /* [size] */
    MPI_Count *ints, *places;  /* [size] */
    struct notice *notices;
    MPI_Count count; /* of notices */
};

static bool side_open(struct side *side, int size)
{
    side->summaries = calloc((size_t)size, sizeof *side->summaries);
    side->ints = malloc((size_t)size * sizeof *side->ints);
    side->places = malloc((size_t)size * sizeof *side->places);
    return side->summaries && side->ints && side->places;
}

/* Makes room for what the summaries announce. */
static bool side_lay_out(struct side *side, int size)
{
    side->count = 0;
    for (int i = 0; i < size; i++) {
        side->ints[i] = side->summaries[i].notices * NOTICE_INTS;
        side->places[i] = side->count * NOTICE_INTS;
        side->count += side->summaries[i].notices;
    }
    side->notices = malloc((size_t)side->count * sizeof *side->notices + 1);
    return side->notices != NULL;
}

static void side_close(struct side *side)
{
    free(side->summaries);
    free(side->ints);
    free(side->places);
    free(side->notices);
}

/* Counts the notices for each rank. */
static void summarize(const struct mur_edges *edges, struct side *out, int size)
{
    MPI_Count edge = 0;

    for (int i = 0; i < edges->count; i++)
        for (int k = 0; k < edges->degrees[i]; k++) {
            out->summaries[edges->sources[i]].notices++;
            out->summaries[edges->destinations[edge++]].notices++;
        }
    for (int i = 0; i < size; i++)
        out->summaries[i].vote = edges->has_failed    ? FAILED
                                 : !edge              ? NO_EDGES
                                 : edges->is_weighted ? WEIGHTED
                                                      : UNWEIGHTED;
}

/* Writes the notices, in the order of the edges for each rank. `next` is where the next one for a rank goes. */
static void write_notices(const struct mur_edges *edges, struct side *out, MPI_Count *next)
{
    MPI_Count edge = 0;

    for (int i = 0; i < edges->count; i++)
        for (int k = 0; k < edges->degrees[i]; k++, edge++) {
            int source = edges->sources[i], destination = edges->destinations[edge];
            int weight = edges->weights ? edges->weights[edge] : 0;

            out->notices[next[source]++] = (struct notice){1, destination, weight};
            out->notices[next[destination]++] = (struct notice){0, source, weight};
        }
}

static int exchange(struct mur_comm *comm, struct mur_blocks from, struct mur_blocks to)
{
    struct mur_schedule *schedule = mur_schedule_create(comm);

    if (!schedule)
        return mur_error(MPI_ERR_NO_MEM, "no memory to make a graph");
    mur_coll_alltoall(schedule, &from, &to);
    return mur_schedule_run(schedule);
}

static int exchange_summaries(struct mur_comm *comm, struct side *out, struct side *in)
{
    struct mur_type *type = mur_type_find(MPI_COUNT);

    return exchange(comm, mur_blocks_regular(out->summaries, SUMMARY_COUNTS, type),
                    mur_blocks_regular(in->summaries, SUMMARY_COUNTS, type));
}

static struct mur_blocks notice_blocks(const struct side *side)
{
    return mur_blocks_irregular(side->notices, (struct mur_counts){side->ints, sizeof *side->ints},
                                (struct mur_counts){side->places, sizeof *side->places}, mur_type_find(MPI_INT));
}

/* Whether the graph has weights: all ranks that named edges must agree; without any edges this rank's word counts. */
static int count_votes(const struct side *in, int size, bool mine, bool *is_weighted)
{
    MPI_Count vote = NO_EDGES;
    int voter = 0;

    for (int i = 0; i < size; i++)
        if (in->summaries[i].vote == FAILED)
            return mur_agree_failed_elsewhere(i, "communicator");
    for (int i = 0; i < size; i++) {
        if (in->summaries[i].vote == NO_EDGES || in->summaries[i].vote == vote)
            continue;
        if (vote != NO_EDGES)
            return mur_error(MPI_ERR_ARG, "rank %d passes MPI_UNWEIGHTED and rank %d does not, but all or none must",
                             vote == UNWEIGHTED ? voter : i, vote == UNWEIGHTED ? i : voter);
        vote = in->summaries[i].vote;
        voter = i;
    }
    *is_weighted = vote == NO_EDGES ? mine : vote == WEIGHTED;
    return MPI_SUCCESS;
}

static struct mur_topology *read_notices(const struct side *in, bool is_weighted)
{
    int indegree = 0, outdegree = 0;
    struct mur_topology *topology;
    struct mur_adjacency *mine;

    for (MPI_Count i = 0; i < in->count; i++)
        in->notices[i].is_source ? outdegree++ : indegree++;
    topology = mur_topology_create_adjacency(indegree, outdegree, is_weighted);
    if (!topology)
        return NULL;
    mine = &topology->adjacency;
    indegree = outdegree = 0;
    for (MPI_Count i = 0; i < in->count; i++) {
        const struct notice *notice = &in->notices[i];
        int place = notice->is_source ? outdegree++ : indegree++;

        (notice->is_source ? mine->destinations : mine->sources)[place] = notice->other;
        if (is_weighted)
            (notice->is_source ? mine->destination_weights : mine->source_weights)[place] = notice->weight;
    }
    return topology;
}

int mur_graph_adjacency_gather(struct mur_comm *comm, const struct mur_edges *edges, struct mur_topology **topology_p)
{
    struct side out = {0}, in = {0};
    MPI_Count *next = malloc((size_t)comm->size * sizeof *next);
    int rc = MPI_ERR_NO_MEM;
    bool is_weighted = false;

    if (!next || !side_open(&out, comm->size) || !side_open(&in, comm->size))
        goto end;
    summarize(edges, &out, comm->size);
    if (!side_lay_out(&out, comm->size))
        goto end;
    for (int i = 0; i < comm->size; i++)
        next[i] = out.places[i] / NOTICE_INTS;
    write_notices(edges, &out, next);
    rc = exchange_summaries(comm, &out, &in);
    if (!rc)
        rc = side_lay_out(&in, comm->size) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!rc)
        rc = exchange(comm, notice_blocks(&out), notice_blocks(&in));
    if (!rc)
        rc = count_votes(&in, comm->size, edges->is_weighted, &is_weighted);
    if (!rc) {
        *topology_p = read_notices(&in, is_weighted);
        rc = *topology_p ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
end:
    free(next);
    side_close(&out);
    side_close(&in);
    return rc == MPI_ERR_NO_MEM ? mur_error(MPI_ERR_NO_MEM, "no memory to make a graph") : rc;
}
