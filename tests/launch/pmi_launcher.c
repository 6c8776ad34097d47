/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest launcher around the PMI server: pmi_launcher [-o] N PROGRAM ARGUMENT... starts N processes on this host,
 * each with a socketpair as PMI_FD, and serves them: key-value space, barriers of all and of groups, names, attributes
 * of the node. It spawns nothing, but tells what it was asked to. With -o it claims PMI-1.1. Ends with the first exit
 * code that is not 0, or 120 when a rank broke the rules of PMI. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot/pmi/mapping.h"
#include "launch/kvs.h"
#include "launch/pmi/server.h"

enum { MOST = 64 };

struct rank {
    int number, fd;
    pid_t pid;
    struct mur_pmi_server *server;
    bool waits; /* in a barrier */
    uint32_t ticket;
    char group[64]; /* of that barrier: "" is all */
    int tag;
};

static struct rank ranks[MOST];
static int size, result;
static struct mur_kvs *kvs, *node, *names;

static bool put(void *owner, const char *key, const char *value)
{
    (void)owner;
    return mur_kvs_put(kvs, key, value);
}

static void get(void *owner, const char *key, uint32_t ticket)
{
    struct rank *rank = owner;
    const char *value = mur_kvs_get(kvs, key);

    mur_pmi_server_answer(rank->server, ticket, value != NULL, value);
}

static bool is_member(const char *group, int number)
{
    char *end;

    if (!*group || strcmp(group, "WORLD") == 0 || strcmp(group, "NODE") == 0)
        return true;
    for (; *group; group = *end ? end + 1 : end)
        if (strtol(group, &end, 10) == number && end != group)
            return true;
        else if (end == group)
            return false;
    return false;
}

static void group_barrier(void *owner, const char *group, int tag, uint32_t ticket)
{
    struct rank *self = owner;

    self->waits = true;
    self->ticket = ticket;
    self->tag = tag;
    snprintf(self->group, sizeof self->group, "%s", group);
    for (int i = 0; i < size; i++)
        if (is_member(group, i) && !(ranks[i].waits && strcmp(ranks[i].group, group) == 0 && ranks[i].tag == tag))
            return;
    for (int i = 0; i < size; i++)
        if (is_member(group, i)) {
            ranks[i].waits = false;
            mur_pmi_server_answer(ranks[i].server, ranks[i].ticket, true, NULL);
        }
}

static void barrier(void *owner, uint32_t ticket)
{
    group_barrier(owner, "", 0, ticket);
}

static bool node_put(void *owner, const char *key, const char *value)
{
    (void)owner;
    return mur_kvs_put(node, key, value);
}

struct question {
    struct rank *rank;
    uint32_t ticket;
};

static void node_value(void *owner, const char *key, const char *value)
{
    struct question *question = owner;

    (void)key;
    mur_pmi_server_answer(question->rank->server, question->ticket, true, value);
    free(question);
}

static void node_get(void *owner, const char *key, bool waits, uint32_t ticket)
{
    struct rank *rank = owner;
    struct question *question = malloc(sizeof *question);
    const char *value = mur_kvs_get(node, key);
    bool is_first;

    *question = (struct question){rank, ticket};
    if (value || !waits)
        mur_pmi_server_answer(rank->server, ticket, value != NULL, value), free(question);
    else if (!mur_kvs_wait(node, key, node_value, question, &is_first))
        mur_pmi_server_answer(rank->server, ticket, false, NULL), free(question);
}

static void publish(void *owner, const char *service, const char *port, uint32_t ticket)
{
    struct rank *rank = owner;
    bool is_new = !mur_kvs_get(names, service);

    mur_pmi_server_answer(rank->server, ticket, is_new && mur_kvs_put(names, service, port), "already_published");
}

static void unpublish(void *owner, const char *service, uint32_t ticket)
{
    struct rank *rank = owner;

    mur_pmi_server_answer(rank->server, ticket, mur_kvs_remove(names, service), "not_published");
}

static void lookup(void *owner, const char *service, uint32_t ticket)
{
    struct rank *rank = owner;
    const char *port = mur_kvs_get(names, service);

    mur_pmi_server_answer(rank->server, ticket, port != NULL, port);
}

static void spawn(void *owner, const struct mur_pmi_server_spawn *asked, uint32_t ticket)
{
    struct rank *rank = owner;
    bool is_good = strcmp(asked->commands[0].program, "refuse-me") != 0;

    for (int i = 0; i < asked->command_count; i++) {
        const struct mur_pmi_server_command *command = &asked->commands[i];

        printf("spawn of %d x '%s'", command->ranks, command->program);
        for (int j = 0; j < command->argument_count; j++)
            printf(" '%s'", command->arguments[j]);
        for (int j = 0; j < command->info_count; j++)
            printf(" %s='%s'", command->info[j].key, command->info[j].value);
        printf("\n");
    }
    for (int i = 0; i < asked->preput_count; i++) {
        printf("preput %s='%s'\n", asked->preputs[i].key, asked->preputs[i].value);
        mur_kvs_put(kvs, asked->preputs[i].key, asked->preputs[i].value);
    }
    fflush(stdout);
    mur_pmi_server_answer(rank->server, ticket, is_good, is_good ? "job-2" : "program_not_found");
}

static void end_job(void *owner, int code, const char *text)
{
    struct rank *rank = owner;

    printf("abort by rank %d with code %d: '%s'\n", rank->number, code, text);
    fflush(stdout);
    for (int i = 0; i < size; i++)
        kill(ranks[i].pid, SIGKILL);
    result = code ? code : 1;
}

static void finalized(void *owner)
{
    (void)owner;
}

static const struct mur_pmi_server_calls calls_1_2 = {
    .put = put,
    .get = get,
    .barrier = barrier,
    .group_barrier = group_barrier,
    .node_put = node_put,
    .node_get = node_get,
    .publish = publish,
    .unpublish = unpublish,
    .lookup = lookup,
    .spawn = spawn,
    .abort = end_job,
    .finalized = finalized,
};

static void variable(const char *name, int value)
{
    char text[16];

    snprintf(text, sizeof text, "%d", value);
    setenv(name, text, 1);
}

static void start(struct rank *rank, char **argv)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        perror("socketpair"), exit(1);
    rank->fd = ends[0];
    rank->pid = fork();
    if (rank->pid == 0) {
        int fd = dup(ends[1]); /* without close-on-exec */

        variable("PMI_FD", fd);
        variable("PMI_RANK", rank->number);
        variable("PMI_SIZE", size);
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    close(ends[1]);
}

/* Reads what a rank sent; false when it has closed, or has to be. */
static bool serve(struct rank *rank)
{
    char bytes[4096];
    ssize_t got = recv(rank->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got > 0 && mur_pmi_server_feed(rank->server, bytes, (size_t)got))
        return true;
    if (got > 0) {
        fprintf(stderr, "pmi_launcher: rank %d %s\n", rank->number, mur_pmi_server_fault(rank->server));
        result = 120;
        kill(rank->pid, SIGKILL);
    } else if (mur_pmi_server_is_active(rank->server) && !result) {
        fprintf(stderr, "pmi_launcher: rank %d left without finalize\n", rank->number);
        result = 121;
    }
    close(rank->fd);
    rank->fd = -1;
    return false;
}

static void serve_all(void)
{
    struct pollfd polls[MOST];

    for (int left = size; left > 0;) {
        for (int i = 0; i < size; i++)
            polls[i] = (struct pollfd){
                .fd = ranks[i].fd,
                .events = (short)(POLLIN | (mur_pmi_server_wants_output(ranks[i].server) ? POLLOUT : 0))};
        poll(polls, (nfds_t)size, -1);
        for (int i = 0; i < size; i++) {
            if (polls[i].revents & POLLOUT)
                mur_pmi_server_flush(ranks[i].server);
            if (ranks[i].fd >= 0 && polls[i].revents & (POLLIN | POLLHUP | POLLERR) && !serve(&ranks[i]))
                left--;
        }
    }
}

int main(int argc, char **argv)
{
    struct mur_pmi_server_calls calls = calls_1_2;
    struct mur_pmi_server_facts facts = {.universe_size = 16, .kvs_name = "kvs_of_test", .mapping = NULL};
    int node_of[MOST], status;
    char mapping[256];

    if (argc > 1 && strcmp(argv[1], "-o") == 0) {
        calls.group_barrier = NULL;
        argc--, argv++;
    }
    size = argc > 2 ? atoi(argv[1]) : 0;
    if (size < 1 || size > MOST)
        return fprintf(stderr, "usage: pmi_launcher [-o] N PROGRAM ARGUMENT...\n"), 2;
    kvs = mur_kvs_create(1 << 24);
    node = mur_kvs_create(1 << 20);
    names = mur_kvs_create(1 << 20);
    memset(node_of, 0, sizeof node_of);
    if (mur_pmi_mapping_write(node_of, size, mapping, sizeof mapping))
        facts.mapping = mapping;
    facts.size = size;
    for (int i = 0; i < size; i++) {
        ranks[i].number = facts.rank = i;
        start(&ranks[i], argv + 2);
        ranks[i].server = mur_pmi_server_create(ranks[i].fd, &facts, &calls, &ranks[i]);
    }
    serve_all();
    for (int i = 0; i < size; i++) {
        waitpid(ranks[i].pid, &status, 0);
        if (!result && status)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        mur_pmi_server_free(ranks[i].server);
    }
    mur_kvs_free(kvs);
    mur_kvs_free(node);
    mur_kvs_free(names);
    return result;
}
