/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the PMI server share; not for others. */
#ifndef MUR_LAUNCH_PMI_INSIDE_H
#define MUR_LAUNCH_PMI_INSIDE_H

#include "boot/pmi/words.h"
#include "launch/pmi/server.h"

enum {
    MUR_PMI_LINE_MAX = 65536,      /* of a PMI-1 command */
    MUR_PMI_MESSAGE_MAX = 1 << 20, /* of a spawn, and of the answers that a rank does not read */
    MUR_PMI_TICKETS_MAX = 64,      /* questions of a rank under way: threads, group barriers */
};

enum mur_pmi_question { /* what a ticket is for */
                        MUR_PMI_NO_QUESTION,
                        MUR_PMI_GET,
                        MUR_PMI_BARRIER,
                        MUR_PMI_NODE_GET,
                        MUR_PMI_PUBLISH,
                        MUR_PMI_UNPUBLISH,
                        MUR_PMI_LOOKUP,
                        MUR_PMI_SPAWN,
};

struct mur_pmi_ticket {
    enum mur_pmi_question question;
    uint32_t number; /* its place in the table is number % MUR_PMI_TICKETS_MAX */
    int tag;         /* of a barrier */
    char thread[24]; /* PMI-2: thrid, to be echoed */
};

struct mur_pmi_server {
    int fd;
    struct mur_pmi_server_facts facts;
    const struct mur_pmi_server_calls *calls;
    void *owner;

    int version; /* 0 before the first line has chosen 1 or 2 */
    bool is_active;
    char fault[160]; /* not empty: the connection is over */

    char *in; /* an incomplete message */
    size_t in_length, in_size;
    char *out; /* what the rank has not taken */
    size_t out_length, out_size;

    bool in_spawn; /* PMI-1: lines are collected until the last command's endcmd */
    int spawn_total, spawn_so_far;
    char *spawn;
    size_t spawn_length, spawn_size;

    uint32_t next_ticket;
    struct mur_pmi_ticket tickets[MUR_PMI_TICKETS_MAX];
};

/* The protocols. `line` has no newline, `body` no length; both are written to. */
void mur_pmi_server_line(struct mur_pmi_server *server, char *line);
void mur_pmi_server_body(struct mur_pmi_server *server, char *body);
void mur_pmi_server_answer_1(struct mur_pmi_server *server, const struct mur_pmi_ticket *ticket, bool is_good,
                             const char *text);
void mur_pmi_server_answer_2(struct mur_pmi_server *server, const struct mur_pmi_ticket *ticket, bool is_good,
                             const char *text);

/* What they use. A reply may be of any length; send_body puts the length in front. */
void mur_pmi_server_send(struct mur_pmi_server *server, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mur_pmi_server_send_body(struct mur_pmi_server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mur_pmi_server_blame(struct mur_pmi_server *server, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A new ticket, or NULL when too many are under way, which is the rank's fault. */
struct mur_pmi_ticket *mur_pmi_server_ticket(struct mur_pmi_server *server, enum mur_pmi_question question);

/* Appends to a buffer that grows. */
void mur_pmi_server_append(char **buffer, size_t *length, size_t *size, const char *bytes, size_t more);

/* A spawn, parsed from the texts of PMI-1 or PMI-2, which are written to and must outlive it. False: malformed. */
bool mur_pmi_server_spawn_parse_1(struct mur_pmi_server_spawn *spawn, char *text);
bool mur_pmi_server_spawn_parse_2(struct mur_pmi_server_spawn *spawn, char *text);
void mur_pmi_server_spawn_free(struct mur_pmi_server_spawn *spawn);

#endif
