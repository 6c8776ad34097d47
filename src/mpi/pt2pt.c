/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point communication (MPI-5.0 §3): the bodies behind send, receive and probe. */
#include <stdlib.h>

#include "base/error.h"
#include "datatype/layout.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "object/look.h"
#include "pt2pt/lost.h"
#include "pt2pt/pt2pt.h"

int mur_mpi_send(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag, struct mur_comm *comm)
{
    return mur_send(buf, count, datatype, dest, tag, comm, comm->context, MUR_STANDARD);
}

/* A ready send may be done as a standard one (§3.4). */
int mur_mpi_rsend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag, struct mur_comm *comm)
{
    return mur_send(buf, count, datatype, dest, tag, comm, comm->context, MUR_STANDARD);
}

int mur_mpi_ssend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag, struct mur_comm *comm)
{
    return mur_send(buf, count, datatype, dest, tag, comm, comm->context, MUR_SYNCHRONOUS);
}

static inline int isend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                        struct mur_comm *comm, enum mur_send_mode mode, MPI_Request *request)
{
    struct mur_request *started;
    int rc = mur_isend(buf, count, datatype, dest, tag, comm, comm->context, mode, &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

int mur_mpi_isend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag, struct mur_comm *comm,
                  MPI_Request *request)
{
    return isend(buf, count, datatype, dest, tag, comm, MUR_STANDARD, request);
}

int mur_mpi_irsend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                   struct mur_comm *comm, MPI_Request *request)
{
    return isend(buf, count, datatype, dest, tag, comm, MUR_STANDARD, request);
}

int mur_mpi_issend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                   struct mur_comm *comm, MPI_Request *request)
{
    return isend(buf, count, datatype, dest, tag, comm, MUR_SYNCHRONOUS, request);
}

int mur_mpi_recv(void *buf, MPI_Count count, struct mur_type *datatype, int source, int tag, struct mur_comm *comm,
                 MPI_Status *status)
{
    return mur_recv(buf, count, datatype, source, tag, comm, comm->context, status);
}

int mur_mpi_irecv(void *buf, MPI_Count count, struct mur_type *datatype, int source, int tag, struct mur_comm *comm,
                  MPI_Request *request)
{
    struct mur_request *started;
    int rc = mur_irecv(buf, count, datatype, source, tag, comm, comm->context, &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

int mur_mpi_sendrecv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, int dest, int sendtag,
                     void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype, int source, int recvtag,
                     struct mur_comm *comm, MPI_Status *status)
{
    struct mur_request *receive, *send;
    int rc, send_rc;

    if ((rc = mur_send_check(sendcount, sendtype, dest)) ||
        (rc = mur_irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, comm->context, &receive)))
        return rc;
    send_rc = mur_isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, comm->context, MUR_STANDARD, &send);
    if (send_rc) { /* nothing is sent; neither shall a receive be left that takes a later message */
        mur_request_cancel(receive);
        mur_wait(receive, MPI_STATUS_IGNORE);
        return send_rc;
    }
    send_rc = mur_wait(send, MPI_STATUS_IGNORE);
    rc = mur_wait(receive, status);
    return send_rc ? send_rc : rc;
}

/* The message leaves from a packed copy, so the buffer is free to receive into. */
int mur_mpi_sendrecv_replace(void *buf, MPI_Count count, struct mur_type *datatype, int dest, int sendtag, int source,
                             int recvtag, struct mur_comm *comm, MPI_Status *status)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    struct mur_cursor cursor;
    void *copy;
    int rc;

    mur_cursor_start(&cursor, buf, dest == MPI_PROC_NULL ? 0 : count, datatype);
    copy = malloc(cursor.bytes ? cursor.bytes : 1);
    if (!copy)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a copy of the %zu bytes to send", cursor.bytes);
    mur_cursor_pack(&cursor, copy, cursor.bytes);
    rc = mur_mpi_sendrecv(copy, (MPI_Count)cursor.bytes, byte, dest, sendtag, buf, count, datatype, source, recvtag,
                          comm, status);
    free(copy);
    return rc;
}

int mur_mpi_isendrecv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, int dest, int sendtag,
                      void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype, int source, int recvtag,
                      struct mur_comm *comm, MPI_Request *request)
{
    struct mur_half send = {(void *)sendbuf, sendcount, sendtype, dest, sendtag};
    struct mur_half receive = {recvbuf, recvcount, recvtype, source, recvtag};
    struct mur_request *started = NULL;
    int rc = mur_isendrecv(&send, &receive, comm, &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

int mur_mpi_isendrecv_replace(void *buf, MPI_Count count, struct mur_type *datatype, int dest, int sendtag, int source,
                              int recvtag, struct mur_comm *comm, MPI_Request *request)
{
    struct mur_half send = {buf, count, datatype, dest, sendtag}, receive = {buf, count, datatype, source, recvtag};
    struct mur_request *started = NULL;
    int rc = mur_isendrecv_replace(&send, &receive, comm, &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

/* What a probe of MPI_PROC_NULL finds (§3.10). */
static void set_proc_null(MPI_Status *status)
{
    static const struct mur_result none = {.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};

    mur_status_set(status, &none);
}

static void set_from_message(MPI_Status *status, const struct mur_message *message)
{
    struct mur_result result;

    mur_message_result(message, &result);
    mur_status_set(status, &result);
}

/* A message that is not there may never come. */
static int check_lost(int source, const struct mur_comm *comm)
{
    return __builtin_expect(comm->has_lost, 0) ? mur_lost_check(comm, comm->context, source) : MPI_SUCCESS;
}

struct probe {
    const struct mur_comm *comm;
    int source, tag;
};

static void describe_probe(const void *what)
{
    const struct probe *probe = what;
    struct mur_look_wait *wait = mur_look_add_comm(MUR_WAIT_PROBE, probe->comm);

    mur_look_set_peer(wait, probe->comm, probe->source);
    wait->tag = mur_look_tag(probe->tag);
}

/* Repeats the probe until a message is there. */
static int wait_for_message(int source, int tag, struct mur_comm *comm, struct mur_message **message)
{
    struct mur_waiter waiter = {0};
    struct mur_match_key key = {.context = comm->context, .source = source, .tag = tag};
    int rc;

    while (!(*message = mur_match_find(&key))) {
        if ((rc = check_lost(source, comm)))
            return rc;
        if (mur_progress())
            mur_waiter_moved(&waiter);
        else
            mur_waiter_idle(&waiter, describe_probe, &(struct probe){comm, source, tag});
    }
    return MPI_SUCCESS;
}

int mur_mpi_probe(int source, int tag, struct mur_comm *comm, MPI_Status *status)
{
    struct mur_message *message;
    int rc;

    if (source == MPI_PROC_NULL) {
        set_proc_null(status);
        return MPI_SUCCESS;
    }
    rc = wait_for_message(source, tag, comm, &message);
    if (!rc)
        set_from_message(status, message);
    return rc;
}

int mur_mpi_iprobe(int source, int tag, struct mur_comm *comm, int *flag, MPI_Status *status)
{
    struct mur_message *message;

    *flag = 1;
    if (source == MPI_PROC_NULL) {
        set_proc_null(status);
        return MPI_SUCCESS;
    }
    message = mur_iprobe(source, tag, comm);
    *flag = message != NULL;
    if (message)
        set_from_message(status, message);
    return message ? MPI_SUCCESS : check_lost(source, comm);
}

static void take_message(struct mur_message *taken, struct mur_comm *comm, MPI_Message *message, MPI_Status *status)
{
    set_from_message(status, taken);
    mur_match_take(taken);
    taken->comm = comm;
    mur_comm_retain(comm);
    *message = (MPI_Message)taken;
}

int mur_mpi_mprobe(int source, int tag, struct mur_comm *comm, MPI_Message *message, MPI_Status *status)
{
    struct mur_message *found;
    int rc;

    if (source == MPI_PROC_NULL) {
        *message = MPI_MESSAGE_NO_PROC;
        set_proc_null(status);
        return MPI_SUCCESS;
    }
    rc = wait_for_message(source, tag, comm, &found);
    if (!rc)
        take_message(found, comm, message, status);
    return rc;
}

int mur_mpi_improbe(int source, int tag, struct mur_comm *comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct mur_message *found;

    *flag = 1;
    if (source == MPI_PROC_NULL) {
        *message = MPI_MESSAGE_NO_PROC;
        set_proc_null(status);
        return MPI_SUCCESS;
    }
    found = mur_iprobe(source, tag, comm);
    *flag = found != NULL;
    if (found)
        take_message(found, comm, message, status);
    else
        *message = MPI_MESSAGE_NULL;
    return found ? MPI_SUCCESS : check_lost(source, comm);
}

/* The message behind a handle; an error for anything that was not taken by a matched probe. */
static int message_of(MPI_Message handle, struct mur_message **message_p)
{
    struct mur_message *message = mur_object_find(handle, MUR_KIND_MESSAGE);

    if (!message || !message->comm)
        return mur_error(MPI_ERR_REQUEST,
                         handle == MPI_MESSAGE_NULL
                             ? "message is MPI_MESSAGE_NULL, but must come from MPI_Mprobe or MPI_Improbe"
                             : "message is no live message handle; has it been received already?");
    *message_p = message;
    return MPI_SUCCESS;
}

int mur_mpi_mrecv(void *buf, MPI_Count count, struct mur_type *datatype, MPI_Message *message, MPI_Status *status)
{
    struct mur_message *matched = NULL;
    struct mur_request *request;
    int rc;

    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        set_proc_null(status);
        return MPI_SUCCESS;
    }
    rc = message_of(*message, &matched);
    if (rc)
        return rc;
    rc = mur_imrecv(buf, count, datatype, matched, &request);
    if (rc)
        return mur_entry_blame(matched->comm, rc);
    *message = MPI_MESSAGE_NULL;
    mur_wait_for(&request->is_complete, mur_describe_request, request);
    mur_entry_blame(request->comm, request->result.error);
    return mur_request_finish(request, status);
}

int mur_mpi_imrecv(void *buf, MPI_Count count, struct mur_type *datatype, MPI_Message *message, MPI_Request *request)
{
    struct mur_message *matched = NULL;
    struct mur_request *started;
    int rc;

    if (*message == MPI_MESSAGE_NO_PROC) {
        rc = mur_irecv(buf, count, datatype, MPI_PROC_NULL, 0, &mur_comm_self, mur_comm_self.context, &started);
    } else {
        rc = message_of(*message, &matched);
        if (!rc)
            rc = mur_imrecv(buf, count, datatype, matched, &started);
    }
    if (rc)
        return rc;
    *message = MPI_MESSAGE_NULL;
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}
