/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the launcher's environment, and talking to the agent. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/job.h"
#include "boot/process.h"
#include "mpi.h"

struct mur_process mur_process = {.size = 1, .local_size = 1, .appnum = -1, .control_fd = -1, .node_fd = -1};

static int number(const char *name, int *value)
{
    const char *text = getenv(name);
    char *end;
    long parsed;

    if (!text)
        return mur_error(MPI_ERR_OTHER,
                         "the launcher's variable %s is missing, though %s is set; start the program "
                         "with mpiexec, or unset all MUR_ variables of a launcher",
                         name, MUR_ENV_CONTROL_FD);
    parsed = strtol(text, &end, 10);
    if (end == text || *end || parsed < -1 || parsed > 0x7fffffff)
        return mur_error(MPI_ERR_OTHER, "the launcher's variable %s is '%s', but must be a number", name, text);
    *value = (int)parsed;
    return MPI_SUCCESS;
}

static int send_control(uint32_t kind, int value, const char *text)
{
    struct mur_control_message message = {.kind = kind, .value = value};
    size_t length = strnlen(text, sizeof message.text);

    memcpy(message.text, text, length);
    message.length = (uint32_t)length;
    return send(mur_process.control_fd, &message, offsetof(struct mur_control_message, text) + length, MSG_NOSIGNAL) < 0
               ? errno
               : 0;
}

static int join_job(void)
{
    struct mur_process *process = &mur_process;
    int protocol, rc;

    rc = number(MUR_ENV_PROTOCOL, &protocol);
    if (!rc && protocol != MUR_JOB_PROTOCOL)
        rc = mur_error(MPI_ERR_OTHER,
                       "mpiexec speaks version %d of the job protocol, this library version %d; use the "
                       "mpiexec of the same installation as the library",
                       protocol, MUR_JOB_PROTOCOL);
    if (rc || (rc = number(MUR_ENV_RANK, &process->rank)) || (rc = number(MUR_ENV_SIZE, &process->size)) ||
        (rc = number(MUR_ENV_LOCAL_RANK, &process->local_rank)) ||
        (rc = number(MUR_ENV_LOCAL_SIZE, &process->local_size)) || (rc = number(MUR_ENV_APPNUM, &process->appnum)) ||
        (rc = number(MUR_ENV_CONTROL_FD, &process->control_fd)) || (rc = number(MUR_ENV_NODE_FD, &process->node_fd)))
        return rc;
    if (process->size < 1 || process->rank < 0 || process->rank >= process->size ||
        process->local_size != process->size || process->local_rank != process->rank)
        return mur_error(MPI_ERR_OTHER, "the launcher says rank %d of %d, local %d of %d, which cannot be",
                         process->rank, process->size, process->local_rank, process->local_size);
    rc = send_control(MUR_CONTROL_INIT, getpid(), "");
    if (rc)
        return mur_error(MPI_ERR_OTHER,
                         "cannot reach the launcher's agent over descriptor %d: %s; was this program "
                         "started by another program that closed it?",
                         process->control_fd, strerror(rc));
    fcntl(process->control_fd, F_SETFD, FD_CLOEXEC);
    fcntl(process->node_fd, F_SETFD, FD_CLOEXEC);
    return MPI_SUCCESS;
}

int mur_boot_start(void)
{
    const char *job = getenv(MUR_ENV_JOB_ID);

    if (gethostname(mur_process.host, sizeof mur_process.host - 1))
        strcpy(mur_process.host, "localhost");
    snprintf(mur_process.job, sizeof mur_process.job, "%s", job ? job : "singleton");
    return getenv(MUR_ENV_CONTROL_FD) ? join_job() : MPI_SUCCESS;
}

int mur_boot_resume(void)
{
    int rc = mur_process.control_fd >= 0 ? send_control(MUR_CONTROL_INIT, getpid(), "") : 0;

    return rc ? mur_error(MPI_ERR_OTHER, "cannot reach the launcher's agent: %s", strerror(rc)) : MPI_SUCCESS;
}

void mur_boot_finish(void)
{
    if (mur_process.control_fd >= 0)
        send_control(MUR_CONTROL_FINALIZED, 0, "");
}

/* The agent prints the text and ends the job, this process included; a singleton does both itself. */
void mur_boot_abort(int exit_code, const char *text)
{
    fflush(NULL);
    if (mur_process.control_fd >= 0 && send_control(MUR_CONTROL_ABORT, exit_code, text) == 0)
        sleep(10);
    else
        fprintf(stderr, "%s\n", text);
    _exit(exit_code & 255 ? exit_code & 255 : exit_code ? 1 : 0);
}
