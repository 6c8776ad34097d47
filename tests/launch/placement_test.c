/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement by itself: command lines and the hosts that their ranks get, by hand; and for random ones the rules. */
#include <unistd.h>

#include "environment.h"
#include "launch/alloc.h"
#include "launch/hosts/placement.h"
#include "launch/options/options.h"

/* Hosts by their names: one called "big" has 3 of each part, "bare" has no numa nodes, any other has 2; "down" cannot
 * be asked. */
static bool count_parts(const struct mur_jobspec *job, const struct mur_hosts *hosts, enum mur_part part, int *counts,
                        struct mur_problem *problem)
{
    (void)job;
    for (int i = 0; i < hosts->count; i++) {
        const char *name = hosts->items[i].name;

        if (counts[i] != MUR_PART_UNKNOWN)
            continue;
        if (strcmp(name, "down") == 0)
            return mur_problem_set(problem, "down is down");
        counts[i] = strcmp(name, "big") == 0 ? 3 : strcmp(name, "bare") == 0 && part == MUR_PART_NUMA ? 0 : 2;
    }
    return true;
}

/* Parses a line split at blanks and places its ranks as on a host called "box". The memory stays. */
static bool place(const char *line, struct mur_jobspec *job, struct mur_problem *problem)
{
    char *words = mur_alloc_text("mpiexec %s", line);
    char **argv = mur_alloc(strlen(words) + 2, sizeof *argv);
    int count = 0;

    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[count++] = word;
    if (mur_options_parse(argv, job, problem->text, sizeof problem->text))
        return false;
    strcpy(job->host, "box");
    return mur_placement_make(job, count_parts, problem);
}

/* Writes the hosts of rank 0, 1, ...: "a a b". */
static const char *show(const struct mur_jobspec *job)
{
    static char text[4096];
    size_t length = 0;

    text[0] = '\0';
    for (int rank = 0; rank < job->size && length < sizeof text - 300; rank++)
        length += (size_t)sprintf(text + length, "%s%s", rank ? " " : "", job->hosts.items[job->node_of[rank]].name);
    return text;
}

/* Every rank is on a host, and the ranks of a host are counted in order. */
static void check_places(const struct mur_jobspec *job)
{
    int *seen = mur_alloc((size_t)job->hosts.count, sizeof *seen);

    for (int rank = 0; rank < job->size; rank++) {
        CHECK(job->node_of[rank] >= 0 && job->node_of[rank] < job->hosts.count);
        CHECK(job->local_of[rank] == seen[job->node_of[rank]]++);
    }
    for (int node = 0; node < job->hosts.count; node++)
        CHECK(seen[node] > 0 && job->hosts.items[node].ranks == seen[node]);
    free(seen);
}

static void check(const char *line, const char *expected)
{
    struct mur_jobspec job;
    struct mur_problem problem = {""};
    bool is_good = place(line, &job, &problem);
    const char *seen = is_good ? show(&job) : problem.text;

    if (strcmp(expected, seen) != 0) {
        fprintf(stderr, "'%s': expected '%s', saw '%s'\n", line, expected, seen);
        failures++;
    }
    if (is_good)
        check_places(&job);
}

static void check_bad(const char *line, const char *part)
{
    struct mur_jobspec job;
    struct mur_problem problem = {""};

    if (place(line, &job, &problem) || !strstr(problem.text, part)) {
        fprintf(stderr, "'%s': expected '%s', saw '%s'\n", line, part, problem.text);
        failures++;
    }
}

static void test_slots(void)
{
    check("-host a:2,b:2 -n 4 p", "a a b b");
    check("-host a:2,b:2 -n 3 p", "a a b");
    check("-host a:2,b:2 -n 6 p", "a a b b a a");
    check("-host a:2,b p", "a a b");
    check("-host a,b -n 4 p", "a b a b");
    check("-hosts a,b -n 2 p", "a b");
    check("-hosts 2 a 2 b 1 p", "a a b");
    check("-hosts 2 a b -n 3 p", "a b a");
    check("-hosts 3 a 2 n[1-2] b 1 p", "a a n1 n2 b");
    check("-host n[01-03] p", "n01 n02 n03");
    check("-host a:0,b -n 3 p", "b b b");
    check("-default-slots 2 -host a,b:1 p", "a a b");
    check("p", "box");
    check("-n 3 p", "box box box");
    check("-host localhost,127.0.0.1,box:2,b p", "localhost localhost localhost localhost b");
}

static void test_options(void)
{
    check("-host a:4,b:4 -ppn 1 -n 3 p", "a b a");
    check("-host a,b -perhost 2 p", "a a b b");
    check("-host a,b -ppn 2 -n 6 p", "a a b b a a");
    check("-host a:4,b:4 -rr -n 4 p", "a b a b");
    check("-host a:1,b:3 -map-by node -n 5 p", "a b b b a");
    check("-host a:2,b:2 --map-by node p", "a b a b");
    check("-host a:2,b:2 -bynode -n 3 p", "a b a");
    check("-host a:2,b:2 -map-by slot -n 3 p", "a a b");
    check("-host a:2,b:2 -map-by core -n 3 p", "a a b");
    check("-host a,b -npernode 2 p", "a a b b");
    check("-host a,b -npernode 2 -n 3 p", "a a b");
    check("-host a,b -N 1 -n 2 p", "a b");
    check("-host a,b -pernode p", "a b");
    check("-host a,b -map-by ppr:2:node p", "a a b b");
    check("-host a,b -map-by ppr:1:node:OVERSUBSCRIBE -n 3 p", "a b a");
    check("-map-by :OVERSUBSCRIBE -n 2 p", "box box");
    check("-host a,box,b -nolocal -n 3 p", "a b a");
    check("-host a,b -localonly -n 2 p", "box box");
    check("-localonly p", "box");
    check("-ppn 3 p", "box box box");
    check("-host a:2,b:1 -nooversubscribe -n 3 p", "a a b");
}

static void test_parts(void)
{
    check("-host a,big -map-by ppr:1:socket p", "a a big big big");
    check("-host a,big -map-by ppr:2:numa -n 6 p", "a a a a big big");
    check("-host big:1,a:8 -map-by ppr:1:l3cache p", "big big big a a");
    check("-host big,a -npersocket 1 -n 4 p", "big big big a");
    check("-host bare,a -map-by ppr:1:core p", "bare bare a a");
    check("-host down,big -map-by ppr:1:node p", "down big");
    check("-host a,big -map-by ppr:1:core:OVERSUBSCRIBE -n 7 p", "a a big big big a a");
    check("-host a -map-by ppr:1:core -n 2 p : -host big -n 3 q", "a a big big big");
}

static void test_contexts(void)
{
    check("-host a -n 2 p : -host b -n 1 q", "a a b");
    check("-host a:2,b:2 -n 1 p : -n 2 q", "a a b");
    check("-host a -n 1 p : -n 2 q", "a a a");
    check("-host a:2 -n 2 p : -host b:2 -n 2 q : -n 4 r", "a a b b a a b b");
    check("-host a -n 1 p : -host a -n 1 q", "a a");
    check("-n 1 p : q : -n 2 r", "box box box box");
    check("-host b p : -host a,b -n 3 q", "b b a b");
    check("-host box -n 1 p : -host localhost -n 1 q", "box box");
}

static void test_refusals(void)
{
    check_bad("-host a:2,b:1 -nooversubscribe -n 4 p",
              "not enough slots for 4 ranks: there are 3 slots on 2 hosts (from -host); name more hosts");
    check_bad("-host a -map-by slot:NOOVERSUBSCRIBE -n 2 p", "there is 1 slot on 1 host (from -host)");
    check_bad("-host a,b -npernode 2 -n 5 p", "2 for each host are 4 on 2 hosts (from -host)");
    check_bad("-nooversubscribe -n 16000000 p", "the CPUs of this machine");
    check_bad("-host a:0 -n 1 p", "there are 0 slots on 1 host");
    check_bad("-host a:0 p", "say how many ranks are wanted by -n");
    check_bad("-nolocal p", "no hosts are listed");
    check_bad("-host localhost -nolocal p", "only this machine is listed");
    check_bad("-nolocal -localonly p", "-nolocal was given before");
    check_bad("-map-by ppr:1:socket -host a,down p", "down is down");
    check_bad("-map-by ppr:1:numa -host a,bare p", "bare has no numa to map ranks by");
    check_bad("-map-by ppr:2:core -host a,big -n 11 p", "2 for each core are 10 on 2 hosts (from -host)");
    check_bad("-map-by ppr:400000:core -host a,big p", "more than 1048576 ranks a host");
    check_bad("-host a -n 1 p : -host a:1048576 q", "more than 1048576 slots");
}

/* ---- files ---- */

static char path[] = "/tmp/murmur-placement-XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void check_file(const char *text, const char *options, const char *expected)
{
    char *line = mur_alloc_text("-f %s %s p", path, options);

    write_file(text);
    check(line, expected);
    free(line);
}

static void check_bad_file(const char *text, const char *options, const char *part)
{
    char *line = mur_alloc_text("-f %s %s p", path, options);

    write_file(text);
    check_bad(line, part);
    free(line);
}

static void test_files(void)
{
    static const char two[] = "a slots=2 max_slots=3\nb slots=1 max_slots=2\n";

    check_file(two, "", "a a b");
    check_file(two, "-n 5", "a a b a b");
    check_file("a slots=1 max_slots=2\nb\n", "-n 6", "a b a b b b");
    check_file(two, "-host b", "b");
    check_file(two, "-host a:1,b", "a b");
    check_file("a port=1\na port=2\nb\n", "-host a", "a a");
    check_file(two, "-ppn 5 -n 5", "a a a b b");
    check_file(two, "-npernode 2", "a a b b");
    check_file("a max_slots=2", "-npernode 3", "a a");
    check_bad_file(two, "-n 6", "there are 3 slots on 2 hosts");
    check_bad_file(two, "-n 6", "max_slots allows no more");
    check_bad_file(two, "-host c", "-host names c, which is not in /tmp/murmur-placement");
    check_bad_file("# nothing\n", "", "names no host");
    check_bad_file("a b\n", "", "line 1");
    check_bad("-f /no/such/file p", "cannot read '/no/such/file'");
}

/* The order in which lists are looked for: command line, setting, resource manager. */
static void test_precedence(void)
{
    setenv("LSB_MCPU_HOSTS", "l1 2", 1);
    check("p", "l1 l1");
    check("-rmk none p", "box");
    check("-localonly p", "box");
    setenv("SLURM_JOB_NODELIST", "s[1-2]", 1);
    setenv("SLURM_TASKS_PER_NODE", "2,1", 1);
    check("p", "s1 s1 s2");
    check("-n 2 -bynode p", "s1 s2");
    check("-rmk lsf p", "l1 l1");
    check("-n 1 p : -n 3 q", "s1 s1 s2 s1");
    write_file("f1\nf2:2\n");
    setenv("HYDRA_HOST_FILE", path, 1);
    check("p", "f1 f2 f2");
    check("-host c -n 2 p", "c c");
    setenv("I_MPI_PERHOST", "1", 1);
    check("p", "f1 f2");
    check("-ppn 3 -n 4 p", "f1 f1 f1 f2");
    unsetenv("I_MPI_PERHOST");
    setenv("OMPI_MCA_orte_set_default_slots", "2", 1);
    check("p", "f1 f1 f2 f2");
    unsetenv("OMPI_MCA_orte_set_default_slots");
    setenv("SLURM_TASKS_PER_NODE", "nonsense", 1);
    check("p", "f1 f2 f2");
    unsetenv("HYDRA_HOST_FILE");
    check_bad("p", "SLURM_TASKS_PER_NODE: numbers like");
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_TASKS_PER_NODE");
    unsetenv("LSB_MCPU_HOSTS");
}

/* A local host is no longer local when agents are to be started by the command all the same. */
static void test_local(void)
{
    struct mur_jobspec job;
    struct mur_problem problem;

    CHECK(place("-host box,localhost,a p", &job, &problem));
    CHECK(job.hosts.count == 2 && job.hosts.items[0].is_local && !job.hosts.items[1].is_local);
    setenv("HYDRA_LAUNCHER_AUTOFORK", "0", 1);
    CHECK(place("-host box,a p", &job, &problem));
    CHECK(job.hosts.count == 2 && !job.hosts.items[0].is_local && !job.hosts.items[1].is_local);
    unsetenv("HYDRA_LAUNCHER_AUTOFORK");
    CHECK(place("-n 2 p", &job, &problem) && job.hosts.count == 1 && job.hosts.items[0].is_local);
}

/* ---- random jobs ---- */

/* Ranks placed by the rules' own words: for each rank, the first host in this lap's order that offers a slot. */
static int naive_host(const int *slots, const int *used, int hosts, bool is_by_node, int lap, int last)
{
    for (int i = 0; i < hosts; i++) {
        int host = is_by_node ? (last + 1 + i) % hosts : i;

        if (used[host] < slots[host] * lap)
            return host;
    }
    return -1;
}

static void test_random(void)
{
    for (int round = 0; round < 2000; round++) {
        int hosts = 1 + (int)below(6);
        int ranks = 1 + (int)below(40);
        bool is_by_node = below(2);
        int slots[6];
        int used[6] = {0};
        int total = 0;
        int lap = 1;
        int last = -1;
        char line[200] = "";
        struct mur_jobspec job;
        struct mur_problem problem;

        for (int i = 0; i < hosts; i++) {
            slots[i] = (int)below(5);
            total += slots[i];
            sprintf(line + strlen(line), "%sh%d:%d", i ? "," : "-host ", i, slots[i]);
        }
        sprintf(line + strlen(line), " -n %d %s p", ranks, is_by_node ? "-map-by node" : "");
        if (!place(line, &job, &problem)) {
            CHECK(total == 0);
            continue;
        }
        CHECK(job.size == ranks);
        check_places(&job);
        for (int rank = 0; rank < ranks; rank++) {
            int host = naive_host(slots, used, hosts, is_by_node, lap, last);
            char name[8];

            if (host < 0) {
                lap++;
                host = naive_host(slots, used, hosts, is_by_node, lap, -1);
            }
            used[host]++;
            last = host;
            sprintf(name, "h%d", host);
            if (strcmp(job.hosts.items[job.node_of[rank]].name, name) != 0) {
                fprintf(stderr, "'%s': rank %d is on %s, not on %s\n", line, rank,
                        job.hosts.items[job.node_of[rank]].name, name);
                failures++;
                return;
            }
        }
    }
}

int main(void)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    clear_environment();
    test_slots();
    test_options();
    test_parts();
    test_contexts();
    test_refusals();
    test_files();
    test_precedence();
    test_local();
    unit_start();
    test_random();
    unlink(path);
    return unit_end();
}
