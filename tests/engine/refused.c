/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that cannot be, given to the handlers as a transport would: each is refused before it is believed. Their
 * neighbours that can be are not. */
#include <setjmp.h>

#include "coll/collective.h"
#include "engine/engine.h"
#include "node/node.h"
#include "object/comm.h"
#include "object/op.h"
#include "object/win.h"
#include "datatype/basic.h"
#include "pt2pt/pt2pt.h"
#include "rma/rma.h"

#include "test.h"

enum { BYTES = 64, LARGE = 1 << 20 };

static jmp_buf refused;
static struct mur_peer *peer; /* rank 1, which sends none of this */
static MPI_Win handle;
static struct mur_win *win;
static char *memory; /* of the window: BYTES */
static int size;

void __wrap_mur_frame_refuse(const struct mur_peer *from, const struct mur_frame *frame);

/* The linker puts it in the place of the function that ends the job. */
__attribute__((noreturn)) void __wrap_mur_frame_refuse(const struct mur_peer *from, const struct mur_frame *frame)
{
    (void)frame;
    CHECK(from == peer);
    longjmp(refused, 1);
}

static int is_refused(struct mur_frame frame, const void *data)
{
    if (setjmp(refused))
        return 1;
    mur_engine.handlers[frame.kind](peer, &frame, data);
    return 0;
}

/* Of a content that must have just this size. */
static void check_size(int kind, size_t bytes)
{
    static const char zeros[256];

    CHECK(is_refused((struct mur_frame){.kind = (uint16_t)kind, .bytes = (uint32_t)bytes - 1}, zeros));
    CHECK(is_refused((struct mur_frame){.kind = (uint16_t)kind, .bytes = (uint32_t)bytes + 1}, zeros));
}

/* ---- large messages ---- */

/* As in pt2pt/rendezvous.c. */
struct claim {
    uint64_t sender_request, receiver_request, bytes;
};

static int is_claim_refused(int kind, int flags, uint64_t sender, uint64_t receiver, uint64_t bytes)
{
    struct claim claim = {.sender_request = sender, .receiver_request = receiver, .bytes = bytes};
    struct mur_frame frame = {.kind = (uint16_t)kind, .flags = (uint16_t)flags, .bytes = sizeof claim};

    return is_refused(frame, &claim);
}

static int is_piece_refused(uint64_t request, uint32_t bytes)
{
    static char data[LARGE + 1];
    struct mur_frame frame = {
        .kind = MUR_FRAME_PIECE, .context = (uint32_t)request, .source = (int32_t)(request >> 32), .bytes = bytes};

    return is_refused(frame, data);
}

static int is_release_refused(uint64_t token)
{
    return is_refused((struct mur_frame){.kind = MUR_FRAME_RELEASE, .bytes = sizeof token}, &token);
}

static int is_ready_refused(uint64_t token)
{
    struct mur_ready ready = {.length = LARGE, .address = 4096, .token = token};
    struct mur_frame frame = {.kind = MUR_FRAME_READY, .context = win->comm->context, .bytes = sizeof ready};

    return is_refused(frame, &ready);
}

static int is_call_for_help_refused(uint64_t token)
{
    struct mur_frame frame = {.kind = MUR_FRAME_SYNC,
                              .context = win->comm->context,
                              .source = 1,
                              .tag = MUR_SYNC_HELP,
                              .bytes = sizeof token};

    return is_refused(frame, &token);
}

/* Tokens of shared memory: of no memory, of memory that serves for something else, and of a transfer of this process's
 * that the peer has neither announced nor to release. */
static void tokens(const struct mur_request *send)
{
    uint64_t wrong[] = {0, 1, 64, UINT64_MAX, UINT64_MAX - 63, UINT64_C(1) << 40, 0, 0, 0, 0};
    int *ones, *one;

    if (peer->local >= 0) {
        ones = mur_node_share(256, &wrong[6]);
        for (int i = 0; i < 64; i++)
            ones[i] = 1;
        wrong[7] = wrong[6] + 64 + 1;
        one = mur_node_share(256, &wrong[8]);
        memset(one, 0, 256);
        one[1] = 1;
        if (send->transfer)
            wrong[9] = wrong[6] + (uint64_t)((char *)send->transfer - (char *)ones);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(is_release_refused(wrong[i]) && is_ready_refused(wrong[i]) && is_call_for_help_refused(wrong[i]));
}

/* Help with a message that nobody can copy. */
static int is_help_refused(struct mur_request *request)
{
    struct mur_transfer *transfer = request->transfer;
    int is;

    request->transfer = NULL;
    is = is_claim_refused(MUR_FRAME_CLAIM, 2, (uintptr_t)request, 0, LARGE);
    request->transfer = transfer;
    return is;
}

/* The answer to a CANCEL that this process has not sent; number 0: the receiver was not asked. */
static int is_cancelled_refused(uint64_t request, uint64_t number)
{
    const uint64_t notice[2] = {request, number};

    return is_refused((struct mur_frame){.kind = MUR_FRAME_CANCELLED, .bytes = sizeof notice}, notice);
}

/* Frames that name a request name one that is live, of that peer, and of the right side. */
static void large_messages(void)
{
    static char in[LARGE], out[LARGE];
    MPI_Request sends[2], receive;
    uint64_t send, other, received;

    check_size(MUR_FRAME_LOST, 16);
    check_size(MUR_FRAME_READY, sizeof(struct mur_ready));
    check_size(MUR_FRAME_CLAIM, sizeof(struct claim));
    check_size(MUR_FRAME_DONE, sizeof(struct claim));
    check_size(MUR_FRAME_RELEASE, sizeof(uint64_t));
    check_size(MUR_FRAME_CANCEL, 2 * sizeof(uint64_t));
    check_size(MUR_FRAME_CANCELLED, 2 * sizeof(uint64_t));
    CHECK(is_cancelled_refused(0, 0) && is_cancelled_refused(0, 1)); /* nothing has been cancelled */
    MPI_Isend(out, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(out, LARGE, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &sends[1]);
    MPI_Irecv(in, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &receive);
    send = (uintptr_t)sends[0];
    other = (uintptr_t)sends[1];
    received = (uintptr_t)receive;
    for (int kind = MUR_FRAME_CLAIM; kind <= MUR_FRAME_DONE; kind += MUR_FRAME_DONE - MUR_FRAME_CLAIM) {
        CHECK(is_claim_refused(kind, 1, 0, 0, 0));
        CHECK(is_claim_refused(kind, 1, send + 64, 0, 0));
        CHECK(is_claim_refused(kind, 1, other, 0, 0));
        CHECK(is_claim_refused(kind, 1, received, 0, 0));
    }
    CHECK(is_claim_refused(MUR_FRAME_CLAIM, 1, send, 0, LARGE + 1));
    CHECK(is_claim_refused(MUR_FRAME_DONE, 4, 0, send, 0)); /* the sender's */
    CHECK(is_cancelled_refused(send, 0));                   /* a message of the program's */
    CHECK(is_help_refused(mur_request_find(sends[0])));
    tokens(mur_request_find(sends[0]));
    CHECK(is_piece_refused(0, 1) && is_piece_refused(send, 1) && is_piece_refused(received + 64, 1));
    CHECK(is_piece_refused(received, LARGE + 1)); /* nothing has been announced */
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_BYTE, 2, 1, MPI_COMM_WORLD);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

/* ---- one-sided operations ---- */

struct access {
    struct mur_rma_access header;
    struct mur_rma_run runs[2];
    char data[BYTES];
};

/* A frame as rank 1 would send it to put `bytes` bytes at `place`. */
static struct access put_of(uint64_t place, uint32_t bytes)
{
    return (struct access){.header = {.bytes = bytes, .runs = 2, .kind = MUR_RMA_PUT},
                           .runs = {{.place = place, .bytes = bytes, .count = 1}}};
}

static int is_access_refused(const struct access *access, int source, uint32_t context, size_t bytes)
{
    struct mur_frame frame = {.kind = MUR_FRAME_ACCESS, .context = context, .source = source, .bytes = (uint32_t)bytes};

    return is_refused(frame, access);
}

static int is_header_refused(const struct access *access)
{
    return is_access_refused(access, 1, win->comm->context, sizeof *access);
}

static void one_sided(void)
{
    uint32_t context = win->comm->context;
    struct access good = put_of(0, BYTES), bad;

    memset(good.data, 5, BYTES);
    CHECK(is_access_refused(&good, -1, context, sizeof good));
    CHECK(is_access_refused(&good, size, context, sizeof good));
    CHECK(is_access_refused(&good, 1, context + 4096, sizeof good));
    CHECK(is_access_refused(&good, 1, context, sizeof good.header - 1));
    CHECK(is_access_refused(&good, 1, context, sizeof good - 1));
    CHECK(is_access_refused(&good, 1, context, sizeof good.header + sizeof good.runs - 1));
    bad = good; /* more than the header says */
    bad.runs[1] = (struct mur_rma_run){.bytes = 1, .count = 1};
    CHECK(is_header_refused(&bad));
    bad = good; /* an answer to nobody */
    bad.header.kind = MUR_RMA_GET;
    CHECK(is_header_refused(&bad));
    bad.header.kind = MUR_RMA_SWAP;
    CHECK(is_header_refused(&bad));
    bad.header.id = 1; /* two words of each element are not there */
    CHECK(is_header_refused(&bad));
    CHECK(memory[0] == 0 && memory[BYTES - 1] == 0);
    CHECK(!is_header_refused(&good) && memory[0] == 5 && memory[BYTES - 1] == 5);
    CHECK(!is_access_refused(&good, size - 1, context, sizeof good));
}

/* Not refused, but not done: the next flush would say so. */
static int is_in_vain(const struct access *access)
{
    win->targets[1].fault = MPI_SUCCESS;
    CHECK(!is_header_refused(access));
    return win->targets[1].fault == MPI_ERR_RMA_RANGE;
}

/* Elements that are none, halves of them, operations that are none, and those that these elements do not have. */
static void elements(void)
{
    struct access access = put_of(0, 16), half = put_of(0, 6);

    access.header.kind = half.header.kind = MUR_RMA_ACCUMULATE;
    for (int value = 0; value < MUR_BASICS + 2; value++)
        for (int reduction = 0; reduction < MUR_REDUCTIONS + 2; reduction++)
            for (int index = 0; index < 3; index++) {
                int is_vain;

                access.header.value = (uint16_t)value;
                access.header.reduction = (uint8_t)reduction;
                access.header.index = (uint16_t)(index == 2 ? MUR_BASICS : index);
                is_vain = is_in_vain(&access);
                CHECK(is_vain || (value < MUR_BASICS && reduction < MUR_REDUCTIONS && index < 2));
            }
    half.header.reduction = MUR_REDUCE_SUM;
    half.header.value = (uint16_t)mur_type_find(MPI_INT16_T)->basic;
    CHECK(!is_in_vain(&half));
    half.header.value = (uint16_t)mur_type_find(MPI_INT32_T)->basic;
    CHECK(is_in_vain(&half));
    half.header.value = (uint16_t)mur_type_find(MPI_FLOAT)->basic;
    half.header.reduction = MUR_REDUCE_BAND;
    CHECK(is_in_vain(&half));
}

/* What lies outside of the window is told, and not done. */
static void outside(void)
{
    const uint64_t places[] = {1, BYTES, BYTES + 1, UINT64_MAX, UINT64_MAX - BYTES + 1};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct access access = put_of(places[i], BYTES);

        CHECK(is_in_vain(&access));
    }
    win->targets[1].fault = MPI_SUCCESS;
}

static void answers_and_signs(void)
{
    struct mur_rma_answer answer = {.id = (uintptr_t)handle, .bytes = 1};
    struct mur_frame frame = {.kind = MUR_FRAME_ANSWER, .bytes = sizeof answer};
    struct mur_frame sign = {.kind = MUR_FRAME_SYNC, .context = win->comm->context, .tag = 0};

    CHECK(is_refused(frame, &answer));
    frame.bytes--;
    CHECK(is_refused(frame, &answer));
    sign.source = -1;
    CHECK(is_refused(sign, ""));
    sign.source = size;
    CHECK(is_refused(sign, ""));
    sign.source = 1;
    sign.context += 4096;
    CHECK(is_refused(sign, ""));
}

/* Receives what rank 0 has sent once it has tried everything, and sends what it waits for. */
static void answer(int rank)
{
    static char data[LARGE];

    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(data, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &handle);
    memset(memory, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    win = mur_object_find(handle, MUR_KIND_WIN);
    peer = &mur_engine.peers[1];
    CHECK(win);
    if (rank == 0) {
        large_messages();
        one_sided();
        elements();
        outside();
        answers_and_signs();
    } else {
        answer(rank);
    }
    MPI_Win_free(&handle);
    MPI_Finalize();
    return 0;
}
