/* SPDX-License-Identifier: BSD-3-Clause */
/* The option parser by itself: what command lines mean, and that random ones never harm it. */
#include <unistd.h>

#include "environment.h"
#include "launch/alloc.h"
#include "launch/options/options.h"
#include "launch/say.h"

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
    CHECK(parse("-help -nonsense", &job, error, sizeof error) == 0 && job.command == MUR_COMMAND_HELP);
    CHECK(parse("-initial-errhandler mpi_errors_return p : q", &job, error, sizeof error) == 0);
    CHECK(strcmp(job.contexts[0].initial_errhandler, "mpi_errors_return") == 0 && !job.contexts[1].initial_errhandler);
    CHECK(parse("-initial-errhandler MPI_ERRORS_RETURN p", &job, error, sizeof error) != 0);
    CHECK(parse("-TimeOut 2 -PPN 3 --MAP-BY node p", &job, error, sizeof error) == 0 && job.timeout_ms == 2000);
    CHECK(parse("-V", &job, error, sizeof error) == 0 && job.command == MUR_COMMAND_VERSION);
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
        {"-host a,,b p", "a host has no name"},
        {"-host -x p", "'-x' is no name of a host"},
        {"-hosts 2 a", "wants 2 hosts after it, not 1"},
        {"-hosts 2 a 1 b;c p", "'b;c' is no name"},
        {"-f a -f b p", "'a' was given before"},
        {"-hostfile= p", "empty name"},
        {"-ppn 0 p", "'0'"},
        {"-rmk k8s p", "'k8s'"},
        {"-localonly -nolocal p", "leaves no host"},
        {"-map-by ppr:2 p", "'ppr:2'"},
        {"-map-by ppr:0:node p", "'0'"},
        {"-map-by ppr:x:node p", "'x'"},
        {"-map-by none p", "'none'"},
        {"-map-by core:PE= p", "'PE='"},
        {"-map-by core:PE=x p", "'x'"},
        {"-map-by slot:SPAN p", "'SPAN'"},
        {"-bind-to core:none p", "'none'"},
        {"-bind-to user:a p", "user:0,1+2"},
        {"-display everything p", "'everything'"},
        {"-pset= p", "not an empty one"},
        {"-pset mpi://OCEAN p", "the standard's own"},
        {"-pset MPI://x p", "the standard's own"},
        {"-n 2 -pset a -pset b -pset a p", "-pset a is given twice"},
        {"-pset a\tb p", "without blanks"},
        {"-launcher pigeon p", "'pigeon'"},
        {"-launcher-exec 'x p", "quote"},
        {"-launcher-exec= p", "empty"},
        {"-launcher-port 70000 p", "'70000'"},
        {"-agent-width 0 p", "'0'"},
        {"-stdin some p", "'some'"},
        {"-usize 0 p", "'0'"},
        {"-genvlist A,,B p", "',B'"},
        {"-envlist= p", "names of variables"},
        {"-x A,,B p", "names of variables"},
        {"-path= p", "empty"},
        {"-prepend-pattern a%z p", "'%z'"},
        {"-outfile-pattern= p", "empty"},
        {"-output-filename :nocopy p", "':nocopy'"},
        {"-output-filename d:x p", "'d:x'"},
        {"-output tag,colour p", "'colour'"},
        {"-mca a", "-mca a wants a value"},
        {"-mca hwloc_base_binding_policy moon p", "hwloc_base_binding_policy"},
        {"-configfile /no/such/file", "cannot read"},
        {"-iface", "wants INTERFACE"},
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

static bool is_text(const char *seen, const char *expected)
{
    return seen && strcmp(seen, expected) == 0;
}

static void test_hosts(void)
{
    struct mur_jobspec job;
    char error[256];

    CHECK(parse("-f h -host a:2 p : -hosts 2 b 3 c p : -H d,e p", &job, error, sizeof error) == 0);
    CHECK(is_text(job.placing.hostfile, "h") && job.contexts[0].hosts.count == 1 && job.contexts[1].hosts.count == 2);
    CHECK(job.contexts[1].hosts.items[0].slots == 3 && !job.contexts[1].hosts.items[1].has_slots);
    CHECK(job.contexts[2].hosts.count == 2 && !job.contexts[0].has_ranks);
    CHECK(parse("-ppn 4 -nolocal -rmk PBS -oversubscribe p", &job, error, sizeof error) == 0);
    CHECK(job.placing.per_host == 4 && job.placing.skips_local && job.placing.crowding == MUR_CROWD_ALLOWED);
    CHECK(parse("--map-by ppr:3:numa:PE=2,nolocal -bind-to hwthread p", &job, error, sizeof error) == 0);
    CHECK(job.placing.per_object == 3 && job.placing.object == MUR_PART_NUMA && job.placing.skips_local);
    CHECK(job.binding.map == MUR_PART_NUMA && job.binding.width == 2 && job.binding.block == 3);
    CHECK(job.binding.bind == MUR_PART_HWTHREAD);
    CHECK(parse("-display map,bindings -bynode p", &job, error, sizeof error) == 0);
    CHECK(job.shows_map && job.binding.is_reported && job.placing.is_by_node);
}

static void test_launcher(void)
{
    struct mur_jobspec job;
    char error[256];

    CHECK(parse("-launcher SSH -launcher-port 2222 -agent-width 8 -launcher-args=-q p", &job, error, sizeof error) ==
          0);
    CHECK(is_text(job.launcher.name, "ssh") && job.launcher.port == 2222 && job.launcher.width == 8);
    CHECK(is_text(job.launcher.options[0], "-q") && !job.launcher.options[1] && !job.launcher.command);
    setenv("HYDRA_BOOTSTRAP", "slurm", 1);
    setenv("HYDRA_LAUNCHER_EXTRA_ARGS", "--external-launcher", 1);
    setenv("OMPI_MCA_plm_rsh_agent", "/x/kube exec.sh 'a b' : rsh", 1);
    CHECK(parse("p", &job, error, sizeof error) == 0);
    CHECK(is_text(job.launcher.name, "slurm") && !job.launcher.options);
    CHECK(is_text(job.launcher.slurm_options[0], "--external-launcher") && !job.launcher.slurm_options[1]);
    CHECK(is_text(job.launcher.command[0], "/x/kube") && is_text(job.launcher.command[2], "a b"));
    CHECK(!job.launcher.command[3]);
    CHECK(parse("-launcher ssh p", &job, error, sizeof error) == 0);
    CHECK(is_text(job.launcher.name, "ssh") && !job.launcher.options);
    setenv("HYDRA_BOOTSTRAP", "carrier-pigeon", 1);
    CHECK(parse("p", &job, error, sizeof error) != 0 && strstr(error, "HYDRA_BOOTSTRAP wants fork, ssh"));
    unsetenv("HYDRA_BOOTSTRAP");
    setenv("HYDRA_LAUNCHER_EXEC", "/bin/other", 1);
    setenv("HYDRA_LAUNCH_EXTRA_ARGS", "-o ConnectionAttempts=10", 1);
    unsetenv("HYDRA_LAUNCHER_EXTRA_ARGS");
    CHECK(parse("p", &job, error, sizeof error) == 0);
    CHECK(is_text(job.launcher.command[0], "/bin/other") && is_text(job.launcher.options[1], "ConnectionAttempts=10"));
    CHECK(parse("-launcher-exec mine p", &job, error, sizeof error) == 0);
    CHECK(is_text(job.launcher.command[0], "mine") && !job.launcher.command[1]);
    unsetenv("HYDRA_LAUNCHER_EXEC");
    unsetenv("HYDRA_LAUNCH_EXTRA_ARGS");
    unsetenv("OMPI_MCA_plm_rsh_agent");
    setenv("PRTE_MCA_rmaps_default_mapping_policy", "node", 1);
    setenv("OMPI_MCA_rmaps_base_mapping_policy", "core", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "socket", 1);
    CHECK(parse("p", &job, error, sizeof error) == 0);
    CHECK(job.placing.is_by_node && job.binding.bind == MUR_PART_SOCKET);
    unsetenv("PRTE_MCA_rmaps_default_mapping_policy");
    unsetenv("OMPI_MCA_rmaps_base_mapping_policy");
    unsetenv("OMPI_MCA_hwloc_base_binding_policy");
}

static void test_rest(void)
{
    struct mur_jobspec job;
    char error[256];

    CHECK(parse("-stdin all -usize 12 -exitcodes p", &job, error, sizeof error) == 0);
    CHECK(job.stdin_rank == MUR_STDIN_ALL && job.universe == 12 && job.shows_exits);
    CHECK(parse("-stdin none -usize INFINITE p", &job, error, sizeof error) == 0);
    CHECK(job.stdin_rank == MUR_STDIN_NONE && job.universe == 0);
    CHECK(parse("-stdin 3 p", &job, error, sizeof error) == 0 && job.stdin_rank == 3);
    CHECK(parse("p", &job, error, sizeof error) == 0 && job.stdin_rank == 0);
    CHECK(parse("-genvlist A,B -envnone p : -x C,D p", &job, error, sizeof error) == 0);
    CHECK(job.inheritance.passing == MUR_PASS_LIST && job.inheritance.names.count == 2);
    CHECK(job.contexts[0].inheritance.passing == MUR_PASS_NONE);
    CHECK(job.contexts[1].inheritance.passing == MUR_PASS_UNSET && job.contexts[1].inheritance.names.count == 2);
    CHECK(parse("-output tag,dir=d:nocopy -path a:b p", &job, error, sizeof error) == 0);
    CHECK(job.formats.is_tagged && is_text(job.formats.copies, "d") && job.formats.has_copies_only);
    CHECK(is_text(job.contexts[0].search, "a:b"));
    CHECK(parse("-mca a b --tune f -topolib 2 p", &job, error, sizeof error) == 0 && job.ignored.count == 3);
    CHECK(is_text(job.ignored.items[0], "-mca a b") && is_text(job.ignored.items[2], "-topolib 2"));
    CHECK(parse("-mca orte_default_hostfile h -mca plm_rsh_agent rsh p", &job, error, sizeof error) == 0);
    CHECK(is_text(job.placing.hostfile, "h") && is_text(job.launcher.command[0], "rsh") && job.ignored.count == 0);
}

/* Words drawn at random: each line is refused with a message, or gives a job that holds together. */
static void test_random(void)
{
    static const char *const words[] = {"-n",
                                        "2",
                                        "-np=3",
                                        ":",
                                        "p",
                                        "-env",
                                        "A",
                                        "B=1",
                                        "-x",
                                        "-l",
                                        "-",
                                        "--",
                                        "-timeout",
                                        "9",
                                        "-wdir",
                                        "=",
                                        "-=",
                                        "--=",
                                        "-n=",
                                        "-????????????????????????????????????",
                                        "-host",
                                        "a,b:2",
                                        "-hosts",
                                        "-f",
                                        "-map-by",
                                        "ppr:2:node",
                                        "-bind-to",
                                        "core:2",
                                        "-mca",
                                        "btl_tcp_if_include",
                                        "-x=A",
                                        "-genvlist",
                                        "-stdin",
                                        "all",
                                        "-output",
                                        "tag,file=x",
                                        "-outfile-pattern",
                                        "%r",
                                        "-launcher-args",
                                        "'x",
                                        "-configfile",
                                        "/dev/null",
                                        "-usize",
                                        "-display",
                                        "map",
                                        "-ppn"};

    for (int round = 0; round < 20000; round++) {
        struct mur_jobspec job;
        char error[64] = "";
        char *argv[10] = {"mpiexec"};
        int count = (int)below(9);
        int ranks = 0;

        for (int i = 0; i < count; i++)
            argv[i + 1] = (char *)words[below(sizeof words / sizeof words[0])];
        if (mur_options_parse(argv, &job, error, sizeof error)) {
            CHECK(error[0]);
            continue;
        }
        for (int i = 0; i < job.context_count && !job.command; i++) {
            CHECK(job.contexts[i].argv[0]);
            ranks += job.contexts[i].ranks;
        }
        CHECK(job.command || ranks == job.size);
    }
}

/* A file of options from random bytes: it, too, is refused with a message or gives a job that holds together. */
static void test_random_files(void)
{
    static const char alphabet[] = "-n2 p:\n\"'\\#=x\t-l ";
    char path[] = "/tmp/murmur-options-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    for (int round = 0; round < 3000; round++) {
        struct mur_jobspec job;
        char *argv[] = {"mpiexec", "-configfile", path, NULL};
        char error[64] = "";
        char bytes[80];
        int length = (int)below(sizeof bytes);

        for (int i = 0; i < length; i++)
            bytes[i] = below(30) ? alphabet[below(sizeof alphabet - 1)] : (char)below(256);
        CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, (size_t)length, 0) == length);
        if (mur_options_parse(argv, &job, error, sizeof error))
            CHECK(error[0]);
        else if (!job.command)
            CHECK(job.size >= job.context_count && job.contexts[job.context_count - 1].argv[0]);
    }
    close(fd);
    unlink(path);
}

int main(void)
{
    clear_environment();
    test_contexts();
    test_values();
    test_errors();
    test_hosts();
    test_launcher();
    test_rest();
    unit_start();
    test_random();
    test_random_files();
    return unit_end();
}
