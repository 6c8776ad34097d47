/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point messages: the core below MPI_Send and MPI_Recv, used by collectives too.
 *
 * Small messages are eager: sent whole, and kept by the receiver until asked for. Large ones are a rendezvous: the
 * sender says READY, the receiver answers when a receive matches, and the data is then copied once, by both sides
 * together, or sent in pieces (pt2pt/rendezvous.c). `context` is the communicator's own for users' messages, and
 * one more for the library's. */
#ifndef MUR_PT2PT_PT2PT_H
#define MUR_PT2PT_PT2PT_H

#include "object/comm.h"
#include "object/request.h"
#include "object/type.h"

enum mur_send_mode { MUR_STANDARD, MUR_SYNCHRONOUS };

int mur_pt2pt_setup(void);

/* What mur_isend would say of a send to `dest`, but for want of memory. A call that also receives asks before it posts
 * its receive, which may take a message that waits already. */
int mur_send_check(MPI_Count count, const struct mur_type *type, int dest);

/* Starts a send. *request_p is mur_request_finished where the buffer may already be used again. `dest` is a rank of
 * the communicator, or MPI_PROC_NULL. */
int mur_isend(const void *buffer, MPI_Count count, struct mur_type *type, int dest, int tag, struct mur_comm *comm,
              uint32_t context, enum mur_send_mode mode, struct mur_request **request_p);

/* Starts a receive; source and tag may be wildcards. */
int mur_irecv(void *buffer, MPI_Count count, struct mur_type *type, int source, int tag, struct mur_comm *comm,
              uint32_t context, struct mur_request **request_p);

/* The blocking forms. */
int mur_send(const void *buffer, MPI_Count count, struct mur_type *type, int dest, int tag, struct mur_comm *comm,
             uint32_t context, enum mur_send_mode mode);
int mur_recv(void *buffer, MPI_Count count, struct mur_type *type, int source, int tag, struct mur_comm *comm,
             uint32_t context, MPI_Status *status);

/* cancel.c: MPI_Cancel of an active request. */
int mur_cancel(struct mur_request *request);
/* Tells the sender of a message which waits for a receive that no receive will come. */
void mur_cancel_refuse(const struct mur_message *message);
void mur_cancel_setup(void);

/* Waits until the request is complete, and finishes it. */
int mur_wait(struct mur_request *request, MPI_Status *status);

/* The waiting message that a receive with these arguments would get; NULL when there is none. One pass of progress
 * is made first. */
struct mur_message *mur_iprobe(int source, int tag, struct mur_comm *comm);

/* The result that a receive of this waiting message would have. */
void mur_message_result(const struct mur_message *message, struct mur_result *result);

/* Receives a message taken by a matched probe. */
int mur_imrecv(void *buffer, MPI_Count count, struct mur_type *type, struct mur_message *message,
               struct mur_request **request_p);

/* persistent.c: an inactive request for later starts. */
enum mur_persistent_mode {
    MUR_PERSISTENT_STANDARD,
    MUR_PERSISTENT_SYNCHRONOUS,
    MUR_PERSISTENT_BUFFERED,
    MUR_PERSISTENT_RECEIVE,
};
int mur_persistent_init(enum mur_persistent_mode mode, void *buffer, MPI_Count count, struct mur_type *type, int rank,
                        int tag, struct mur_comm *comm, struct mur_request **request_p);

/* combined.c: one side of a combined send and receive. For the replacing form both have the same buffer. */
struct mur_half {
    void *buffer;
    MPI_Count count;
    struct mur_type *type;
    int rank, tag;
};
int mur_isendrecv(const struct mur_half *send, const struct mur_half *receive, struct mur_comm *comm,
                  struct mur_request **request_p);
int mur_isendrecv_replace(const struct mur_half *send, const struct mur_half *receive, struct mur_comm *comm,
                          struct mur_request **request_p);

/* partitioned.c: an inactive request for `partitions` times `count` elements. */
int mur_partitioned_init(bool is_sender, void *buffer, int partitions, MPI_Count count, struct mur_type *type, int rank,
                         int tag, struct mur_comm *comm, struct mur_request **request_p);
int mur_partitioned_ready(struct mur_request *request, int partition);
int mur_partitioned_arrived(struct mur_request *request, int partition, int *flag);

/* rendezvous.c: a READY frame's content, and the two ends. */
struct mur_ready {
    uint64_t length;  /* of the message */
    uint64_t address; /* of its bytes in the sender's memory; 0 where they are not one run */
    uint64_t request; /* the sender's */
    uint64_t token;   /* of the shared transfer */
};
int mur_rendezvous_send(struct mur_request *request);
/* Whether a READY is whole, and names a transfer of the peer's if any. */
bool mur_rendezvous_can_be(const struct mur_peer *peer, const struct mur_frame *frame, const void *data);
void mur_rendezvous_accept(struct mur_request *request, const struct mur_ready *ready);
void mur_rendezvous_setup(void);

/* The live request of this side that a frame of the peer's names by its address; another frame ends the job. */
struct mur_request *mur_rendezvous_request(struct mur_peer *peer, const struct mur_frame *frame, uint64_t address,
                                           enum mur_operation operation);

/* Ends a send that no receive has been or can be matched with. */
void mur_rendezvous_withdraw(struct mur_request *request);

/* receive.c: copies an eager message into the request's buffer, or starts the rendezvous. */
void mur_receive_match(struct mur_request *request, struct mur_peer *peer, const struct mur_frame *frame,
                       const void *data);

/* Sets the error of a message that is longer than the receive; returns the bytes that fit. */
size_t mur_receive_fit(struct mur_request *request, uint64_t length);

#endif
