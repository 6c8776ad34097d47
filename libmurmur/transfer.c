/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmurmur/snapshots.h"

enum { PIECE_BYTES = 1 << 20 };

/* One end of a transfer. A sender that cannot read sends an empty piece, which ends it. */
struct mur_file_transfer_end {
    const struct mur_file_transfer *transfer;
    bool is_sender;
    int fd, tag;
    int64_t done;
    char *piece;
};

static void open_end(struct mur_file_transfer_end *end, const char *directory, struct mur_flaw *flaw)
{
    char path[PATH_MAX];

    mur_snapshots_print(path, "%s/%s", directory, end->is_sender ? end->transfer->source : end->transfer->target);
    end->fd =
        end->is_sender ? open(path, O_RDONLY | O_CLOEXEC) : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (end->fd < 0)
        mur_flaw_set(flaw, "cannot open %s: %s", path, strerror(errno));
}

static int next_bytes(const struct mur_file_transfer_end *end)
{
    const int64_t left = end->transfer->bytes - end->done;

    return left < PIECE_BYTES ? (int)left : PIECE_BYTES;
}

static bool take_piece(struct mur_file_transfer_end *end, int bytes, struct mur_flaw *flaw)
{
    int got = 0;

    while (end->fd >= 0 && got < bytes) {
        ssize_t more = pread(end->fd, end->piece + got, (size_t)(bytes - got), (off_t)(end->done + got));

        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return mur_flaw_set(flaw, "cannot read %s: %s", end->transfer->source,
                                more < 0 ? strerror(errno) : "it is too short");
        got += (int)more;
    }
    return end->fd >= 0;
}

static void keep_piece(struct mur_file_transfer_end *end, int bytes, struct mur_flaw *flaw)
{
    for (int written = 0; end->fd >= 0 && written < bytes;) {
        ssize_t more = write(end->fd, end->piece + written, (size_t)(bytes - written));

        if (more < 0 && errno != EINTR) {
            mur_flaw_set(flaw, "cannot write %s: %s", end->transfer->target, strerror(errno));
            close(end->fd);
            end->fd = -1;
        }
        written += more > 0 ? (int)more : 0;
    }
}

/* Starts the next piece; false: there is none. */
static bool start(struct mur_file_transfer_end *end, MPI_Comm comm, MPI_Request *request, struct mur_flaw *flaw)
{
    int bytes = next_bytes(end);

    if (bytes == 0)
        return false;
    if (!end->is_sender) {
        MPI_Irecv(end->piece, bytes, MPI_BYTE, end->transfer->from, end->tag, comm, request);
        return true;
    }
    if (!take_piece(end, bytes, flaw))
        bytes = 0;
    MPI_Isend(end->piece, bytes, MPI_BYTE, end->transfer->to, end->tag, comm, request);
    end->done = bytes ? end->done + bytes : end->transfer->bytes;
    return true;
}

static void arrive(struct mur_file_transfer_end *end, const MPI_Status *status, struct mur_flaw *flaw)
{
    int bytes;

    if (end->is_sender)
        return;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes == 0)
        mur_flaw_set(flaw, "rank %d cannot read %s", end->transfer->from, end->transfer->source);
    keep_piece(end, bytes, flaw);
    end->done = bytes ? end->done + bytes : end->transfer->bytes;
}

static void close_end(struct mur_file_transfer_end *end, struct mur_flaw *flaw)
{
    if (!end->is_sender && end->fd >= 0 && fsync(end->fd) != 0)
        mur_flaw_set(flaw, "cannot write %s: %s", end->transfer->target, strerror(errno));
    if (end->fd >= 0)
        close(end->fd);
}

static void run(struct mur_file_transfer_end *ends, int count, MPI_Request *requests, MPI_Comm comm,
                struct mur_flaw *flaw)
{
    for (int i = 0; i < count; i++)
        start(&ends[i], comm, &requests[i], flaw);
    for (;;) {
        MPI_Status status;
        int i;

        MPI_Waitany(count, requests, &i, &status);
        if (i == MPI_UNDEFINED)
            return;
        arrive(&ends[i], &status, flaw);
        start(&ends[i], comm, &requests[i], flaw);
    }
}

void mur_transfers_run(const struct mur_file_transfer *list, int count, const char *source, const char *target,
                       MPI_Comm comm, struct mur_flaw *flaw)
{
    struct mur_file_transfer_end *ends = calloc(2 * (size_t)count + 1, sizeof *ends);
    MPI_Request *requests = calloc(2 * (size_t)count + 1, sizeof *requests);
    size_t pieces = 1;
    char *piece;
    int rank, own = 0;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++)
        pieces += (size_t)(list[i].from == rank) + (size_t)(list[i].to == rank);
    piece = malloc(pieces * PIECE_BYTES);
    if (!ends || !requests || !piece) {
        mur_flaw_set(flaw, "there is no memory to pass files on");
        MPI_Abort(comm, 1); /* the others wait for what this rank was to send */
    }
    for (int i = 0; i < count; i++)
        for (int is_sender = 0; is_sender < 2; is_sender++)
            if (rank == (is_sender ? list[i].from : list[i].to)) {
                ends[own] = (struct mur_file_transfer_end){.transfer = &list[i], .is_sender = is_sender, .tag = i};
                ends[own].piece = piece + (size_t)own * PIECE_BYTES;
                open_end(&ends[own], is_sender ? source : target, flaw);
                requests[own++] = MPI_REQUEST_NULL;
            }
    run(ends, own, requests, comm, flaw);
    for (int i = 0; i < own; i++)
        close_end(&ends[i], flaw);
    free(ends);
    free(piece);
    free(requests);
}
