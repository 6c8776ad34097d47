/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a job: what the command line asks for, before anything runs.
 *
 * A job is a list of contexts (the parts between ':'); ranks are numbered through them in order. options.c fills it,
 * program.c finds the programs, limits.c checks that the machine can hold it, the agent starts it. */
#ifndef MUR_LAUNCH_JOBSPEC_H
#define MUR_LAUNCH_JOBSPEC_H

#include <stdbool.h>
#include <stdint.h>

struct mur_assignments { /* environment variables to set, each "NAME=value", later ones win */
    char **items;
    int count;
};

struct mur_context {
    int ranks;
    char **argv;                    /* NULL-terminated; argv[0] is the program as given */
    char *path;                     /* the file to execute, as seen from the context's directory */
    const char *wdir;               /* NULL: where mpiexec was started */
    const char *initial_errhandler; /* as the library knows it; NULL: its default */
    struct mur_assignments environment;
};

struct mur_jobspec {
    struct mur_context *contexts;
    int context_count;
    int size;                           /* ranks in all contexts */
    struct mur_assignments environment; /* of all contexts */
    int64_t timeout_ms;                 /* 0: none */
    bool is_labelled;                   /* each line of output starts with "[rank] " */
    bool is_verbose;
    bool wants_help;
    bool wants_version;
    char host[256];
    char id[320];
};

#endif
