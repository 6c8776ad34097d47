/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of PMI for one rank: programs of other MPI libraries find their launcher in it.
 *
 * The agent makes a socketpair for a rank, gives it one end as PMI_FD, and feeds what arrives at the other to
 * mur_pmi_server_feed. The first line chooses the protocol, PMI-1 or PMI-2. What the server cannot say by itself it
 * asks through a table of calls. A call with a ticket is answered by mur_pmi_server_answer, then or later; a ticket is
 * a number, so that it can travel to another agent and back, and an answer that comes too late is ignored.
 *
 * What a rank sends is never trusted: the server's memory is bounded, a command that makes no sense gets an error as
 * answer, and what is no command, or too much, ends the connection: feed returns false, and mur_pmi_server_fault says
 * why. Nothing here waits. */
#ifndef MUR_LAUNCH_PMI_SERVER_H
#define MUR_LAUNCH_PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mur_pmi_server;

struct mur_pmi_server_pair {
    const char *key, *value;
};

struct mur_pmi_server_command {
    int ranks;
    const char *program;
    const char **arguments; /* without the program, NULL-terminated */
    int argument_count;
    struct mur_pmi_server_pair *info;
    int info_count;
};

struct mur_pmi_server_spawn {
    struct mur_pmi_server_command *commands;
    int command_count;
    struct mur_pmi_server_pair *preputs; /* to be put into the new job's key-value space before it starts */
    int preput_count;
};

/* Texts are good during the call, and no call may free the server. What lies behind group_barrier may be NULL, and is
 * refused then; group_barrier itself decides whether PMI-1.2 is spoken. */
struct mur_pmi_server_calls {
    bool (*put)(void *owner, const char *key, const char *value); /* false: no room */
    void (*get)(void *owner, const char *key, uint32_t ticket);
    void (*barrier)(void *owner, uint32_t ticket); /* of all ranks; puts before it can be read after it */
    /* Of some: group is NODE, WORLD, or ranks as 0,3,5; tag tells apart barriers of one group that are under way. */
    void (*group_barrier)(void *owner, const char *group, int tag, uint32_t ticket);
    bool (*node_put)(void *owner, const char *key, const char *value); /* seen by the ranks of this node */
    void (*node_get)(void *owner, const char *key, bool waits, uint32_t ticket);
    void (*publish)(void *owner, const char *service, const char *port, uint32_t ticket);
    void (*unpublish)(void *owner, const char *service, uint32_t ticket);
    void (*lookup)(void *owner, const char *service, uint32_t ticket);
    void (*spawn)(void *owner, const struct mur_pmi_server_spawn *spawn, uint32_t ticket);
    void (*abort)(void *owner, int code, const char *text); /* text may be "" */
    void (*finalized)(void *owner);                         /* the rank may exit now */
};

struct mur_pmi_server_facts { /* the texts must outlive the server */
    int rank, size;
    int appnum;
    int universe_size;    /* -1: unknown */
    const char *kvs_name; /* without blanks and semicolons, at most 255 long */
    const char *mapping;  /* PMI_process_mapping, or NULL; one too long for old clients is not told */
    const char *parent;   /* the name of the job that spawned this one, or NULL */
};

struct mur_pmi_server *mur_pmi_server_create(int fd, const struct mur_pmi_server_facts *facts,
                                             const struct mur_pmi_server_calls *calls, void *owner);
void mur_pmi_server_free(struct mur_pmi_server *server); /* fd stays open */

/* Takes what was read from fd. False: close the connection, mur_pmi_server_fault says why. */
bool mur_pmi_server_feed(struct mur_pmi_server *server, const char *bytes, size_t length);

/* Ends the wait for a ticket. `text` is the value of a get, the port of a lookup, the name of a spawned job; where
 * is_good is false, the reason, or NULL: for gets and lookups, nothing was found. */
void mur_pmi_server_answer(struct mur_pmi_server *server, uint32_t ticket, bool is_good, const char *text);

bool mur_pmi_server_wants_output(const struct mur_pmi_server *server); /* call flush when fd takes more */
void mur_pmi_server_flush(struct mur_pmi_server *server);

/* Why the connection must be closed, as what follows "rank 3 "; NULL while all is well. Answers can lead to it too. */
const char *mur_pmi_server_fault(const struct mur_pmi_server *server);

/* The rank has introduced itself, and not said goodbye: if it exits now, that is a failure. */
bool mur_pmi_server_is_active(const struct mur_pmi_server *server);

#endif
