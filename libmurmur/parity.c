/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/parity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmurmur/hash.h"

enum { PIECE_BYTES = 1 << 20 };

static const char magic[8] = "MURXOR";

struct mur_parity_head {
    char magic[8];
    int32_t count, position;
    int64_t segment;
    int64_t bytes[MUR_PARITY_GROUP_MAX];
    int32_t members[MUR_PARITY_GROUP_MAX];
};

static int segment_in(int position, int member, int count)
{
    return (position - member - 1 + 2 * count) % count;
}

/* Bytes of a file from a place on; zeros behind its end. */
static bool read_padded(FILE *file, int64_t start, unsigned char *piece, size_t bytes)
{
    size_t got = 0;

    if (fseeko(file, (off_t)start, SEEK_SET) == 0)
        got = fread(piece, 1, bytes, file);
    memset(piece + got, 0, bytes - got);
    return !ferror(file);
}

static void put(FILE *file, const char *path, XXH3_state_t *hash, const void *data, size_t bytes, struct mur_flaw *flaw)
{
    XXH3_64bits_update(hash, data, bytes);
    if (fwrite(data, 1, bytes, file) != bytes)
        mur_flaw_set(flaw, "cannot write %s: %s", path, strerror(errno));
}

static void write_head(FILE *out, const char *path, XXH3_state_t *hash, const struct mur_parity *parity,
                       struct mur_flaw *flaw)
{
    struct mur_parity_head head = {.count = parity->count, .position = parity->position, .segment = parity->segment};

    memcpy(head.magic, magic, sizeof magic);
    for (int i = 0; i < parity->count; i++) {
        head.bytes[i] = parity->bytes[i];
        head.members[i] = parity->members[i];
    }
    put(out, path, hash, &head, sizeof head, flaw);
}

/* All members reduce one parity after the other, each to the member that keeps it. */
static void write_body(FILE *out, const char *path, FILE *own, XXH3_state_t *hash, const struct mur_parity *parity,
                       unsigned char *piece, MPI_Comm group, struct mur_flaw *flaw)
{
    for (int keeper = 0; keeper < parity->count; keeper++)
        for (int64_t done = 0; done < parity->segment; done += PIECE_BYTES) {
            const int64_t left = parity->segment - done;
            const int bytes = left < PIECE_BYTES ? (int)left : PIECE_BYTES;
            const int64_t start = segment_in(keeper, parity->position, parity->count) * parity->segment;

            if (keeper == parity->position) {
                memset(piece, 0, (size_t)bytes);
                MPI_Reduce(MPI_IN_PLACE, piece, bytes, MPI_BYTE, MPI_BXOR, keeper, group);
                put(out, path, hash, piece, (size_t)bytes, flaw);
            } else {
                if (!read_padded(own, start + done, piece, (size_t)bytes))
                    mur_flaw_set(flaw, "cannot read what %s is made of: %s", path, strerror(errno));
                MPI_Reduce(piece, NULL, bytes, MPI_BYTE, MPI_BXOR, keeper, group);
            }
        }
}

static void find_segment(struct mur_parity *parity, FILE *own, MPI_Comm group)
{
    int64_t bytes = fseeko(own, 0, SEEK_END) == 0 ? (int64_t)ftello(own) : 0, longest = 0;

    MPI_Allgather(&bytes, 1, MPI_INT64_T, parity->bytes, 1, MPI_INT64_T, group);
    for (int i = 0; i < parity->count; i++)
        longest = longest > parity->bytes[i] ? longest : parity->bytes[i];
    parity->segment = (longest + parity->count - 2) / (parity->count - 1);
}

void mur_parity_write(const char *path, const char *own_path, struct mur_parity *parity, MPI_Comm group,
                      struct mur_flaw *flaw)
{
    FILE *out = fopen(path, "we"), *own = fopen(own_path, "re");
    XXH3_state_t *hash = XXH3_createState();
    unsigned char *piece = malloc(PIECE_BYTES);
    uint64_t digest;
    int can_all;

    if (!out || !own)
        mur_flaw_set(flaw, "cannot open %s: %s", out ? own_path : path, strerror(errno));
    if (!hash || !piece)
        mur_flaw_set(flaw, "there is no memory to make %s", path);
    can_all = !flaw->text[0];
    MPI_Allreduce(MPI_IN_PLACE, &can_all, 1, MPI_INT, MPI_MIN, group);
    if (can_all) {
        find_segment(parity, own, group);
        XXH3_64bits_reset(hash);
        write_head(out, path, hash, parity, flaw);
        write_body(out, path, own, hash, parity, piece, group, flaw);
        digest = XXH3_64bits_digest(hash);
        put(out, path, hash, &digest, sizeof digest, flaw);
        if (fflush(out) != 0 || fsync(fileno(out)) != 0)
            mur_flaw_set(flaw, "cannot write %s: %s", path, strerror(errno));
    }
    if (out)
        fclose(out);
    if (own)
        fclose(own);
    XXH3_freeState(hash);
    free(piece);
}

static bool take_head(FILE *in, const char *path, XXH3_state_t *hash, struct mur_parity *parity, struct mur_flaw *flaw)
{
    struct mur_parity_head head;

    if (fread(&head, sizeof head, 1, in) != 1 || memcmp(head.magic, magic, sizeof magic) != 0 || head.count < 2 ||
        head.count > MUR_PARITY_GROUP_MAX || head.position < 0 || head.position >= head.count || head.segment < 0)
        return mur_flaw_set(flaw, "%s is no parity of a snapshot", path);
    XXH3_64bits_update(hash, &head, sizeof head);
    *parity = (struct mur_parity){.count = head.count, .position = head.position, .segment = head.segment};
    for (int i = 0; i < head.count; i++) {
        parity->members[i] = head.members[i];
        parity->bytes[i] = head.bytes[i];
    }
    return true;
}

bool mur_parity_check(const char *path, struct mur_parity *parity, struct mur_flaw *flaw)
{
    FILE *in = fopen(path, "re");
    XXH3_state_t *hash = XXH3_createState();
    unsigned char *piece = malloc(PIECE_BYTES);
    uint64_t digest = 0;
    bool is_whole = in && hash && piece;

    if (!is_whole)
        mur_flaw_set(flaw, "cannot open %s: %s", path, strerror(in ? ENOMEM : errno));
    if (hash)
        XXH3_64bits_reset(hash);
    is_whole = is_whole && take_head(in, path, hash, parity, flaw);
    for (int64_t left = is_whole ? parity->segment : 0; is_whole && left > 0; left -= PIECE_BYTES) {
        const size_t bytes = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

        is_whole = fread(piece, 1, bytes, in) == bytes || mur_flaw_set(flaw, "%s is too short", path);
        XXH3_64bits_update(hash, piece, is_whole ? bytes : 0);
    }
    if (is_whole && (fread(&digest, sizeof digest, 1, in) != 1 || digest != XXH3_64bits_digest(hash)))
        is_whole = mur_flaw_set(flaw, "%s was altered: its checksum does not fit", path);
    if (in)
        fclose(in);
    XXH3_freeState(hash);
    free(piece);
    return is_whole;
}

/* Adds (exclusive or) a piece of another member's file, or of the parity, to what is rebuilt. */
static bool add(unsigned char *sum, unsigned char *piece, size_t bytes, FILE *file, int64_t start)
{
    if (!read_padded(file, start, piece, bytes))
        return false;
    for (size_t i = 0; i < bytes; i++)
        sum[i] ^= piece[i];
    return true;
}

static bool rebuild(FILE *out, int lost, const struct mur_parity *parity, FILE *const *files, FILE *const *parities,
                    unsigned char *sum, unsigned char *piece)
{
    const int count = parity->count;
    bool is_fine = true;

    for (int64_t at = 0; is_fine && at < parity->bytes[lost];) {
        const int segment = (int)(at / parity->segment), keeper = (lost + 1 + segment) % count;
        const int64_t inside = at % parity->segment;
        int64_t bytes = parity->segment - inside;

        bytes = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
        bytes = bytes < parity->bytes[lost] - at ? bytes : parity->bytes[lost] - at;
        memset(sum, 0, (size_t)bytes);
        is_fine = add(sum, piece, (size_t)bytes, parities[keeper], (int64_t)sizeof(struct mur_parity_head) + inside);
        for (int j = 0; is_fine && j < count; j++)
            if (j != lost && j != keeper)
                is_fine =
                    add(sum, piece, (size_t)bytes, files[j], segment_in(keeper, j, count) * parity->segment + inside);
        is_fine = is_fine && fwrite(sum, 1, (size_t)bytes, out) == (size_t)bytes;
        at += bytes;
    }
    return is_fine && fflush(out) == 0 && fsync(fileno(out)) == 0;
}

bool mur_parity_rebuild(const char *path, int lost, const struct mur_parity *parity, const char *const *files,
                        const char *const *parities, struct mur_flaw *flaw)
{
    FILE *data[MUR_PARITY_GROUP_MAX] = {NULL}, *checks[MUR_PARITY_GROUP_MAX] = {NULL};
    FILE *out = fopen(path, "we");
    unsigned char *pieces = malloc(2 * PIECE_BYTES);
    bool is_fine = out && pieces;

    for (int i = 0; is_fine && i < parity->count; i++)
        if (i != lost) {
            data[i] = fopen(files[i], "re");
            checks[i] = fopen(parities[i], "re");
            is_fine = data[i] && checks[i];
        }
    is_fine = is_fine && rebuild(out, lost, parity, data, checks, pieces, pieces + PIECE_BYTES);
    if (!is_fine)
        mur_flaw_set(flaw, "cannot rebuild %s: %s", path, strerror(errno));
    for (int i = 0; i < parity->count; i++) {
        if (data[i])
            fclose(data[i]);
        if (checks[i])
            fclose(checks[i]);
    }
    if (out)
        fclose(out);
    free(pieces);
    return is_fine;
}
