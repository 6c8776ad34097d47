/* SPDX-License-Identifier: BSD-3-Clause */
/* The option parser by itself: what command lines mean, and that random ones never harm it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/options/options.h"
#include "launch/say.h"

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Parses a line split at blanks. The memory stays: the result points into it. */
static int parse(const char *line, struct mur_jobspec *job, char *error, size_t size)
{
    char *words = mur_alloc_text("mpiexec %s", line);
    char **argv = mur_alloc(strlen(words) + 2, sizeof *argv);
    int count = 0;

    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[count++] = word;
    return mur_options_parse(argv, job, error, size);
}

static void test_contexts(void)
{
    struct mur_jobspec job;
    char error[256];

    CHECK(parse("-n 3 -env A 1 -l a -n 9 : --np=2 -wdir /tmp -v -- -b x", &job, error, sizeof error) == 0);
    CHECK(job.context_count == 2 && job.size == 5 && job.formats.is_ranked && job.is_verbose && job.timeout_ms == 0);
    CHECK(job.contexts[0].ranks == 3 && strcmp(job.contexts[0].argv[0], "a") == 0);
    CHECK(strcmp(job.contexts[0].argv[2], "9") == 0 && !job.contexts[0].argv[3]);
    CHECK(job.contexts[0].environment.count == 1 && strcmp(job.contexts[0].environment.items[0], "A=1") == 0);
    CHECK(job.contexts[1].ranks == 2 && strcmp(job.contexts[1].argv[0], "-b") == 0);
    CHECK(strcmp(job.contexts[1].wdir, "/tmp") == 0 && !job.contexts[0].wdir);
    CHECK(parse("prog -n x", &job, error, sizeof error) == 0 && job.size == 1);
}

static void test_values(void)
{
    struct mur_jobspec job;
    char error[256];

    CHECK(parse("-x A=1,B=2 -x C,D -genv E=f=g -timeout 1.5 p", &job, error, sizeof error) == 0);
    CHECK(job.contexts[0].environment.count == 1 && strcmp(job.contexts[0].environment.items[0], "A=1,B=2") == 0);
    CHECK(job.environment.count == 1 && strcmp(job.environment.items[0], "E=f=g") == 0);
    CHECK(job.timeout_ms == 1500);
    CHECK(parse("-help -nonsense", &job, error, sizeof error) == 0 && job.wants_help);
    CHECK(parse("-initial-errhandler mpi_errors_return p : q", &job, error, sizeof error) == 0);
    CHECK(strcmp(job.contexts[0].initial_errhandler, "mpi_errors_return") == 0 && !job.contexts[1].initial_errhandler);
    CHECK(parse("-initial-errhandler MPI_ERRORS_RETURN p", &job, error, sizeof error) != 0);
    CHECK(parse("-V", &job, error, sizeof error) == 0 && job.wants_version);
}

static void test_errors(void)
{
    static const struct {
        const char *line;
        const char *part; /* of the message */
    } cases[] = {
        {"", "no program"},
        {"-n", "-n wants N"},
        {"-n 0 p", "'0'"},
        {"-n 1e3 p", "'1e3'"},
        {"-n= p", "''"},
        {"-n 16777217 p", "16777217"},
        {"-n 9999999 p : -n 9999999 p", "together"},
        {"-genv =x p", "'=x'"},
        {"-verbos p", "-verbose"},
        {"-wdri /tmp p", "-wdir"},
        {"-hostfiel h p", "-hostfile"},
        {"-timeout -1 p", "'-1'"},
        {"-timeout nan p", "'nan'"},
        {"-x , p", "','"},
        {"p : : p", "part 2"},
        {"p :", "part 2"},
        {"-V=1 p", "takes no value"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mur_jobspec job;
        char error[256] = "";

        CHECK(parse(cases[i].line, &job, error, sizeof error) == MUR_EXIT_USAGE);
        if (!strstr(error, cases[i].part)) {
            fprintf(stderr, "'%s': '%s' is not in '%s'\n", cases[i].line, cases[i].part, error);
            failures++;
        }
    }
}

/* Words drawn at random: each line is refused with a message, or gives a job that holds together. */
static void test_random(unsigned seed)
{
    static const char *const words[] = {
        "-n", "2",  "-np=3",    ":", "p",     "-env", "A",  "B=1", "-x",  "-l",
        "-",  "--", "-timeout", "9", "-wdir", "=",    "-=", "--=", "-n=", "-????????????????????????????????????"};

    srand(seed);
    for (int round = 0; round < 20000; round++) {
        struct mur_jobspec job;
        char error[64] = "";
        char *argv[10] = {"mpiexec"};
        int count = rand() % 9;
        int ranks = 0;

        for (int i = 0; i < count; i++)
            argv[i + 1] = (char *)words[rand() % (int)(sizeof words / sizeof words[0])];
        if (mur_options_parse(argv, &job, error, sizeof error)) {
            CHECK(error[0]);
            continue;
        }
        for (int i = 0; i < job.context_count && !job.wants_help; i++) {
            CHECK(job.contexts[i].argv[0]);
            ranks += job.contexts[i].ranks;
        }
        CHECK(job.wants_help || ranks == job.size);
    }
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

    unsetenv("MPIEXEC_TIMEOUT");
    test_contexts();
    test_values();
    test_errors();
    printf("seed %u\n", seed);
    test_random(seed);
    return failures != 0;
}
