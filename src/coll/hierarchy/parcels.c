/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical gatherv and scatterv, where only a rank and the root know how large the rank's block is. A small block
 * travels as a parcel, which begins with its size; parcels of one node cross the network together, by way of its
 * leader. In place of a large block the parcel only says so, and the block goes straight between the rank and the root.
 * The sender of a block decides, so ranks that disagree about a size see it, and none waits for what does not come. */
#include <string.h>

#include "base/error.h"
#include "coll/hierarchy/stages.h"
#include "datatype/layout.h"

enum {
    INLINE_MOST = 4096, /* bytes of a block that goes as a parcel: an exchange of its own would cost more than copies */
    HEADER = sizeof(MPI_Count),
    PARCEL_MOST = HEADER + INLINE_MOST,
    APART = -1, /* instead of a size: the block does not come in the parcel */
};

static struct mur_type *byte_type(void)
{
    return mur_type_find(MPI_BYTE);
}

static bool is_inline(MPI_Count bytes)
{
    return bytes <= INLINE_MOST;
}

/* The bytes that a parcel takes if its block has `bytes` bytes. */
static MPI_Count parcel_bytes(MPI_Count bytes)
{
    return HEADER + (is_inline(bytes) ? bytes : 0);
}

/* Adds the steps that pack a block. Its size does not change, so it is written now. */
static void pack_parcel(struct mur_schedule *s, char *parcel, const void *block, MPI_Count count, struct mur_type *type)
{
    MPI_Count bytes = count * type->size, written = is_inline(bytes) ? bytes : APART;

    memcpy(parcel, &written, HEADER);
    if (written > 0)
        mur_schedule_copy(s, block, count, type, parcel + HEADER, bytes, byte_type());
}

/* The size of the block in a parcel, and the bytes of the parcel. */
static MPI_Count open_parcel(const char *parcel, MPI_Count *all)
{
    MPI_Count bytes;

    memcpy(&bytes, parcel, HEADER);
    *all = HEADER + (bytes > 0 ? bytes : 0);
    return bytes;
}

/* Where the block of a parcel goes. If it does not come in it, `late` says that it is still to be received. */
struct delivery {
    const char *parcel;
    int rank; /* whose block, or who sent it: for the message of an error */
    void *block;
    MPI_Count count;
    struct mur_type *type;
    struct mur_late late;
};

static int deliver(struct delivery *d, MPI_Count *all)
{
    MPI_Count bytes = open_parcel(d->parcel, all), expected = d->count * d->type->size;

    d->late = (struct mur_late){.at = d->block, .count = bytes == APART ? d->count : MUR_LATE_NONE};
    if (bytes == APART)
        return MPI_SUCCESS;
    if (bytes != expected)
        return mur_error(bytes > expected ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                         "the block from rank %d has %lld bytes, but the counts and types here make %lld", d->rank,
                         (long long)bytes, (long long)expected);
    if (bytes)
        mur_layout_copy_typed(d->parcel + HEADER, bytes, byte_type(), d->block, d->count, d->type);
    return MPI_SUCCESS;
}

/* ---- gatherv ---- */

/* At a leader: what has come from the ranks of its node. */
struct bundle {
    char *parcels; /* each has a place of PARCEL_MOST bytes */
    int count;
    struct mur_late whole; /* all of them, one after the other */
};

static int tie(struct mur_schedule *s, void *argument)
{
    struct bundle *bundle = argument;
    MPI_Count end = 0, all;

    (void)s;
    for (int i = 0; i < bundle->count; i++, end += all) {
        const char *parcel = bundle->parcels + (size_t)i * PARCEL_MOST;

        open_parcel(parcel, &all);
        memmove(bundle->parcels + end, parcel, (size_t)all);
    }
    bundle->whole = (struct mur_late){.at = bundle->parcels, .count = end};
    return MPI_SUCCESS;
}

/* This rank's parcel is one of them, a copy that is moved with the others. */
static void bundle_parcels(struct mur_hierarchy *h, const struct mur_collective *c)
{
    struct mur_schedule *s = h->s;
    struct bundle *bundle = mur_schedule_memory(s, sizeof *bundle);
    char *parcels = mur_schedule_memory(s, (size_t)h->here * PARCEL_MOST);
    MPI_Count bytes = parcel_bytes(c->from.count * c->from.type->size);
    char *own = mur_schedule_memory(s, (size_t)bytes);

    if (!bundle || !parcels || !own)
        return;
    *bundle = (struct bundle){.parcels = parcels, .count = h->here};
    pack_parcel(s, own, c->from.buffer, c->from.count, c->from.type);
    mur_hierarchy_team_enter_node(&h->team, s);
    for (int i = 0; i < h->here; i++)
        if (i != h->nodes->me)
            mur_schedule_receive_up_to(s, parcels + (size_t)i * PARCEL_MOST, PARCEL_MOST, i);
    mur_hierarchy_team_leave(&h->team, s);
    mur_schedule_fence(s);
    mur_schedule_copy(s, own, bytes, byte_type(), parcels + (size_t)h->nodes->me * PARCEL_MOST, bytes, byte_type());
    mur_schedule_call(s, tie, bundle);
    mur_schedule_send_late(s, &bundle->whole, byte_type(), c->root);
}

static void send_own(struct mur_hierarchy *h, const struct mur_collective *c)
{
    struct mur_schedule *s = h->s;
    MPI_Count bytes = parcel_bytes(c->from.count * c->from.type->size);
    char *parcel = mur_schedule_memory(s, (size_t)bytes);

    if (!parcel)
        return;
    pack_parcel(s, parcel, c->from.buffer, c->from.count, c->from.type);
    mur_schedule_send(s, parcel, bytes, byte_type(), h->leaders[h->nodes->mine]);
}

/* At the root: the parcels of one node, in the order of its ranks. */
struct arrival {
    char *parcels;
    int count;
    struct delivery deliveries[];
};

static int deliver_all(struct mur_schedule *s, void *argument)
{
    struct arrival *arrival = argument;
    const char *parcel = arrival->parcels;
    MPI_Count all;

    for (int i = 0; i < arrival->count; i++, parcel += all) {
        arrival->deliveries[i].parcel = parcel;
        mur_schedule_mar(s, deliver(&arrival->deliveries[i], &all));
    }
    return MPI_SUCCESS;
}

/* Adds the receive of a node's parcels. NULL: no memory. */
static struct arrival *expect(struct mur_hierarchy *h, const struct mur_blocks *blocks, int node)
{
    struct mur_schedule *s = h->s;
    int count = mur_nodes_ranks(h->nodes, node);
    struct arrival *arrival = mur_schedule_memory(s, sizeof *arrival + (size_t)count * sizeof *arrival->deliveries);
    char *parcels = mur_schedule_memory(s, (size_t)count * PARCEL_MOST);

    if (!arrival || !parcels)
        return NULL;
    arrival->parcels = parcels;
    arrival->count = count;
    for (int i = 0; i < count; i++) {
        int rank = mur_nodes_rank(h->nodes, node, i);

        arrival->deliveries[i] = (struct delivery){.rank = rank,
                                                   .block = mur_block(blocks, rank),
                                                   .count = mur_block_count(blocks, rank),
                                                   .type = blocks->type};
    }
    mur_schedule_receive_up_to(s, parcels, (MPI_Count)count * PARCEL_MOST, h->leaders[node]);
    return arrival;
}

/* Whether parcels go between this node and the root. */
static bool has_parcels(const struct mur_hierarchy *h, int node, int root)
{
    return node != h->nodes->node_of[root] && mur_nodes_ranks(h->nodes, node) > 1;
}

static void gather_at_root(struct mur_hierarchy *h, const struct mur_collective *c)
{
    struct mur_schedule *s = h->s;
    const struct mur_blocks *to = &c->to;
    struct arrival **arrivals = mur_schedule_memory(s, (size_t)h->nodes->count * sizeof(struct arrival *));

    if (!arrivals)
        return;
    for (int node = 0; node < h->nodes->count; node++) {
        arrivals[node] = NULL;
        if (has_parcels(h, node, c->root) && !(arrivals[node] = expect(h, to, node)))
            return;
    }
    for (int rank = 0; rank < s->comm->size; rank++)
        if (rank != c->root && !has_parcels(h, h->nodes->node_of[rank], c->root))
            mur_schedule_receive(s, mur_block(to, rank), mur_block_count(to, rank), to->type, rank);
    if (c->from.buffer != MPI_IN_PLACE)
        mur_schedule_copy(s, c->from.buffer, c->from.count, c->from.type, mur_block(to, c->root),
                          mur_block_count(to, c->root), to->type);
    mur_schedule_fence(s);
    for (int node = 0; node < h->nodes->count; node++) {
        if (!arrivals[node])
            continue;
        mur_schedule_call(s, deliver_all, arrivals[node]);
        for (int i = 0; i < arrivals[node]->count; i++)
            mur_schedule_receive_late(s, &arrivals[node]->deliveries[i].late, to->type,
                                      arrivals[node]->deliveries[i].rank);
    }
}

void mur_hierarchy_gatherv(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_hierarchy h;
    bool is_bundled;

    if (!mur_hierarchy_start(&h, s, c->root))
        return;
    if (s->comm->rank == c->root) {
        gather_at_root(&h, c);
        return;
    }
    is_bundled = has_parcels(&h, h.nodes->mine, c->root);
    if (is_bundled && h.is_leader)
        bundle_parcels(&h, c);
    else if (is_bundled)
        send_own(&h, c);
    if (!is_bundled || !is_inline(c->from.count * c->from.type->size))
        mur_schedule_send(s, c->from.buffer, c->from.count, c->from.type, c->root);
}

/* ---- scatterv ---- */

/* At a leader: what has come for the ranks of its node. */
struct delivered {
    struct delivery own;
    const char *parcels;
    int count, me;
    struct mur_late parts[];
};

static int deliver_own(struct mur_schedule *s, void *argument)
{
    MPI_Count all;

    mur_schedule_mar(s, deliver(argument, &all));
    return MPI_SUCCESS;
}

static int cut_up(struct mur_schedule *s, void *argument)
{
    struct delivered *d = argument;
    const char *parcel = d->parcels;
    MPI_Count all;

    for (int i = 0; i < d->count; i++, parcel += all) {
        open_parcel(parcel, &all);
        d->parts[i] = (struct mur_late){.at = (char *)parcel, .count = all};
        if (i == d->me)
            d->own.parcel = parcel;
    }
    return deliver_own(s, &d->own);
}

static struct delivery own_delivery(const struct mur_collective *c, const char *parcel)
{
    return (struct delivery){
        .parcel = parcel, .rank = c->root, .block = c->to.buffer, .count = c->to.count, .type = c->to.type};
}

static void pass_parcels_on(struct mur_hierarchy *h, const struct mur_collective *c)
{
    struct mur_schedule *s = h->s;
    struct delivered *d = mur_schedule_memory(s, sizeof *d + (size_t)h->here * sizeof *d->parts);
    char *parcels = mur_schedule_memory(s, (size_t)h->here * PARCEL_MOST);

    if (!d || !parcels)
        return;
    d->own = own_delivery(c, NULL);
    d->parcels = parcels;
    d->count = h->here;
    d->me = h->nodes->me;
    mur_schedule_receive_up_to(s, parcels, (MPI_Count)h->here * PARCEL_MOST, c->root);
    mur_schedule_fence(s);
    mur_schedule_call(s, cut_up, d);
    mur_hierarchy_team_enter_node(&h->team, s);
    for (int i = 0; i < h->here; i++)
        if (i != d->me)
            mur_schedule_send_late(s, &d->parts[i], byte_type(), i);
    mur_hierarchy_team_leave(&h->team, s);
    mur_schedule_receive_late(s, &d->own.late, c->to.type, c->root);
}

static void receive_parcel(struct mur_hierarchy *h, const struct mur_collective *c)
{
    struct mur_schedule *s = h->s;
    struct delivery *own = mur_schedule_memory(s, sizeof *own + PARCEL_MOST);

    if (!own)
        return;
    *own = own_delivery(c, (char *)(own + 1));
    mur_schedule_receive_up_to(s, own + 1, PARCEL_MOST, h->leaders[h->nodes->mine]);
    mur_schedule_fence(s);
    mur_schedule_call(s, deliver_own, own);
    mur_schedule_receive_late(s, &own->late, c->to.type, c->root);
}

/* Sends the parcels of a node. */
static void send_parcels(struct mur_hierarchy *h, const struct mur_blocks *from, int node)
{
    struct mur_schedule *s = h->s;
    int count = mur_nodes_ranks(h->nodes, node);
    char *parcels = mur_schedule_memory(s, (size_t)count * PARCEL_MOST), *end = parcels;

    for (int i = 0; parcels && i < count; i++) {
        int rank = mur_nodes_rank(h->nodes, node, i);
        MPI_Count blocks = mur_block_count(from, rank);

        pack_parcel(s, end, mur_block(from, rank), blocks, from->type);
        end += parcel_bytes(blocks * from->type->size);
    }
    mur_schedule_send(s, parcels, end - parcels, byte_type(), h->leaders[node]);
}

static void scatter_from_root(struct mur_hierarchy *h, const struct mur_collective *c)
{
    struct mur_schedule *s = h->s;
    const struct mur_blocks *from = &c->from;

    for (int node = 0; node < h->nodes->count; node++)
        if (has_parcels(h, node, c->root))
            send_parcels(h, from, node);
    for (int rank = 0; rank < s->comm->size; rank++) {
        MPI_Count count = mur_block_count(from, rank);

        if (rank != c->root &&
            (!is_inline(count * from->type->size) || !has_parcels(h, h->nodes->node_of[rank], c->root)))
            mur_schedule_send(s, mur_block(from, rank), count, from->type, rank);
    }
    if (c->to.buffer != MPI_IN_PLACE)
        mur_schedule_copy(s, mur_block(from, c->root), mur_block_count(from, c->root), from->type, c->to.buffer,
                          c->to.count, c->to.type);
}

void mur_hierarchy_scatterv(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_hierarchy h;

    if (!mur_hierarchy_start(&h, s, c->root))
        return;
    if (s->comm->rank == c->root)
        scatter_from_root(&h, c);
    else if (!has_parcels(&h, h.nodes->mine, c->root))
        mur_schedule_receive(s, c->to.buffer, c->to.count, c->to.type, c->root);
    else if (h.is_leader)
        pass_parcels_on(&h, c);
    else
        receive_parcel(&h, c);
}
