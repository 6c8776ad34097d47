/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the agent share; not for others.
 *
 *   agent.c      its life; the agents above and below
 *   generations.c  the node's memory, for each generation of MPI programs
 *   starting.c   starting the ranks
 *   programs.c   which MPI program each rank runs, and who is missing
 *   ranks.c      what ranks say over their control sockets, and how they end
 *   looking.c    what ranks are doing, when somebody asks
 *   traffic.c    what they have sent to each other
 *   values.c     what ranks leave for each other
 *   machine.c    how many ranks share the machine with this host's
 *   spawned.c    jobs that ranks have spawned, and the one that has spawned this
 *   pmi.c        programs of other libraries
 *   pmi_port.c   those that call at a port instead of a descriptor
 *   root_process.c  the root process's own part of that
 *   rooted.c ranks under a root process, of jobs of which snapshots may be taken
 *   snapshot.c   this host's part of a snapshot
 *   restoring.c  ranks of a snapshot instead of new ones
 *   alone.c      ranks that have loaded another MPI
 *   ending.c     the end: signals, SIGKILL, the last output */
#ifndef MUR_LAUNCH_AGENT_INSIDE_H
#define MUR_LAUNCH_AGENT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "boot/job.h"
#include "boot/look.h"
#include "launch/agent/agent.h"
#include "launch/checkpoint/carried.h"
#include "launch/checkpoint/notes.h"
#include "launch/frame.h"
#include "launch/input.h"
#include "launch/jobs.h"
#include "launch/jobspec.h"
#include "launch/kvs.h"
#include "launch/loop.h"
#include "launch/output.h"
#include "launch/packets.h"
#include "launch/pmi/ranks.h"
#include "launch/spawn.h"
#include "launch/tree/tree.h"
#include "launch/tree/parent_link.h"

struct mur_agent;

enum mur_saving {
    MUR_SAVING_NONE,
    MUR_SAVING_FREEZING, /* CRIU works at it */
    MUR_SAVING_FROZEN,   /* the tree stands still and is written; mpiexec says when it goes on */
    MUR_SAVING_FAILED,   /* this host's part has failed, and mpiexec has not answered yet */
    MUR_SAVING_PACKING,  /* the tree goes on */
    MUR_RESTORING,
};

/* The process tree of the ranks, where snapshots of it may be taken (checkpoint/checkpoint.h). */
struct mur_agent_tree_root {
    pid_t init;                     /* number 1 of its namespaces; 0: there is none */
    struct mur_watch line;          /* to the root process */
    uint64_t line_inode;            /* of its end */
    struct mur_rank_inodes *inodes; /* [count] of the ranks' ends */
    struct mur_sockets sockets;     /* of the ranks' library */
    enum mur_saving phase;
    pid_t saver;
    struct mur_watch saver_line;
    char *folder;
    uint64_t notes_sum;
    struct mur_notes notes;      /* of a restart */
    struct mur_spawned *spawned; /* [count] of a restart, until the processes are known */
};

struct mur_agent_rank {
    struct mur_agent *agent;
    int number;
    pid_t pid;         /* 0: not started, or ended */
    bool is_in_mpi;    /* INIT was heard, FINALIZED not yet */
    uint32_t programs; /* that have begun MPI */
    pid_t program;     /* the process in MPI, where that is not `pid` but one below it; 0: none is known */
    bool is_program_gone;
    bool is_exiting;              /* it has called exit in MPI, */
    int exit_code;                /* with this code */
    struct mur_watch program_end; /* of `program`; fd -1: none */
    bool has_aborted;
    int foreign;          /* connections with processes of other jobs; told only where snapshots may be taken */
    int64_t core_wait_ms; /* for a core, so far */
    struct mur_watch control;
    struct mur_packets answers; /* that wait to be sent over it */
    struct mur_stream out;
    struct mur_stream err;
    struct mur_control_look look; /* where its state can be read; address 0: nowhere */
    int looks;                    /* at it, for the question under way; */
    bool is_told;                 /* it has been answered, */
    bool has_moved;               /* and what had changed between two looks: */
    uint32_t word;                /* the call that it was in, */
    uint64_t passes;              /* and how often it had made progress */
    char *spawn;                  /* what it has told so far of a job to be spawned */
    size_t spawn_bytes;
};

struct mur_agent_machine {
    uint64_t number;
    int ranks; /* 0: the end of the list */
};

struct mur_agent {
    const struct mur_jobspec *job;
    struct mur_loop *loop;
    struct mur_watch supervisor;         /* mpiexec's own agent */
    struct mur_parent_link *parent_link; /* the others */
    struct mur_agent_tree tree;          /* the agents below */
    int node;                            /* the number of this host; -1: no rank runs here */
    struct mur_watch children;           /* a signalfd for SIGCHLD */
    struct mur_output output;
    struct mur_input input;
    struct mur_kvs *kvs;
    struct mur_pmi_ranks pmi;
    struct mur_watch pmi_port; /* where ranks call that get no descriptor for PMI, if the job wants that */
    uint16_t pmi_port_number;
    struct mur_kvs *names;   /* of services; mpiexec's own agent keeps those of all */
    struct mur_jobs jobs;    /* that ranks have spawned; mpiexec's own agent has those of all */
    struct mur_watch parent; /* of a spawned job: to the agent that has started this mpiexec, and keeps the names */
    struct mur_packets to_parent;
    struct mur_agent_rank *ranks; /* of this node */
    int count;
    struct mur_generation *generations; /* whose memory is in use */
    int machine_ranks;                  /* of the job, on this machine; 0: not known yet */
    struct mur_standing standing;
    int highest_count;                  /* ranks in MPI with program standing.highest */
    struct mur_agent_machine *machines; /* mpiexec's own agent: what the hosts have told so far */
    int machines_told;
    int running;          /* of them and of the spawned jobs, not yet ended */
    bool is_open;         /* all that is to be started has been */
    bool is_ending;       /* MUR_FRAME_END came */
    bool is_killing;      /* everything gets SIGKILL */
    bool has_descendants; /* waitpid still knows children */
    bool has_run;         /* a program of another library has come up here */
    bool is_suspended;    /* the user has stopped the whole job */
    bool is_orphan;       /* mpiexec, or the agent above, is dead */
    int ended;            /* for MUR_FRAME_DONE */
    int killed;           /* the ranks that SIGKILL has ended */
    int64_t oom_kills;    /* of the control group when the job started */
    int64_t kill_since;
    int64_t grace_more_ms; /* that waiting for a core has added to the grace */
    int32_t drain_ms;
    struct mur_agent_tree_root root;
    struct mur_timer kill_timer;
    struct mur_timer drain_timer;
    struct mur_timer sight_timer; /* to look at ranks once more, */
    int question;                 /* for this question of mpiexec's, */
    bool wants_traffic;           /* which is for that, too */
    struct mur_timer look_timer;  /* at what rank 0 has loaded, */
    int64_t look_ms;              /* so long after the last look */
};

/* agent.c */
void mur_agent_report(struct mur_agent *agent, const struct mur_tree_frame *frame); /* to who is above */

/* starting.c: starts all ranks of this node, or as many as it can and returns false */
bool mur_agent_start_ranks(struct mur_agent *agent, struct mur_spawner *spawner, struct mur_tree_frame *failure);

void mur_agent_connect_rank(struct mur_agent_rank *rank, const struct mur_spawned *spawned);

/* rooted.c */
bool mur_agent_start_rooted(struct mur_agent *agent, struct mur_spawner *spawner, struct mur_tree_frame *failure);
bool mur_agent_open_line(struct mur_agent *agent, int *end, struct mur_tree_frame *failure);
bool mur_agent_open_channels(struct mur_agent *agent, int local, struct mur_channels *channels, int *in,
                             struct mur_tree_frame *failure);
void mur_agent_close_rank_ends(struct mur_agent *agent, struct mur_channels *channels, const int *in);
void mur_agent_watch_line(struct mur_agent *agent);
bool mur_agent_end_tree_process(struct mur_agent *agent, pid_t pid); /* false: it is none of the tree's */

/* snapshot.c */
void mur_agent_begin_snapshot(struct mur_agent *agent, const struct mur_tree_frame *frame);
void mur_agent_thaw(struct mur_agent *agent, const struct mur_tree_frame *frame);
void mur_agent_drop_snapshot(struct mur_agent *agent); /* the job ends */
void mur_agent_tell_left(struct mur_agent *agent);     /* the last rank of the host has ended */
void mur_agent_note_socket(struct mur_agent *agent, const char *inode);
bool mur_agent_open_saver_line(struct mur_agent *agent, int *end);
void mur_agent_close_saver_line(struct mur_agent *agent);

/* restoring.c */
bool mur_agent_bring_back(struct mur_agent *agent, struct mur_tree_frame *failure);
void mur_agent_restored(struct mur_agent *agent); /* the tree is there, and does not run yet */
void mur_agent_rank_is_back(struct mur_agent *agent, int local, pid_t pid);
void mur_agent_all_are_back(struct mur_agent *agent);

/* generations.c */
int mur_agent_list_memory(const struct mur_agent *agent, uint64_t **inodes, uint32_t **numbers);
bool mur_agent_adopt_memory(struct mur_agent *agent, uint32_t number, int fd); /* of a restart */

bool mur_agent_make_memory(struct mur_agent *agent, int *fd,
                           struct mur_tree_frame *failure); /* of the first generation */
void mur_agent_give_memory(struct mur_agent_rank *rank, uint32_t generation);
void mur_agent_drop_memory(struct mur_agent *agent); /* that no rank will ask for any more */
void mur_agent_set_machine_ranks(struct mur_agent *agent, int ranks);

/* programs.c: `number` counts from 1; pid 0 is unknown */
void mur_agent_begin_program(struct mur_agent_rank *rank, uint32_t number, pid_t pid);
void mur_agent_end_program(struct mur_agent_rank *rank);
void mur_agent_check_program(struct mur_agent_rank *rank); /* after all that the rank has said was read */
void mur_agent_note_left(struct mur_agent_rank *rank, pid_t pid, int code); /* the rank has ended without failing */

/* ranks.c */
void mur_agent_set_end(const struct mur_agent *agent, struct mur_tree_frame *frame,
                       int status); /* how a process ended */
void mur_agent_read_control(void *rank);
void mur_agent_children_ready(void *agent);
void mur_agent_end_rank(struct mur_agent_rank *rank, int status); /* its process has ended */
void mur_agent_note_stop(const struct mur_agent_rank *rank, int status);
void mur_agent_abort(struct mur_agent_rank *rank, int code, const char *text, size_t bytes);

/* alone.c */
void mur_agent_look_for_alone(struct mur_agent *agent);

/* looking.c */
void mur_agent_look(struct mur_agent *agent, int question, bool wants_traffic);
bool mur_agent_read_memory(pid_t pid, uint64_t address, void *out, size_t bytes); /* of a rank; false with errno */
void mur_agent_look_again(void *agent);
void mur_agent_note_look(struct mur_agent_rank *rank, const char *text, size_t bytes); /* a struct mur_control_look */

/* traffic.c */
void mur_agent_tell_traffic(const struct mur_agent_rank *rank, pid_t pid, const struct mur_look *look);

/* values.c. A text is a key, a NUL, and a value. */
#define MUR_AGENT_VALUES_MAX ((size_t)1 << 30) /* bytes that ranks put for each other */
void mur_agent_keep(struct mur_agent *agent, const char *key, const char *value); /* for the ranks of this host */
void mur_agent_put(void *agent, const char *text);
void mur_agent_get(struct mur_agent *agent, const char *key, mur_kvs_waiter *answer, void *who);
void mur_agent_ask(void *agent, const char *key, mur_kvs_waiter *answer, void *who); /* it may not be there */

/* machine.c */
void mur_agent_tell_machine(struct mur_agent *agent);
bool mur_agent_is_of_machine(const char *key);
void mur_agent_note_machine(struct mur_agent *agent, const char *value);

/* spawned.c */
void mur_agent_open_jobs(struct mur_agent *agent);
void mur_agent_spawn(struct mur_agent_rank *rank, const char *name); /* all of which the rank has told */
void mur_agent_start_job(struct mur_agent *agent, const char *name, const char *value);
bool mur_agent_end_job_of(struct mur_agent *agent, pid_t pid, int status); /* false: it is none */

/* pmi.c */
void mur_agent_open_pmi(struct mur_agent *agent);
void mur_agent_release_barrier(void *agent);

/* pmi_port.c */
int mur_agent_pmi_port(struct mur_agent *agent); /* opens it, where the job wants one; 0: it does not */

/* ending.c */
void mur_agent_kill_all(void *agent);
void mur_agent_end_grace(void *agent);
void mur_agent_drop_output(void *agent);
void mur_agent_finish(struct mur_agent *agent); /* after the last process of the job */
void mur_agent_lose_supervisor(struct mur_agent *agent);
void mur_agent_take_frame(struct mur_agent *agent, const struct mur_tree_frame *frame);
void mur_agent_supervisor_ready(void *agent);

#endif
