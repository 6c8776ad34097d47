/* SPDX-License-Identifier: BSD-3-Clause */
/* Who am I: this process, its place in the job, and its line to the agent that started it. */
#ifndef MUR_BOOT_PROCESS_H
#define MUR_BOOT_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mur_job;

enum mur_phase { MUR_PHASE_BEFORE_INIT, MUR_PHASE_RUNNING, MUR_PHASE_FINALIZED };

struct mur_process {
    enum mur_phase phase;  /* of the world */
    _Atomic int instances; /* the world, if it is up, and sessions */
    int thread_level;      /* granted: MPI_THREAD_... */
    pthread_t main_thread; /* the one that initialised */
    int rank, size;        /* in MPI_COMM_WORLD; 0 and 1 before init */
    int local_rank, local_size;
    int appnum;                /* index of the command in mpiexec's line; -1 for a singleton */
    uint32_t generation;       /* MPI programs that this rank has run before this one (boot/job.h) */
    int control_fd;            /* to the agent; -1 for a singleton */
    int node_fd;               /* the file of the node's memory, which may be made longer; -1 for a singleton */
    const struct mur_job *job; /* where each rank is; at the start of the node's memory */
    const int32_t *node_of;    /* [size] ranks with the same number share a node (boot/nodes.h) */
    void *node_memory;         /* what follows the job in it */
    uint64_t node_bytes;       /* of what follows */
    bool may_restart;          /* from a snapshot: the agent wants to know what it needs for that */
    uint32_t restarts; /* that this process knows of; what depends on host and launcher is then to be found anew */
    bool is_forked;    /* a child that a process has forked after it began to use MPI: the child may not use it */
    char job_id[64];
    char host[64];
};
extern struct mur_process mur_process;

/* Reads the environment that the launcher left; without one, makes a world of one. Fails when there are signs of a
 * launcher that cannot be reached. */
int mur_boot_start(void);

/* Memory like a node's for a process that shares it with none: as much as there may be addresses for, *bytes. NULL with
 * errno: not even a little. */
void *mur_boot_map_alone(uint64_t *bytes);

/* All that is put at start has been put: under another's launcher, the ranks wait for each other here. */
int mur_boot_settle(void);

/* Tells the agent that MPI is used once more, after it was told of the end. */
int mur_boot_resume(void);

/* Tells the agent that this process has finalized. */
void mur_boot_finish(void);

/* In a child that this process has forked: the child has no part in the job. Gives up what it has inherited of the
 * connections to the launcher. */
void mur_boot_forked(void);

/* Texts that ranks leave for each other, under keys of the job: at most MUR_VALUE_MAX bytes of key and text. A text can
 * be asked for before it is there. */
enum { MUR_VALUE_MAX = 2032 };
int mur_boot_put(const char *key, const char *value);
int mur_boot_ask(const char *key);

/* The key of the addresses of a rank's process of this generation, and the rank of such a key; -1: it is another's. */
enum { MUR_ADDRESS_KEY_MAX = 32 };
void mur_boot_address_key(char key[MUR_ADDRESS_KEY_MAX], int rank);
int mur_boot_address_rank(const char *key);

/* The next answer to a question for an address; false: none has come yet. The control socket can be polled for it. */
bool mur_boot_answer(char key[MUR_VALUE_MAX], char value[MUR_VALUE_MAX]);

/* Waits for the answer to one question. Other answers that come are kept, which the control socket does not show. */
int mur_boot_wait(const char *key, char value[MUR_VALUE_MAX]);

/* Whether that answer has come, which is then forgotten. Others are kept as well. */
bool mur_boot_has_answer(const char *key);

/* Tells the agent that this network socket is the library's, and not the program's, where the job may be restarted. */
void mur_boot_own_socket(int fd);

/* Tells it, in such a job, that this process is connected with so many more processes of other jobs, which a restart
 * could not bring back. */
void mur_boot_count_foreign(int by);

/* Tells the agent one thing of enum mur_control_kind (boot/job.h), with at most MUR_VALUE_MAX bytes. */
int mur_boot_tell(uint32_t kind, int value, const void *text, size_t bytes);

/* Ends the job with this exit code (0..255 after masking) and this text; does not return. */
void mur_boot_abort(int exit_code, const char *text) __attribute__((noreturn, cold));

#endif
