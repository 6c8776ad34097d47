/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the TCP transport: links whose connections are sealed. sealed.c has the rules. */
#ifndef MUR_TRANSPORT_TCP_SEALED_H
#define MUR_TRANSPORT_TCP_SEALED_H

#include "base/seal.h"
#include "transport/tcp/tcp.h"

enum { MUR_SEALED_MAX = 64 << 10 }; /* bytes of a record */

struct mur_sealed_buffer;

/* One sealed connection of a link. */
struct mur_sealed {
    struct mur_sealer sender, receiver;
    struct mur_sealed_buffer *out;          /* sealed, and not taken by the socket; NULL: nothing */
    size_t out_start, out_counted, out_end; /* the socket's; the start of a record that it has not taken whole */
    struct mur_sealed_buffer *in;           /* received, and not opened; NULL: nothing */
    size_t in_start, in_end;
    uint64_t heard;                  /* bytes of the connection */
    uint64_t probe_due, probe_pause; /* ms; UINT64_MAX: all is acknowledged */
};

/* Terms: what the caller offers in its hello, what is answered in the challenge, and whether the two settings are the
 * same; if not, a text that says so. */
uint32_t mur_sealed_offer(int fd);
uint32_t mur_sealed_answer(int fd, uint32_t offer);
bool mur_sealed_agree(uint32_t offer, uint32_t answer);
void mur_sealed_complain(const struct mur_link *link, uint32_t offer, uint32_t answer, char *text, size_t room);

/* A new connection, on the terms of its greeting: link->seal is NULL if those are that it is not sealed. */
void mur_sealed_start(struct mur_link *link, const struct mur_handshake *greeting, bool is_caller);
void mur_sealed_end(struct mur_link *link);

/* Writes once. Returns how many bytes of the stream have been sent with that, in whole records; -1 with errno. */
ssize_t mur_sealed_write(struct mur_link *link);

static inline bool mur_sealed_is_pending(const struct mur_link *link)
{
    return link->seal && link->seal->out;
}

/* When that is due: lets the peer notice what was taken out behind the latest record that it has got. */
void mur_sealed_probe(struct mur_link *link, uint64_t now);

/* Reading: receives once, as recv does. Then, as long as there are some, the bytes that the next record has; and opens
 * it into memory for so many. Last, what has come of a further record is kept. */
enum { MUR_SEALED_NONE = -1, MUR_SEALED_ALTERED = -2 };
ssize_t mur_sealed_fill(struct mur_link *link);
ssize_t mur_sealed_next(const struct mur_link *link);
bool mur_sealed_open(struct mur_link *link, void *data);
void mur_sealed_settle(struct mur_link *link);

/* The bytes that have come by the connection. */
static inline uint64_t mur_link_heard(const struct mur_link *link)
{
    return link->seal ? link->seal->heard : link->received;
}

#endif
