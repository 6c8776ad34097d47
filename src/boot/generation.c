/* SPDX-License-Identifier: BSD-3-Clause */
/* The inherited node memory stays mapped for the counts of this rank's programs. The control socket and that memory are
 * close-on-exec while this process is in MPI, so a program that it starts meanwhile cannot take its place; before and
 * after, programs that it starts or becomes (exec) are the rank's next ones.
 *
 * Answers to questions of an earlier program may still come over the control socket. They carry that program's keys and
 * are dropped by the reader. */
#define _GNU_SOURCE
#include "boot/generation.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/job.h"
#include "boot/look.h"
#include "boot/process.h"
#include "mpi.h"

static struct mur_job *inherited_job;
static struct mur_job_programs *programs; /* of this rank; NULL: not begun */
static int inherited_fd = -1;
static pid_t own_pid;

static int refuse_descriptor(int fd)
{
    return mur_error(MPI_ERR_OTHER,
                     "cannot reach the launcher's agent: descriptor %d, which %s names, is not the one that the "
                     "launcher opened; either a program closed it, or this program was started by one that is in MPI "
                     "itself. Start it before MPI_Init or after MPI_Finalize, or with an mpiexec of its own",
                     fd, MUR_ENV_CONTROL_FD);
}

/* A program whose parent was in MPI may find other files under these numbers. */
static int check_descriptors(int inherited)
{
    int type = 0;
    socklen_t length = sizeof type;
    struct stat status;

    if (getsockopt(mur_process.control_fd, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_SEQPACKET)
        return refuse_descriptor(mur_process.control_fd);
    if (fstat(inherited, &status) || (uint64_t)status.st_size < mur_job_bytes(mur_process.size))
        return mur_error(MPI_ERR_OTHER, "descriptor %d, which %s names, is not the node memory that the launcher made",
                         inherited, MUR_ENV_NODE_FD);
    return MPI_SUCCESS;
}

static int map_programs(int inherited)
{
    struct mur_job *job = mmap(NULL, mur_job_bytes(mur_process.size), PROT_READ | PROT_WRITE, MAP_SHARED, inherited, 0);

    if (job == MAP_FAILED)
        return mur_error(MPI_ERR_NO_MEM, "cannot map the start of the node's memory: %s", strerror(errno));
    if (job->size != mur_process.size || mur_process.local_rank >= job->local_size)
        return mur_error(MPI_ERR_OTHER, "the launcher's memory is of %d ranks, its environment says %d", job->size,
                         mur_process.size);
    inherited_job = job;
    programs = mur_job_programs_of(job, mur_process.local_rank);
    return MPI_SUCCESS;
}

static int refuse_second(void)
{
    return mur_error(MPI_ERR_OTHER,
                     "rank %d is in MPI already, as process %d: a rank is one MPI process at a time. Let the programs "
                     "of a script run one after the other, and start a program that uses MPI before MPI_Init, after "
                     "MPI_Finalize, or with an mpiexec of its own",
                     mur_process.rank, (int)atomic_load(&programs->pid));
}

/* Pairs with the release in mur_generation_end: the program before this one is through with MPI. */
static int take_number(void)
{
    uint32_t ended = atomic_load_explicit(&programs->ended, memory_order_acquire), begun = ended;

    if (!atomic_compare_exchange_strong(&programs->begun, &begun, ended + 1))
        return refuse_second();
    atomic_store(&programs->pid, (int32_t)getpid());
    mur_process.generation = ended;
    return MPI_SUCCESS;
}

/* The descriptor that comes with a message; -1: none. */
static int descriptor_of(struct msghdr *header)
{
    int fd = -1;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(part), sizeof fd);
    return fd;
}

/* Waits for the agent's answer. Others that come before it are an earlier program's. -1: the agent is gone. */
static int receive_memory(void)
{
    for (;;) {
        struct mur_control_message message;
        char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
        struct iovec data = {.iov_base = &message, .iov_len = sizeof message};
        struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
        ssize_t got = recvmsg(mur_process.control_fd, &header, MSG_CMSG_CLOEXEC);
        int fd;

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        fd = descriptor_of(&header);
        if (got >= (ssize_t)offsetof(struct mur_control_message, text) && message.kind == MUR_CONTROL_MEMORY &&
            message.value == (int)mur_process.generation)
            return fd;
        if (fd >= 0)
            close(fd);
    }
}

static int fetch_memory(void)
{
    int rc = mur_boot_tell(MUR_CONTROL_MEMORY, (int)mur_process.generation, "", 0);

    if (rc)
        return rc;
    mur_process.node_fd = receive_memory();
    if (mur_process.node_fd >= 0)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_NO_MEM,
                     "the launcher's agent has no node memory for the %uth MPI program of rank %d, or has gone away",
                     mur_process.generation + 1, mur_process.rank);
}

/* A script hides the exit code from the agent, and many kernels do not tell it. A child forked since is not the rank's
 * program. */
static void tell_exit(int code, void *argument)
{
    (void)argument;
    if (getpid() == own_pid && atomic_load(&programs->ended) == mur_process.generation)
        mur_boot_tell(MUR_CONTROL_EXITING, code & 0xff, "", 0);
}

int mur_generation_begin(int inherited)
{
    int rc;

    if ((rc = check_descriptors(inherited)) || (rc = map_programs(inherited)) || (rc = take_number()))
        return rc;
    inherited_fd = inherited;
    own_pid = getpid();
    rc = mur_generation_resume();
    if (rc)
        return rc;
    mur_process.node_fd = inherited;
    if (!mur_process.generation && getppid() == inherited_job->agent)
        return MPI_SUCCESS;
    on_exit(tell_exit, NULL);
    return fetch_memory();
}

/* The agent hears of the end before the next program can begin. */
void mur_generation_end(void)
{
    if (!programs)
        return;
    fcntl(mur_process.control_fd, F_SETFD, 0);
    fcntl(inherited_fd, F_SETFD, 0);
    mur_boot_tell(MUR_CONTROL_FINALIZED, 0, "", 0);
    /* Pairs with the acquire in take_number. */
    atomic_store_explicit(&programs->ended, mur_process.generation + 1, memory_order_release);
}

int mur_generation_resume(void)
{
    const struct mur_control_look look = {
        .form = mur_look.form, .calls = mur_look.calls, .bytes = mur_look.bytes, .address = (uintptr_t)&mur_look};

    if (!programs)
        return MPI_SUCCESS;
    if (atomic_load(&programs->begun) != mur_process.generation + 1)
        return refuse_second();
    atomic_store(&programs->ended, mur_process.generation);
    fcntl(mur_process.control_fd, F_SETFD, FD_CLOEXEC);
    fcntl(inherited_fd, F_SETFD, FD_CLOEXEC);
    return mur_boot_tell(MUR_CONTROL_INIT, (int)mur_process.generation, &look, sizeof look);
}
