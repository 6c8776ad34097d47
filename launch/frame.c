/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives frames; only the part of the text in use travels. */
#include "launch/frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "launch/say.h"

size_t mur_frame_bytes(const struct mur_tree_frame *frame)
{
    return offsetof(struct mur_tree_frame, text) + frame->length;
}

bool mur_frame_unpack(struct mur_tree_frame *frame, const void *data, size_t bytes)
{
    const size_t head = offsetof(struct mur_tree_frame, text);

    if (bytes < head || bytes > sizeof *frame)
        return false;
    memcpy(frame, data, bytes);
    return head + frame->length == bytes;
}

bool mur_frame_send(int fd, const struct mur_tree_frame *frame)
{
    size_t size = mur_frame_bytes(frame);
    ssize_t sent;

    do
        sent = send(fd, frame, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

bool mur_frame_receive(int fd, struct mur_tree_frame *frame)
{
    size_t head = offsetof(struct mur_tree_frame, text);
    ssize_t got;

    /* A peer that ended with frames of ours unread shows as ECONNRESET, once, before its last frames can be read. */
    do
        got = recv(fd, frame, sizeof *frame, 0);
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    return got >= (ssize_t)head && head + frame->length == (size_t)got;
}

static void set_text(struct mur_tree_frame *frame, const char *format, va_list args)
{
    int length = vsnprintf(frame->text, sizeof frame->text, format, args);

    if (length < 0)
        length = 0;
    frame->length = (uint16_t)(length < (int)sizeof frame->text ? length : (int)sizeof frame->text - 1);
}

void mur_frame_set_text(struct mur_tree_frame *frame, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_text(frame, format, args);
    va_end(args);
}

void mur_frame_set_failure(struct mur_tree_frame *frame, const char *format, ...)
{
    va_list args;

    *frame = (struct mur_tree_frame){
        .kind = MUR_FRAME_FAILURE, .cause = MUR_CAUSE_START, .rank = -1, .code = MUR_EXIT_TROUBLE};
    va_start(args, format);
    set_text(frame, format, args);
    va_end(args);
}
