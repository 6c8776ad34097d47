/* SPDX-License-Identifier: BSD-3-Clause */
/* WebSocket (RFC 6455) with the subprotocols v4 and v5.channel.k8s.io: a message begins with the number of its channel.
 * In v5 a message on channel 255 names a channel that the client has closed. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/server/session.h"

enum { CONTINUED = 0, TEXT = 1, BINARY = 2, BYE = 8, PING = 9, PONG = 10 }; /* kinds of frames */
enum { LONGEST = 1 << 20, CLOSED_CHANNEL = 255 };

struct websocket {
    unsigned char *message; /* the parts of one that have come */
    size_t length;
};

static void *websocket_start(struct mur_exec_session *session)
{
    mur_session_begin(session);
    return mur_alloc(1, sizeof(struct websocket));
}

static void send_frame(struct mur_exec_session *session, int kind, const void *first, size_t first_length,
                       const void *data, size_t length)
{
    unsigned char header[10] = {(unsigned char)(0x80 | kind)};
    size_t total = first_length + length, size = 2;

    if (total < 126) {
        header[1] = (unsigned char)total;
    } else {
        size = total < 65536 ? 4 : 10;
        header[1] = size == 4 ? 126 : 127;
        for (size_t i = size; i > 2; i--, total >>= 8)
            header[i - 1] = (unsigned char)total;
    }
    mur_session_write(session, header, size);
    mur_session_write(session, first, first_length);
    mur_session_write(session, data, length);
}

static void websocket_send(void *state, struct mur_exec_session *session, enum mur_exec_channel channel,
                           const void *data, size_t length)
{
    unsigned char number = (unsigned char)channel;

    (void)state;
    send_frame(session, BINARY, &number, 1, data, length);
}

/* The end of all is the end of the connection; channels of the server are not closed one by one. */
static void websocket_close(void *state, struct mur_exec_session *session, enum mur_exec_channel channel)
{
    static const unsigned char normal[] = {1000 >> 8, 1000 & 255};

    (void)state;
    if (channel == MUR_LAST_WORD)
        send_frame(session, BYE, normal, sizeof normal, "", 0);
}

static void take_message(struct mur_exec_session *session, const unsigned char *message, size_t length)
{
    if (length == 0)
        return;
    if (message[0] == CLOSED_CHANNEL && length > 1 && message[1] < MUR_CHANNELS)
        mur_session_end_of(session, (enum mur_exec_channel)message[1]);
    else if (message[0] < MUR_CHANNELS && length > 1)
        mur_session_take(session, (enum mur_exec_channel)message[0], message + 1, length - 1);
}

static bool take_frame(struct websocket *websocket, struct mur_exec_session *session, unsigned char first,
                       const unsigned char *data, size_t length)
{
    int kind = first & 15;

    if (kind == PING)
        send_frame(session, PONG, data, length, "", 0);
    if (kind == BYE)
        return false;
    if (kind != CONTINUED && kind != TEXT && kind != BINARY)
        return kind == PING || kind == PONG;
    if (websocket->length + length > LONGEST)
        return false;
    websocket->message = mur_alloc_again(websocket->message, websocket->length + length + 1, 1);
    memcpy(websocket->message + websocket->length, data, length);
    websocket->length += length;
    if (first & 0x80) {
        take_message(session, websocket->message, websocket->length);
        websocket->length = 0;
    }
    return true;
}

/* The length of a frame's header, and of what follows; 0 if the header has not come whole. */
static size_t read_header(const unsigned char *data, size_t length, size_t *size)
{
    size_t count = 2, more;

    if (length < 2)
        return 0;
    more = (data[1] & 127) == 126 ? 2 : (data[1] & 127) == 127 ? 8 : 0;
    count += more + 4; /* a client's frames are masked */
    if (length < count)
        return 0;
    *size = data[1] & 127;
    for (size_t i = 0; i < more; i++)
        *size = (i ? *size << 8 : 0) | data[2 + i];
    return count;
}

static ssize_t websocket_take(void *state, struct mur_exec_session *session, const unsigned char *data, size_t length)
{
    size_t used = 0, size, header;

    while ((header = read_header(data + used, length - used, &size)) > 0) {
        const unsigned char *frame = data + used, *mask = frame + header - 4;
        unsigned char *plain;
        bool goes_on;

        if (size > LONGEST || !(frame[1] & 0x80))
            return -1;
        if (length - used < header + size)
            break;
        plain = mur_alloc(size + 1, 1);
        for (size_t i = 0; i < size; i++)
            plain[i] = frame[header + i] ^ mask[i % 4];
        goes_on = take_frame(state, session, frame[0], plain, size);
        free(plain);
        if (!goes_on)
            return -1;
        used += header + size;
    }
    return (ssize_t)used;
}

const struct mur_protocol mur_websocket = {
    .start = websocket_start, .take = websocket_take, .send = websocket_send, .close = websocket_close};
