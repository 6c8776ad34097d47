/* SPDX-License-Identifier: BSD-3-Clause */
/* A command in a pod, over a connection: what exec.c does in a process of its own, and the two protocols that carry it.
 *
 * Both have channels: input, output, errors, a last word about how the command ended, and the size of the terminal. A
 * protocol turns bytes of the connection into calls of mur_session_take, and what is given to `send` into bytes. */
#ifndef MUR_MPIJOB_SESSION_H
#define MUR_MPIJOB_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum mur_exec_channel { MUR_STDIN, MUR_STDOUT, MUR_STDERR, MUR_LAST_WORD, MUR_RESIZE, MUR_CHANNELS };

struct mur_exec_session;

struct mur_protocol {
    void *(*start)(struct mur_exec_session *session);
    /* Bytes have come. Returns how many were used up, or -1 if they make no sense or the client has said its end. */
    ssize_t (*take)(void *state, struct mur_exec_session *session, const unsigned char *data, size_t length);
    void (*send)(void *state, struct mur_exec_session *session, enum mur_exec_channel channel, const void *data,
                 size_t length);
    void (*close)(void *state, struct mur_exec_session *session,
                  enum mur_exec_channel channel); /* nothing more comes on it */
};

extern const struct mur_protocol mur_spdy, mur_websocket;

bool mur_session_wants(const struct mur_exec_session *session, enum mur_exec_channel channel);
void mur_session_write(struct mur_exec_session *session, const void *data, size_t length); /* to the connection */
void mur_session_take(struct mur_exec_session *session, enum mur_exec_channel channel, const void *data, size_t length);
void mur_session_end_of(struct mur_exec_session *session, enum mur_exec_channel channel);
void mur_session_begin(struct mur_exec_session *session); /* all channels are there */

#endif
