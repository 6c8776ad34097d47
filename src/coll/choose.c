/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing. What is asked for by name comes first; then, on one node, what fits on the board; then the table. */
#include "coll/choose.h"

#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "datatype/basic.h"

static size_t blocks_bytes(const struct mur_blocks *blocks, const struct mur_comm *comm)
{
    MPI_Count count = 0;

    if (!blocks->type)
        return 0;
    if (!blocks->is_irregular)
        return (size_t)(blocks->count * blocks->type->size);
    for (int i = 0; i < comm->size; i++)
        count += mur_block_count(blocks, i);
    return (size_t)(count * blocks->type->size);
}

size_t mur_collective_bytes(const struct mur_collective *c, const struct mur_comm *comm)
{
    const struct mur_blocks *blocks = c->from.buffer == MPI_IN_PLACE ? &c->to : &c->from;

    if (c->is_irregular || comm->remote)
        return 0;
    switch (c->kind) {
    case MUR_BCAST:
        return blocks_bytes(&c->to, comm);
    case MUR_SCATTER:
        return blocks_bytes(c->to.buffer == MPI_IN_PLACE ? &c->from : &c->to, comm);
    case MUR_ALLGATHER:
        return c->to.is_irregular ? blocks_bytes(&c->to, comm) / (size_t)comm->size : blocks_bytes(blocks, comm);
    case MUR_REDUCE_SCATTER:
        return blocks_bytes(&c->to, comm) * (c->to.is_irregular ? 1 : (size_t)comm->size);
    case MUR_NEIGHBOR_ALLGATHER:
    case MUR_NEIGHBOR_ALLTOALL:
        return 0;
    default:
        return blocks_bytes(c->op ? &c->from : blocks, comm);
    }
}

/* Sums of integers, bits and logicals are the same in any order; of operations of users that is not known. */
static bool is_exact(const struct mur_op *op, const struct mur_type *type)
{
    enum mur_class class = mur_basics[type->basic].class;

    if (!op->object.predefined || type->basic == MUR_BASIC_MIXED)
        return false;
    return class == MUR_CLASS_C_INTEGER || class == MUR_CLASS_FORTRAN_INTEGER || class == MUR_CLASS_ANY_INTEGER ||
           class == MUR_CLASS_LOGICAL || class == MUR_CLASS_BYTE || class == MUR_CLASS_CHAR;
}

bool mur_choose_may_reorder(const struct mur_op *op, const struct mur_type *type)
{
    return op->is_commutative && (!mur_settings.coll_reproducible || is_exact(op, type));
}

static unsigned abilities_wanted(const struct mur_collective *c)
{
    unsigned wanted = c->is_irregular ? MUR_TAKES_UNKNOWN : 0;

    if (c->to.is_irregular)
        wanted |= MUR_TAKES_VARIED;
    if (c->op && !mur_choose_may_reorder(c->op, c->from.type))
        wanted |= mur_settings.coll_reproducible ? MUR_FIXES_ORDER : MUR_KEEPS_ORDER;
    return wanted;
}

static bool can_do(const struct mur_algorithm *algorithm, unsigned wanted, const struct mur_comm *comm,
                   const struct mur_nodes *nodes)
{
    unsigned abilities = algorithm->abilities;

    if (abilities & MUR_WANTS_NODES && !mur_nodes_are_several(nodes, comm->size))
        return false;
    if (abilities & MUR_WANTS_PAIR && comm->size != 2)
        return false;
    if (abilities & MUR_WANTS_POWER && (comm->size & (comm->size - 1)))
        return false;
    if (abilities & MUR_WANTS_CONTIGUOUS && !nodes->is_contiguous)
        return false;
    if (abilities & MUR_WANTS_NODES && nodes->is_contiguous)
        abilities |= MUR_KEEPS_ORDER;
    return (wanted & ~abilities) == 0;
}

static const struct mur_algorithm *look_up(const struct mur_collective *c, const struct mur_comm *comm,
                                           const struct mur_nodes *nodes, unsigned wanted)
{
    static const struct mur_algorithm *found[MUR_TABLE_ROWS_MAX]; /* by row: looked up by name once */
    enum mur_spread spread = !nodes->is_between                         ? MUR_ONE_NODE
                             : nodes->is_one_host                       ? MUR_ONE_HOST
                             : mur_nodes_are_several(nodes, comm->size) ? MUR_MIXED
                                                                        : MUR_APART;
    const struct mur_algorithm *chosen = NULL;
    size_t bytes = mur_collective_bytes(c, comm);

    for (size_t i = 0; i < mur_table_count; i++) {
        const struct mur_row *row = &mur_table[i];

        if (row->kind != c->kind || row->spread != spread || comm->size < row->least_ranks || bytes < row->least_bytes)
            continue;
        if (!found[i])
            found[i] = mur_algorithm_find(c->kind, row->algorithm, strlen(row->algorithm));
        if (can_do(found[i], wanted, comm, nodes))
            chosen = found[i];
    }
    return chosen;
}

/* ---- on the board ---- */

static bool fits(const struct mur_algorithm *algorithm, unsigned wanted, enum mur_fit least,
                 const struct mur_collective *c, const struct mur_comm *comm)
{
    return (wanted & ~algorithm->abilities) == 0 && algorithm->fits(c, comm) >= least;
}

/* What may keep a collective from the board, or asks for one of its algorithms: false: nothing is to be used there. */
static bool look_at_wishes(const struct mur_collective *c, const struct mur_comm *comm, unsigned wanted,
                           const struct mur_algorithm **chosen)
{
    const struct mur_algorithm *asked;
    bool is_board;

    if (mur_settings.coll_check)
        return false;
    asked = mur_override(comm, c->kind, &is_board);
    if (asked && asked->build)
        return false;
    if (asked && fits(asked, wanted, MUR_CAN, c, comm))
        *chosen = asked;
    return true;
}

static const struct mur_algorithm *best_on_board(const struct mur_collective *c, const struct mur_comm *comm,
                                                 unsigned wanted)
{
    const struct mur_algorithm *algorithm;

    for (algorithm = mur_algorithms_of(c->kind); algorithm->advance; algorithm++)
        if (fits(algorithm, wanted, MUR_BEST, c, comm))
            return algorithm;
    return NULL;
}

const struct mur_algorithm *mur_choose_best_on_board(const struct mur_collective *c, const struct mur_comm *comm)
{
    return best_on_board(c, comm, abilities_wanted(c));
}

const struct mur_algorithm *mur_choose_on_board(const struct mur_collective *c, const struct mur_comm *comm)
{
    const struct mur_algorithm *chosen = NULL;
    unsigned wanted;

    if (!comm->board || !mur_settings.coll_board)
        return NULL;
    wanted = abilities_wanted(c);
    if (__builtin_expect(mur_settings.coll_check || mur_override_is_any || comm->overrides, 0) &&
        !look_at_wishes(c, comm, wanted, &chosen))
        return NULL;
    return __builtin_expect(chosen != NULL, 0) ? chosen : best_on_board(c, comm, wanted);
}

/* ---- by messages ---- */

static const struct mur_algorithm *first_by_messages(enum mur_collective_kind kind)
{
    const struct mur_algorithm *algorithm = mur_algorithms_of(kind);

    while (!algorithm->build)
        algorithm++;
    return algorithm;
}

/* Between two groups, and for one rank, the first does all. */
const struct mur_algorithm *mur_choose_by_messages(const struct mur_collective *c, struct mur_comm *comm,
                                                   const char **why)
{
    const struct mur_algorithm *chosen = first_by_messages(c->kind), *override;
    const struct mur_nodes *nodes;
    unsigned wanted = abilities_wanted(c);
    bool is_board;

    *why = comm->remote ? "between two groups" : "one rank";
    if (comm->remote || comm->size < 2)
        return chosen;
    nodes = mur_nodes_of(comm);
    if (!nodes)
        return NULL;
    override = nodes->is_team ? NULL : mur_override(comm, c->kind, &is_board);
    *why = "asked for";
    if (override && override->build && can_do(override, wanted, comm, nodes))
        return override;
    *why = override ? "the one asked for cannot do this" : "by the table";
    override = look_up(c, comm, nodes, wanted);
    if (override)
        return override;
    for (; chosen < mur_algorithms + mur_algorithm_count && chosen->kind == c->kind; chosen++)
        if (can_do(chosen, wanted, comm, nodes))
            return chosen;
    return first_by_messages(c->kind);
}

const struct mur_algorithm *mur_choose(const struct mur_collective *c, struct mur_comm *comm, const char **why)
{
    const struct mur_algorithm *chosen = mur_choose_on_board(c, comm);

    *why = "ranks of one node";
    return chosen ? chosen : mur_choose_by_messages(c, comm, why);
}

/* ---- telling ---- */

/* What has been told is not told again: a few for each kind. */
static bool is_news(enum mur_collective_kind kind, const char *algorithm, int ranks)
{
    enum { FEW = 16 };
    static struct {
        const char *algorithm;
        int ranks;
    } told[MUR_COLLECTIVE_KINDS][FEW];

    for (int i = 0; i < FEW; i++) {
        if (told[kind][i].algorithm == algorithm && told[kind][i].ranks == ranks)
            return false;
        if (told[kind][i].algorithm)
            continue;
        told[kind][i].algorithm = algorithm;
        told[kind][i].ranks = ranks;
        return true;
    }
    return false;
}

void mur_choose_tell(const struct mur_collective *c, struct mur_comm *comm, const char *algorithm, const char *why)
{
    const struct mur_nodes *nodes = comm->remote ? NULL : mur_nodes_of(comm);
    char where[64] = "";

    if (!is_news(c->kind, algorithm, comm->size))
        return;
    if (nodes && nodes->is_team)
        strcpy(where, nodes->is_between ? ", the leaders of their nodes" : " of one node, as a stage");
    else if (nodes && nodes->count > 1)
        snprintf(where, sizeof where, " on %d nodes", nodes->count);
    fprintf(stderr, "Murmur: %s of %zu bytes among %d ranks%s: %s (%s)\n", mur_collective_name(c->kind),
            mur_collective_bytes(c, comm), comm->size, where, algorithm, why);
}
