/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDY/3.1 (draft-mbelshe-httpbis-spdy-00) as far as kubectl uses it: the client opens a stream for each channel, named
 * by the header "streamtype", and data goes on these. Header blocks are compressed with a dictionary that both sides
 * know. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "launch/alloc.h"
#include "mpijob/server/session.h"

enum { SYN_STREAM = 1, SYN_REPLY = 2, RST_STREAM = 3, PING = 6, GOAWAY = 7 }; /* kinds of control frames */
enum { FIN = 1, HEADER = 8, LONGEST_FRAME = 1 << 20, LONGEST_HEADERS = 64 << 10 };

struct spdy {
    z_stream in, out;
    unsigned streams[MUR_CHANNELS]; /* 0: none */
    bool is_begun;
};

/* Of the draft's section 2.6.10.1: names and values with their lengths in front, then plain text. */
static const char *const dictionary_words[] = {"options",
                                               "head",
                                               "post",
                                               "put",
                                               "delete",
                                               "trace",
                                               "accept",
                                               "accept-charset",
                                               "accept-encoding",
                                               "accept-language",
                                               "accept-ranges",
                                               "age",
                                               "allow",
                                               "authorization",
                                               "cache-control",
                                               "connection",
                                               "content-base",
                                               "content-encoding",
                                               "content-language",
                                               "content-length",
                                               "content-location",
                                               "content-md5",
                                               "content-range",
                                               "content-type",
                                               "date",
                                               "etag",
                                               "expect",
                                               "expires",
                                               "from",
                                               "host",
                                               "if-match",
                                               "if-modified-since",
                                               "if-none-match",
                                               "if-range",
                                               "if-unmodified-since",
                                               "last-modified",
                                               "location",
                                               "max-forwards",
                                               "pragma",
                                               "proxy-authenticate",
                                               "proxy-authorization",
                                               "range",
                                               "referer",
                                               "retry-after",
                                               "server",
                                               "te",
                                               "trailer",
                                               "transfer-encoding",
                                               "upgrade",
                                               "user-agent",
                                               "vary",
                                               "via",
                                               "warning",
                                               "www-authenticate",
                                               "method",
                                               "get",
                                               "status",
                                               "200 OK",
                                               "version",
                                               "HTTP/1.1",
                                               "url",
                                               "public",
                                               "set-cookie",
                                               "keep-alive",
                                               "origin"};
static const char dictionary_text[] =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

static unsigned char *put32(unsigned char *to, unsigned value)
{
    to[0] = (unsigned char)(value >> 24);
    to[1] = (unsigned char)(value >> 16);
    to[2] = (unsigned char)(value >> 8);
    to[3] = (unsigned char)value;
    return to + 4;
}

static unsigned get32(const unsigned char *from)
{
    return (unsigned)from[0] << 24 | (unsigned)from[1] << 16 | (unsigned)from[2] << 8 | from[3];
}

static unsigned make_dictionary(unsigned char *to)
{
    unsigned char *start = to;

    for (size_t i = 0; i < sizeof dictionary_words / sizeof *dictionary_words; i++) {
        size_t length = strlen(dictionary_words[i]);

        to = put32(to, (unsigned)length);
        memcpy(to, dictionary_words[i], length);
        to += length;
    }
    memcpy(to, dictionary_text, sizeof dictionary_text - 1);
    return (unsigned)(to - start + (ptrdiff_t)sizeof dictionary_text - 1);
}

static void *spdy_start(struct mur_exec_session *session)
{
    struct spdy *spdy = mur_alloc(1, sizeof *spdy);
    unsigned char dictionary[2048];
    unsigned length = make_dictionary(dictionary);

    (void)session;
    inflateInit(&spdy->in);
    deflateInit(&spdy->out, Z_DEFAULT_COMPRESSION);
    deflateSetDictionary(&spdy->out, dictionary, length);
    return spdy;
}

/* Returns the length of the plain block, or 0 if it is none. */
static size_t inflate_block(struct spdy *spdy, const unsigned char *data, size_t length, unsigned char *plain)
{
    unsigned char dictionary[2048];
    int code;

    spdy->in.next_in = (unsigned char *)data;
    spdy->in.avail_in = (unsigned)length;
    spdy->in.next_out = plain;
    spdy->in.avail_out = LONGEST_HEADERS;
    code = inflate(&spdy->in, Z_SYNC_FLUSH);
    if (code == Z_NEED_DICT) {
        inflateSetDictionary(&spdy->in, dictionary, make_dictionary(dictionary));
        code = inflate(&spdy->in, Z_SYNC_FLUSH);
    }
    return code == Z_OK && spdy->in.avail_in == 0 ? LONGEST_HEADERS - spdy->in.avail_out : 0;
}

/* The channel that a stream's headers name; -1 if they name none. */
static int find_channel(const unsigned char *plain, size_t length)
{
    static const char *const names[MUR_CHANNELS] = {"stdin", "stdout", "stderr", "error", "resize"};
    static const char header[] = "streamtype";
    size_t at = 4;
    bool is_it = false;

    while (at + 4 <= length) {
        size_t size = get32(plain + at);

        at += 4;
        if (size > length - at)
            return -1;
        for (int i = 0; is_it && i < MUR_CHANNELS; i++)
            if (size == strlen(names[i]) && memcmp(plain + at, names[i], size) == 0)
                return i;
        is_it = size == sizeof header - 1 && memcmp(plain + at, header, size) == 0;
        at += size;
    }
    return -1;
}

/* Without headers of its own. */
static void accept_stream(struct spdy *spdy, struct mur_exec_session *session, unsigned stream)
{
    unsigned char frame[128], block[128], none[4] = {0};
    size_t length;

    spdy->out.next_in = none;
    spdy->out.avail_in = sizeof none;
    spdy->out.next_out = block;
    spdy->out.avail_out = sizeof block;
    deflate(&spdy->out, Z_SYNC_FLUSH);
    length = sizeof block - spdy->out.avail_out;
    put32(frame, 0x80030000u | SYN_REPLY);
    put32(frame + 4, (unsigned)(4 + length));
    put32(frame + 8, stream);
    memcpy(frame + 12, block, length);
    mur_session_write(session, frame, 12 + length);
}

static bool has_all(const struct spdy *spdy, const struct mur_exec_session *session)
{
    for (int i = 0; i < MUR_CHANNELS; i++)
        if (mur_session_wants(session, (enum mur_exec_channel)i) && !spdy->streams[i])
            return false;
    return true;
}

static bool open_stream(struct spdy *spdy, struct mur_exec_session *session, const unsigned char *data, size_t length)
{
    unsigned char *plain = mur_alloc(LONGEST_HEADERS, 1);
    size_t got = length > 10 ? inflate_block(spdy, data + 10, length - 10, plain) : 0;
    int channel = find_channel(plain, got);

    free(plain);
    if (channel < 0 || spdy->streams[channel])
        return false;
    spdy->streams[channel] = get32(data) & 0x7fffffffu;
    accept_stream(spdy, session, spdy->streams[channel]);
    if (!spdy->is_begun && has_all(spdy, session)) {
        spdy->is_begun = true;
        mur_session_begin(session);
    }
    return true;
}

static bool take_control(struct spdy *spdy, struct mur_exec_session *session, const unsigned char *frame, size_t length)
{
    unsigned kind = get32(frame) & 0xffff;

    if (kind == SYN_STREAM)
        return open_stream(spdy, session, frame + HEADER, length);
    if (kind == PING)
        mur_session_write(session, frame, HEADER + length);
    return kind != GOAWAY;
}

static void take_data(struct spdy *spdy, struct mur_exec_session *session, const unsigned char *frame, size_t length)
{
    for (int i = 0; i < MUR_CHANNELS; i++)
        if (spdy->streams[i] && spdy->streams[i] == get32(frame)) {
            if (length > 0)
                mur_session_take(session, (enum mur_exec_channel)i, frame + HEADER, length);
            if (frame[4] & FIN)
                mur_session_end_of(session, (enum mur_exec_channel)i);
        }
}

static ssize_t spdy_take(void *state, struct mur_exec_session *session, const unsigned char *data, size_t length)
{
    size_t used = 0;

    while (length - used >= HEADER) {
        const unsigned char *frame = data + used;
        size_t size = get32(frame + 4) & 0xffffff;

        if (size > LONGEST_FRAME)
            return -1;
        if (length - used < HEADER + size)
            break;
        if (!(frame[0] & 0x80))
            take_data(state, session, frame, size);
        else if (!take_control(state, session, frame, size))
            return -1;
        used += HEADER + size;
    }
    return (ssize_t)used;
}

static void send_frame(struct spdy *spdy, struct mur_exec_session *session, enum mur_exec_channel channel,
                       unsigned flags, const void *data, size_t length)
{
    unsigned char header[HEADER];

    if (!spdy->streams[channel])
        return;
    put32(header, spdy->streams[channel]);
    put32(header + 4, flags << 24 | (unsigned)length);
    mur_session_write(session, header, sizeof header);
    mur_session_write(session, data, length);
}

static void spdy_send(void *state, struct mur_exec_session *session, enum mur_exec_channel channel, const void *data,
                      size_t length)
{
    send_frame(state, session, channel, 0, data, length);
}

static void spdy_close(void *state, struct mur_exec_session *session, enum mur_exec_channel channel)
{
    send_frame(state, session, channel, FIN, "", 0);
}

const struct mur_protocol mur_spdy = {.start = spdy_start, .take = spdy_take, .send = spdy_send, .close = spdy_close};
