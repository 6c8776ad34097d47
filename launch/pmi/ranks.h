/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMI of all ranks of one agent: a server each, and what they have in common with the rest of the tree of agents.
 *
 * Values are in the agent's key-value space, under names of their own; barriers are counted: an agent is in when all of
 * its ranks and all agents below are, and the root's word lets all go on. */
#ifndef MUR_LAUNCH_PMI_RANKS_H
#define MUR_LAUNCH_PMI_RANKS_H

#include "launch/kvs.h"
#include "launch/loop.h"
#include "launch/pmi/server.h"

struct mur_pmi_ranks;

struct mur_pmi_rank {
    struct mur_pmi_ranks *all;
    int index; /* among the ranks of this agent */
    int number;
    struct mur_watch watch; /* its socket; fd -1: closed */
    bool wants_output;
    struct mur_pmi_server *server;
    bool waits; /* in the barrier */
    uint32_t ticket;
    unsigned questions; /* that it has asked about names and jobs */
};

struct mur_pmi_ranks_calls {
    void (*put)(void *owner, const char *text); /* a key, a NUL, a value, for all agents */
    /* The value of a key that some rank may have put; NULL where none has, up to now. */
    void (*get)(void *owner, const char *key, mur_kvs_waiter *answer, void *who);
    /* The value of a key that will be put; what is put under some keys is acted on (agent/values.c). */
    void (*wait)(void *owner, const char *key, mur_kvs_waiter *answer, void *who);
    void (*all_in)(void *owner); /* all ranks here and below are in the barrier */
    void (*is_active)(void *owner, int index, bool is_active);
    void (*abort)(void *owner, int index, int code, const char *text);
};

struct mur_pmi_ranks {
    struct mur_loop *loop;
    const struct mur_pmi_ranks_calls *calls;
    void *owner;
    struct mur_kvs *kvs;
    const char *name;    /* of the key-value space */
    const char *parent;  /* of the job that spawned this one, the same; or NULL */
    const char *mapping; /* PMI_process_mapping; NULL: too long to tell */
    int size, universe;  /* of the job */
    struct mur_pmi_rank *ranks;
    int count;
    int waiting;              /* ranks in the barrier */
    int below, below_waiting; /* agents below, and those of them that are in */
};

/* Under which the agents keep what PMI calls `key`; to be freed. */
char *mur_pmi_ranks_key(const char *key);

/* The fields up to `universe`, count and below are set; `ranks` gets room. */
void mur_pmi_ranks_open(struct mur_pmi_ranks *all);
void mur_pmi_ranks_add(struct mur_pmi_ranks *all, int index, int number, int appnum, int fd);
void mur_pmi_rank_answer(struct mur_pmi_rank *rank, uint32_t ticket, bool is_good, const char *text);
void mur_pmi_ranks_below(struct mur_pmi_ranks *all);   /* an agent below is in the barrier */
void mur_pmi_ranks_release(struct mur_pmi_ranks *all); /* the barrier is over */

#endif
