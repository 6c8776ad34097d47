/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a node share a memory file that the lowest of them makes. It waits at a socket in the abstract
 * namespace, whose name it leaves in the launcher's key-value space, and gives the file to each of the others that
 * asks, if the same user runs it. The job's secret is made by rank 0 and read from the key-value space, which is the
 * job's own. */
#define _GNU_SOURCE
#include "boot/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/secret.h"
#include "boot/job.h"
#include "boot/pmi/mapping.h"
#include "boot/pmi/pmi.h"
#include "boot/pmi/protocol.h"
#include "boot/process.h"
#include "mpi.h"

enum { GIVE_MS = 120000 }; /* for a rank of the node to come for the memory */

static struct mur_pmi pmi;
static bool may_end = true;

/* Answers that have not been fetched yet. */
static struct answer {
    struct answer *next;
    char *key, *value;
} * answers, **last_answer = &answers;

bool mur_foreign_is_there(void)
{
    return pmi.kind != MUR_PMI_NONE;
}

struct mur_pmi *mur_foreign_pmi(void)
{
    return &pmi;
}

int mur_foreign_universe(void)
{
    return pmi.universe_size > 0 ? pmi.universe_size : 0;
}

/* ---- values ---- */

int mur_foreign_put(const char *key, const char *value)
{
    return mur_pmi_put(&pmi, key, value);
}

int mur_foreign_settle(void)
{
    int rc = mur_pmi_commit(&pmi);

    return rc ? rc : mur_pmi_fence(&pmi);
}

/* A key of this job's ends in a '.' and the rank that has put it. */
int mur_foreign_ask(const char *key)
{
    const char *dot = strrchr(key, '.');
    struct answer *answer = calloc(1, sizeof *answer);
    int rc = mur_error(MPI_ERR_NO_MEM, "no memory for a value of the launcher's");

    if (answer && (answer->key = strdup(key)))
        rc = mur_pmi_get(&pmi, dot ? atoi(dot + 1) : 0, key, &answer->value);
    if (!rc && !answer->value)
        rc = mur_error(MPI_ERR_OTHER, "the launcher does not know the value of '%s'", key);
    if (rc) {
        if (answer)
            free(answer->key);
        free(answer);
        return rc;
    }
    *last_answer = answer;
    last_answer = &answer->next;
    return MPI_SUCCESS;
}

bool mur_foreign_answer(char *key, char *value, size_t room)
{
    struct answer *answer = answers;

    if (!answer)
        return false;
    answers = answer->next;
    if (!answers)
        last_answer = &answers;
    snprintf(key, room, "%s", answer->key);
    snprintf(value, room, "%s", answer->value);
    free(answer->key);
    free(answer->value);
    free(answer);
    return true;
}

int mur_foreign_name(enum mur_name_act act, const char *service, char *port, enum mur_name_result *result)
{
    char *found = NULL;
    int rc;

    *result = MUR_NAME_FINE;
    if (act == MUR_NAME_PUBLISH)
        return mur_pmi_publish(&pmi, service, port);
    rc = mur_pmi_lookup(&pmi, service, &found);
    if (rc && mur_error_class(rc) == MPI_ERR_NAME) {
        *result = MUR_NAME_UNKNOWN;
        return MPI_SUCCESS;
    }
    if (rc)
        return rc;
    if (act == MUR_NAME_LOOKUP)
        snprintf(port, MUR_NAME_PORT_MAX, "%s", found);
    else if (strcmp(found, port) != 0)
        *result = MUR_NAME_OTHER_PORT;
    else
        rc = mur_pmi_unpublish(&pmi, service);
    free(found);
    return rc;
}

/* ---- who is where ---- */

/* Each rank's host by name, where the launcher tells nothing. */
static int gather_hosts(int *node_of)
{
    char **names = calloc((size_t)pmi.size, sizeof *names);
    int rc;

    if (!names)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the names of %d hosts", pmi.size);
    rc = mur_pmi_put(&pmi, "host", mur_process.host);
    if (!rc)
        rc = mur_foreign_settle();
    for (int i = 0; i < pmi.size && !rc; i++) {
        rc = mur_pmi_get(&pmi, i, "host", &names[i]);
        if (!rc && !names[i])
            rc = mur_error(MPI_ERR_OTHER, "the launcher does not know the host of rank %d", i);
        node_of[i] = i;
        for (int k = 0; k < i && !rc; k++)
            if (strcmp(names[k], names[i]) == 0) {
                node_of[i] = node_of[k];
                break;
            }
    }
    for (int i = 0; i < pmi.size; i++)
        free(names[i]);
    free(names);
    return rc;
}

/* Makes the numbers of nodes 0, 1, ... in the order of their lowest ranks; returns how many there are. */
static int renumber(int *node_of, int size)
{
    int *names = malloc((size_t)size * sizeof *names), nodes = 0, last = 0;

    if (!names)
        return 0;
    for (int i = 0; i < size; i++) {
        int k = last; /* most ranks are where their predecessor is */

        if (nodes == 0 || names[k] != node_of[i])
            for (k = 0; k < nodes && names[k] != node_of[i]; k++)
                continue;
        if (k == nodes)
            names[nodes++] = node_of[i];
        node_of[i] = last = k;
    }
    free(names);
    return nodes;
}

static int find_places(int *node_of, int *nodes)
{
    struct mur_process *process = &mur_process;
    int rc = MPI_SUCCESS;

    if (!pmi.mapping || !mur_pmi_mapping_read(pmi.mapping, pmi.size, node_of))
        rc = gather_hosts(node_of);
    if (rc)
        return rc;
    *nodes = renumber(node_of, pmi.size);
    if (!*nodes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the places of %d ranks", pmi.size);
    process->local_rank = process->local_size = 0;
    for (int i = 0; i < pmi.size; i++)
        if (node_of[i] == node_of[process->rank]) {
            process->local_rank += i < process->rank;
            process->local_size++;
        }
    return MPI_SUCCESS;
}

/* ---- the node's memory ---- */

static int open_socket(struct sockaddr_un *name, socklen_t *length)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    *length = sizeof *name;
    if (fd >= 0 && bind(fd, (struct sockaddr *)name, sizeof name->sun_family) == 0 &&
        getsockname(fd, (struct sockaddr *)name, length) == 0 && listen(fd, 1024) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

static bool send_file(int to, int file)
{
    char space[CMSG_SPACE(sizeof file)] = {0}, byte = 0;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);

    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(part), &file, sizeof file);
    return sendmsg(to, &message, MSG_NOSIGNAL) == 1;
}

static int receive_file(int from)
{
    char space[CMSG_SPACE(sizeof(int))], byte;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    const struct cmsghdr *part;
    int file;

    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || !(part = CMSG_FIRSTHDR(&message)) ||
        part->cmsg_type != SCM_RIGHTS)
        return -1;
    memcpy(&file, CMSG_DATA(part), sizeof file);
    return file;
}

/* Gives the file to `others` processes, all of this user. */
static int give(int listener, int file, int others)
{
    while (others > 0) {
        struct pollfd wait = {.fd = listener, .events = POLLIN};
        int ready = poll(&wait, 1, GIVE_MS), fd = ready > 0 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;

        if (fd < 0 && ready != 0 && errno == EINTR)
            continue;
        if (fd < 0)
            return mur_error(MPI_ERR_OTHER, "%d ranks on %s have not come for the node's memory", others,
                             mur_process.host);
        others -= is_own_user(fd) && send_file(fd, file);
        close(fd);
    }
    return MPI_SUCCESS;
}

static int make_memory(struct mur_job **job, const int *node_of, int nodes, uint64_t bytes)
{
    int file = memfd_create("murmur-node", MFD_CLOEXEC);

    if (file < 0 || ftruncate(file, (off_t)bytes) < 0)
        return mur_error(MPI_ERR_NO_MEM, "cannot make the node's memory: %s", strerror(errno));
    *job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (*job == MAP_FAILED)
        return mur_error(MPI_ERR_NO_MEM, "cannot map the node's memory: %s", strerror(errno));
    (*job)->bytes = bytes;
    (*job)->size = pmi.size;
    (*job)->nodes = nodes;
    (*job)->node = node_of[pmi.rank];
    (*job)->local_size = (*job)->machine_ranks = mur_process.local_size;
    for (int i = 0; i < pmi.size; i++)
        (*job)->node_of[i] = node_of[i];
    mur_process.node_fd = file;
    return MPI_SUCCESS;
}

static int fetch_memory(struct mur_job **job, const char *name, uint64_t bytes)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), file = -1;

    memcpy(address.sun_path + 1, name, length < sizeof address.sun_path - 1 ? length : sizeof address.sun_path - 1);
    if (fd >= 0 &&
        connect(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
        file = receive_file(fd);
    if (fd >= 0)
        close(fd);
    if (file < 0)
        return mur_error(MPI_ERR_OTHER, "cannot get the node's memory from its lowest rank: %s", strerror(errno));
    *job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (*job == MAP_FAILED)
        return mur_error(MPI_ERR_NO_MEM, "cannot map the node's memory: %s", strerror(errno));
    mur_process.node_fd = file;
    return MPI_SUCCESS;
}

/* ---- the secret ---- */

static int put_secret(void)
{
    unsigned char secret[MUR_SECRET_BYTES];
    char text[2 * sizeof secret + 1];

    mur_secret_random(secret, sizeof secret);
    mur_secret_write(text, secret, sizeof secret);
    return mur_pmi_put(&pmi, "secret", text);
}

static int get_secret(unsigned char *secret)
{
    char *text;
    int rc = mur_pmi_get(&pmi, 0, "secret", &text);
    bool is_good =
        !rc && text && strlen(text) == 2 * MUR_SECRET_BYTES && mur_secret_read(text, secret, MUR_SECRET_BYTES);

    if (!rc)
        free(text);
    return rc || is_good ? rc : mur_error(MPI_ERR_OTHER, "the launcher does not know what rank 0 has put");
}

/* ---- joining ---- */

static int lowest_of_node(const int *node_of)
{
    int rank = 0;

    while (node_of[rank] != node_of[pmi.rank])
        rank++;
    return rank;
}

static int share_memory(const int *node_of, int nodes)
{
    uint64_t bytes = mur_node_bytes(pmi.size, mur_process.local_size);
    int lowest = lowest_of_node(node_of), listener = -1, rc = MPI_SUCCESS;
    struct sockaddr_un name;
    struct mur_job *job = NULL;
    socklen_t length;
    char *text = NULL;

    if (pmi.rank == lowest) {
        listener = open_socket(&name, &length);
        if (listener < 0)
            return mur_error(MPI_ERR_OTHER, "cannot open a socket for the ranks of the node: %s", strerror(errno));
        name.sun_path[length - offsetof(struct sockaddr_un, sun_path)] = '\0';
        rc = make_memory(&job, node_of, nodes, bytes);
        if (!rc)
            rc = mur_pmi_put(&pmi, "node", name.sun_path + 1);
    }
    if (!rc && pmi.rank == 0)
        rc = put_secret();
    if (!rc)
        rc = mur_foreign_settle();
    if (!rc && pmi.rank == lowest)
        rc = get_secret(job->secret);
    if (!rc && pmi.rank == lowest)
        rc = give(listener, mur_process.node_fd, mur_process.local_size - 1);
    if (!rc && pmi.rank != lowest && !(rc = mur_pmi_get(&pmi, lowest, "node", &text)))
        rc = text ? fetch_memory(&job, text, bytes)
                  : mur_error(MPI_ERR_OTHER, "the launcher does not know what rank %d has put", lowest);
    free(text);
    if (listener >= 0)
        close(listener);
    if (rc)
        return rc;
    mur_process.job = job;
    mur_process.node_bytes = bytes - mur_job_bytes(pmi.size);
    mur_process.node_memory = (char *)job + mur_job_bytes(pmi.size);
    return MPI_SUCCESS;
}

/* Launchers take an exit without a goodbye for a failure: so it is not said where MPI is still in use. */
static void say_goodbye(void)
{
    if (may_end && pmi.kind != MUR_PMI_NONE)
        mur_pmi_finalize(&pmi);
}

void mur_foreign_finished(bool is_finished)
{
    may_end = is_finished;
}

void mur_foreign_forked(void)
{
    if (pmi.kind != MUR_PMI_NONE)
        mur_pmi_wire_close(&pmi);
    pmi.kind = MUR_PMI_NONE;
}

void mur_foreign_abort(int code, const char *text)
{
    mur_pmi_abort(&pmi, code, text);
}

int mur_foreign_join(bool *is_found)
{
    int *node_of, nodes, rc = mur_pmi_open(&pmi);

    *is_found = !rc && pmi.kind != MUR_PMI_NONE;
    if (!*is_found)
        return rc;
    mur_process.rank = pmi.rank;
    mur_process.size = pmi.size;
    mur_process.appnum = pmi.appnum;
    snprintf(mur_process.job_id, sizeof mur_process.job_id, "%.63s", pmi.kvs_name);
    may_end = false;
    atexit(say_goodbye);
    node_of = malloc((size_t)pmi.size * sizeof *node_of);
    if (!node_of)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the places of %d ranks", pmi.size);
    rc = find_places(node_of, &nodes);
    if (!rc)
        rc = share_memory(node_of, nodes);
    free(node_of);
    return rc;
}
