/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's memory, one for each generation of MPI programs that the ranks run in turn (boot/job.h). The first is made
 * before the ranks and inherited by them. A later one is made when the first rank of this node asks for it, and its
 * descriptor is given to every rank that asks. A generation's memory is given up as soon as every rank of the node has
 * begun a later program or has ended. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/secret.h"
#include "boot/job.h"
#include "launch/agent/inside.h"
#include "launch/alloc.h"

struct mur_generation {
    uint32_t number;
    int fd;
    bool is_fixed; /* its file cannot be made longer */
    uint64_t bytes;
    struct mur_job *job; /* the start of the memory */
    struct mur_generation *next;
};

enum { LEAST_RANK_BYTES = 64 << 10, RESERVED_MAX = 64 << 20 };

static uint64_t limit_of(int resource)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

/* As much as is wanted, or as the limits of file sizes and addresses leave, which the ranks inherit. Most addresses are
 * the program's. */
static uint64_t node_bytes(const struct mur_agent *agent)
{
    uint64_t bytes = mur_node_bytes(agent->job->size, agent->count);
    uint64_t files = limit_of(RLIMIT_FSIZE), addresses = limit_of(RLIMIT_AS) / 4;

    bytes = bytes < files ? bytes : files;
    bytes = bytes < addresses ? bytes : addresses;
    return bytes & ~UINT64_C(4095);
}

static uint64_t least_bytes(const struct mur_agent *agent)
{
    return mur_job_bytes(agent->job->size) + (uint64_t)agent->count * LEAST_RANK_BYTES;
}

/* Where the system has no memfd, a file that no directory names. Its memory is reserved at once: a file system that is
 * full later would kill the ranks. */
static int open_unnamed(uint64_t *bytes)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};

    *bytes = *bytes < RESERVED_MAX ? *bytes : RESERVED_MAX;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

        for (uint64_t try = *bytes; fd >= 0 && try >= 4096; try = try / 2 & ~UINT64_C(4095)) {
            if (posix_fallocate(fd, 0, (off_t)try) == 0) {
                *bytes = try;
                return fd;
            }
            if (ftruncate(fd, 0) < 0)
                break;
        }
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

static bool open_memory(struct mur_generation *generation)
{
    generation->fd = memfd_create("murmur-node", MFD_CLOEXEC);
    if (generation->fd >= 0)
        return ftruncate(generation->fd, (off_t)generation->bytes) == 0;
    generation->is_fixed = true;
    generation->fd = open_unnamed(&generation->bytes);
    return generation->fd >= 0;
}

/* The agents of all hosts come to the same secret, without asking each other. */
static void make_secret(const struct mur_agent *agent, uint32_t number, unsigned char secret[MUR_SECRET_BYTES])
{
    char complaint[256], text[32];

    _Static_assert((int)MUR_SECRET_BYTES == (int)MUR_MAC_BYTES, "a secret is a MAC of the job's");
    if (number == 0)
        memcpy(secret, agent->job->secret, MUR_SECRET_BYTES);
    else if (agent->job->hosts.count > 1 && mur_secret_open(complaint, sizeof complaint))
        mur_secret_mac(secret, text, (size_t)snprintf(text, sizeof text, "generation %u", number), agent->job->secret);
    else
        mur_secret_random(secret, MUR_SECRET_BYTES);
}

/* What the ranks find at the start of their memory. */
static bool fill_job(const struct mur_agent *agent, struct mur_generation *generation)
{
    const struct mur_jobspec *spec = agent->job;
    struct mur_job *job = mmap(NULL, mur_job_bytes(spec->size), PROT_READ | PROT_WRITE, MAP_SHARED, generation->fd, 0);

    if (job == MAP_FAILED)
        return false;
    make_secret(agent, generation->number, job->secret);
    job->bytes = generation->bytes;
    job->is_fixed = generation->is_fixed;
    job->size = spec->size;
    job->nodes = spec->hosts.count;
    job->node = agent->node;
    job->local_size = agent->count;
    job->agent = (int32_t)getpid();
    job->machine_ranks = agent->machine_ranks;
    for (int i = 0; i < spec->size; i++)
        job->node_of[i] = spec->node_of[i];
    generation->job = job;
    return true;
}

static struct mur_generation *make(struct mur_agent *agent, uint32_t number)
{
    struct mur_generation *generation = mur_alloc(1, sizeof *generation);
    int error;

    *generation =
        (struct mur_generation){.number = number, .fd = -1, .bytes = node_bytes(agent), .next = agent->generations};
    errno = ENOMEM;
    if (generation->bytes >= least_bytes(agent) && open_memory(generation) && generation->bytes >= least_bytes(agent) &&
        fill_job(agent, generation))
        return agent->generations = generation;
    error = errno;
    if (generation->fd >= 0)
        close(generation->fd);
    free(generation);
    errno = error;
    return NULL;
}

static void set_failure(const struct mur_agent *agent, struct mur_tree_frame *failure)
{
    mur_frame_set_failure(
        failure,
        "cannot make the ranks' shared memory on %s (%ju KiB; at least %ju are needed): %s; the limits "
        "of file sizes (ulimit -f) or addresses (ulimit -v) may be too low, or /dev/shm full",
        agent->job->host, (uintmax_t)node_bytes(agent) >> 10, (uintmax_t)least_bytes(agent) >> 10, strerror(errno));
}

bool mur_agent_make_memory(struct mur_agent *agent, int *fd, struct mur_tree_frame *failure)
{
    const struct mur_generation *first = make(agent, 0);

    if (!first) {
        set_failure(agent, failure);
        return false;
    }
    *fd = first->fd;
    return true;
}

/* Sends the descriptor with an answer. */
static void give(struct mur_agent_rank *rank, const struct mur_generation *generation)
{
    struct mur_control_message message = {.kind = MUR_CONTROL_MEMORY, .value = (int32_t)generation->number};

    mur_packets_send(&rank->answers, rank->agent->loop, &rank->control, &message,
                     offsetof(struct mur_control_message, text), generation->fd);
}

void mur_agent_give_memory(struct mur_agent_rank *rank, uint32_t number)
{
    struct mur_agent *agent = rank->agent;
    struct mur_generation *generation = agent->generations;
    struct mur_tree_frame failure;

    while (generation && generation->number != number)
        generation = generation->next;
    if (!generation && number && number + 1 == rank->programs) /* else it is not what our library asks for */
        generation = make(agent, number);
    if (generation) {
        give(rank, generation);
    } else {
        set_failure(agent, &failure);
        mur_agent_report(agent, &failure);
    }
}

int mur_agent_list_memory(const struct mur_agent *agent, uint64_t **inodes, uint32_t **numbers)
{
    int count = 0;

    for (const struct mur_generation *at = agent->generations; at; at = at->next)
        count++;
    *inodes = mur_alloc((size_t)count, sizeof **inodes);
    *numbers = mur_alloc((size_t)count, sizeof **numbers);
    count = 0;
    for (const struct mur_generation *at = agent->generations; at; at = at->next) {
        struct stat status = {0};

        fstat(at->fd, &status);
        (*inodes)[count] = status.st_ino;
        (*numbers)[count++] = at->number;
    }
    return count;
}

/* Ranks of other generations than those that were in use ask for theirs as ever. */
bool mur_agent_adopt_memory(struct mur_agent *agent, uint32_t number, int fd)
{
    struct mur_generation *generation = mur_alloc(1, sizeof *generation);
    struct mur_job *job = mmap(NULL, mur_job_bytes(agent->job->size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (job == MAP_FAILED || job->size != agent->job->size || job->local_size != agent->count)
        return false;
    *generation = (struct mur_generation){.number = number,
                                          .fd = fd,
                                          .is_fixed = job->is_fixed,
                                          .bytes = job->bytes,
                                          .job = job,
                                          .next = agent->generations};
    make_secret(agent, number, job->secret);
    /* Pairs with the load in mur_cores_suffice. */
    __atomic_store_n(&job->machine_ranks, agent->machine_ranks, __ATOMIC_RELAXED);
    agent->generations = generation;
    return true;
}

static bool is_in_use(const struct mur_agent *agent, const struct mur_generation *generation)
{
    for (int i = 0; i < agent->count; i++)
        if (agent->ranks[i].pid && agent->ranks[i].programs <= generation->number + 1)
            return true;
    return false;
}

/* The inherited memory stays open in the ranks, which count their programs at its start: the rest is given back. */
static void discard(const struct mur_agent *agent, struct mur_generation *generation)
{
    off_t start = (off_t)mur_job_bytes(agent->job->size);

    if (generation->number == 0)
        fallocate(generation->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, (off_t)1 << 60);
    close(generation->fd);
    munmap(generation->job, mur_job_bytes(agent->job->size));
    free(generation);
}

void mur_agent_drop_memory(struct mur_agent *agent)
{
    for (struct mur_generation **link = &agent->generations; *link;) {
        struct mur_generation *generation = *link;

        if (is_in_use(agent, generation)) {
            link = &generation->next;
            continue;
        }
        *link = generation->next;
        discard(agent, generation);
    }
}

void mur_agent_set_machine_ranks(struct mur_agent *agent, int ranks)
{
    agent->machine_ranks = ranks;
    for (struct mur_generation *generation = agent->generations; generation; generation = generation->next)
        /* Pairs with the load in mur_cores_suffice. */
        __atomic_store_n(&generation->job->machine_ranks, ranks, __ATOMIC_RELAXED);
}
