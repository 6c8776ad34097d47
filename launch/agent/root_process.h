/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting ranks as their root process: `mpiexec -root-process N`, where descriptor N is a file that tells what to
 * start. */
#ifndef MUR_LAUNCH_ROOT_PROCESS_H
#define MUR_LAUNCH_ROOT_PROCESS_H

#include <stdint.h>
#include <sys/resource.h>

#include "launch/jobspec.h"
#include "launch/spawn.h"

struct mur_root_process {
    int32_t node, count;
    int32_t line, node_fd, pmi_port;
    struct rlimit files; /* that ranks get back */
    char host[256];
    struct mur_channels *channels; /* [count]; of the ranks' ends only */
    int *in;                       /* [count] */
};

/* Returns a descriptor of the file; it and all that it names stay open over an exec. -1 with errno. */
int mur_root_process_write(const struct mur_root_process *what, const struct mur_jobspec *job);

_Noreturn void mur_root_process_main(const char *file);

#endif
