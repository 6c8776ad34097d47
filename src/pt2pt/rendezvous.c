/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous: large (or synchronous) messages.
 *
 *   sender                                receiver
 *     READY(length, address, token) ---->   matched with a receive
 *     <------------------------- CLAIM      "help": both copy chunks of one transfer until none is left
 *     <--------------------------- DONE     the receiver copied the last byte
 *     DONE ----------------------------> or the sender did;
 *     <------------------------ RELEASE     then the receiver gives the transfer back
 *   or, where the memories are closed to each other or the data is not one run of bytes,
 *     <------------------------- CLAIM      "pieces"
 *     PIECE PIECE PIECE ... ----------->
 *
 * What is not one run of bytes on both sides goes in pieces, though the system could copy it at once: one side packs
 * while the other unpacks, and the ring between them stays in the cache that they share. For 1 MiB in blocks of 64 B
 * (Zen 4) that takes 48 us; a list of blocks for the system to copy 5800 us, since it looks up the peer's page for
 * each; reading blocks and gaps together, to sort them out here, 200 us, and 340 us where the sender writes half of it.
 *
 * What is one run of bytes goes in pieces, too, where cores hand lines to each other quickly and both ranks have one of
 * their own (choose_way): one core writes into the ring while the other reads, and nobody looks up pages (1 MiB, Zen 4:
 * 35 us instead of 45).
 *
 * Where one of the buffers lies in memory that the node shares, of MPI_Alloc_mem or a window, the other side copies
 * from it or to it by loads and stores; where both do, both sides do, and no system call is left.
 *
 * Over a network pieces go straight from buffer to buffer where both are one run of bytes; such a send is complete when
 * the peer's transport has acknowledged them.
 *
 * A process that receives from itself has both requests at hand, and copies at once.
 *
 * A transfer lies in memory that both see. The receiver takes its pages from the front and the sender from the back
 * (engine/claim.h). The sender owns transfers and reuses one only after the receiver has said DONE or RELEASE for it,
 * since until then the receiver may look at the claim once more. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checker.h"
#include "base/clock.h"
#include "base/copy.h"
#include "base/counters.h"
#include "base/error.h"
#include "base/events.h"
#include "base/settings.h"
#include "boot/process.h"
#include "datatype/layout.h"
#include "engine/claim.h"
#include "node/node.h"
#include "node/region.h"
#include "pt2pt/lost.h"
#include "pt2pt/peer.h"
#include "pt2pt/pt2pt.h"

enum { FLAG_PIECES = 1, FLAG_HELP = 2, FLAG_BY_SENDER = 4 };
enum { PAGE = 4096, CHUNK_MAPPED = 64 << 10, PIECES_A_TURN = 4 };

enum { COPY_MIN = 1024 }; /* less is sent in one piece: a system call costs more than a second copy */

struct mur_transfer {
    struct mur_claim claim __attribute__((aligned(64))); /* in units of pages, or several of them */
    uint64_t limit;                                      /* bytes to copy in all */
    uint64_t source, target;                             /* addresses in the two memories */
    struct mur_region_address
        source_address; /* of the two memories, where the other side can map them; else of token 0 */
    struct mur_region_address target_address;
    struct mur_transfer *next_free; /* the sender's own list */
    uint64_t token;
    int32_t sender;   /* process */
    int32_t releaser; /* the process that owes a RELEASE; -1: none does */
};
_Static_assert(sizeof(struct mur_transfer) == 128, "as much as there is at any token");

/* Content of CLAIM and DONE. */
struct claim {
    uint64_t sender_request, receiver_request;
    uint64_t bytes; /* that the receiver has room for */
};

static struct mur_transfer *free_transfers;

static void send_claim(struct mur_request *request, uint16_t kind, uint16_t flags)
{
    struct claim claim = {.sender_request = request->peer_request,
                          .receiver_request = (uintptr_t)request,
                          .bytes = (uint64_t)request->result.bytes};
    struct mur_frame frame = {.kind = kind, .flags = flags, .bytes = sizeof claim};

    mur_send_control(request->peer, &frame, &claim);
}

/* ---- the sender ---- */

static struct mur_transfer *transfer_get(struct mur_peer *peer)
{
    struct mur_transfer *transfer = free_transfers;
    uint64_t token;

    if (peer->local < 0)
        return NULL;
    if (transfer) {
        free_transfers = transfer->next_free;
        return transfer;
    }
    transfer = mur_node_share(sizeof *transfer, &token);
    if (transfer) {
        transfer->token = token;
        transfer->sender = mur_process.rank;
        transfer->releaser = -1;
    }
    return transfer;
}

static void transfer_put(struct mur_transfer *transfer)
{
    transfer->releaser = -1;
    transfer->next_free = free_transfers;
    free_transfers = transfer;
}

/* The transfer of this sender that a frame of the peer's names; NULL: it names none. */
static struct mur_transfer *transfer_named(const struct mur_peer *peer, uint64_t token, int sender)
{
    struct mur_transfer *transfer = peer->local >= 0 ? mur_node_shared(token) : NULL;

    return transfer && transfer->token == token && transfer->sender == sender ? transfer : NULL;
}

static void find_address(const void *buffer, size_t bytes, struct mur_region_address *address)
{
    if (!mur_region_find(buffer, bytes, address))
        address->token = 0;
}

static bool resume_ready(struct mur_backlog_entry *entry)
{
    struct mur_request *request = (struct mur_request *)((char *)entry - offsetof(struct mur_request, backlog));
    struct mur_ready ready = {.length = request->bytes, .request = (uintptr_t)request};

    if (request->transfer) {
        ready.address = (uintptr_t)request->buffer;
        ready.token = request->transfer->token;
    }
    return request->peer->transport->send(request->peer, &request->frame, &ready);
}

int mur_rendezvous_send(struct mur_request *request)
{
    request->frame.kind = MUR_FRAME_READY;
    request->frame.bytes = sizeof(struct mur_ready);
    if (request->is_dense && request->bytes >= COPY_MIN && request->peer->process != mur_process.rank)
        request->transfer = transfer_get(request->peer);
    if (request->transfer)
        find_address(request->buffer, request->bytes, &request->transfer->source_address);
    request->moved = 0;
    mur_event(MUR_EVENT_RENDEZVOUS, NULL,
              &(struct mur_event_message){
                  .rank = request->peer->process, .tag = request->frame.tag, .bytes = request->bytes});
    mur_counters.rendezvous_sends++;
    mur_counters.rendezvous_send_bytes += request->bytes;
    mur_pt2pt_peer(request->peer)->announced++;
    mur_pt2pt_peer(request->peer)->announced_bytes += request->bytes;
    request->backlog.resume = resume_ready;
    if (request->peer->backlog || !resume_ready(&request->backlog))
        mur_engine_backlog_add(request->peer, &request->backlog);
    return MPI_SUCCESS;
}

static void send_complete(struct mur_request *request)
{
    mur_engine.open_operations--;
    mur_request_complete(request);
}

void mur_rendezvous_withdraw(struct mur_request *request)
{
    if (request->transfer)
        transfer_put(request->transfer);
    request->transfer = NULL;
    send_complete(request);
}

/* ---- the way that a message takes ---- */

enum { COPY, PIECES };
enum { TIMED_MIN = 64 << 10, TRIED_EVERY = 32 };

/* Which way is faster depends on where the two cores are, which nobody tells, and which may change: Zen 4 takes for 1
 * MiB in pieces 35 us where they share a cache, and 73 to 93 where not; copied it takes 45 to 50 in both places. So
 * messages are timed, and now and then one goes the slower way, to see whether it still is. Ranks that share cores
 * copy. */
static int choose_way(struct mur_request *request, size_t bytes)
{
    if (!request->peer->transport->may_prefer_pieces || bytes < TIMED_MIN || !mur_wait_polls())
        return COPY;
    request->accepted = mur_clock_ns();
    request->way = mur_pace_choose(&mur_pt2pt_peer(request->peer)->large, PIECES, TRIED_EVERY);
    return request->way;
}

/* A message is complete. Of several at a time each counts from the end of the one before. */
static void take_time(const struct mur_request *request)
{
    struct mur_pt2pt_peer *peer = mur_pt2pt_peer(request->peer);
    uint64_t now, start = request->accepted;

    if (!start)
        return;
    now = mur_clock_ns();
    start = start > peer->last_large ? start : peer->last_large;
    mur_pace_learn(&peer->large, request->way, (uint64_t)request->result.bytes, now - start);
    peer->last_large = now;
}

/* ---- copying chunks, both sides ---- */

/* Takes the next chunk from this side's end. Loads and stores need no system call: their chunks may be small. */
static struct mur_claim_part claim_chunk(struct mur_transfer *transfer, uint64_t unit, bool is_sender)
{
    bool is_mapped = transfer->source_address.token || transfer->target_address.token;
    uint64_t even = mur_settings.shm_copy_chunk ? (uint64_t)mur_settings.shm_copy_chunk : is_mapped ? CHUNK_MAPPED : 0;
    struct mur_claim_chunks chunks = mur_claim_chunks_of(even, unit);

    return mur_claim_take(&transfer->claim, 0, mur_claim_count(transfer->limit, unit),
                          is_sender ? MUR_CLAIM_BACK : MUR_CLAIM_FRONT, &chunks);
}

/* Either a buffer is bad, or the peer has just ended: then the agent ends this process within the second, and says
 * why better than could be said here. */
static __attribute__((noreturn, cold)) void copy_failed(const struct mur_peer *peer, uint64_t bytes)
{
    char text[200];

    sleep(1);
    snprintf(text, sizeof text,
             "cannot copy %llu bytes of a message between this process and process %d: is the buffer of "
             "the send or of the receive smaller than its count says?",
             (unsigned long long)bytes, peer->process);
    mur_boot_abort(1, text);
}

static bool copy(struct mur_request *request, const struct mur_transfer *transfer, bool is_sender, uint64_t start,
                 uint64_t bytes)
{
    const struct mur_region_address *address = is_sender ? &transfer->target_address : &transfer->source_address;
    char *here = request->buffer + start, *there = address->token ? mur_region_reach(address) : NULL;
    struct mur_peer *peer = request->peer;

    if (!there)
        return is_sender ? mur_node_write(peer->local, here, transfer->target + start, bytes)
                         : mur_node_read(peer->local, here, transfer->source + start, bytes);
    if (is_sender)
        memcpy(there + start, here, bytes);
    else
        memcpy(here, there + start, bytes);
    return true;
}

/* Claims and copies one chunk. Sets *is_last when this call copied what was left of the transfer as a whole, and
 * *is_over when nothing is left to claim. */
static bool copy_chunk(struct mur_request *request, struct mur_transfer *transfer, bool is_sender, bool *is_last,
                       bool *is_over)
{
    uint64_t limit = transfer->limit, unit = mur_claim_unit(limit, PAGE), bytes;
    struct mur_claim_part part = claim_chunk(transfer, unit, is_sender);

    *is_last = false;
    *is_over = part.is_last;
    if (!part.units)
        return false;
    bytes = mur_claim_bytes(limit, unit, part.start, part.units);
    if (!copy(request, transfer, is_sender, part.start * unit, bytes))
        copy_failed(request->peer, limit);
    mur_counters.copied_bytes += bytes;
    *is_last = mur_claim_finish(&transfer->claim, part.units) == mur_claim_count(limit, unit);
    *is_over |= *is_last;
    return true;
}

static bool help(struct mur_task *task, bool *is_over)
{
    struct mur_request *request = mur_request_of_task(task);
    bool is_last, moved = copy_chunk(request, request->transfer, true, &is_last, is_over);

    if (is_last) {
        struct claim claim = {.sender_request = (uintptr_t)request, .receiver_request = request->peer_request};
        struct mur_frame frame = {.kind = MUR_FRAME_DONE, .flags = FLAG_BY_SENDER, .bytes = sizeof claim};

        /* The transfer comes back with the receiver's RELEASE. */
        request->transfer->releaser = request->peer->process;
        mur_send_control(request->peer, &frame, &claim);
        send_complete(request);
    }
    return moved;
}

static bool receive_chunk(struct mur_task *task, bool *is_over)
{
    struct mur_request *request = mur_request_of_task(task);
    bool is_last, moved = copy_chunk(request, request->transfer, false, &is_last, is_over);

    if (is_last) {
        send_claim(request, MUR_FRAME_DONE, 0);
        mur_checker_defined(request->buffer, (size_t)request->result.bytes);
        take_time(request);
        mur_request_complete(request);
    }
    return moved;
}

/* ---- the receiver ---- */

/* By loads and stores of at least one side; the sender is told where this one's buffer lies. */
static bool is_mapped(const struct mur_request *request, const struct mur_ready *ready, size_t bytes)
{
    struct mur_transfer *transfer = mur_node_shared(ready->token);

    find_address(request->buffer, bytes, &transfer->target_address);
    return transfer->source_address.token || transfer->target_address.token;
}

static void accept_by_copy(struct mur_request *request, const struct mur_ready *ready, size_t bytes)
{
    struct mur_transfer *transfer = mur_node_shared(ready->token);
    bool is_over;

    transfer->limit = bytes;
    transfer->source = ready->address;
    transfer->target = (uintptr_t)request->buffer;
    mur_claim_open(&transfer->claim, 0);
    request->transfer = transfer;
    request->transfer_token = ready->token;
    if (bytes > MUR_CLAIM_LEAST)
        send_claim(request, MUR_FRAME_CLAIM, FLAG_HELP);
    request->task.run = receive_chunk;
    receive_chunk(&request->task, &is_over);
    if (!is_over)
        mur_engine_task_add(&request->task);
}

static void accept_in_pieces(struct mur_request *request, size_t bytes)
{
    if (!request->is_dense) {
        request->cursor = malloc(sizeof *request->cursor);
        if (!request->cursor)
            mur_boot_abort(1, "no memory to receive a large message");
        mur_cursor_start(request->cursor, request->buffer, request->count, request->type);
    }
    request->moved = 0;
    request->result.bytes = (MPI_Count)bytes;
    send_claim(request, MUR_FRAME_CLAIM, FLAG_PIECES);
}

/* From this very process, whose send has waited for this. */
static void accept_own(struct mur_request *request, const struct mur_ready *ready, size_t bytes)
{
    struct mur_request *send = mur_object_find((void *)(uintptr_t)ready->request, MUR_KIND_REQUEST);
    struct mur_cursor cursor;

    mur_cursor_start(&cursor, send->buffer, send->count, send->type);
    if (request->is_dense) /* of any count: their bytes may be more than a number can say */
        mur_cursor_pack(&cursor, request->buffer, bytes);
    else
        mur_layout_copy_typed(send->buffer, send->count, send->type, request->buffer, request->count, request->type);
    send_complete(send);
    mur_request_complete(request);
}

bool mur_rendezvous_can_be(const struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    const struct mur_ready *ready = data;

    return frame->bytes == sizeof *ready && (!ready->address || transfer_named(peer, ready->token, peer->process));
}

void mur_rendezvous_accept(struct mur_request *request, const struct mur_ready *ready)
{
    size_t bytes = mur_receive_fit(request, ready->length);
    struct mur_peer *peer = request->peer;

    mur_counters.rendezvous_receives++;
    mur_counters.rendezvous_receive_bytes += bytes;
    request->peer_request = ready->request;
    request->result.bytes = (MPI_Count)bytes;
    request->accepted = 0;
    if (peer->process == mur_process.rank) {
        accept_own(request, ready, bytes);
    } else if (mur_is_lost(peer)) {
        request->result.error = mur_lost_error(peer);
        mur_request_complete(request);
    } else if (!bytes) {
        send_claim(request, MUR_FRAME_DONE, 0);
        mur_request_complete(request);
    } else if (ready->address && request->is_dense && mur_node_can_copy(peer->local) &&
               (is_mapped(request, ready, bytes) || choose_way(request, bytes) == COPY)) {
        accept_by_copy(request, ready, bytes);
    } else {
        accept_in_pieces(request, bytes);
    }
}

/* A piece carries the receiver's request where messages carry context and source. */
static void name_request(struct mur_frame *frame, uint64_t request)
{
    frame->context = (uint32_t)request;
    frame->source = (int32_t)(request >> 32);
}

struct mur_request *mur_rendezvous_request(struct mur_peer *peer, const struct mur_frame *frame, uint64_t address,
                                           enum mur_operation operation)
{
    struct mur_request *request = mur_object_find((void *)(uintptr_t)address, MUR_KIND_REQUEST);

    if (__builtin_expect(!request || request->peer != peer || request->operation != operation || request->is_complete,
                         0))
        mur_frame_refuse(peer, frame);
    return request;
}

/* Of a piece. */
static struct mur_request *named_request(struct mur_peer *peer, const struct mur_frame *frame)
{
    uint64_t address = frame->context | (uint64_t)(uint32_t)frame->source << 32;
    struct mur_request *request = mur_rendezvous_request(peer, frame, address, MUR_RECEIVE);

    if (__builtin_expect(frame->bytes > (size_t)request->result.bytes - request->moved, 0))
        mur_frame_refuse(peer, frame);
    return request;
}

/* A piece of a message whose buffer is one run of bytes may be put there as it arrives. */
static void *place_piece(struct mur_peer *peer, const struct mur_frame *frame)
{
    struct mur_request *request = named_request(peer, frame);

    return request->is_dense ? request->buffer + request->moved : NULL;
}

static void piece_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_request *request = named_request(peer, frame);

    if (data == request->buffer + request->moved)
        ; /* it is there */
    else if (request->is_dense)
        mur_copy(request->buffer + request->moved, data, frame->bytes);
    else
        mur_cursor_unpack(request->cursor, data, frame->bytes);
    request->moved += frame->bytes;
    if (request->moved == (size_t)request->result.bytes) {
        take_time(request);
        mur_request_complete(request);
    }
}

/* ---- the sender, answered ---- */

static void pack_piece(void *argument, void *out, size_t bytes)
{
    mur_cursor_pack(argument, out, bytes);
}

static bool send_piece(struct mur_request *request, size_t bytes)
{
    struct mur_frame frame = {.kind = MUR_FRAME_PIECE, .flags = MUR_FRAME_STREAM, .bytes = (uint32_t)bytes};

    name_request(&frame, request->peer_request);
    if (request->is_dense)
        return request->peer->transport->send(request->peer, &frame, request->buffer + request->moved);
    return request->peer->transport->send_packed(request->peer, &frame, pack_piece, request->cursor);
}

/* Sends a few pieces at a time and queues again behind what other messages wait, so that a large message does not
 * hold up small ones. */
static bool resume_pieces(struct mur_backlog_entry *entry)
{
    struct mur_request *request = (struct mur_request *)((char *)entry - offsetof(struct mur_request, backlog));

    for (int i = 0; i < PIECES_A_TURN; i++) {
        size_t left = request->bytes - request->moved;
        size_t piece = request->peer->transport->piece_max;

        piece = piece < left ? piece : left;
        if (!send_piece(request, piece))
            return false;
        mur_counters.piece_bytes += piece;
        request->moved += piece;
        if (request->moved == request->bytes) {
            send_complete(request);
            return true;
        }
    }
    mur_engine_backlog_add(request->peer, entry);
    return true;
}

/* ---- pieces sent from where they lie ---- */

static void straight_sent(void *argument)
{
    struct mur_request *request = argument;

    if (--request->pieces == 0 && request->moved == request->bytes)
        send_complete(request);
}

static bool resume_straight(struct mur_backlog_entry *entry)
{
    struct mur_request *request = (struct mur_request *)((char *)entry - offsetof(struct mur_request, backlog));
    const struct mur_transport *transport = request->peer->transport;
    size_t left = request->bytes - request->moved;
    struct mur_frame frame = {.kind = MUR_FRAME_PIECE};

    frame.bytes = left < transport->straight_max ? (uint32_t)left : transport->straight_max;
    name_request(&frame, request->peer_request);
    if (!transport->send_straight(request->peer, &frame, request->buffer + request->moved, straight_sent, request))
        return false;
    mur_counters.straight_bytes += frame.bytes;
    request->pieces++;
    request->moved += frame.bytes;
    if (request->moved < request->bytes)
        mur_engine_backlog_add(request->peer, entry);
    return true;
}

static void start_pieces(struct mur_request *request, size_t bytes)
{
    if (request->transfer)
        transfer_put(request->transfer);
    request->transfer = NULL;
    if (!request->is_dense) {
        request->cursor = malloc(sizeof *request->cursor);
        if (!request->cursor)
            mur_boot_abort(1, "no memory to send a large message");
        mur_cursor_start(request->cursor, request->buffer, request->count, request->type);
    }
    request->bytes = bytes;
    request->pieces = 0;
    request->backlog.resume =
        request->is_dense && request->peer->transport->straight_max ? resume_straight : resume_pieces;
    mur_engine_backlog_add(request->peer, &request->backlog);
}

static const struct claim *claim_of(const struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    if (frame->bytes != sizeof(struct claim))
        mur_frame_refuse(peer, frame);
    return data;
}

static void claim_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    const struct claim *claim = claim_of(peer, frame, data);
    struct mur_request *request = mur_rendezvous_request(peer, frame, claim->sender_request, MUR_SEND);

    if (claim->bytes > request->bytes || (!(frame->flags & FLAG_PIECES) && !request->transfer))
        mur_frame_refuse(peer, frame);
    request->peer_request = claim->receiver_request;
    mur_engine_task_remove(&request->task); /* of a CANCEL that comes too late */
    if (frame->flags & FLAG_PIECES) {
        start_pieces(request, claim->bytes);
    } else if (mur_node_can_copy(peer->local)) {
        request->task.run = help;
        mur_engine_task_add(&request->task);
    }
}

/* The receiver has copied the last byte (or wants none). */
static void done_at_receiver(struct mur_peer *peer, const struct mur_frame *done, const struct claim *claim)
{
    struct mur_request *request = mur_rendezvous_request(peer, done, claim->sender_request, MUR_SEND);

    mur_engine_task_remove(&request->task);
    if (request->transfer)
        transfer_put(request->transfer);
    send_complete(request);
}

/* The sender has copied the last byte, and must hear that this side is done with the transfer. */
static void done_at_sender(struct mur_peer *peer, const struct mur_frame *done, const struct claim *claim)
{
    struct mur_request *request = mur_rendezvous_request(peer, done, claim->receiver_request, MUR_RECEIVE);
    struct mur_frame frame = {.kind = MUR_FRAME_RELEASE, .bytes = sizeof request->transfer_token};

    mur_engine_task_remove(&request->task);
    mur_send_control(peer, &frame, &request->transfer_token);
    mur_checker_defined(request->buffer, (size_t)request->result.bytes);
    take_time(request);
    mur_request_complete(request);
}

static void done_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    if (frame->flags & FLAG_BY_SENDER)
        done_at_sender(peer, frame, claim_of(peer, frame, data));
    else
        done_at_receiver(peer, frame, claim_of(peer, frame, data));
}

static void release_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_transfer *transfer;
    uint64_t token;

    if (frame->bytes != sizeof token)
        mur_frame_refuse(peer, frame);
    memcpy(&token, data, sizeof token);
    transfer = transfer_named(peer, token, mur_process.rank);
    if (!transfer || transfer->releaser != peer->process)
        mur_frame_refuse(peer, frame);
    transfer_put(transfer);
}

void mur_rendezvous_setup(void)
{
    mur_engine.handlers[MUR_FRAME_CLAIM] = claim_arrived;
    mur_engine.handlers[MUR_FRAME_PIECE] = piece_arrived;
    mur_engine.placers[MUR_FRAME_PIECE] = place_piece;
    mur_engine.handlers[MUR_FRAME_DONE] = done_arrived;
    mur_engine.handlers[MUR_FRAME_RELEASE] = release_arrived;
}
