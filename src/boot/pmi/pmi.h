/* SPDX-License-Identifier: BSD-3-Clause */
/* Being started by somebody else's launcher: the client of PMI-1, PMI-2 and PMIx.
 *
 * mur_pmi_open looks for a launcher's signs in the environment and introduces this process; then ranks leave texts
 * under keys (put), make them visible (commit), wait for each other (fence), and read what others left (get). All
 * functions but mur_pmi_abort are for one thread at a time; each waits for the launcher's answer. Those that return int
 * return MPI_SUCCESS or an error code with its text.
 *
 * A process says finalize once, at its very end: launchers take an exit without it for a failure, and nothing can
 * be asked after it. */
#ifndef MUR_BOOT_PMI_PMI_H
#define MUR_BOOT_PMI_PMI_H

#include <stdbool.h>
#include <stddef.h>

enum mur_pmi_kind {
    MUR_PMI_NONE, /* no launcher: the process is alone */
    MUR_PMI_1,
    MUR_PMI_2,
    MUR_PMI_X,
};

enum {
    MUR_PMI_NAME_MAX = 256,
    MUR_PMI_JOB = -1, /* in the place of a rank: what belongs to no rank, as the values that a spawn passes on */
};

struct mur_pmi {
    enum mur_pmi_kind kind;
    int rank, size;
    int appnum;                          /* index of the command; -1: the launcher does not tell */
    int universe_size;                   /* processes that could run; -1: no limit is known */
    bool is_spawned;                     /* by a process of another job */
    char kvs_name[MUR_PMI_NAME_MAX + 1]; /* of this job's key-value space: unique as long as the job runs */
    char *mapping;                       /* PMI_process_mapping; NULL: not told. See mapping.h */

    /* Below: the client's own. */
    const struct mur_pmi_protocol *protocol;
    int fd;                     /* PMI-1 and 2 */
    int subversion;             /* of PMI-1, as the launcher says */
    int deadline_ms;            /* for each wait; -1: none */
    size_t value_max;           /* longest value that fits into one command */
    char *reply;                /* the latest answer, and what arrived behind it */
    size_t reply_size;          /* bytes allocated */
    size_t reply_at, reply_end; /* what is not read yet */
    struct mur_pmix *pmix;
};

/* Without a launcher, kind is MUR_PMI_NONE, rank 0, size 1. Fails when a launcher is there that does not answer as it
 * should, or when there are signs of one that cannot be reached. */
int mur_pmi_open(struct mur_pmi *pmi);

/* The same with one protocol only: for tests, and where a launcher serves one badly. */
int mur_pmi_open_as(struct mur_pmi *pmi, enum mur_pmi_kind kind);

/* Whether the environment tells of a launcher of several processes; if so, `text` names it and what to do. To be asked
 * when mur_pmi_open found none. */
bool mur_pmi_unreachable(char *text, size_t bytes);

/* Any text of any length under a key of letters, digits and signs without blank and semicolon, at most 40 long. Each
 * rank has its own keys. */
int mur_pmi_put(struct mur_pmi *pmi, const char *key, const char *value);
int mur_pmi_commit(struct mur_pmi *pmi);
int mur_pmi_fence(struct mur_pmi *pmi); /* waits for all ranks; what they put and committed before can be read then */

/* What `rank` put, or, for MUR_PMI_JOB, what the parent passed on. *value is NULL where there is no such key; the
 * caller frees it. */
int mur_pmi_get(struct mur_pmi *pmi, int rank, const char *key, char **value);

int mur_pmi_publish(struct mur_pmi *pmi, const char *service, const char *port);
int mur_pmi_unpublish(struct mur_pmi *pmi, const char *service);
int mur_pmi_lookup(struct mur_pmi *pmi, const char *service, char **port); /* MPI_ERR_NAME: not published */

struct mur_pmi_pair {
    const char *key, *value;
};

struct mur_pmi_command { /* one command of a spawn */
    const char *program;
    char *const *arguments; /* without the program's name, NULL-terminated; or NULL */
    int ranks;
    const struct mur_pmi_pair *info; /* wdir, host, hosts, hostfile, path; launchers ignore what they do not know */
    int info_count;
};

/* Starts a job of several commands; its processes find `preputs` as values of MUR_PMI_JOB. */
int mur_pmi_spawn(struct mur_pmi *pmi, const struct mur_pmi_command *commands, int count,
                  const struct mur_pmi_pair *preputs, int preput_count);

/* Asks the launcher to end the job; returns at once, and the caller exits. May be called at any time, by any thread. */
void mur_pmi_abort(struct mur_pmi *pmi, int code, const char *text);

int mur_pmi_finalize(struct mur_pmi *pmi); /* says goodbye and frees all; pmi is then as without a launcher */

#endif
