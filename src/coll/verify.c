/* SPDX-License-Identifier: BSD-3-Clause */
/* First every rank sends all others a notice of its arguments, and each compares all of them: a rank that finds that
 * they disagree finds the same as the others. Where counts differ from rank to rank, those who send then tell those who
 * receive how much, and what these find they tell all ranks in turn. */
#include "coll/verify.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "coll/algorithms.h"
#include "coll/hold.h"
#include "coll/schedule/inter.h"
#include "coll/signature.h"
#include "datatype/basic.h"
#include "object/group.h"
#include "object/topology.h"

/* How much of what. */
struct amount {
    int64_t bytes; /* -1: does not matter */
    uint64_t signature;
    int64_t basic; /* enum mur_basic */
};

struct notice {
    int32_t kind, form, form_of_blocks; /* 0: alike; 1: with counts; 2: with a type each */
    int32_t root, op;
    int32_t unused;
    uint64_t counts; /* a digest of those that all ranks must give */
    struct amount sent, received;
};

struct verdict {
    int32_t is_wrong, from;
    struct amount expected, found;
};

struct check {
    struct mur_collective c;
    struct notice own;
    struct notice *notices, *remote_notices; /* of the own group, and of the other one or NULL */
    struct amount *out, *in;                 /* to and from each rank or neighbour */
    struct verdict own_verdict, *verdicts, *remote_verdicts;
    const int *sources; /* of `in`, where they are not the ranks */
    int sources_count;
};

static const struct amount nothing = {.bytes = -1};

static int own_size(const struct mur_comm *comm)
{
    return comm->remote ? comm->group->size : comm->size;
}

static struct amount amount_of(MPI_Count count, struct mur_type *type)
{
    return (struct amount){count * type->size, mur_signature(count, type), type->basic};
}

static struct amount amount_of_block(const struct mur_blocks *blocks, int i)
{
    return amount_of(mur_block_count(blocks, i), mur_block_type(blocks, i));
}

static bool is_same_amount(const struct amount *a, const struct amount *b)
{
    return a->bytes == b->bytes && (a->signature == b->signature || !a->signature || !b->signature);
}

static const char *describe(const struct amount *amount, char text[80])
{
    const char *name = amount->basic == MUR_BASIC_MIXED ? "several types" : mur_basics[amount->basic].name;

    snprintf(text, 80, "%lld bytes of %s", (long long)amount->bytes, name);
    return text;
}

/* ---- the notice ---- */

static bool is_rooted(enum mur_collective_kind kind)
{
    return kind == MUR_BCAST || kind == MUR_GATHER || kind == MUR_SCATTER || kind == MUR_REDUCE;
}

static bool is_neighbourly(enum mur_collective_kind kind)
{
    return kind == MUR_NEIGHBOR_ALLGATHER || kind == MUR_NEIGHBOR_ALLTOALL;
}

/* They differ from rank to rank, or from neighbour to neighbour. */
static bool has_amounts_to_tell(const struct mur_collective *c)
{
    return c->is_irregular || is_neighbourly(c->kind) || (c->kind == MUR_ALLGATHER && c->to.is_irregular);
}

static struct amount amount_of_blocks(const struct mur_blocks *blocks)
{
    bool is_known = blocks->buffer != MPI_IN_PLACE && blocks->type && !blocks->is_irregular;

    return is_known ? amount_of(blocks->count, blocks->type) : nothing;
}

/* What this rank sends and receives, where it matters, as one amount each. */
static void fill_amounts(struct notice *notice, const struct mur_collective *c, const struct mur_comm *comm)
{
    bool is_root = comm->remote ? c->root == MPI_ROOT : c->root == comm->rank;
    bool takes_part = !comm->remote || c->root != MPI_PROC_NULL;
    struct amount sent = amount_of_blocks(&c->from), received = amount_of_blocks(&c->to);

    if (is_neighbourly(c->kind))
        return;
    if (c->op && c->kind != MUR_REDUCE_SCATTER)
        sent = amount_of(c->from.count, c->from.type); /* also in place */
    switch (c->kind) {
    case MUR_BCAST:
        notice->sent = takes_part ? received : nothing;
        break;
    case MUR_GATHER:
        notice->sent = takes_part && (!comm->remote || !is_root) ? sent : nothing;
        notice->received = is_root ? received : nothing;
        break;
    case MUR_SCATTER:
        notice->sent = is_root ? sent : nothing;
        notice->received = takes_part && (!comm->remote || !is_root) ? received : nothing;
        break;
    case MUR_REDUCE:
        notice->sent = takes_part ? sent : nothing;
        break;
    case MUR_ALLGATHER:
    case MUR_ALLTOALL:
        notice->sent = sent;
        notice->received = received;
        break;
    case MUR_REDUCE_SCATTER:
        notice->received = amount_of(mur_blocks_count(&c->to, own_size(comm)), c->to.type);
        break;
    default:
        notice->sent = sent;
    }
}

static void fill_notice(struct notice *notice, const struct mur_collective *c, const struct mur_comm *comm,
                        enum mur_form form)
{
    const struct mur_blocks *varied = c->from.is_irregular ? &c->from : &c->to;

    *notice = (struct notice){.kind = (int)c->kind, .form = (int)form, .sent = nothing, .received = nothing};
    notice->form_of_blocks = c->is_irregular || c->to.is_irregular ? varied->types ? 2 : 1 : 0;
    notice->root = is_rooted(c->kind) ? c->root : 0;
    if (c->op && (c->kind != MUR_REDUCE ||
                  c->root != MPI_PROC_NULL)) /* operations of users have no name that means the same at all ranks */
        notice->op = c->op->object.predefined ? (int)c->op->object.predefined : -1 - c->op->is_commutative;
    if (c->kind == MUR_REDUCE_SCATTER && c->to.is_irregular && !comm->remote)
        for (int i = 0; i < comm->size; i++)
            notice->counts = notice->counts * 31 + (uint64_t)amount_of_block(&c->to, i).bytes + 1;
    fill_amounts(notice, c, comm);
}

/* ---- comparing notices ---- */

static const char *const form_names[] = {"blocking", "nonblocking", "persistent"};
static const char *const block_names[] = {"", " with counts", " with types"};

/* The rank that sent the i-th of all notices. */
static const struct notice *notice_at(const struct check *check, const struct mur_comm *comm, int i, char who[64])
{
    int mine = own_size(comm);

    if (i < mine) {
        snprintf(who, 64, "rank %d%s", i, comm->remote ? " of this group" : "");
        return &check->notices[i];
    }
    snprintf(who, 64, "rank %d of the other group", i - mine);
    return &check->remote_notices[i - mine];
}

static const char *name_of_op(int op, char text[64])
{
    const struct mur_op *found = op > 0 ? mur_op_find((MPI_Op)(intptr_t)op) : NULL;

    snprintf(text, 64, "%s", found && found->name ? found->name : "an operation of the user's");
    return text;
}

static int compare_calls(const struct notice *a, const char *who_a, const struct notice *b, const char *who_b)
{
    char op_a[64], op_b[64];

    if (a->kind != b->kind || a->form != b->form || a->form_of_blocks != b->form_of_blocks)
        return mur_error(MPI_ERR_OTHER, "the ranks call different collectives: %s a %s %s%s, but %s a %s %s%s", who_a,
                         form_names[a->form], mur_collective_name((enum mur_collective_kind)a->kind),
                         block_names[a->form_of_blocks], who_b, form_names[b->form],
                         mur_collective_name((enum mur_collective_kind)b->kind), block_names[b->form_of_blocks]);
    if (a->op && b->op && a->op != b->op)
        return mur_error(MPI_ERR_OP, "the ranks disagree about op: %s has %s, but %s has %s", who_a,
                         name_of_op(a->op, op_a), who_b, name_of_op(b->op, op_b));
    if (a->counts != b->counts)
        return mur_error(MPI_ERR_COUNT, "the ranks disagree about recvcounts: those of %s differ from those of %s",
                         who_a, who_b);
    return MPI_SUCCESS;
}

static int compare_amounts(const struct amount *a, const char *who_a, const struct amount *b, const char *who_b)
{
    char text_a[80], text_b[80];

    if (is_same_amount(a, b))
        return MPI_SUCCESS;
    return mur_error(a->bytes == b->bytes ? MPI_ERR_TYPE : MPI_ERR_COUNT,
                     "the ranks disagree about counts or datatypes: %s has %s, but %s has %s%s", who_a,
                     describe(a, text_a), who_b, describe(b, text_b),
                     a->bytes == b->bytes ? " in another sequence" : "");
}

/* Among the ranks of one group all roots are the same. */
static int compare_roots(const struct check *check, const struct mur_comm *comm)
{
    for (int i = 1; i < comm->size && !comm->remote; i++)
        if (check->notices[i].root != check->notices[0].root)
            return mur_error(MPI_ERR_ROOT, "the ranks disagree about root: rank 0 has %d, but rank %d has %d",
                             check->notices[0].root, i, check->notices[i].root);
    return MPI_SUCCESS;
}

/* In one group one rank is MPI_ROOT, the others MPI_PROC_NULL; in the other one all name that rank. */
static int compare_roots_of_groups(const struct notice *ours, int our_size, const struct notice *theirs, int their_size,
                                   const char *our_name, const char *their_name, bool *is_ours)
{
    int root = -1;

    for (int i = 0; i < our_size; i++) {
        if (ours[i].root != MPI_ROOT)
            continue;
        if (root >= 0)
            return mur_error(MPI_ERR_ROOT, "ranks %d and %d of %s both have MPI_ROOT", root, i, our_name);
        root = i;
    }
    *is_ours = root >= 0;
    for (int i = 0; root >= 0 && i < our_size; i++)
        if (ours[i].root != MPI_ROOT && ours[i].root != MPI_PROC_NULL)
            return mur_error(MPI_ERR_ROOT,
                             "rank %d of %s has MPI_ROOT, but rank %d of it has root %d instead of MPI_PROC_NULL", root,
                             our_name, i, ours[i].root);
    for (int i = 0; root >= 0 && i < their_size; i++)
        if (theirs[i].root != root)
            return mur_error(MPI_ERR_ROOT, "rank %d of %s has MPI_ROOT, but rank %d of %s has root %d", root, our_name,
                             i, their_name, theirs[i].root);
    return MPI_SUCCESS;
}

static int compare_all_roots(const struct check *check, const struct mur_comm *comm)
{
    bool is_here = false, is_there = false;
    int rc;

    if (!is_rooted((enum mur_collective_kind)check->own.kind))
        return MPI_SUCCESS;
    if (!comm->remote)
        return compare_roots(check, comm);
    rc = compare_roots_of_groups(check->notices, comm->group->size, check->remote_notices, comm->size, "this group",
                                 "the other group", &is_here);
    if (!rc && !is_here)
        rc = compare_roots_of_groups(check->remote_notices, comm->size, check->notices, comm->group->size,
                                     "the other group", "this group", &is_there);
    if (!rc && !is_here && !is_there)
        return mur_error(MPI_ERR_ROOT, "no rank of either group has MPI_ROOT");
    return rc;
}

/* Amounts that matter are all the same; between two groups, where both give and take, what one group sends is what the
 * other receives. */
static int compare_all_amounts(const struct check *check, const struct mur_comm *comm)
{
    enum mur_collective_kind kind = (enum mur_collective_kind)check->own.kind;
    int mine = own_size(comm), all = mine + (comm->remote ? comm->size : 0), rc;
    bool is_two_way = comm->remote && (kind == MUR_ALLGATHER || kind == MUR_ALLTOALL);
    const struct amount *first[2] = {NULL, NULL};
    char first_who[2][64], who[64];

    for (int i = 0; i < all; i++) {
        const struct notice *notice = notice_at(check, comm, i, who);
        const struct amount *amounts[2] = {&notice->sent, &notice->received};

        for (int k = 0; k < 2; k++) {
            int class = is_two_way ? (i >= mine) ^ k : 0;

            if (amounts[k]->bytes < 0)
                continue;
            if (first[class] && (rc = compare_amounts(first[class], first_who[class], amounts[k], who)))
                return rc;
            if (!first[class]) {
                first[class] = amounts[k];
                memcpy(first_who[class], who, sizeof who);
            }
        }
    }
    return MPI_SUCCESS;
}

static int compare_notices(struct mur_schedule *s, void *argument)
{
    const struct check *check = argument;
    const struct mur_comm *comm = s->owner;
    int all = own_size(comm) + (comm->remote ? comm->size : 0), rc;
    char who_first[64], who[64];
    const struct notice *first = notice_at(check, comm, 0, who_first);

    for (int i = 1; i < all; i++) {
        const struct notice *notice = notice_at(check, comm, i, who);

        rc = compare_calls(first, who_first, notice, who);
        if (rc)
            return rc;
        if (!first->op && notice->op) /* the first takes no part in what the others reduce */
            first = notice_at(check, comm, i, who_first);
    }
    rc = compare_all_roots(check, comm);
    return rc || has_amounts_to_tell(&check->c) ? rc : compare_all_amounts(check, comm);
}

/* ---- amounts that differ ---- */

static void complain(struct check *check, int from, struct amount expected, const struct amount *found)
{
    if (check->own_verdict.is_wrong || is_same_amount(&expected, found))
        return;
    check->own_verdict = (struct verdict){.is_wrong = 1, .from = from, .expected = expected, .found = *found};
}

/* The blocks that this rank receives against what has been said of them. */
static int compare_blocks(struct mur_schedule *s, void *argument)
{
    struct check *check = argument;
    const struct mur_collective *c = &check->c;
    const struct mur_comm *comm = s->owner;
    bool is_root = comm->remote ? c->root == MPI_ROOT : c->root == comm->rank;

    check->own_verdict.is_wrong = 0;
    if (c->kind == MUR_GATHER || c->kind == MUR_ALLGATHER) { /* the notices say what each sends */
        const struct notice *senders = comm->remote ? check->remote_notices : check->notices;

        for (int i = 0; i < comm->size && (is_root || c->kind == MUR_ALLGATHER); i++)
            if (senders[i].sent.bytes >= 0)
                complain(check, i, amount_of_block(&c->to, i), &senders[i].sent);
    } else if (c->kind == MUR_SCATTER) {
        bool is_taking = c->to.buffer != MPI_IN_PLACE && c->root != MPI_ROOT && c->root != MPI_PROC_NULL;

        if (is_taking)
            complain(check, c->root, amount_of(c->to.count, c->to.type), &check->in[0]);
    } else {
        for (int i = 0; i < check->sources_count; i++) {
            int from = check->sources ? check->sources[i] : i;

            if (from != MPI_PROC_NULL)
                complain(check, from, amount_of_block(&c->to, i), &check->in[i]);
        }
    }
    check->verdicts[comm->rank] = check->own_verdict;
    return MPI_SUCCESS;
}

static int conclude(struct mur_schedule *s, void *argument)
{
    const struct check *check = argument;
    const struct mur_comm *comm = s->owner;
    int mine = own_size(comm), all = mine + (comm->remote ? comm->size : 0);
    char expected[80], found[80];

    for (int i = 0; i < all; i++) {
        const struct verdict *verdict = i < mine ? &check->verdicts[i] : &check->remote_verdicts[i - mine];

        if (verdict->is_wrong)
            return mur_error(verdict->expected.bytes == verdict->found.bytes ? MPI_ERR_TYPE : MPI_ERR_COUNT,
                             "rank %d%s expects %s from rank %d, which sends %s", i < mine ? i : i - mine,
                             !comm->remote ? ""
                             : i < mine    ? " of this group"
                                           : " of the other group",
                             describe(&verdict->expected, expected), verdict->from, describe(&verdict->found, found));
    }
    return MPI_SUCCESS;
}

/* ---- the steps ---- */

static struct mur_blocks bytes_blocks(void *buffer, size_t bytes)
{
    return mur_blocks_regular(buffer, (MPI_Count)bytes, mur_type_find(MPI_BYTE));
}

/* All ranks of both groups tell all: `all` has this rank's record in its place. */
static void tell_all(struct mur_schedule *s, void *all, void *remote, size_t bytes)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    struct mur_blocks blocks = bytes_blocks(all, bytes), remote_blocks = bytes_blocks(remote, bytes);

    mur_schedule_fence(s);
    if (!s->comm->remote) {
        mur_coll_allgather_bruck(s, MPI_IN_PLACE, 0, NULL, &blocks);
        mur_schedule_fence(s);
        return;
    }
    mur_inter_allgather(s, (char *)all + (size_t)s->comm->rank * bytes, (MPI_Count)bytes, byte, &remote_blocks);
    mur_schedule_fence(s);
    mur_schedule_move_to_local(s);
    mur_coll_allgather_bruck(s, MPI_IN_PLACE, 0, NULL, &blocks);
    mur_schedule_fence(s);
    mur_schedule_move_back(s);
}

/* Each rank that sends says how much to those that receive. */
static void tell_receivers(struct mur_schedule *s, struct check *check)
{
    const struct mur_collective *c = &check->c;
    const struct mur_blocks *from = c->from.buffer == MPI_IN_PLACE ? &c->to : &c->from;
    struct mur_comm *comm = s->comm;
    struct mur_neighbours neighbours = {.indegree = comm->size, .outdegree = comm->size};
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    struct mur_blocks out, in;

    if (c->kind == MUR_GATHER || c->kind == MUR_ALLGATHER)
        return;
    if (is_neighbourly(c->kind))
        neighbours = mur_topology_neighbours(comm->topology, comm->rank);
    check->sources = neighbours.sources;
    check->sources_count = neighbours.indegree;
    check->out = mur_schedule_memory(s, (size_t)neighbours.outdegree * sizeof *check->out);
    check->in = mur_schedule_memory(s, (size_t)neighbours.indegree * sizeof *check->in);
    if (!check->out || !check->in)
        return;
    out = bytes_blocks(check->out, sizeof *check->out);
    in = bytes_blocks(check->in, sizeof *check->in);
    for (int i = 0; i < neighbours.outdegree; i++)
        if (c->kind == MUR_NEIGHBOR_ALLGATHER)
            check->out[i] = amount_of(from->count, from->type);
        else if (c->kind != MUR_SCATTER || c->root == (comm->remote ? MPI_ROOT : comm->rank))
            check->out[i] = amount_of_block(from, i);
    if (c->kind == MUR_SCATTER)
        mur_coll_scatter(s, &out, check->in, sizeof *check->in, byte, c->root);
    else if (is_neighbourly(c->kind))
        mur_coll_neighbor_alltoall(s, &out, &in);
    else
        mur_coll_alltoall(s, &out, &in);
}

void mur_verify_add(struct mur_schedule *s, const struct mur_collective *c, enum mur_form form)
{
    struct mur_comm *comm = s->comm;
    size_t mine = (size_t)own_size(comm), theirs = comm->remote ? (size_t)comm->size : 0;
    struct check *check = mur_schedule_memory(s, sizeof *check);

    if (!check)
        return;
    *check = (struct check){.c = *c};
    mur_hold_in_schedule(s, &check->c); /* it is compared when the schedule runs */
    check->notices = mur_schedule_memory(s, mine * sizeof *check->notices);
    check->remote_notices = mur_schedule_memory(s, theirs * sizeof *check->notices);
    check->verdicts = mur_schedule_memory(s, mine * sizeof *check->verdicts);
    check->remote_verdicts = mur_schedule_memory(s, theirs * sizeof *check->verdicts);
    if (!check->notices || !check->remote_notices || !check->verdicts || !check->remote_verdicts)
        return;
    memset(check->notices, 0, mine * sizeof *check->notices);
    memset(check->verdicts, 0, mine * sizeof *check->verdicts);
    fill_notice(&check->own, c, comm, form);
    check->notices[comm->rank] = check->own;
    tell_all(s, check->notices, check->remote_notices, sizeof *check->notices);
    mur_schedule_call(s, compare_notices, check);
    mur_schedule_fence(s);
    if (!has_amounts_to_tell(c))
        return;
    tell_receivers(s, check);
    mur_schedule_fence(s);
    mur_schedule_call(s, compare_blocks, check);
    tell_all(s, check->verdicts, check->remote_verdicts, sizeof *check->verdicts);
    mur_schedule_call(s, conclude, check);
    mur_schedule_fence(s);
}
