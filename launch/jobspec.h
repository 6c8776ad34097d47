/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a job: what the command line asks for, before anything runs.
 *
 * A job is a list of contexts (the parts between ':'); ranks are numbered through them in order. options/ fills it,
 * hosts/placement.c finds hosts for the ranks, program.c finds the programs, limits.c checks that the machine can hold
 * it, the agent starts it. */
#ifndef MUR_LAUNCH_JOBSPEC_H
#define MUR_LAUNCH_JOBSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/hosts/binding.h"
#include "launch/hosts/hosts.h"

#define MUR_RANKS_MAX (1 << 24) /* far above what a machine holds; keeps later sums in range */

struct mur_assignments { /* environment variables to set, each "NAME=value", later ones win */
    char **items;
    int count;
};

enum mur_passing { MUR_PASS_UNSET, MUR_PASS_ALL, MUR_PASS_NONE, MUR_PASS_LIST };

struct mur_inheritance { /* which variables of mpiexec's own environment ranks get */
    enum mur_passing passing;
    struct mur_assignments names; /* these, whatever `passing` says; a final '*' stands for any rest */
};

struct mur_context {
    int ranks;
    bool has_ranks; /* false: `ranks` is the default, which placement may raise */
    char **argv;    /* NULL-terminated; argv[0] is the program as given */
    char *path;     /* the file to execute, as seen from the context's directory */
    char *image;    /* all of that file, for hosts that do not have it; NULL: they find it themselves */
    size_t image_bytes;
    bool needs_doors;               /* it may have been built for another MPI */
    char *preloaded;                /* libraries that its ranks load first, NULL: none */
    const char *wdir;               /* NULL: where mpiexec was started */
    const char *search;             /* directories to look for the program first, between ':'; NULL: none */
    const char *initial_errhandler; /* as the library knows it; NULL: its default */
    struct mur_hosts hosts;         /* of -host: where its ranks may run; empty: anywhere */
    struct mur_assignments environment;
    struct mur_assignments sets;        /* names of process sets that its ranks are in */
    struct mur_inheritance inheritance; /* MUR_PASS_UNSET: that of the job */
};

/* Which libraries the ranks' MPI comes from: where it is not said, Murmur's for every binary interface that it knows,
 * if the program may need them; none of them (native); those of one family, whatever the program says. */
enum mur_abi { MUR_ABI_UNSET, MUR_ABI_NATIVE, MUR_ABI_MPICH, MUR_ABI_OPENMPI };

/* By what ranks are numbered anew, within what each context was given. */
enum mur_ranking { MUR_RANK_AS_MAPPED, MUR_RANK_BY_SLOT, MUR_RANK_BY_NODE };

enum mur_host_order { MUR_HOSTS_AS_LISTED, MUR_HOSTS_ASCENDING, MUR_HOSTS_DESCENDING };

enum mur_crowding { MUR_CROWD_UNSET, MUR_CROWD_ALLOWED, MUR_CROWD_FORBIDDEN };

struct mur_placing { /* what the options say about which rank runs where */
    const char *hostfile;
    const char *manager;  /* the only resource manager to ask; NULL: any */
    int default_slots;    /* of a host without a number; 0: one */
    int per_host;         /* slots of every host, whatever was written; 0: as written */
    int per_object;       /* ranks that each object of a host takes, no more; 0: no such rule */
    enum mur_part object; /* of per_object: MUR_PART_MACHINE for the host itself */
    bool is_by_node;      /* one rank a host in turn, instead of filling one after the other */
    enum mur_ranking ranking;
    enum mur_host_order order; /* by their slots */
    const char *rank_map;      /* numbers of hosts, one a rank, between ','; NULL: none */
    const char *rank_file;     /* a host and CPUs for each rank (hosts/rankfile.c); NULL: none */
    bool skips_local;
    bool only_local;
    enum mur_crowding crowding; /* more ranks than slots; unset is allowed, but for per_object */
};

struct mur_phrase_key { /* of the daemons' phrase, stretched */
    bool is_known;
    unsigned char bytes[32];
};

struct mur_launcher {     /* how agents on other hosts are started */
    const char *name;     /* fork, ssh, rsh, smpd, slurm, ...; NULL: what suits */
    char **command;       /* the program and its own options, NULL-terminated; NULL: the one that `name` says */
    char **options;       /* further ones, NULL-terminated; NULL: none */
    char **slurm_options; /* and these, when that is srun */
    int port;             /* of it, or of the daemons; 0: the default */
    int width;            /* how many agents one agent starts; 0: ours to choose */
    int wait_ms;          /* how long hosts that cannot be reached are tried again */
    bool is_for_local;    /* this machine is reached by it, too, if a list names it */
    const char *prefix;   /* where Murmur is installed on the other hosts; NULL: where it is here */
    bool is_hybrid;       /* other hosts may have other paths: PATH there finds mpiexec */
    /* of the daemons (smpd) */
    struct mur_phrase_key *key; /* found when it is needed first */
    char *phrase;               /* as the command line says it; NULL: it does not */
    const char *phrase_file, *smpdfile;
    int phrase_number; /* of several in that file; 0: the one without a number */
    bool asks_nobody;  /* for a phrase, at the terminal */
    bool asks_first;   /* whatever phrase is written somewhere */
};

struct mur_starting {    /* how ranks are started, where that is not the usual way */
    bool has_local_root; /* rank 0 keeps mpiexec's terminal, its standard streams and its process group */
    bool has_no_mpi;     /* ranks are told nothing of MPI, and get no connection for it */
    bool is_idle;        /* they run when nothing else does, */
    int nice;            /* or with this much added to mpiexec's own nice value */
    bool has_pmi_port;   /* other MPIs' programs find PMI at a port instead of a descriptor */
    bool sends_program;  /* hosts are sent the program, and execute what they got */
    int gpus;            /* devices of each rank, which become visible to it; 0: nothing is set */
    const char *windows; /* ranks that get a terminal window each, as ranges; NULL: none */
    const char *shown;   /* the ranks whose stdout is shown; NULL: all */
};

struct mur_checkpointing { /* snapshots (checkpoint/checkpoint.h) */
    bool is_on;            /* by CRIU */
    bool is_app;           /* the program takes them itself (libmurmur) */
    bool is_restart;       /* the job is the one of a snapshot */
    const char *prefix;    /* the folder of all snapshots */
    bool has_number;
    int number;           /* of the one to restart from; -1: the latest */
    const char *snapshot; /* its folder; NULL: the job starts from its beginning */
    int64_t interval_ms;  /* 0: only when asked */
    int keep;             /* how many stay; 0: the default */
    bool is_on_term;      /* SIGTERM takes one and ends the job */
};

enum { MUR_STDIN_NONE = -1, MUR_STDIN_ALL = -2 };

struct mur_formats {      /* of the ranks' output; patterns are as output.h says */
    bool is_ranked;       /* "[rank] " before each line */
    bool is_tagged;       /* "[job,rank]<stream>:" */
    bool is_timed;        /* the time first */
    bool is_merged;       /* stderr goes where stdout goes */
    const char *prefix;   /* a pattern of one's own before each line; NULL: none */
    const char *out;      /* a pattern of names of files for stdout; NULL: ours */
    const char *err;      /* for stderr */
    const char *copies;   /* a directory for a file a stream; NULL: none */
    bool has_copies_only; /* what goes to `copies` is not shown */
};

enum mur_command { /* what is done instead of running a job */
                   MUR_COMMAND_NONE,
                   MUR_COMMAND_HELP,
                   MUR_COMMAND_MANUAL,
                   MUR_COMMAND_VERSION,
                   MUR_COMMAND_WHO,
                   MUR_COMMAND_INFO,
                   MUR_COMMAND_ACCOUNT,
                   MUR_COMMAND_CHECKPOINT,
                   MUR_COMMAND_TRIGGER,
                   MUR_COMMAND_VALIDATE, /* this and what follows need the rest of the command line, but no program */
                   MUR_COMMAND_STATUS,
                   MUR_COMMAND_CHECK_SSH,
                   MUR_COMMAND_SETUP_SSH,
};

/* For messages and labels. */
#define mur_jobspec_host(job, rank) ((job)->hosts.items[(job)->node_of[rank]].name)

struct mur_jobspec {
    struct mur_context *contexts;
    int context_count;
    int size;                           /* ranks in all contexts */
    struct mur_assignments environment; /* of all contexts */
    struct mur_inheritance inheritance;
    struct mur_placing placing;
    struct mur_binding_request binding;
    struct mur_launcher launcher;
    struct mur_formats formats;
    struct mur_starting starting;
    struct mur_checkpointing checkpointing;
    struct mur_hosts hosts;   /* those that run ranks, from placement on */
    struct mur_hosts offered; /* all that may run ranks, and how many do on each */
    bool has_list;            /* of hosts, from wherever: not just this machine */
    int *node_of;             /* of each rank: its host's number in `hosts` */
    int *local_of;            /* of each rank: its place among the ranks of that host */
    int local_node;           /* the number of this machine, whose agent mpiexec forks; -1: no rank runs here */
    unsigned char secret[32]; /* that the job's processes prove themselves with to each other */
    const char *manager;      /* whose list the hosts are from, "Slurm"; NULL: no resource manager's */
    const char *spawner;      /* the id of the job, of another library's program, that has spawned this; or NULL */
    char *spawner_values;     /* which it wants to be found by PMI: keys and values, each ended by a NUL */
    size_t spawner_bytes;     /* of them */
    int stdin_rank;           /* the rank that reads standard input, MUR_STDIN_NONE or MUR_STDIN_ALL */
    int abi;                  /* enum mur_abi */
    int universe;             /* MPI_UNIVERSE_SIZE; 0: not known */
    int64_t timeout_ms;       /* 0: none */
    struct mur_assignments ignored; /* options that were accepted and mean nothing here, for one note */
    bool keeps_going;               /* a rank that is not in MPI may end in any way without ending the others */
    bool is_verbose;
    bool is_torch;    /* the ranks are told what PyTorch wants to know */
    bool shows_map;   /* which rank runs where, before it does */
    bool shows_exits; /* all exit codes, at the end */
    bool is_trial;    /* nothing is started */
    enum mur_command command;
    const char *command_word; /* of -help, -man and -status: what they are about; NULL: nothing is said */
    bool is_json;             /* -status is for a program to read */
    const char *pid_place;    /* where mpiexec's process number is told: "-", "+" or a file; NULL: nowhere */
    uint64_t more_signals;    /* that are passed on, beside the usual ones: bit N is signal N + 1 */
    bool passes_no_signals;
    char host[256];
    char id[320];
};

#endif
