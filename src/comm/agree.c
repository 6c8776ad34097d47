/* SPDX-License-Identifier: BSD-3-Clause */
/* The members intersect their bitmaps of free context ids and propose the lowest id that is left. Between that and the
 * answer another agreement of the same process may have taken it (of another thread, or an MPI_Comm_idup under way),
 * so each takes the id if it still can, and a second intersection tells whether all could. If not, they give it back
 * and try again with another of the free ids, drawn by a number that differs from agreement to agreement: two that
 * collide part soon. Nobody ever waits for another agreement, so none can block another.
 *
 * The second intersection also tells whether the call has failed at some member. Then, and only then, a third one
 * finds out where. */
#include "comm/agree.h"

#include <string.h>

#include "base/error.h"
#include "coll/board/board.h"
#include "coll/coll.h"
#include "node/node.h"
#include "object/context.h"

/* What each says in the second intersection. */
enum { HAS_TAKEN = 1, IS_WELL = 2 };

struct agreement {
    struct mur_scope scope;
    struct mur_comm *newcomm;
    int wanted;
    bool has_failed; /* here */
    int window, attempt;
    uint32_t seed; /* the same at all members */
    uint64_t bits[MUR_CONTEXT_WORDS];
    uint64_t answer;
    uint64_t *well; /* a bit for each rank of this side */
    int taken;      /* by this process, so far */
    uint32_t contexts[2];
    uint64_t board_token; /* 0: none */
};

struct mur_scope mur_agree_scope_of(struct mur_schedule *schedule, struct mur_comm *comm)
{
    if (!comm->remote)
        return (struct mur_scope){.comm = comm};
    return (struct mur_scope){.comm = comm->local,
                              .is_two_sided = true,
                              .bridge = comm,
                              .bridge_context = comm->context + MUR_CONTEXT_COLLECTIVE,
                              .bridge_tag = schedule->tag};
}

/* A binomial tree within a group whose first member is the root: up, then down. */
static void and_in_group(struct mur_schedule *s, const struct mur_scope *scope, uint64_t *words, int count)
{
    struct mur_type *type = mur_type_find(MPI_UINT64_T);
    struct mur_op *and = mur_op_find(MPI_BAND);
    struct mur_group *group = scope->group, *all = scope->comm->group;
    uint64_t *other = mur_schedule_memory(s, (size_t)count * sizeof *other);
    int me = group->rank, bit;

    for (bit = 1; other && bit < group->size && !(me & bit); bit *= 2) {
        if (me + bit >= group->size)
            continue;
        mur_schedule_receive(s, other, count, type, mur_group_rank_of(all, group->processes[me + bit]));
        mur_schedule_fence(s);
        mur_schedule_reduce(s, and, other, words, count, type);
        mur_schedule_fence(s);
    }
    if (me) {
        int above = mur_group_rank_of(all, group->processes[me - bit]);

        mur_schedule_send(s, words, count, type, above);
        mur_schedule_fence(s);
        mur_schedule_receive(s, words, count, type, above);
        mur_schedule_fence(s);
    }
    while (bit > 1) {
        bit /= 2;
        if (me + bit < group->size)
            mur_schedule_send(s, words, count, type, mur_group_rank_of(all, group->processes[me + bit]));
    }
    mur_schedule_fence(s);
}

/* An exchange with the other side. */
struct crossing {
    struct mur_scope scope;
    uint64_t *words;
    int count;
    int outcome;     /* at the leader: MPI_SUCCESS, or the error of the exchange */
    uint64_t told[]; /* what the leader tells its side: the words, and the class of the error */
};

/* At the leader: what the other side has said lies in `told`. */
static int meet(struct mur_schedule *s, void *argument)
{
    struct crossing *crossing = argument;

    (void)s;
    for (int i = 0; i < crossing->count; i++)
        crossing->told[i] &= crossing->words[i];
    crossing->told[crossing->count] = (uint64_t)mur_error_class(crossing->outcome);
    return MPI_SUCCESS;
}

static int arrive(struct mur_schedule *s, void *argument)
{
    struct crossing *crossing = argument;
    int class = (int)crossing->told[crossing->count];

    (void)s;
    memcpy(crossing->words, crossing->told, (size_t)crossing->count * sizeof *crossing->words);
    if (class && crossing->scope.on_loss)
        crossing->scope.on_loss(crossing->scope.owner);
    if (class && !crossing->outcome)
        return mur_error(class,
                         "rank %d, which speaks for this group, cannot reach the other group; its own error "
                         "says why",
                         crossing->scope.leader);
    return crossing->outcome;
}

/* The leaders exchange what their sides have found, and tell their sides, also that they could not. */
static void and_with_other_side(struct mur_schedule *s, const struct mur_scope *scope, uint64_t *words, int count)
{
    struct mur_type *type = mur_type_find(MPI_UINT64_T);
    struct mur_comm *comm = s->comm;
    uint32_t context = s->context;
    int tag = s->tag;
    struct crossing *crossing =
        mur_schedule_memory(s, sizeof *crossing + ((size_t)count + 1) * sizeof crossing->told[0]);

    if (!crossing)
        return;
    *crossing = (struct crossing){.scope = *scope, .words = words, .count = count};
    if (comm->rank == scope->leader) {
        mur_schedule_move(s, scope->bridge, scope->bridge_context, scope->bridge_tag);
        mur_schedule_receive(s, crossing->told, count, type, scope->bridge_rank);
        mur_schedule_tolerate(s, &crossing->outcome);
        mur_schedule_send(s, words, count, type, scope->bridge_rank);
        mur_schedule_tolerate(s, &crossing->outcome);
        mur_schedule_fence(s);
        mur_schedule_call(s, meet, crossing);
        mur_schedule_fence(s);
        mur_schedule_move(s, comm, context, tag);
    }
    mur_coll_bcast(s, crossing->told, count + 1, type, scope->leader);
    mur_schedule_fence(s);
    mur_schedule_call(s, arrive, crossing);
    mur_schedule_fence(s);
}

void mur_agree_scope_and(struct mur_schedule *s, const struct mur_scope *scope, uint64_t *words, int count)
{
    struct mur_comm *comm = s->comm;
    uint32_t context = s->context;
    int tag = s->tag;

    if (scope->group)
        mur_schedule_move(s, scope->comm, scope->comm->context + MUR_CONTEXT_MEMBERS, scope->tag);
    else
        mur_schedule_move(s, scope->comm, scope->comm->context + MUR_CONTEXT_COLLECTIVE, tag);
    mur_schedule_fence(s);
    if (scope->group) {
        and_in_group(s, scope, words, count);
    } else {
        mur_coll_allreduce(s, MPI_IN_PLACE, words, count, mur_type_find(MPI_UINT64_T), mur_op_find(MPI_BAND));
        mur_schedule_fence(s);
        if (scope->is_two_sided)
            and_with_other_side(s, scope, words, count);
    }
    mur_schedule_move(s, comm, context, tag);
}

static void try(struct mur_schedule *s, struct agreement *agreement);

static void give_back(void *argument)
{
    struct agreement *agreement = argument;

    while (agreement->taken)
        mur_context_free(agreement->contexts[--agreement->taken]);
}

/* The number of the set bit that is `skip` bits above the lowest. */
static int find_bit(const uint64_t bits[MUR_CONTEXT_WORDS], int skip)
{
    for (int word = 0; word < MUR_CONTEXT_WORDS; word++)
        for (uint64_t left = bits[word]; left; left &= left - 1)
            if (skip-- == 0)
                return word * 64 + __builtin_ctzll(left);
    return -1;
}

static int open_board(struct mur_schedule *s, void *argument)
{
    struct agreement *agreement = argument;
    struct mur_comm *comm = agreement->newcomm;

    (void)s;
    if (!agreement->board_token)
        return MPI_SUCCESS; /* no memory for one: collectives do without */
    comm->board = mur_board_open(mur_node_shared(agreement->board_token), comm->rank, comm->size, comm->processes);
    return comm->board ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a communicator's collectives");
}

/* The new communicator's rank 0 provides the board and tells the others. */
static int add_board(struct mur_schedule *s, struct agreement *agreement)
{
    struct mur_comm *newcomm = agreement->newcomm, *comm = s->comm;
    uint32_t context = s->context;
    int tag = s->tag;

    if (newcomm->remote || newcomm->size == 1 || !mur_engine_is_node(newcomm->processes, newcomm->size))
        return MPI_SUCCESS;
    agreement->board_token = 0;
    if (newcomm->rank == 0)
        mur_board_allocate(newcomm->size, NULL, &agreement->board_token);
    mur_schedule_move(s, newcomm, newcomm->context + MUR_CONTEXT_COLLECTIVE, (int)newcomm->sequence++);
    mur_schedule_fence(s);
    mur_coll_bcast(s, &agreement->board_token, 1, mur_type_find(MPI_UINT64_T), 0);
    mur_schedule_move(s, comm, context, tag);
    mur_schedule_fence(s);
    mur_schedule_call(s, open_board, agreement);
    return MPI_SUCCESS;
}

int mur_agree_failed_elsewhere(int rank, const char *whose)
{
    return mur_error(MPI_ERR_OTHER, "the call failed at rank %d of the %s, so nothing is made", rank, whose);
}

static int name_failed(struct mur_schedule *s, void *argument)
{
    const struct agreement *agreement = argument;
    int rank = 0, size = agreement->scope.comm->size;

    (void)s;
    while (rank < size && agreement->well[rank / 64] >> rank % 64 & 1)
        rank++;
    if (rank == size)
        return mur_error(MPI_ERR_OTHER, "the call failed at a rank of the remote group, so nothing is made");
    return mur_agree_failed_elsewhere(rank, agreement->scope.is_two_sided ? "local group" : "communicator");
}

/* Somebody has failed. The other side has ranks of its own, so each looks among its own only. */
static void find_failed(struct mur_schedule *s, struct agreement *agreement)
{
    struct mur_scope side = agreement->scope;
    int rank = side.comm->rank, words = (side.comm->size + 63) / 64;

    agreement->well = mur_schedule_memory(s, (size_t)words * sizeof *agreement->well);
    if (!agreement->well)
        return;
    memset(agreement->well, -1, (size_t)words * sizeof *agreement->well);
    if (agreement->has_failed)
        agreement->well[rank / 64] &= ~(UINT64_C(1) << rank % 64);
    side.is_two_sided = false;
    mur_agree_scope_and(s, &side, agreement->well, words);
    mur_schedule_fence(s);
    mur_schedule_call(s, name_failed, agreement);
}

/* All know whether all have it. */
static int conclude(struct mur_schedule *s, void *argument)
{
    struct agreement *agreement = argument;

    if (!(agreement->answer & IS_WELL)) {
        give_back(agreement);
        find_failed(s, agreement);
    } else if (!(agreement->answer & HAS_TAKEN)) {
        give_back(agreement);
        agreement->attempt++;
        try(s, agreement);
    } else if (agreement->newcomm) {
        mur_comm_set_contexts(agreement->newcomm, agreement->contexts);
        return add_board(s, agreement);
    } else {
        give_back(agreement);
    }
    return MPI_SUCCESS;
}

/* All have the same bits: those that are free everywhere. */
static int propose(struct mur_schedule *s, void *argument)
{
    struct agreement *agreement = argument;
    int count = 0, skip = 0;

    for (int word = 0; word < MUR_CONTEXT_WORDS; word++)
        count += __builtin_popcountll(agreement->bits[word]);
    if (count < agreement->wanted) {
        if (++agreement->window == MUR_CONTEXT_WINDOWS)
            return mur_error(MPI_ERR_OTHER,
                             "no context id is free at all ranks: a process can have %d communicators at a time; "
                             "free some with MPI_Comm_free",
                             MUR_CONTEXT_LIMIT);
        try(s, agreement);
        return MPI_SUCCESS;
    }
    if (agreement->attempt) {
        agreement->seed = agreement->seed * 1664525 + 1013904223; /* a linear congruence: any spread will do */
        skip = (int)((agreement->seed >> 8) % (uint32_t)(count - agreement->wanted + 1));
    }
    while (agreement->taken < agreement->wanted &&
           mur_context_take(agreement->window, find_bit(agreement->bits, skip + agreement->taken),
                            &agreement->contexts[agreement->taken]))
        agreement->taken++;
    agreement->answer = (agreement->taken == agreement->wanted ? HAS_TAKEN : 0) | (agreement->has_failed ? 0 : IS_WELL);
    mur_agree_scope_and(s, &agreement->scope, &agreement->answer, 1);
    mur_schedule_fence(s);
    mur_schedule_call(s, conclude, agreement);
    return MPI_SUCCESS;
}

static int look(struct mur_schedule *s, void *argument)
{
    struct agreement *agreement = argument;

    mur_context_free_bits(agreement->window, agreement->bits);
    mur_agree_scope_and(s, &agreement->scope, agreement->bits, MUR_CONTEXT_WORDS);
    mur_schedule_fence(s);
    mur_schedule_call(s, propose, agreement);
    return MPI_SUCCESS;
}

static void try(struct mur_schedule *s, struct agreement *agreement)
{
    mur_schedule_fence(s);
    mur_schedule_call(s, look, agreement);
}

void mur_agree(struct mur_schedule *s, const struct mur_scope *scope, int wanted, struct mur_comm *newcomm,
               bool has_failed)
{
    struct agreement *agreement = mur_schedule_memory(s, sizeof *agreement);

    if (!agreement)
        return;
    agreement->scope = *scope;
    agreement->scope.on_loss = give_back;
    agreement->scope.owner = agreement;
    agreement->newcomm = newcomm;
    agreement->wanted = wanted;
    agreement->has_failed = has_failed;
    agreement->window = agreement->attempt = agreement->taken = 0;
    if (scope->is_two_sided) /* the sides' own communicators may have different contexts */
        agreement->seed = (uint32_t)scope->bridge_tag;
    else
        agreement->seed = (uint32_t)(scope->group ? scope->tag : s->tag) * 2654435761u ^ s->owner->context;
    try(s, agreement);
}
