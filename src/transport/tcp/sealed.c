/* SPDX-License-Identifier: BSD-3-Clause */
/* Links whose connections are sealed (base/seal.h): below the stream that outlives connections, above the socket.
 *
 * What goes out is sealed from where it lies into a buffer, a record for each stretch of memory, and counts as sent
 * record by record, as the socket takes them: the peer acknowledges what it has opened. What comes in is opened from a
 * buffer to where in.c wants it. A link has buffers only while something is under way in them.
 *
 * A record that does not open breaks the connection; by the next one, with new keys, the stream goes on behind the last
 * record that did open. If whole records are taken out and none follows them, the receiver cannot know. So a sender
 * whose bytes are not acknowledged sends an empty record now and then, which then does not open.
 *
 * The two ends agree on the terms in the greeting, whose MACs cover what both say: each its setting, and whether it
 * sees a connection that does not leave the host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/counters.h"
#include "base/settings.h"
#include "boot/process.h"
#include "transport/tcp/sealed.h"

enum {
    BUFFER = 2 * (MUR_RECORD_HEAD + MUR_SEALED_MAX),
    LEAST = 4 << 10, /* a record is not made smaller than this because the buffer is nearly full */
    SPARE_BUFFERS = 4,
    PROBE_MIN_MS = 1000, /* until an empty record is sent; doubles each time */
    PROBE_MAX_MS = 60000,
    BY_PLACE = MUR_SEAL_ENCRYPT, /* the default for connections that leave the host */
};

struct mur_sealed_buffer {
    struct mur_sealed_buffer *next;
    unsigned char bytes[BUFFER];
};

static struct mur_sealed_buffer *spare;
static int spare_count;

static struct mur_sealed_buffer *buffer_get(void)
{
    struct mur_sealed_buffer *buffer = spare;

    if (buffer) {
        spare = buffer->next;
        spare_count--;
        return buffer;
    }
    buffer = malloc(sizeof *buffer);
    if (!buffer)
        mur_boot_abort(1, "no memory for a connection that is sealed");
    return buffer;
}

static void buffer_put(struct mur_sealed_buffer *buffer)
{
    if (!buffer)
        return;
    if (spare_count == SPARE_BUFFERS) {
        free(buffer);
        return;
    }
    buffer->next = spare;
    spare = buffer;
    spare_count++;
}

/* ---- terms ---- */

/* What the words of the greeting say: of the hello the first three, of the challenge the first and the last two. */
enum {
    SETTING = 0xff, /* MUR_TCP_SEAL, plus one */
    NEAR = 1 << 8,  /* the connection does not leave this host */
    AES = 1 << 9,
    MODE_SHIFT = 16, /* enum mur_seal_mode */
    MODE = 0xff << MODE_SHIFT,
};

uint32_t mur_sealed_offer(int fd)
{
    return (uint32_t)(mur_settings.tcp_seal + 1) | (mur_socket_is_near(fd) ? NEAR : 0) |
           (mur_sealer_has_aes() ? AES : 0);
}

uint32_t mur_sealed_answer(int fd, uint32_t offer)
{
    uint32_t own = mur_sealed_offer(fd);
    long mode = mur_settings.tcp_seal;

    if (mode < 0)
        mode = own & offer & NEAR ? MUR_SEAL_NONE : BY_PLACE;
    return (own & SETTING) | (own & offer & AES) | (uint32_t)mode << MODE_SHIFT;
}

static const char *setting_text(uint32_t word)
{
    static const char *const texts[] = {"no value", "none", "authenticate", "encrypt"};
    uint32_t setting = word & SETTING;

    return setting < sizeof texts / sizeof texts[0] ? texts[setting] : "a value of another version";
}

bool mur_sealed_agree(uint32_t offer, uint32_t answer)
{
    return (offer & SETTING) == (answer & SETTING);
}

void mur_sealed_complain(const struct mur_link *link, uint32_t offer, uint32_t answer, char *text, size_t room)
{
    char who[64];

    snprintf(text, room,
             "MUR_TCP_SEAL has %s at rank %d on %s, and %s at %s on %s; it must be the same at all ranks that speak to "
             "each other (mpiexec -plaintext sets it to none)",
             setting_text(offer), mur_process.rank, mur_process.host, setting_text(answer),
             mur_foreign_peer_text(link->peer, who), link->host);
}

/* ---- life ---- */

void mur_sealed_start(struct mur_link *link, const struct mur_handshake *greeting, bool is_caller)
{
    enum mur_seal_mode mode = (greeting->seal & MODE) >> MODE_SHIFT;
    enum mur_cipher cipher = greeting->seal & AES ? MUR_CIPHER_AES : MUR_CIPHER_CHACHA;
    unsigned char send_key[MUR_MAC_BYTES], receive_key[MUR_MAC_BYTES];

    if (mode == MUR_SEAL_NONE)
        return;
    link->seal = calloc(1, sizeof *link->seal);
    if (!link->seal)
        mur_boot_abort(1, "no memory for a connection that is sealed");
    mur_handshake_keys(greeting, is_caller, send_key, receive_key);
    mur_sealer_start(&link->seal->sender, send_key, cipher, mode);
    mur_sealer_start(&link->seal->receiver, receive_key, cipher, mode);
    mur_seal_wipe(send_key, sizeof send_key);
    mur_seal_wipe(receive_key, sizeof receive_key);
    link->seal->probe_due = UINT64_MAX;
}

void mur_sealed_end(struct mur_link *link)
{
    struct mur_sealed *seal = link->seal;

    if (!seal)
        return;
    buffer_put(seal->out);
    buffer_put(seal->in);
    mur_sealer_end(&seal->sender);
    mur_sealer_end(&seal->receiver);
    free(seal);
    link->seal = NULL;
}

/* ---- out ---- */

/* Seals what comes next of the stream, as much as the buffer takes. */
static void seal_next(struct mur_link *link)
{
    struct mur_sealed *seal = link->seal;
    const struct mur_out_segment *segment = link->next;
    size_t skip = segment ? (size_t)(link->sent - segment->start) : 0;

    for (; segment; segment = segment->next, skip = 0)
        while (skip < segment->bytes) {
            size_t rest = segment->bytes - skip, room = BUFFER - seal->out_end;
            size_t bytes = rest < MUR_SEALED_MAX ? rest : MUR_SEALED_MAX;

            if (room < MUR_RECORD_HEAD + (rest < LEAST ? rest : LEAST))
                return;
            if (bytes > room - MUR_RECORD_HEAD)
                bytes = room - MUR_RECORD_HEAD;
            seal->out_end +=
                mur_sealer_seal(&seal->sender, seal->out->bytes + seal->out_end, segment->data + skip, bytes);
            skip += bytes;
        }
}

/* The bytes of the records that the socket has taken whole since it was asked last. */
static size_t count_sent(struct mur_sealed *seal)
{
    size_t sent = 0;

    while (seal->out_start - seal->out_counted >= MUR_RECORD_HEAD) {
        uint32_t length = mur_record_length(seal->out->bytes + seal->out_counted);

        if (seal->out_start - seal->out_counted - MUR_RECORD_HEAD < length)
            break;
        seal->out_counted += MUR_RECORD_HEAD + length;
        sent += length;
    }
    return sent;
}

static void schedule_probe(struct mur_sealed *seal)
{
    seal->probe_pause = PROBE_MIN_MS;
    if (seal->probe_due != UINT64_MAX)
        return;
    seal->probe_due = mur_tcp_now() + seal->probe_pause;
    mur_tcp_set_timer(seal->probe_due);
}

ssize_t mur_sealed_write(struct mur_link *link)
{
    struct mur_sealed *seal = link->seal;
    ssize_t written;
    size_t sent;

    if (!seal->out) {
        seal->out = buffer_get();
        seal->out_start = seal->out_counted = seal->out_end = 0;
        seal_next(link);
        schedule_probe(seal);
    }
    written = send(link->fd, seal->out->bytes + seal->out_start, seal->out_end - seal->out_start,
                   MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0)
        return -1;
    seal->out_start += (size_t)written;
    sent = count_sent(seal);
    if (seal->out_start == seal->out_end) {
        buffer_put(seal->out);
        seal->out = NULL;
    }
    return (ssize_t)sent;
}

void mur_sealed_probe(struct mur_link *link, uint64_t now)
{
    struct mur_sealed *seal = link->seal;
    uint64_t quiet_since = link->last_send / 1000000u;

    if (link->acked >= link->queued) {
        seal->probe_due = UINT64_MAX;
        return;
    }
    if (quiet_since + seal->probe_pause > now) {
        seal->probe_due = quiet_since + seal->probe_pause;
        return;
    }
    if (!seal->out) {
        seal->out = buffer_get();
        seal->out_start = seal->out_counted = 0;
        seal->out_end = mur_sealer_seal(&seal->sender, seal->out->bytes, "", 0);
    }
    seal->probe_pause = seal->probe_pause < PROBE_MAX_MS / 2 ? 2 * seal->probe_pause : PROBE_MAX_MS;
    seal->probe_due = now + seal->probe_pause;
    mur_out_write(link);
}

/* ---- in ---- */

ssize_t mur_sealed_fill(struct mur_link *link)
{
    struct mur_sealed *seal = link->seal;
    ssize_t got;

    if (!seal->in) {
        seal->in = buffer_get();
        seal->in_start = seal->in_end = 0;
    }
    got = recv(link->fd, seal->in->bytes + seal->in_end, BUFFER - seal->in_end, MSG_DONTWAIT);
    if (got > 0) {
        seal->in_end += (size_t)got;
        seal->heard += (uint64_t)got;
    }
    return got;
}

ssize_t mur_sealed_next(const struct mur_link *link)
{
    const struct mur_sealed *seal = link->seal;
    size_t here = seal->in_end - seal->in_start;
    uint32_t length;

    if (here < MUR_RECORD_HEAD)
        return MUR_SEALED_NONE;
    length = mur_record_length(seal->in->bytes + seal->in_start);
    if (length > MUR_SEALED_MAX)
        return MUR_SEALED_ALTERED;
    return here - MUR_RECORD_HEAD < length ? MUR_SEALED_NONE : (ssize_t)length;
}

bool mur_sealed_open(struct mur_link *link, void *data)
{
    struct mur_sealed *seal = link->seal;
    const unsigned char *record = seal->in->bytes + seal->in_start;

    if (!mur_sealer_open(&seal->receiver, record, data))
        return false;
    seal->in_start += MUR_RECORD_HEAD + mur_record_length(record);
    return true;
}

void mur_sealed_settle(struct mur_link *link)
{
    struct mur_sealed *seal = link->seal;
    size_t rest = seal->in_end - seal->in_start;

    if (rest) {
        memmove(seal->in->bytes, seal->in->bytes + seal->in_start, rest);
        seal->in_start = 0;
        seal->in_end = rest;
        return;
    }
    buffer_put(seal->in);
    seal->in = NULL;
}
