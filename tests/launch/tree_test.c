/* SPDX-License-Identifier: BSD-3-Clause */
/* The job as bytes: what is written is read back the same; and bytes that were changed, cut or made up are refused, or
 * read as some job that holds together, but never harm. Also addresses and the greeting of agents. */
#include <stdbool.h>
#include <unistd.h>

#include "base/address.h"
#include "base/handshake.h"
#include "launch/tree/spec.h"
#include "unit.h"

static struct mur_jobspec example(void)
{
    static char *arguments[] = {"program", "one", "", NULL}, *options[] = {"-x", NULL};
    static char *variables[] = {"A=1", "B="};
    static struct mur_host hosts[] = {{.name = "first"}, {.name = "second", .user = "somebody", .port = 22}};
    static int nodes[] = {0, 1, 1, 0, 1};
    static struct mur_context contexts[2] = {
        {.ranks = 2, .argv = arguments, .wdir = "/tmp"},
        {.ranks = 3, .argv = arguments, .environment = {variables, 2}, .sets = {variables, 1}}};

    return (struct mur_jobspec){.contexts = contexts,
                                .context_count = 2,
                                .size = 5,
                                .hosts = {.items = hosts, .count = 2},
                                .node_of = nodes,
                                .local_node = 1,
                                .launcher = {.name = "ssh", .options = options, .width = 3},
                                .stdin_rank = 2,
                                .id = "a-job",
                                .host = "first"};
}

static void reads_what_it_wrote(void)
{
    struct mur_jobspec job = example(), read;
    struct mur_spec spec = {0};
    char *directory, **environment;

    mur_spec_write(&spec, &job);
    CHECK(mur_spec_read(spec.data, spec.bytes, &read, &directory, &environment));
    CHECK(read.size == 5);
    CHECK(read.local_node == 1);
    CHECK(read.stdin_rank == 2);
    CHECK(strcmp(read.contexts[0].argv[1], "one") == 0);
    CHECK(strcmp(read.contexts[0].argv[2], "") == 0);
    CHECK(!read.contexts[0].argv[3]);
    CHECK(strcmp(read.contexts[0].wdir, "/tmp") == 0);
    CHECK(!read.contexts[1].wdir);
    CHECK(strcmp(read.contexts[1].environment.items[1], "B=") == 0);
    CHECK(read.contexts[1].sets.count == 1 && strcmp(read.contexts[1].sets.items[0], "A=1") == 0);
    CHECK(!read.contexts[0].sets.count);
    CHECK(strcmp(read.hosts.items[1].user, "somebody") == 0);
    CHECK(!read.hosts.items[0].user);
    CHECK(read.hosts.items[1].ranks == 3);
    CHECK(read.local_of[4] == 2);
    CHECK(strcmp(read.launcher.options[0], "-x") == 0);
    CHECK(!read.launcher.command);
    CHECK(strcmp(environment[0], environ[0]) == 0);
    free(spec.data);
}

/* Whatever was read holds together as far as an agent relies on it. */
static void check(const struct mur_jobspec *job)
{
    int ranks = 0;

    for (int i = 0; i < job->context_count; i++) {
        CHECK(job->contexts[i].argv[0]);
        ranks += job->contexts[i].ranks;
    }
    CHECK(ranks == job->size);
    for (int i = 0; i < job->size; i++)
        CHECK(job->node_of[i] >= 0 && job->node_of[i] < job->hosts.count);
    CHECK(job->local_node >= -1 && job->local_node < job->hosts.count);
}

static void bears_any_bytes(void)
{
    struct mur_jobspec job = example();
    struct mur_spec spec = {0};
    int good = 0;

    mur_spec_write(&spec, &job);
    for (int round = 0; round < 3000; round++) {
        size_t bytes = round % 3 ? spec.bytes : below(spec.bytes);
        char *copy = malloc(bytes + 1), *directory, **environment;
        struct mur_jobspec read;

        memcpy(copy, spec.data, bytes);
        for (uint64_t changes = below(8); bytes && changes; changes--)
            copy[below(bytes < 1500 || changes % 2 ? bytes : 1500)] = (char)below(256);
        if (mur_spec_read(copy, bytes, &read, &directory, &environment)) {
            check(&read);
            good++;
        }
        free(copy);
    }
    CHECK(good > 0);
    free(spec.data);
}

static void reads_addresses(void)
{
    static const char *const good[] = {"10.0.0.1:4000", "[fd00::1]:65535", "[::1]:1"};
    static const char *const bad[] = {"",         ":",     "10.0.0.1", "10.0.0.1:", "10.0.0.1:0",  "10.0.0.1:65536",
                                      "10.0.0:1", "::1:5", "[::1:5",   "[]:5",      "10.0.0.1:5x", "[fd00::1%eth0]:5"};
    struct mur_address address;
    char text[64];

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(mur_address_read(good[i], &address));
        CHECK(strcmp(mur_address_text(&address, text), good[i]) == 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!mur_address_read(bad[i], &address));
}

/* Only who knows the secret, and answers this very greeting, gets through. */
static void greets_nobody_else(void)
{
    unsigned char secret[32] = {1, 2, 3}, other[32] = {1, 2, 4}, lent[32];
    struct mur_handshake caller, called, second;
    struct mur_challenge challenge;
    struct mur_proof proof;
    struct mur_welcome welcome;
    char complaint[400];

    CHECK(mur_secret_open(complaint, sizeof complaint));
    memcpy(lent, secret, sizeof lent);
    mur_handshake_call(&caller, lent, MUR_PURPOSE_RANKS, 0, 3, 4);
    CHECK(mur_handshake_answer(&called, lent, MUR_PURPOSE_RANKS, &caller.hello, &challenge) == MUR_HELLO_FINE);
    memset(lent, 0, sizeof lent); /* whose secret it is may be gone before the end: a port that is closed */
    CHECK(mur_handshake_prove(&caller, &challenge, 77, &proof));
    CHECK(mur_handshake_is_proven(&called, &proof));
    mur_handshake_welcome(&called, &proof, MUR_VERDICT_WELCOME, 99, &welcome);
    CHECK(mur_handshake_is_welcome(&caller, 77, &welcome));
    CHECK(!mur_handshake_is_welcome(&caller, 78, &welcome));

    /* another purpose, another version, another secret, the same proof for another greeting */
    CHECK(mur_handshake_answer(&second, secret, MUR_PURPOSE_AGENTS, &caller.hello, &challenge) == MUR_HELLO_STRANGER);
    CHECK(mur_handshake_answer(&second, other, MUR_PURPOSE_RANKS, &caller.hello, &challenge) == MUR_HELLO_STRANGER);
    CHECK(mur_handshake_answer(&second, secret, MUR_PURPOSE_RANKS, &caller.hello, &challenge) == MUR_HELLO_FINE);
    CHECK(!mur_handshake_is_proven(&second, &proof));
    challenge.mac[3] ^= 4;
    CHECK(!mur_handshake_prove(&caller, &challenge, 77, &(struct mur_proof){0}));
    caller.hello.protocol++;
    CHECK(mur_handshake_answer(&second, secret, MUR_PURPOSE_RANKS, &caller.hello, &challenge) == MUR_HELLO_VERSION);

    for (int i = 0; i < 2000; i++) { /* one bit less, or anything */
        struct mur_proof changed = proof;

        ((unsigned char *)&changed)[below(sizeof changed)] ^= (unsigned char)(1 << below(8));
        CHECK(!mur_handshake_is_proven(&called, &changed));
    }
}

int main(void)
{
    unit_start();
    reads_what_it_wrote();
    bears_any_bytes();
    reads_addresses();
    greets_nobody_else();
    return unit_end();
}
