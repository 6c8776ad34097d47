/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in and out of the PMI server, and its tickets. PMI-1 begins each connection; a line that asks for version 2
 * makes what follows PMI-2. Commands are handled straight from the bytes fed in; only an incomplete one is kept. */
#include "launch/pmi/server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "launch/alloc.h"
#include "launch/pmi/inside.h"

enum {
    HEAD = 6,          /* characters of a PMI-2 length */
    MAPPING_MAX = 960, /* old clients read lines of 1024; those that get no mapping find out for themselves */
};

struct mur_pmi_server *mur_pmi_server_create(int fd, const struct mur_pmi_server_facts *facts,
                                             const struct mur_pmi_server_calls *calls, void *owner)
{
    struct mur_pmi_server *server = mur_alloc(1, sizeof *server);

    server->fd = fd;
    server->facts = *facts;
    if (facts->mapping && strlen(facts->mapping) > MAPPING_MAX)
        server->facts.mapping = NULL;
    server->calls = calls;
    server->owner = owner;
    return server;
}

void mur_pmi_server_free(struct mur_pmi_server *server)
{
    free(server->in);
    free(server->out);
    free(server->spawn);
    free(server);
}

void mur_pmi_server_blame(struct mur_pmi_server *server, const char *format, ...)
{
    va_list args;

    if (*server->fault)
        return; /* the first one is the cause */
    va_start(args, format);
    vsnprintf(server->fault, sizeof server->fault, format, args);
    va_end(args);
    for (char *c = server->fault; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?'; /* it goes to a terminal */
}

const char *mur_pmi_server_fault(const struct mur_pmi_server *server)
{
    return *server->fault ? server->fault : NULL;
}

bool mur_pmi_server_is_active(const struct mur_pmi_server *server)
{
    return server->is_active;
}

void mur_pmi_server_append(char **buffer, size_t *length, size_t *size, const char *bytes, size_t more)
{
    if (*length + more + 1 > *size) {
        *size = 2 * (*length + more + 1);
        *buffer = mur_alloc_again(*buffer, *size, 1);
    }
    memcpy(*buffer + *length, bytes, more);
    *length += more;
    (*buffer)[*length] = '\0';
}

bool mur_pmi_server_wants_output(const struct mur_pmi_server *server)
{
    return server->out_length > 0 && !*server->fault;
}

/* The server notices that a rank is gone by the end of its requests, so it drops answers to it silently. */
void mur_pmi_server_flush(struct mur_pmi_server *server)
{
    ssize_t sent;

    while (server->out_length > 0) {
        sent = send(server->fd, server->out, server->out_length, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0)
            sent = (ssize_t)server->out_length;
        server->out_length -= (size_t)sent;
        memmove(server->out, server->out + sent, server->out_length);
    }
}

static void queue(struct mur_pmi_server *server, const char *bytes, size_t length)
{
    if (*server->fault)
        return;
    if (server->out_length + length > MUR_PMI_MESSAGE_MAX) {
        mur_pmi_server_blame(server, "does not read the answers to its PMI commands");
        return;
    }
    mur_pmi_server_append(&server->out, &server->out_length, &server->out_size, bytes, length);
    mur_pmi_server_flush(server);
}

/* The caller frees the text; NULL: there was no memory, and the rank is blamed. */
static char *compose(struct mur_pmi_server *server, const char *format, va_list args, int *length)
{
    char *text;

    *length = vasprintf(&text, format, args);
    if (*length >= 0)
        return text;
    mur_pmi_server_blame(server, "needs an answer to a PMI command that there is no memory for");
    return NULL;
}

void mur_pmi_server_send(struct mur_pmi_server *server, const char *format, ...)
{
    va_list args;
    char *text;
    int length;

    va_start(args, format);
    text = compose(server, format, args, &length);
    va_end(args);
    if (text)
        queue(server, text, (size_t)length);
    free(text);
}

void mur_pmi_server_send_body(struct mur_pmi_server *server, const char *format, ...)
{
    char head[32];
    va_list args;
    char *text;
    int length;

    va_start(args, format);
    text = compose(server, format, args, &length);
    va_end(args);
    if (!text)
        return;
    if (length > 999999)
        mur_pmi_server_blame(server, "asks for a value of %d bytes, too long for PMI-2", length);
    snprintf(head, sizeof head, "%*d", HEAD, length);
    queue(server, head, HEAD);
    queue(server, text, (size_t)length);
    free(text);
}

struct mur_pmi_ticket *mur_pmi_server_ticket(struct mur_pmi_server *server, enum mur_pmi_question question)
{
    for (int i = 0; i < MUR_PMI_TICKETS_MAX; i++) {
        uint32_t number = server->next_ticket++;
        struct mur_pmi_ticket *ticket = &server->tickets[number % MUR_PMI_TICKETS_MAX];

        if (ticket->question != MUR_PMI_NO_QUESTION)
            continue;
        *ticket = (struct mur_pmi_ticket){.question = question, .number = number};
        return ticket;
    }
    mur_pmi_server_blame(server, "has more than %d PMI commands under way", MUR_PMI_TICKETS_MAX);
    return NULL;
}

void mur_pmi_server_answer(struct mur_pmi_server *server, uint32_t number, bool is_good, const char *text)
{
    struct mur_pmi_ticket *place = &server->tickets[number % MUR_PMI_TICKETS_MAX], ticket = *place;

    if (ticket.question == MUR_PMI_NO_QUESTION || ticket.number != number || *server->fault)
        return;
    place->question = MUR_PMI_NO_QUESTION;
    if (server->version == 2)
        mur_pmi_server_answer_2(server, &ticket, is_good, text);
    else
        mur_pmi_server_answer_1(server, &ticket, is_good, text);
}

/* Handles the first message of `bytes`; returns its length, or 0 where it is incomplete or hopeless. */
static size_t take_line(struct mur_pmi_server *server, char *bytes, size_t length)
{
    char *end = memchr(bytes, '\n', length < MUR_PMI_LINE_MAX ? length : MUR_PMI_LINE_MAX);

    if (!end) {
        if (length >= MUR_PMI_LINE_MAX)
            mur_pmi_server_blame(server, "sent a PMI command longer than %d bytes", MUR_PMI_LINE_MAX);
        return 0;
    }
    *end = '\0';
    if (strlen(bytes) == (size_t)(end - bytes))
        mur_pmi_server_line(server, bytes);
    else
        mur_pmi_server_blame(server, "sent a PMI command with a zero byte in it");
    return (size_t)(end - bytes) + 1;
}

static size_t take_body(struct mur_pmi_server *server, char *bytes, size_t length)
{
    char head[HEAD + 1] = {0}, behind;
    char *number = head;
    int wanted;

    if (length < HEAD)
        return 0;
    memcpy(head, bytes, HEAD);
    number += strspn(number, " ");
    number[strcspn(number, " ")] = '\0'; /* some pad behind */
    if (!mur_pmi_number(number, &wanted) || wanted < 1 || number[0] == '+') {
        mur_pmi_server_blame(server, "sent '%.6s' in the place of a PMI command's length", bytes);
        return 0;
    }
    if (length - HEAD < (size_t)wanted)
        return 0;
    behind = bytes[HEAD + wanted]; /* there is a byte behind the last one: see feed */
    bytes[HEAD + wanted] = '\0';
    if (strlen(bytes + HEAD) == (size_t)wanted)
        mur_pmi_server_body(server, bytes + HEAD);
    else
        mur_pmi_server_blame(server, "sent a PMI command with a zero byte in it");
    bytes[HEAD + wanted] = behind;
    return HEAD + (size_t)wanted;
}

bool mur_pmi_server_feed(struct mur_pmi_server *server, const char *bytes, size_t length)
{
    size_t done = 0, taken;

    if (*server->fault)
        return false;
    mur_pmi_server_append(&server->in, &server->in_length, &server->in_size, bytes, length);
    do {
        taken = 0;
        if (done < server->in_length)
            taken = server->version == 2 ? take_body(server, server->in + done, server->in_length - done)
                                         : take_line(server, server->in + done, server->in_length - done);
        done += taken;
    } while (taken > 0 && !*server->fault);
    server->in_length -= done;
    memmove(server->in, server->in + done, server->in_length);
    if (server->in_length == 0 && server->in_size > MUR_PMI_LINE_MAX) { /* a spawn's memory is not kept */
        free(server->in);
        server->in = NULL;
        server->in_size = 0;
    }
    return !*server->fault;
}
