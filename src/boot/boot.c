/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the launcher's environment, and talking to the agent. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/secret.h"
#include "boot/foreign.h"
#include "boot/generation.h"
#include "boot/job.h"
#include "boot/nodes.h"
#include "boot/process.h"
#include "boot/psets.h"
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

/* Returns 0, or an errno. It waits while the socket is full: the agent always reads. */
static int send_message(const struct mur_control_message *message)
{
    size_t bytes = offsetof(struct mur_control_message, text) + message->length;
    ssize_t sent;

    do
        sent = send(mur_process.control_fd, message, bytes, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

static int send_bytes(uint32_t kind, int value, const void *text, size_t length)
{
    struct mur_control_message message = {.kind = kind, .value = value, .length = (uint32_t)length};

    memcpy(message.text, text, length);
    return send_message(&message);
}

static int send_control(uint32_t kind, int value, const char *text)
{
    size_t length = strlen(text), most = sizeof((struct mur_control_message *)0)->text;

    return send_bytes(kind, value, text, length < most ? length : most);
}

void *mur_boot_map_alone(uint64_t *bytes)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    void *memory;

    getrlimit(RLIMIT_AS, &limit);
    for (*bytes = mur_node_bytes(1, 1); *bytes >= 1 << 20; *bytes = *bytes / 2 & ~UINT64_C(4095)) {
        if (*bytes > limit.rlim_cur / 4) /* most addresses are the program's */
            continue;
        memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED)
            return memory;
    }
    return NULL;
}

/* A world of one has memory of its own, of the same structure. */
static int make_job(void)
{
    uint64_t bytes;
    struct mur_job *job = mur_boot_map_alone(&bytes);

    if (!job)
        return mur_error(MPI_ERR_NO_MEM, "cannot map a MiB of memory: %s", strerror(errno));
    job->bytes = bytes;
    job->size = job->nodes = job->local_size = job->machine_ranks = 1;
    mur_secret_random(job->secret, sizeof job->secret);
    mur_process.job = job;
    mur_process.node_bytes = bytes - mur_job_bytes(1);
    mur_process.node_memory = (char *)job + mur_job_bytes(1);
    return MPI_SUCCESS;
}

static int map_job(int fd)
{
    struct mur_process *process = &mur_process;
    struct mur_job start, *job;
    uint64_t bytes;

    if (pread(fd, &start, sizeof start, 0) != sizeof start)
        return mur_error(MPI_ERR_OTHER, "cannot read the start of the node's memory: %s", strerror(errno));
    bytes = start.bytes;
    job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (job == MAP_FAILED)
        return mur_error(MPI_ERR_NO_MEM,
                         "cannot map %llu MiB of the node's shared memory: %s; is there a limit of addresses "
                         "(ulimit -v)? It may be set before mpiexec, which then shares less memory",
                         (unsigned long long)bytes >> 20, strerror(errno));
    if (job->size != process->size || job->local_size != process->local_size || job->node < 0 ||
        job->node >= job->nodes || job->node_of[process->rank] != job->node)
        return mur_error(MPI_ERR_OTHER, "the launcher's memory and environment differ: %d or %d ranks, %d or %d here",
                         job->size, process->size, job->local_size, process->local_size);
    process->job = job;
    process->node_bytes = bytes - mur_job_bytes(process->size);
    process->node_memory = (char *)job + mur_job_bytes(process->size);
    return MPI_SUCCESS;
}

static int join_job(void)
{
    struct mur_process *process = &mur_process;
    int protocol = 0, node_fd = 0, rc;

    rc = number(MUR_ENV_PROTOCOL, &protocol);
    if (!rc && protocol != MUR_JOB_PROTOCOL)
        rc = mur_error(MPI_ERR_OTHER,
                       "mpiexec speaks version %d of the job protocol, this library version %d; use the "
                       "mpiexec of the same installation as the library",
                       protocol, MUR_JOB_PROTOCOL);
    if (rc || (rc = number(MUR_ENV_RANK, &process->rank)) || (rc = number(MUR_ENV_SIZE, &process->size)) ||
        (rc = number(MUR_ENV_LOCAL_RANK, &process->local_rank)) ||
        (rc = number(MUR_ENV_LOCAL_SIZE, &process->local_size)) || (rc = number(MUR_ENV_APPNUM, &process->appnum)) ||
        (rc = number(MUR_ENV_CONTROL_FD, &process->control_fd)) || (rc = number(MUR_ENV_NODE_FD, &node_fd)))
        return rc;
    process->may_restart = getenv(MUR_ENV_SNAPSHOTS) != NULL;
    if (process->size < 1 || process->rank < 0 || process->rank >= process->size || process->local_size < 1 ||
        process->local_size > process->size || process->local_rank < 0 || process->local_rank >= process->local_size)
        return mur_error(MPI_ERR_OTHER, "the launcher says rank %d of %d, local %d of %d, which cannot be",
                         process->rank, process->size, process->local_rank, process->local_size);
    rc = mur_generation_begin(node_fd);
    if (rc)
        return rc;
    if (process->generation) /* for messages, and for names that must not be those of an earlier program */
        snprintf(process->job_id + strlen(process->job_id), sizeof process->job_id - strlen(process->job_id), ".%u",
                 process->generation + 1);
    return map_job(process->node_fd);
}

int mur_boot_start(void)
{
    const char *job = getenv(MUR_ENV_JOB_ID);
    bool is_found;
    int rc;

    if (gethostname(mur_process.host, sizeof mur_process.host - 1))
        strcpy(mur_process.host, "localhost");
    snprintf(mur_process.job_id, sizeof mur_process.job_id, "%s", job ? job : "singleton");
    if (getenv(MUR_ENV_CONTROL_FD)) {
        rc = join_job();
    } else {
        rc = mur_foreign_join(&is_found);
        if (!rc && !is_found)
            rc = make_job();
    }
    if (!rc)
        rc = mur_nodes_setup();
    return rc ? rc : mur_psets_setup();
}

int mur_boot_settle(void)
{
    return mur_foreign_is_there() ? mur_foreign_settle() : MPI_SUCCESS;
}

int mur_boot_resume(void)
{
    mur_foreign_finished(false);
    return mur_generation_resume();
}

void mur_boot_finish(void)
{
    mur_foreign_finished(true);
    mur_generation_end();
}

/* After MPI_Finalize the control socket is for the program that comes next, which the child may execute. */
void mur_boot_forked(void)
{
    if (mur_process.instances && mur_process.control_fd >= 0)
        close(mur_process.control_fd);
    if (mur_process.instances && mur_process.node_fd >= 0)
        close(mur_process.node_fd);
    mur_process.control_fd = mur_process.node_fd = -1;
    mur_process.is_forked = true;
    mur_process.phase = MUR_PHASE_FINALIZED;
    mur_process.instances = 0;
    mur_foreign_forked();
}

int mur_boot_tell(uint32_t kind, int value, const void *text, size_t bytes)
{
    int rc = send_bytes(kind, value, text, bytes);

    return rc ? mur_error(MPI_ERR_OTHER, "cannot reach the launcher's agent: %s", strerror(rc)) : MPI_SUCCESS;
}

void mur_boot_own_socket(int fd)
{
    struct stat status;
    char text[32];

    if (mur_process.may_restart && fstat(fd, &status) == 0)
        send_bytes(MUR_CONTROL_SOCKET, 0, text,
                   (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)status.st_ino));
}

void mur_boot_count_foreign(int by)
{
    if (mur_process.may_restart && by)
        send_bytes(MUR_CONTROL_FOREIGN, by, "", 0);
}

int mur_boot_put(const char *key, const char *value)
{
    struct mur_control_message message = {.kind = MUR_CONTROL_PUT};
    size_t name = strlen(key) + 1, bytes = strlen(value);
    int rc;

    if (mur_foreign_is_there())
        return mur_foreign_put(key, value);
    if (name + bytes >= MUR_VALUE_MAX)
        return mur_error(MPI_ERR_INTERN, "the value of '%s' has %zu bytes, which are too many", key, bytes);
    memcpy(message.text, key, name);
    memcpy(message.text + name, value, bytes);
    message.length = (uint32_t)(name + bytes);
    rc = send_message(&message);
    return rc ? mur_error(MPI_ERR_OTHER, "cannot reach the launcher's agent: %s", strerror(rc)) : MPI_SUCCESS;
}

int mur_boot_ask(const char *key)
{
    int rc;

    if (mur_foreign_is_there())
        return mur_foreign_ask(key);
    rc = send_control(MUR_CONTROL_GET, 0, key);
    return rc ? mur_error(MPI_ERR_OTHER, "cannot reach the launcher's agent: %s", strerror(rc)) : MPI_SUCCESS;
}

/* Answers that have come and nobody has taken yet, oldest first. */
struct kept {
    struct kept *next;
    char *key, *value;
};
static struct kept *kept, **kept_tail = &kept;

/* The next message of the agent; false: there is none (flags: MSG_DONTWAIT), or it makes no sense. */
static bool receive(struct mur_control_message *message, int flags)
{
    const size_t head = offsetof(struct mur_control_message, text);
    ssize_t got;

    do
        got = recv(mur_process.control_fd, message, sizeof *message, flags);
    while (got < 0 && errno == EINTR);
    return got >= (ssize_t)head && message->length == (size_t)got - head;
}

/* The key and the value of an answer. */
static bool take_apart(const struct mur_control_message *message, char key[MUR_VALUE_MAX], char value[MUR_VALUE_MAX])
{
    size_t name;

    if (message->kind != MUR_CONTROL_VALUE || message->length >= MUR_VALUE_MAX)
        return false;
    name = strnlen(message->text, message->length) + 1;
    if (name > message->length)
        return false;
    memcpy(key, message->text, name);
    memcpy(value, message->text + name, message->length - name);
    value[message->length - name] = '\0';
    return true;
}

void mur_boot_address_key(char key[MUR_ADDRESS_KEY_MAX], int rank)
{
    snprintf(key, MUR_ADDRESS_KEY_MAX, "tcp.%u.%d", mur_process.generation, rank);
}

int mur_boot_address_rank(const char *key)
{
    unsigned generation;
    int rank;

    return sscanf(key, "tcp.%u.%d", &generation, &rank) == 2 && generation == mur_process.generation ? rank : -1;
}

/* This process is at another time, and perhaps on another host, than when it was saved. */
static void note_restart(void)
{
    if (gethostname(mur_process.host, sizeof mur_process.host - 1))
        strcpy(mur_process.host, "localhost");
    mur_process.restarts++;
}

/* Takes one more message from the agent, if it is an answer. False: there is none (flags: MSG_DONTWAIT). */
static bool take_in(int flags)
{
    char key[MUR_VALUE_MAX], value[MUR_VALUE_MAX];
    struct mur_control_message message;
    struct kept *one;

    if (!receive(&message, flags))
        return false;
    if (message.kind == MUR_CONTROL_RESTARTED)
        note_restart();
    if (!take_apart(&message, key, value))
        return true;
    one = calloc(1, sizeof *one);
    if (!one || !(one->key = strdup(key)) || !(one->value = strdup(value)))
        mur_boot_abort(1, "no memory for an answer of the launcher");
    *kept_tail = one;
    kept_tail = &one->next;
    return true;
}

/* Takes an answer off the list. */
static void take_off(struct kept **link, char *key, char *value)
{
    struct kept *one = *link;

    if (key)
        strcpy(key, one->key);
    if (value)
        strcpy(value, one->value);
    *link = one->next;
    if (!*link)
        kept_tail = link;
    free(one->key);
    free(one->value);
    free(one);
}

bool mur_boot_answer(char key[MUR_VALUE_MAX], char value[MUR_VALUE_MAX])
{
    if (mur_foreign_is_there())
        return mur_foreign_answer(key, value, MUR_VALUE_MAX);
    while (take_in(MSG_DONTWAIT))
        continue;
    for (struct kept **link = &kept; *link; link = &(*link)->next)
        if (mur_boot_address_rank((*link)->key) >= 0) {
            take_off(link, key, value);
            return true;
        }
    return false;
}

static bool take_key(const char *key, char *value)
{
    for (struct kept **link = &kept; *link; link = &(*link)->next)
        if (strcmp((*link)->key, key) == 0) {
            take_off(link, NULL, value);
            return true;
        }
    return false;
}

int mur_boot_wait(const char *key, char value[MUR_VALUE_MAX])
{
    char other[MUR_VALUE_MAX];
    uint32_t restarts = mur_process.restarts;

    if (mur_foreign_is_there()) /* which answers at once */
        return mur_foreign_answer(other, value, MUR_VALUE_MAX)
                   ? MPI_SUCCESS
                   : mur_error(MPI_ERR_OTHER, "the launcher does not know the value of '%s'", key);
    while (!take_key(key, value)) {
        if (!take_in(0))
            return mur_error(MPI_ERR_OTHER, "the launcher's agent has gone away: %s", strerror(errno));
        if (restarts != mur_process.restarts)
            return mur_error(MPI_ERR_OTHER, "the job was restarted from a snapshot, whose launcher knows nothing of "
                                            "the question that this call waits for");
    }
    return MPI_SUCCESS;
}

bool mur_boot_has_answer(const char *key)
{
    while (take_in(MSG_DONTWAIT))
        continue;
    return take_key(key, NULL);
}

/* The agent prints the text and ends the job, this process included; a singleton does both itself. */
void mur_boot_abort(int exit_code, const char *text)
{
    fflush(NULL);
    if (mur_process.control_fd >= 0 && send_control(MUR_CONTROL_ABORT, exit_code, text) == 0)
        sleep(10);
    else
        fprintf(stderr, "%s\n", text);
    if (mur_foreign_is_there()) {
        usleep(100000); /* for the text to get through: some launchers drop what comes after the abort */
        mur_foreign_abort(exit_code, text);
        sleep(2); /* for the launcher to end the job */
    }
    _exit(exit_code & 255 ? exit_code & 255 : exit_code ? 1 : 0);
}
