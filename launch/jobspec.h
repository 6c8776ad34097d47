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
    bool has_ranks;                 /* false: `ranks` is the default, which placement may raise */
    char **argv;                    /* NULL-terminated; argv[0] is the program as given */
    char *path;                     /* the file to execute, as seen from the context's directory */
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

enum mur_crowding { MUR_CROWD_UNSET, MUR_CROWD_ALLOWED, MUR_CROWD_FORBIDDEN };

struct mur_placing { /* what the options say about which rank runs where */
    const char *hostfile;
    const char *manager;  /* the only resource manager to ask; NULL: any */
    int default_slots;    /* of a host without a number; 0: one */
    int per_host;         /* slots of every host, whatever was written; 0: as written */
    int per_object;       /* ranks that each object of a host takes, no more; 0: no such rule */
    enum mur_part object; /* of per_object: MUR_PART_MACHINE for the host itself */
    bool is_by_node;      /* one rank a host in turn, instead of filling one after the other */
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
    bool is_for_local;    /* this machine is reached by it, too, if a list names it */
    /* of the daemons (smpd) */
    struct mur_phrase_key *key; /* found when it is needed first */
    char *phrase;               /* as the command line says it; NULL: it does not */
    const char *phrase_file, *smpdfile;
    bool asks_nobody; /* for a phrase, at the terminal */
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
    bool has_copies_only; /* nothing of what goes to `copies` is shown */
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
    struct mur_hosts hosts;   /* those that run ranks, from placement on */
    struct mur_hosts offered; /* all that may run ranks, and how many do on each */
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
    bool wants_help;
    bool wants_version;
    char host[256];
    char id[320];
};

#endif
