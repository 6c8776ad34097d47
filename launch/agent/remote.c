/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an agent on another host: mpiexec -agent PLACE PARENT ADDRESS..., started by start.c.
 *
 * It reads the secret from its standard input, or a file that stands before the addresses, or, where a key stands there
 * and the input is empty, fetches it (tree/keys.h), calls the agent that started it, is told what the job is, takes the
 * job's directory and environment, and from then on lives like mpiexec's own agent. Whatever it says goes up. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "launch/agent/agent.h"
#include "launch/alloc.h"
#include "launch/guard.h"
#include "launch/limits.h"
#include "launch/program.h"
#include "launch/say.h"
#include "launch/tree/keys.h"
#include "launch/tree/tree.h"
#include "launch/tree/parent_link.h"

static struct mur_loop loop;
static struct mur_parent_link parent_link;
static struct mur_jobspec job;
static int place_end;
static bool has_spec;
static const char *secret_file, *key; /* words of the command; NULL: none */

/* The start command's message is the parent's to give; these lines say more, where they are seen. */
static _Noreturn void fail(const char *format, const char *detail)
{
    char host[256] = "this host";

    gethostname(host, sizeof host - 1);
    fprintf(stderr, "mpiexec: the agent on %s ", host);
    fprintf(stderr, format, detail);
    fputc('\n', stderr);
    exit(MUR_EXIT_TROUBLE);
}

static bool read_secret(int fd, unsigned char *secret, size_t bytes)
{
    char line[160];
    size_t length = 0;

    while (length < 2 * bytes + 1) {
        ssize_t got = read(fd, line + length, 2 * bytes + 1 - length);

        if (got <= 0)
            return false;
        length += (size_t)got;
    }
    return mur_secret_read(line, secret, bytes);
}

/* It is in a file that is for us alone, or comes by standard input. */
static void get_secret(void)
{
    int fd = secret_file ? open(secret_file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    const char *problem;

    if (fd < 0)
        fail("cannot read the job's secret: %s; the home directory must be the same on all hosts", strerror(errno));
    if (!read_secret(fd, parent_link.secret, sizeof parent_link.secret)) {
        if (!key)
            fail("did not get the job's secret by its standard input; %s",
                 "the command that starts agents must pass standard input on");
        problem = mur_keys_fetch(key, parent_link.addresses, parent_link.address_count, parent_link.place,
                                 parent_link.parent, parent_link.secret);
        if (problem)
            fail("got no standard input, and cannot fetch the job's secret from the agent that started it: %s; the "
                 "command that starts agents must pass standard input or output on",
                 problem);
    }
    if (!secret_file)
        return;
    close(fd);
    unlink(secret_file);
}

static void read_arguments(char **argv)
{
    if (!argv[0] || !argv[1] || !argv[2])
        fail("was started by hand: '-agent' is %s", "for mpiexec's own use");
    parent_link.place = atoi(argv[0]);
    parent_link.parent = atoi(argv[1]);
    argv += 2;
    if (*argv && strchr(*argv, '/'))
        secret_file = *argv++;
    if (*argv && mur_keys_is_word(*argv))
        key = *argv++;
    for (; *argv && parent_link.address_count < MUR_ADDRESSES_MAX; argv++)
        if (!mur_address_read(*argv, &parent_link.addresses[parent_link.address_count++]))
            fail("cannot understand the address '%s'", *argv);
    parent_link.address_count = mur_addresses_order(parent_link.addresses, parent_link.address_count, false);
}

static void put_before(const char *variable, const char *directory)
{
    const char *others = getenv(variable);
    char *text = mur_alloc_text("%s%s%s", directory, others && *others ? ":" : "", others ? others : "");

    setenv(variable, text, 1);
    free(text);
}

/* Where Murmur is on this host, for the ranks. */
static void put_prefix(const char *prefix)
{
    char *programs = mur_alloc_text("%s/bin", prefix), *libraries = mur_alloc_text("%s/lib", prefix);

    put_before("PATH", programs);
    put_before("LD_LIBRARY_PATH", libraries);
    free(programs);
    free(libraries);
}

static void take_spec(void *owner, const char *data, size_t bytes)
{
    int32_t range[2];
    char *directory = NULL, **environment;

    (void)owner;
    if (has_spec || bytes < sizeof range)
        return;
    memcpy(range, data, sizeof range);
    if (!mur_spec_read(data + sizeof range, bytes - sizeof range, &job, &directory, &environment) ||
        range[0] != parent_link.place || range[1] <= range[0] || range[1] > mur_place_count(&job))
        fail("cannot understand what it is told of the job; %s", "are all versions of Murmur the same?");
    memcpy(job.secret, parent_link.secret, sizeof job.secret); /* which is never sent over a connection of the tree */
    has_spec = true;
    parent_link.branch.is_paused = true; /* what follows is for the agent that is not there yet */
    place_end = range[1];
    environ = environment;
    snprintf(job.host, sizeof job.host, "%s", job.hosts.items[mur_place_node(&job, parent_link.place)].name);
    if (job.launcher.prefix)
        put_prefix(job.launcher.prefix);
    if (directory && chdir(directory) < 0 && !job.launcher.is_hybrid)
        mur_quit(MUR_EXIT_NOT_FOUND, "the directory '%s' cannot be entered: %s; -wdir names another", directory,
                 strerror(errno));
}

/* The last words of this agent end the job. */
static void tell_above(int code, const char *text)
{
    struct mur_tree_frame frame;
    int64_t start = mur_loop_now();

    mur_quit_tell = NULL;
    parent_link.branch.is_paused = false;
    parent_link.frame = NULL;
    parent_link.value = NULL;
    parent_link.barrier = NULL;
    parent_link.spec = NULL;
    parent_link.lost = NULL;
    mur_frame_set_failure(&frame, "on host %s: %s", job.host[0] ? job.host : "?", text);
    frame.code = code;
    mur_parent_link_frame(&parent_link, &frame);
    while (!mur_parent_link_is_flushed(&parent_link) && mur_loop_now() - start < 2000)
        mur_loop_turn(&loop);
}

static void block_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

int mur_remote_run(char **argv)
{
    struct mur_agent_place place = {.parent_link = &parent_link, .loop = &loop};
    struct mur_problem problem;
    struct rlimit files;
    const char *trouble;
    char text[1024];
    int node;

    mur_guard_split(-1);
    setpgid(0, 0); /* not to be reached by what is meant for the command that started us */
    if (!mur_seal_open(text, sizeof text))
        fail("cannot start: %s", text);
    read_arguments(argv);
    get_secret();
    mur_loop_init(&loop);
    trouble = mur_parent_link_open(&parent_link, &loop);
    if (trouble)
        fail("cannot reach the agent that started it: %s", trouble);
    mur_quit_tell = tell_above;
    parent_link.spec = take_spec;
    while (!has_spec)
        mur_loop_turn(&loop);
    block_signals(); /* until now a signal could end this process, which has started nothing */
    if (!mur_parent_link_redirect(&parent_link))
        mur_quit(MUR_EXIT_TROUBLE, "cannot open a pipe: %s", strerror(errno));

    node = mur_place_node(&job, parent_link.place);
    if (!mur_binding_start(&job, node, &problem))
        mur_quit(MUR_EXIT_TROUBLE, "%s", problem.text);
    if (!job.checkpointing.snapshot)
        mur_programs_find(&job, node);
    mur_limits_check(&job, node, &files);
    place.place = parent_link.place;
    place.end = place_end;
    mur_agent_run(&job, &files, &place);
    return 0;
}
