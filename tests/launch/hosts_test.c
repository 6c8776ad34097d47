/* SPDX-License-Identifier: BSD-3-Clause */
/* The readers of host lists by themselves: what good ones mean, what is said of bad ones, and that no bytes harm them.
 */
#include <stdbool.h>
#include <unistd.h>

#include "environment.h"
#include "launch/alloc.h"
#include "launch/hosts/hosts.h"
#include "launch/hosts/managers.h"

/* Writes hosts as "a:2 u@b:1/4!22 c:1?": slots, '/' max_slots, '!' port, and '?' where no number was written. */
static const char *show(const struct mur_hosts *hosts)
{
    static char text[8192];
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < hosts->count && length < sizeof text - 600; i++) {
        const struct mur_host *host = &hosts->items[i];

        length += (size_t)sprintf(text + length, "%s%s%s%s:%d", i ? " " : "", host->user ? host->user : "",
                                  host->user ? "@" : "", host->name, host->slots);
        if (host->max_slots)
            length += (size_t)sprintf(text + length, "/%d", host->max_slots);
        if (host->port)
            length += (size_t)sprintf(text + length, "!%d", host->port);
        if (!host->has_slots)
            length += (size_t)sprintf(text + length, "?");
    }
    return text;
}

static void check_text(const char *what, const char *expected, const char *seen)
{
    if (strcmp(expected, seen) == 0)
        return;
    fprintf(stderr, "'%s': expected '%s', saw '%s'\n", what, expected, seen);
    failures++;
}

static void check_part(const char *what, const char *part, const char *seen)
{
    if (strstr(seen, part))
        return;
    fprintf(stderr, "'%s': expected '%s' within '%s'\n", what, part, seen);
    failures++;
}

static void check_file(const char *text, const char *expected)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem = {""};
    bool is_good = mur_hosts_add_text(&hosts, "h", text, strlen(text), &problem);

    check_text(text, expected, is_good ? show(&hosts) : problem.text);
}

static void check_list(const char *list, const char *expected)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem = {""};
    bool is_good = mur_hosts_add_list(&hosts, list, &problem);

    check_text(list, expected, is_good ? show(&hosts) : problem.text);
}

static void check_bad_file(const char *text, const char *part)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem = {""};

    if (mur_hosts_add_text(&hosts, "h", text, strlen(text), &problem))
        check_text(text, "an error", show(&hosts));
    else
        check_part(text, part, problem.text);
}

static void check_bad_list(const char *list, const char *part)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem = {""};

    if (mur_hosts_add_list(&hosts, list, &problem))
        check_text(list, "an error", show(&hosts));
    else
        check_part(list, part, problem.text);
}

static void test_files(void)
{
    check_file("", "");
    check_file("\n \n# x\n\t# y", "");
    check_file("a\nb\n", "a:1? b:1?");
    check_file("a:4\nb:0", "a:4 b:0");
    check_file("a\r\nb:2\r\n", "a:1? b:2");
    check_file("a\nb\na\n", "a:2? b:1?");
    check_file("a:4\na\na slots=3", "a:8");
    check_file("a slots=4 max_slots=8 # the big one\n", "a:4/8");
    check_file("  a\tSLOTS = 4\n b slots= 2 Max-Slots =2\nc cpu=3\nd count=1\ne cpus=9 slots_max=10",
               "a:4 b:2/2 c:3 d:1 e:9/10");
    check_file("a max_slots=8", "a:1/8?");
    check_file("ada@a:2\na user=ada slots=1\na", "ada@a:3 a:1?");
    check_file("a username=x_1 port=2222", "x_1@a:1!2222?");
    check_file("127.0.0.1 port=2201\n127.0.0.1 port=2202", "127.0.0.1:1!2201? 127.0.0.1:1!2202?");
    check_file("n[01-03,7]:2", "n01:2 n02:2 n03:2 n7:2");
    check_file("n[9-11] slots=2\nn10", "n9:2 n10:3 n11:2");
    check_file("r[1-2]n[1-2].x", "r1n1.x:1? r1n2.x:1? r2n1.x:1? r2n2.x:1?");
    check_file("fd00::1\n[fd00::2]:4\n::1 slots=2", "fd00::1:1? fd00::2:4 ::1:2");
    check_file("job-worker-0.job.ns.svc slots=2\njob-worker-1.job.ns.svc slots=2",
               "job-worker-0.job.ns.svc:2 job-worker-1.job.ns.svc:2");
    check_file("n\xc3\xb6rd:2", "n\xc3\xb6rd:2");
}

static void test_bad_files(void)
{
    check_bad_file("a\nb c\n", "h, line 2: slots=, max_slots=, user= or port= may follow a host, not 'c'");
    check_bad_file("a b=3", "not 'b'");
    check_bad_file("a slots=", "line 1: a number from 0 to");
    check_bad_file("a slots=x", "not 'x'");
    check_bad_file("a slots=-1", "not '-1'");
    check_bad_file("a slots=99999999999999999999", "not '99999999999999999999'");
    check_bad_file("a:x", "line 1: ':x' wants a number of slots");
    check_bad_file("a:", "':' wants a number");
    check_bad_file("a:2 slots=3", "given twice");
    check_bad_file("a slots=8 max_slots=4", "has 8 slots, more than its max_slots=4");
    check_bad_file("a max_slots=0", "not '0'");
    check_bad_file("a port=65536", "not '65536'");
    check_bad_file("a user=-oProxyCommand=x", "name of a user");
    check_bad_file("a user=x;y", "name of a user: 'x;y'");
    check_bad_file("a user=", "name of a user: ''");
    check_bad_file("\n\n-oProxyCommand=x", "h, line 3:");
    check_bad_file("-x", "'-x' is no name of a host");
    check_bad_file("a;reboot", "'a;reboot' is no name");
    check_bad_file("a$(x)", "is no name");
    check_bad_file("=3", "begins with the name of a host");
    check_bad_file("a = 3", "begins with the name of a host, not with 'a'");
    check_bad_file("a@b@c", "is no name of a host");
    check_bad_file("@a", "'' before '@' is no name of a user");
    check_bad_file("x y@a", "not 'y@a'");
    check_bad_file("n[1-3", "'[' without ']'");
    check_bad_file("n1-3]", "']' without '['");
    check_bad_file("n[3-1]", "ends below its start");
    check_bad_file("n[]", "a range has numbers");
    check_bad_file("n[1,,2]", "a range has numbers");
    check_bad_file("n[1-]", "a range has numbers");
    check_bad_file("n[a-c]", "a range has numbers");
    check_bad_file("n[1-20000]", "more than 16384 hosts");
    check_bad_file("n[1-200][1-200]", "more than 16384 hosts");
    check_bad_file("[1-3]", "no IPv6 address");
    check_bad_file("[::1]x", "only ':slots' may");
    check_bad_file("::1:x", "wants a number of slots");
}

static void test_lists(void)
{
    check_list("a", "a:1?");
    check_list("a,b:2,a", "a:2? b:2");
    check_list("u@n[1-2,5]:3,[fd00::1]:2", "u@n1:3 u@n2:3 u@n5:3 fd00::1:2");
    check_bad_list("", "a host has no name");
    check_bad_list("a,,b", "a host has no name");
    check_bad_list("a,", "a host has no name");
    check_bad_list("a b", "'a b' is no name");
    check_bad_list("a:1048577", "from 0 to 1048576");
    check_bad_list("a:1048576,a:1", "more than 1048576 slots");
}

static void test_limits(void)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem;
    char name[400];

    memset(name, 'a', sizeof name);
    name[255] = '\0';
    CHECK(mur_hosts_add_list(&hosts, name, &problem) && hosts.count == 1);
    name[255] = 'a';
    name[256] = '\0';
    CHECK(!mur_hosts_add_list(&hosts, name, &problem));
    CHECK(!mur_hosts_add_text(&hosts, "h", "a\0b", 3, &problem));
    check_part("a byte 0", "a byte 0", problem.text);
    CHECK(!mur_hosts_add_file(&hosts, "/no/such/file", &problem));
    check_part("no file", "cannot read '/no/such/file': No such file", problem.text);
    CHECK(!mur_hosts_add_file(&hosts, "/", &problem));
    hosts = (struct mur_hosts){0};
    CHECK(mur_hosts_add_list(&hosts, "n[1-16384]", &problem) && hosts.count == MUR_HOSTS_MAX);
    CHECK(!mur_hosts_add_list(&hosts, "m", &problem));
    check_part("too many", "more than 16384 hosts", problem.text);
}

static void test_local(void)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem;

    setenv("LOGNAME", "ada", 1);
    CHECK(
        mur_hosts_add_list(&hosts, "x,localhost:2,box,127.0.0.9,box.example.org,bob@box,ada@box,boxes,::1", &problem));
    CHECK(mur_hosts_add_text(&hosts, "h", "box port=2222", 13, &problem));
    mur_hosts_find_local(&hosts, "box");
    check_text("local hosts", "x:1? localhost:7 bob@box:1? boxes:1? box:1!2222?", show(&hosts));
    CHECK(!hosts.items[0].is_local && hosts.items[1].is_local && !hosts.items[2].is_local && !hosts.items[3].is_local);
    CHECK(!hosts.items[4].is_local);
    hosts = (struct mur_hosts){0};
    setenv("SLURMD_NODENAME", "n7", 1);
    CHECK(mur_hosts_add_list(&hosts, "n6,n7,BOX.other.org,box.example", &problem));
    mur_hosts_find_local(&hosts, "box.example.org");
    unsetenv("SLURMD_NODENAME");
    check_text("a node by Slurm's name", "n6:1? n7:1? BOX.other.org:1? box.example:1?", show(&hosts));
    CHECK(hosts.items[1].is_local && !hosts.items[2].is_local && !hosts.items[3].is_local);
}

/* ---- the environment ---- */

/* Sets "NAME=value;NAME=value", asks, and clears them again. */
static void check_manager(const char *settings, const char *only, const char *title, const char *expected)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem = {""};
    const char *source = NULL;
    char *copy = mur_alloc_text("%s", settings);
    char *rest = copy;
    char *setting;
    bool is_good;

    clear_environment();
    while ((setting = strsep(&rest, ";"))) {
        char *value = strchr(setting, '=');

        *value = '\0';
        setenv(setting, value + 1, 1);
    }
    is_good = mur_hosts_from_manager(&hosts, only, &source, &problem);
    check_text(settings, title ? title : "nobody", source ? source : "nobody");
    check_text(settings, expected, is_good ? show(&hosts) : problem.text);
    free(copy);
    clear_environment();
}

static const char *make_file(const char *text)
{
    static char path[64];
    int fd;

    snprintf(path, sizeof path, "/tmp/murmur-hosts-XXXXXX");
    fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        perror(path);
        exit(1);
    }
    close(fd);
    return path;
}

static void check_manager_file(const char *variable, const char *text, const char *title, const char *expected)
{
    const char *path = make_file(text);
    char *settings = mur_alloc_text("%s=%s", variable, path);

    check_manager(settings, NULL, title, expected);
    free(settings);
    unlink(path);
}

static void test_slurm(void)
{
    check_manager("SLURM_JOB_NODELIST=n[1-3];SLURM_TASKS_PER_NODE=2(x2),1", NULL, "Slurm", "n1:2 n2:2 n3:1");
    check_manager("SLURM_JOB_NODELIST=a;SLURM_JOB_CPUS_PER_NODE=72", NULL, "Slurm", "a:72");
    check_manager("SLURM_JOB_NODELIST=a,b;SLURM_TASKS_PER_NODE=1,3;SLURM_JOB_CPUS_PER_NODE=9(x2)", NULL, "Slurm",
                  "a:1 b:3");
    check_manager("SLURM_NODELIST=tux[09-10]", NULL, "Slurm", "tux09:1? tux10:1?");
    check_manager("SLURM_JOB_NODELIST=r[1-2]n[1-2];SLURM_TASKS_PER_NODE=1,2,3,4", NULL, "Slurm",
                  "r1n1:1 r1n2:2 r2n1:3 r2n2:4");
    check_manager("SLURM_JOB_NODELIST=a[1-2]b[1-2]c[1-2];SLURM_TASKS_PER_NODE=4(x8)", NULL, "Slurm",
                  "a1b1c1:4 a1b1c2:4 a1b2c1:4 a1b2c2:4 a2b1c1:4 a2b1c2:4 a2b2c1:4 a2b2c2:4");
    check_manager("SLURM_JOB_NODELIST=a,b;SLURM_TASKS_PER_NODE=1", NULL, "Slurm",
                  "SLURM_TASKS_PER_NODE has numbers for fewer nodes than there are");
    check_manager("SLURM_JOB_NODELIST=a;SLURM_TASKS_PER_NODE=1(x", NULL, "Slurm",
                  "SLURM_TASKS_PER_NODE: numbers like 2(x3),1 are wanted, not '1(x'");
    check_manager("SLURM_JOB_NODELIST=a;SLURM_TASKS_PER_NODE=1(x2)3", NULL, "Slurm",
                  "SLURM_TASKS_PER_NODE: numbers like 2(x3),1 are wanted, not '1(x2)3'");
    check_manager("SLURM_JOB_NODELIST=n[1;SLURM_TASKS_PER_NODE=1", NULL, "Slurm",
                  "SLURM_JOB_NODELIST: 'n[1': '[' without ']'");
    check_manager("SLURM_JOB_NODELIST=a;SLURM_TASKS_PER_NODE=2;LSB_HOSTS=b", "lsf", "LSF", "b:1?");
    check_manager("SLURM_JOB_NODELIST=a", "none", NULL, "");
    check_manager("SLURM_JOB_NODELIST=", NULL, NULL, "");
}

static void test_managers(void)
{
    check_manager("LSB_MCPU_HOSTS=a 2 b 4", NULL, "LSF", "a:2 b:4");
    check_manager("LSB_MCPU_HOSTS=a 2 b 4;LSB_HOSTS=c c", NULL, "LSF", "a:2 b:4");
    check_manager("LSB_HOSTS= a a  b ", NULL, "LSF", "a:2? b:1?");
    check_manager("LSB_MCPU_HOSTS=a 2 b", NULL, "LSF", "LSB_MCPU_HOSTS: a number of slots is wanted behind 'b'");
    check_manager("LSB_MCPU_HOSTS=a b", NULL, "LSF", "LSB_MCPU_HOSTS: a number of slots is wanted behind 'a'");
    check_manager_file("PBS_NODEFILE", "a\na\nb\nb\n", "PBS", "a:2? b:2?");
    check_manager_file("COBALT_NODEFILE", "a\nb\n", "Cobalt", "a:1? b:1?");
    check_manager_file("LOADL_HOSTFILE", "a\n", "LoadLeveler", "a:1?");
    check_manager_file("PE_HOSTFILE", "a 2 all.q@a UNDEFINED\nb 3 all.q@b <NULL>\n\n", "Grid Engine", "a:2 b:3");
    check_manager("PBS_NODEFILE=/no/such/file", NULL, "PBS",
                  "PBS_NODEFILE: cannot read '/no/such/file': No such file or directory");
    check_manager("MPI_HOST=a,b", NULL, NULL, "");
    check_manager("MPI_HOST=j-w-0.j,j-w-1.j;VC_TASK_INDEX=0", NULL, "Volcano", "j-w-0.j:1? j-w-1.j:1?");
    CHECK(mur_manager_is_known("SLURM") && mur_manager_is_known("none") && !mur_manager_is_known("k8s"));
}

static void test_settings(void)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem = {""};
    const char *source;
    const char *path = make_file("a:2\nb");

    clear_environment();
    CHECK(mur_hosts_from_settings(&hosts, &source, &problem) && !source && hosts.count == 0);
    setenv("I_MPI_HYDRA_HOSTS_GROUP", "n[1-2]", 1);
    CHECK(mur_hosts_from_settings(&hosts, &source, &problem));
    check_text("a group", "n1:1? n2:1?", show(&hosts));
    hosts = (struct mur_hosts){0};
    setenv("OMPI_MCA_orte_default_hostfile", "/no/such/file", 1);
    setenv("HYDRA_HOST_FILE", path, 1);
    CHECK(mur_hosts_from_settings(&hosts, &source, &problem));
    check_text("the first of several", "HYDRA_HOST_FILE", source);
    check_text("its file", "a:2 b:1?", show(&hosts));
    unsetenv("HYDRA_HOST_FILE");
    CHECK(!mur_hosts_from_settings(&hosts, &source, &problem));
    check_part("a file that is not there", "OMPI_MCA_orte_default_hostfile: cannot read", problem.text);
    unlink(path);
    clear_environment();
}

/* ---- random bytes ---- */

static bool is_sound(const struct mur_hosts *hosts)
{
    for (int i = 0; i < hosts->count; i++) {
        const struct mur_host *host = &hosts->items[i];

        if (!host->name || !*host->name || strlen(host->name) > MUR_HOST_NAME_MAX || *host->name == '-' ||
            strpbrk(host->name, " \t\n'\"$`;|&<>()*?/\\[]@,") || host->slots < 0 || host->slots > MUR_SLOTS_MAX ||
            host->port < 0 || host->port > 65535 || (host->user && !mur_name_is_good(host->user, strlen(host->user))))
            return false;
    }
    return hosts->count <= MUR_HOSTS_MAX;
}

static void free_hosts(struct mur_hosts *hosts)
{
    for (int i = 0; i < hosts->count; i++) {
        free(hosts->items[i].name);
        free(hosts->items[i].user);
    }
    free(hosts->items);
}

/* Reads the same bytes as a file, as a list and as what Slurm says; from memory that ends where they end. */
static void feed(const char *bytes, size_t length)
{
    struct mur_hosts hosts = {0};
    struct mur_problem problem = {""};
    const char *source;
    char *exact = malloc(length ? length : 1);
    char *text = mur_alloc_text("%.*s", (int)length, bytes);

    if (!exact)
        exit(1);
    memcpy(exact, bytes, length);
    CHECK(mur_hosts_add_text(&hosts, "h", exact, length, &problem) || problem.text[0]);
    CHECK(is_sound(&hosts));
    problem.text[0] = '\0';
    CHECK(mur_hosts_add_list(&hosts, text, &problem) || problem.text[0]);
    CHECK(is_sound(&hosts));
    free_hosts(&hosts);
    hosts = (struct mur_hosts){0};
    problem.text[0] = '\0';
    setenv("SLURM_JOB_NODELIST", "n[1-4]", 1);
    setenv("SLURM_TASKS_PER_NODE", text, 1);
    CHECK(mur_hosts_from_manager(&hosts, "slurm", &source, &problem) || problem.text[0]);
    setenv("LSB_MCPU_HOSTS", text, 1);
    CHECK(mur_hosts_from_manager(&hosts, "lsf", &source, &problem) || problem.text[0]);
    CHECK(is_sound(&hosts));
    free_hosts(&hosts);
    free(exact);
    free(text);
}

static void test_random(int rounds)
{
    static const char *const good[] = {"a slots=4 max_slots=8\nb:2 # x\nn[01-05,7]:3\n",
                                       "u@h port=22 user=v\n[fd00::1]:2,::1\n", "a 2 b 4 c 1", "4(x2),1(x2)",
                                       "n[1-3]x[1-2],m,k:4"};
    static const char alphabet[] = "ab1209[]-,:=@# \t\n(x)slotmax_port";

    for (int round = 0; round < rounds; round++) {
        char bytes[256];
        size_t length;

        if (round % 2) { /* a good one with a few bytes changed */
            const char *from = good[below(5)];

            length = strlen(from);
            memcpy(bytes, from, length);
            for (int changes = (int)below(6); changes > 0; changes--)
                bytes[below(length)] = below(3) ? alphabet[below(sizeof alphabet - 1)] : (char)below(256);
        } else {
            length = below(sizeof bytes);
            for (size_t i = 0; i < length; i++)
                bytes[i] = below(8) ? alphabet[below(sizeof alphabet - 1)] : (char)below(256);
        }
        feed(bytes, length);
    }
    clear_environment();
}

int main(int argc, char **argv)
{
    clear_environment();
    test_files();
    test_bad_files();
    test_lists();
    test_limits();
    test_local();
    test_slurm();
    test_managers();
    test_settings();
    unit_start();
    test_random(argc > 2 ? atoi(argv[2]) : 20000);
    return unit_end();
}
