/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends (MPI-5.0 §3.6): the data is packed into a buffer that the user attached, to a communicator or to the
 * process, and sent from there. */
#ifndef MUR_PT2PT_BUFFERED_H
#define MUR_PT2PT_BUFFERED_H

#include "object/request.h"

struct mur_send_buffer;

/* Complete at once; MPI_ERR_BUFFER where the buffer has no room. */
int mur_ibsend(const void *buffer, MPI_Count count, struct mur_type *type, int dest, int tag, struct mur_comm *comm,
               struct mur_request **request_p);

/* The place of a communicator's buffer; with NULL, of the process's. */
struct mur_send_buffer **mur_send_buffer_of(struct mur_comm *comm);

/* `address` may be MPI_BUFFER_AUTOMATIC: memory is found as needed. */
int mur_send_buffer_attach(struct mur_send_buffer **place, void *address, MPI_Count bytes);

/* Waits until all messages have left the buffer; gives it back. NULL and 0 where none is attached. */
void mur_send_buffer_detach(struct mur_send_buffer **place, void **address, MPI_Count *bytes);
void mur_send_buffer_flush(struct mur_send_buffer *buffer);

/* A request that completes when all messages that are in the buffer now have left it. */
int mur_send_buffer_iflush(struct mur_send_buffer *buffer, struct mur_request **request_p);

#endif
