/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank's socket feeds its server; the server's calls come here. */
#include "launch/pmi/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/pmi/services.h"

struct question { /* a get under way */
    struct mur_pmi_rank *rank;
    uint32_t ticket;
};

static char *name_of(const char *prefix, const char *key)
{
    return mur_alloc_text("%s:%s", prefix, key);
}

char *mur_pmi_ranks_key(const char *key)
{
    return name_of("p", key);
}

/* ---- the socket ---- */

static void close_rank(struct mur_pmi_rank *rank)
{
    if (rank->watch.fd < 0)
        return;
    mur_loop_unwatch(rank->all->loop, &rank->watch);
    close(rank->watch.fd);
    rank->watch.fd = -1;
}

/* After anything that may have made the server say something, or give up. */
static void settle(struct mur_pmi_rank *rank)
{
    struct mur_pmi_ranks *all = rank->all;
    const char *fault = mur_pmi_server_fault(rank->server);
    bool wants_output;

    if (rank->watch.fd < 0)
        return;
    if (fault) {
        char text[256];

        snprintf(text, sizeof text, "rank %d %s", rank->number, fault);
        close_rank(rank);
        all->calls->abort(all->owner, rank->index, 1, text);
        return;
    }
    wants_output = mur_pmi_server_wants_output(rank->server);
    if (wants_output == rank->wants_output && rank->watch.is_active)
        return;
    rank->wants_output = wants_output;
    mur_loop_unwatch(all->loop, &rank->watch);
    mur_loop_watch(all->loop, &rank->watch, EPOLLIN | (wants_output ? (uint32_t)EPOLLOUT : 0));
}

static void ready(void *owner)
{
    struct mur_pmi_rank *rank = owner;
    struct mur_pmi_ranks *all = rank->all;
    char data[4096];
    ssize_t got;

    if (rank->wants_output)
        mur_pmi_server_flush(rank->server);
    got = recv(rank->watch.fd, data, sizeof data, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        close_rank(rank); /* the exit of the rank is judged by whether it was active */
        return;
    }
    if (got > 0 && mur_pmi_server_feed(rank->server, data, (size_t)got))
        all->calls->is_active(all->owner, rank->index, mur_pmi_server_is_active(rank->server));
    settle(rank);
}

/* ---- what servers ask for ---- */

static bool put(void *owner, const char *key, const char *value)
{
    struct mur_pmi_rank *rank = owner;
    size_t key_length = strlen(key), value_length = strlen(value);
    char *text = mur_alloc(key_length + value_length + 5, 1);

    memcpy(text, "p:", 2);
    memcpy(text + 2, key, key_length);
    memcpy(text + 2 + key_length + 1, value, value_length);
    rank->all->calls->put(rank->all->owner, text);
    free(text);
    return true;
}

void mur_pmi_rank_answer(struct mur_pmi_rank *rank, uint32_t ticket, bool is_good, const char *text)
{
    mur_pmi_server_answer(rank->server, ticket, is_good, text);
    settle(rank);
}

static void answer(void *owner, const char *key, const char *value)
{
    struct question *question = owner;
    struct mur_pmi_rank *rank = question->rank;

    (void)key;
    mur_pmi_rank_answer(rank, question->ticket, value != NULL, value);
    free(question);
}

static struct question *ask(struct mur_pmi_rank *rank, uint32_t ticket)
{
    struct question *question = mur_alloc(1, sizeof *question);

    *question = (struct question){.rank = rank, .ticket = ticket};
    return question;
}

static void get(void *owner, const char *key, uint32_t ticket)
{
    struct mur_pmi_rank *rank = owner;
    char *name = name_of("p", key);

    rank->all->calls->get(rank->all->owner, name, answer, ask(rank, ticket));
    free(name);
}

static void tell_if_all_in(struct mur_pmi_ranks *all)
{
    if (all->waiting == all->count && all->below_waiting == all->below)
        all->calls->all_in(all->owner);
}

static void barrier(void *owner, uint32_t ticket)
{
    struct mur_pmi_rank *rank = owner;

    if (!rank->waits)
        rank->all->waiting++;
    rank->waits = true;
    rank->ticket = ticket;
    tell_if_all_in(rank->all);
}

static bool node_put(void *owner, const char *key, const char *value)
{
    struct mur_pmi_rank *rank = owner;
    char *name = name_of("node", key);
    bool is_kept = mur_kvs_put(rank->all->kvs, name, value);

    free(name);
    return is_kept;
}

static void node_get(void *owner, const char *key, bool waits, uint32_t ticket)
{
    struct mur_pmi_rank *rank = owner;
    char *name = name_of("node", key);
    const char *value = mur_kvs_get(rank->all->kvs, name);
    bool is_first;

    if (value || !waits)
        mur_pmi_server_answer(rank->server, ticket, value != NULL, value);
    else
        mur_kvs_wait(rank->all->kvs, name, answer, ask(rank, ticket), &is_first);
    free(name);
}

static void abort_job(void *owner, int code, const char *text)
{
    struct mur_pmi_rank *rank = owner;

    rank->all->calls->abort(rank->all->owner, rank->index, code, text);
}

static void finalized(void *owner)
{
    struct mur_pmi_rank *rank = owner;

    rank->all->calls->is_active(rank->all->owner, rank->index, false);
}

static const struct mur_pmi_server_calls calls = {
    .put = put,
    .get = get,
    .barrier = barrier,
    .node_put = node_put,
    .node_get = node_get,
    .publish = mur_pmi_publish,
    .unpublish = mur_pmi_unpublish,
    .lookup = mur_pmi_lookup,
    .spawn = mur_pmi_spawn,
    .abort = abort_job,
    .finalized = finalized,
};

/* ---- for the agent ---- */

void mur_pmi_ranks_open(struct mur_pmi_ranks *all)
{
    all->ranks = mur_alloc((size_t)all->count, sizeof *all->ranks);
    for (int i = 0; i < all->count; i++)
        all->ranks[i].watch.fd = -1;
}

void mur_pmi_ranks_add(struct mur_pmi_ranks *all, int index, int number, int appnum, int fd)
{
    struct mur_pmi_rank *rank = &all->ranks[index];
    const struct mur_pmi_server_facts facts = {.rank = number,
                                               .size = all->size,
                                               .appnum = appnum,
                                               .universe_size = all->universe,
                                               .kvs_name = all->name,
                                               .mapping = all->mapping,
                                               .parent = all->parent};

    *rank = (struct mur_pmi_rank){.all = all, .index = index, .number = number};
    rank->server = mur_pmi_server_create(fd, &facts, &calls, rank);
    rank->watch = (struct mur_watch){.fd = fd, .ready = ready, .owner = rank};
    mur_loop_watch(all->loop, &rank->watch, EPOLLIN);
}

void mur_pmi_ranks_below(struct mur_pmi_ranks *all)
{
    all->below_waiting++;
    tell_if_all_in(all);
}

void mur_pmi_ranks_release(struct mur_pmi_ranks *all)
{
    all->waiting = all->below_waiting = 0;
    for (int i = 0; i < all->count; i++)
        all->ranks[i].waits = false; /* a rank that is let go may be in the next one at once */
    for (int i = 0; i < all->count; i++)
        if (all->ranks[i].server) {
            mur_pmi_server_answer(all->ranks[i].server, all->ranks[i].ticket, true, NULL);
            settle(&all->ranks[i]);
        }
}
