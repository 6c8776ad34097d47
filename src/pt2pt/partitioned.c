/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication (MPI-5.0 §4). The two requests of a pair meet once: the sender's init sends its plan, in a
 * context of its own, and receives are matched with plans in the order of their inits. From then on each partition of
 * the sender is a message with a tag of its own, in a second context, sent when it is ready; the receiver cuts the data
 * by the sender's partitions, whatever its own. As with other messages, a receive may have more room than it needs; one
 * that has less fails with each start, but takes the messages, so that the sender ends. */
#include <stdlib.h>
#include <sys/queue.h>

#include "base/error.h"
#include "datatype/layout.h"
#include "object/context.h"
#include "pt2pt/pt2pt.h"

/* What the receiver must know of the sender. Partition i is the message with the tag that is i behind first_tag. */
struct plan {
    int32_t first_tag, partitions;
    uint64_t partition_bytes;
};

struct piece {
    bool has_arrived;
    char *staging; /* where the data cannot be received in place; owned */
};

struct partitioned {
    TAILQ_ENTRY(partitioned) in_senders; /* of a sender that has tags */
    bool is_sender, is_null;
    int rank, tag, partitions; /* partitions of this side */
    MPI_Count count;           /* elements of one */
    struct plan plan;
    int plan_error;       /* of the receiver: the two sides do not fit, or there is no memory */
    bool has_plan;        /* the plan has left, or arrived */
    bool has_tags;        /* it is in `senders` */
    bool must_start;      /* receiver: started before */
    bool *ready;          /* [partitions] sender: MPI_Pready was called since the start */
    struct piece *pieces; /* [plan.partitions] receiver */
};

/* ---- tags ---- */

/* Tags come from a circle, in order. A sender has its own until it is freed, and the circle is larger than what
 * flow control leaves under way, so no message meets a receive of another plan. `senders` are in the order of the
 * circle; the next tags lie before those of `ahead`, which is the oldest of them. */
enum { TAGS = 1 << 30 };
static TAILQ_HEAD(, partitioned) senders = TAILQ_HEAD_INITIALIZER(senders);
static struct partitioned *ahead; /* NULL: no sender has tags */
static int32_t next_tag;

static int32_t tag_of(const struct plan *plan, int partition)
{
    return (int32_t)(((uint32_t)plan->first_tag + (uint32_t)partition) % TAGS);
}

/* Tags from `tag` on up to the first one of a sender. */
static int32_t tags_before(int32_t tag, const struct partitioned *sender)
{
    return (int32_t)((uint32_t)(sender->plan.first_tag - tag) % TAGS);
}

static struct partitioned *following(struct partitioned *sender)
{
    struct partitioned *next = TAILQ_NEXT(sender, in_senders);

    return next ? next : TAILQ_FIRST(&senders);
}

/* Gives a sender as many tags in a row as it has partitions. */
static int take_tags(struct partitioned *p)
{
    const struct partitioned *first = ahead;

    while (ahead && tags_before(next_tag, ahead) < p->partitions) {
        next_tag = tag_of(&ahead->plan, ahead->partitions);
        ahead = following(ahead);
        if (ahead == first)
            break; /* all of the circle has been looked at */
    }
    if (p->partitions > (ahead ? tags_before(next_tag, ahead) : TAGS - 1))
        return mur_error(MPI_ERR_ARG, "partitions is %d, but all partitioned sends of a process together can have %d",
                         p->partitions, TAGS - 1);
    p->plan.first_tag = next_tag;
    next_tag = tag_of(&p->plan, p->partitions);
    if (!p->partitions)
        return MPI_SUCCESS;
    p->has_tags = true;
    if (ahead)
        TAILQ_INSERT_BEFORE(ahead, p, in_senders);
    else
        TAILQ_INSERT_TAIL(&senders, p, in_senders);
    ahead = ahead ? ahead : p;
    return MPI_SUCCESS;
}

static void give_tags_back(struct partitioned *p)
{
    if (!p->has_tags)
        return;
    if (ahead == p)
        ahead = following(p);
    TAILQ_REMOVE(&senders, p, in_senders);
    if (TAILQ_EMPTY(&senders))
        ahead = NULL;
}

static void part_done(struct mur_request *part)
{
    struct mur_request *request = part->owner;

    if (part->result.error && !request->result.error)
        request->result.error = part->result.error;
    if (--request->parts == 0)
        mur_request_complete(request);
}

/* ---- the sender ---- */

static int start_send(struct mur_request *request)
{
    struct partitioned *p = request->extra;

    for (int i = 0; i < p->partitions; i++)
        p->ready[i] = false;
    request->parts = p->partitions;
    if (!request->parts)
        mur_request_complete(request);
    return MPI_SUCCESS;
}

static int find_partitioned(struct mur_request *request, bool is_sender, struct partitioned **p);

int mur_partitioned_ready(struct mur_request *request, int partition)
{
    struct mur_request *part;
    struct partitioned *p = NULL;
    int rc = find_partitioned(request, true, &p);

    if (rc)
        return rc;
    if (!request->is_active)
        return mur_error(MPI_ERR_REQUEST, "the partitioned send has not been started");
    if (partition < 0 || partition >= p->partitions)
        return mur_error(MPI_ERR_ARG, "partition is %d, but must be from 0 to %d", partition, p->partitions - 1);
    if (p->ready[partition])
        return mur_error(MPI_ERR_ARG, "partition %d is ready already", partition);
    p->ready[partition] = true;
    rc = mur_isend(request->buffer + partition * p->count * request->type->extent, p->count, request->type,
                   p->is_null ? MPI_PROC_NULL : p->rank, tag_of(&p->plan, partition), request->comm,
                   request->comm->context + MUR_CONTEXT_PARTITION, MUR_STANDARD, &part);
    if (!rc)
        mur_request_join(part, request, part_done);
    return rc;
}

/* ---- the receiver ---- */

static MPI_Count total_bytes(const struct partitioned *p)
{
    return p->plan.partitions * (MPI_Count)p->plan.partition_bytes;
}

static void piece_done(struct mur_request *part)
{
    struct mur_request *request = part->owner;
    struct partitioned *p = request->extra;
    int index = (int)((uint32_t)(part->result.tag - p->plan.first_tag) % TAGS);
    struct piece *piece = &p->pieces[index];
    struct mur_cursor cursor;

    if (piece->staging && !part->result.error) {
        mur_cursor_start(&cursor, request->buffer, p->count * p->partitions, request->type);
        mur_cursor_seek(&cursor, (size_t)index * p->plan.partition_bytes);
        mur_cursor_unpack(&cursor, piece->staging, p->plan.partition_bytes);
    }
    piece->has_arrived = true;
    part_done(part);
}

static int receive_piece(struct mur_request *request, int index)
{
    struct partitioned *p = request->extra;
    struct piece *piece = &p->pieces[index];
    char *place = request->buffer + (size_t)index * p->plan.partition_bytes;
    MPI_Count bytes = p->plan_error ? 0 : (MPI_Count)p->plan.partition_bytes;
    struct mur_request *part;
    int rc;

    piece->has_arrived = false;
    if (bytes && !request->type->is_dense && !piece->staging) {
        piece->staging = malloc((size_t)bytes);
        if (!piece->staging)
            return mur_error(MPI_ERR_NO_MEM, "no memory to receive a partition of %lld bytes", (long long)bytes);
    }
    rc = mur_irecv(piece->staging ? piece->staging : place, bytes, mur_type_find(MPI_BYTE), p->rank,
                   tag_of(&p->plan, index), request->comm, request->comm->context + MUR_CONTEXT_PARTITION, &part);
    if (!rc)
        mur_request_join(part, request, piece_done);
    return rc;
}

/* Posts the receives of all pieces. A failure is the request's error. */
static void receive_pieces(struct mur_request *request)
{
    struct partitioned *p = request->extra;
    int rc = MPI_SUCCESS;

    request->result.error = p->plan_error;
    request->result.bytes = total_bytes(p);
    request->parts = p->plan.partitions + 1; /* one is this function's own */
    for (int i = 0; i < p->plan.partitions; i++) {
        if (!rc)
            rc = receive_piece(request, i);
        if (rc)
            request->parts--;
    }
    if (rc && !request->result.error)
        request->result.error = rc;
    if (--request->parts == 0)
        mur_request_complete(request);
}

static void receive_planned(struct mur_request *request)
{
    const struct partitioned *p = request->extra;

    if (p->pieces) {
        receive_pieces(request);
        return;
    }
    request->result.error = p->plan_error;
    mur_request_complete(request);
}

static int start_receive(struct mur_request *request)
{
    struct partitioned *p = request->extra;

    request->result.source = p->rank;
    request->result.tag = p->is_null ? MPI_ANY_TAG : p->tag;
    request->result.bytes = 0;
    if (p->is_null)
        mur_request_complete(request);
    else if (p->has_plan)
        receive_planned(request);
    else
        p->must_start = true;
    return MPI_SUCCESS;
}

static void plan_arrived(struct mur_request *part)
{
    struct mur_request *request = part->owner;
    struct partitioned *p = request->extra;
    MPI_Count bytes = p->count * p->partitions * request->type->size;

    p->pieces = calloc((size_t)p->plan.partitions + 1, sizeof *p->pieces);
    if (!p->pieces)
        p->plan_error = mur_error(MPI_ERR_NO_MEM, "no memory for %d partitions", p->plan.partitions);
    else if (total_bytes(p) > bytes)
        p->plan_error = mur_error(MPI_ERR_TRUNCATE,
                                  "the partitioned send from rank %d has %lld bytes, but the receive has room for %lld",
                                  p->rank, (long long)total_bytes(p), (long long)bytes);
    p->has_plan = true;
    if (request->is_detached) {
        mur_request_complete(request); /* frees it */
        return;
    }
    if (!p->must_start)
        return;
    p->must_start = false;
    receive_planned(request);
}

/* The sender's pieces first <= i < last bring what partition number `partition` holds. What has no bytes of the
 * sender's arrives with the piece at its place; and what lies behind all of them, with the last of all. */
static void find_pieces(const struct mur_request *request, int partition, MPI_Count *first, MPI_Count *last)
{
    const struct partitioned *p = request->extra;
    MPI_Count size = (MPI_Count)p->plan.partition_bytes, own = p->count * request->type->size;

    if (!size || !own) {
        *first = (MPI_Count)partition * p->plan.partitions / p->partitions;
        *last = ((MPI_Count)(partition + 1) * p->plan.partitions + p->partitions - 1) / p->partitions;
    } else {
        *first = partition * own / size;
        *last = ((partition + 1) * own + size - 1) / size;
    }
    *last = *last < p->plan.partitions ? *last : p->plan.partitions;
    *first = *first < *last ? *first : 0;
}

int mur_partitioned_arrived(struct mur_request *request, int partition, int *flag)
{
    struct partitioned *p = NULL;
    MPI_Count first, last;
    int rc = find_partitioned(request, false, &p);

    if (rc)
        return rc;
    if (partition < 0 || partition >= p->partitions)
        return mur_error(MPI_ERR_ARG, "partition is %d, but must be from 0 to %d", partition, p->partitions - 1);
    if (request->is_active && !request->is_complete)
        mur_engine_poke();
    *flag = !request->is_active || request->is_complete;
    if (*flag || !p->has_plan || p->plan_error)
        return MPI_SUCCESS;
    *flag = 1;
    find_pieces(request, partition, &first, &last);
    for (MPI_Count i = first; i < last; i++)
        *flag &= p->pieces[i].has_arrived;
    return MPI_SUCCESS;
}

/* ---- both ---- */

static void destroy(struct mur_request *request)
{
    struct partitioned *p = request->extra;

    for (int i = 0; p->pieces && !request->type->is_dense && i < p->plan.partitions; i++)
        free(p->pieces[i].staging);
    free(p->pieces);
    free(p->ready);
    give_tags_back(p);
}

/* The plan is under way, and its memory belongs to the request. */
static bool lingers(const struct mur_request *request)
{
    const struct partitioned *p = request->extra;

    return !p->is_null && !p->has_plan;
}

static const struct mur_request_kind send_kind = {.name = "a partitioned send",
                                                  .start = start_send,
                                                  .destroy = destroy,
                                                  .lingers = lingers,
                                                  .is_kept_while_active = true};
static const struct mur_request_kind receive_kind = {.name = "a partitioned receive",
                                                     .start = start_receive,
                                                     .destroy = destroy,
                                                     .lingers = lingers,
                                                     .is_kept_while_active = true};

static int find_partitioned(struct mur_request *request, bool is_sender, struct partitioned **p)
{
    if (request->kind != (is_sender ? &send_kind : &receive_kind))
        return mur_error(MPI_ERR_REQUEST, "request is not of a partitioned %s", is_sender ? "send" : "receive");
    *p = request->extra;
    return MPI_SUCCESS;
}

static void plan_left(struct mur_request *part)
{
    struct mur_request *request = part->owner;
    struct partitioned *p = request->extra;

    p->has_plan = true;
    if (request->is_detached)
        mur_request_complete(request); /* frees it */
}

static int send_plan(struct mur_request *request, struct partitioned *p)
{
    struct mur_request *part;
    int rc;

    p->ready = calloc((size_t)p->partitions + 1, sizeof *p->ready);
    if (!p->ready)
        return mur_error(MPI_ERR_NO_MEM, "no memory for %d partitions", p->partitions);
    p->plan = (struct plan){.partitions = p->partitions, .partition_bytes = (uint64_t)(p->count * request->type->size)};
    rc = take_tags(p);
    if (rc)
        return rc;
    rc = mur_isend(&p->plan, sizeof p->plan, mur_type_find(MPI_BYTE), p->rank, p->tag, request->comm,
                   request->comm->context + MUR_CONTEXT_PARTITIONS, MUR_STANDARD, &part);
    if (!rc)
        mur_request_join(part, request, plan_left);
    return rc;
}

static int receive_plan(struct mur_request *request, struct partitioned *p)
{
    struct mur_request *part;
    int rc = mur_irecv(&p->plan, sizeof p->plan, mur_type_find(MPI_BYTE), p->rank, p->tag, request->comm,
                       request->comm->context + MUR_CONTEXT_PARTITIONS, &part);

    if (!rc)
        mur_request_join(part, request, plan_arrived);
    return rc;
}

int mur_partitioned_init(bool is_sender, void *buffer, int partitions, MPI_Count count, struct mur_type *type, int rank,
                         int tag, struct mur_comm *comm, struct mur_request **request_p)
{
    struct mur_request *request = mur_request_create_composite(is_sender ? &send_kind : &receive_kind, comm, type,
                                                               sizeof(struct partitioned), true);
    struct partitioned *p = NULL;
    int rc = MPI_SUCCESS;

    if (!request)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a partitioned request");
    p = request->extra;
    *p = (struct partitioned){.is_sender = is_sender,
                              .is_null = rank == MPI_PROC_NULL,
                              .rank = rank,
                              .tag = tag,
                              .partitions = partitions,
                              .count = count};
    request->buffer = buffer;
    if (p->is_null && is_sender)
        p->ready = calloc((size_t)partitions + 1, sizeof *p->ready);
    else if (!p->is_null)
        rc = is_sender ? send_plan(request, p) : receive_plan(request, p);
    if (rc)
        mur_request_free(request);
    *request_p = request;
    return rc;
}
