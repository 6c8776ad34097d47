/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpiexec says of a job that starts, of each failure, and the exit code that it makes of it; and of how all ranks
 * ended. */
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "launch/exits.h"
#include "launch/report.h"
#include "launch/say.h"
#include "unit.h"

enum { RANKS = 7 };

static char said[8192];
static int places[RANKS], saved;
static struct mur_host host = {.name = "here"};
static struct mur_jobspec job = {.size = RANKS, .node_of = places, .hosts.items = &host, .host = "here"};

/* What goes to standard error from here on is kept. */
static void listen_up(void)
{
    char path[] = "/tmp/murmur-report-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0 && unlink(path) == 0);
    saved = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

/* Ends that; the content is in `said`. */
static const char *heard(void)
{
    ssize_t got = pread(STDERR_FILENO, said, sizeof said - 1, 0);

    said[got > 0 ? got : 0] = '\0';
    dup2(saved, STDERR_FILENO);
    close(saved);
    return said;
}

/* As many CPUs as this process may use, which the test limits. */
static void cpus_of_a_job(void)
{
    cpu_set_t all, some;
    char part[64];
    int wanted = 0;

    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&some);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_SET(cpu, &some);
        wanted++;
        CHECK(sched_setaffinity(0, sizeof some, &some) == 0);
        listen_up();
        mur_report_start(&job);
        snprintf(part, sizeof part, "7 ranks on here, which offers %d CPU%s (affinity) with ", wanted,
                 wanted == 1 ? "" : "s");
        CHECK(strstr(heard(), part));
    }
    CHECK(wanted > 0);
}

static void check_line(const struct mur_tree_frame *failure, int ended, const char *wanted, int code)
{
    listen_up();
    mur_report_failure(&job, failure, ended);
    if (strcmp(heard(), wanted) != 0) {
        fprintf(stderr, "said: %swanted: %s", said, wanted);
        failures++;
    }
    CHECK(mur_report_exit_code(failure) == code);
}

static void failures_of_ranks(void)
{
    struct mur_tree_frame f = {.kind = MUR_FRAME_FAILURE, .rank = 2, .pid = 40};

    f.cause = MUR_CAUSE_SIGNAL;
    f.signal = SIGKILL;
    check_line(&f, 0, "mpiexec: rank 2 on here (pid 40) was killed by signal 9 (SIGKILL, Killed)\n", 137);
    check_line(&f, 1,
               "mpiexec: rank 2 on here (pid 40) was killed by signal 9 (SIGKILL, Killed); 1 other rank was ended\n",
               137);
    f.has_core = 1;
    check_line(&f, 2,
               "mpiexec: rank 2 on here (pid 40) was killed by signal 9 (SIGKILL, Killed), core dumped; 2 other ranks "
               "were ended\n",
               137);
    f.cause = MUR_CAUSE_UNFINALIZED;
    f.code = 0;
    check_line(&f, 1,
               "mpiexec: rank 2 on here (pid 40) exited with code 0 before MPI_Finalize; 1 other rank was ended\n",
               MUR_EXIT_TROUBLE);
    f.code = 5;
    f.is_unknown = 1;
    check_line(&f, 0, "mpiexec: rank 2 on here (pid 40) died before MPI_Finalize\n", 5);
    f.cause = MUR_CAUSE_EXIT;
    check_line(&f, 3, "mpiexec: rank 2 on here (pid 40) exited with code 5; 3 other ranks were ended\n", 5);
    f.cause = MUR_CAUSE_PIPE;
    check_line(&f, 3, "", 128 + SIGPIPE);
}

static void failures_that_tell(void)
{
    struct mur_tree_frame f = {.kind = MUR_FRAME_FAILURE, .rank = 2, .pid = 40, .cause = MUR_CAUSE_ABORT};

    mur_frame_set_text(&f, "why");
    check_line(&f, 0, "why\nmpiexec: rank 2 on here (pid 40) aborted the job with code 0\n", 0);
    f.code = 256;
    f.length = 0;
    check_line(&f, 1, "mpiexec: rank 2 on here (pid 40) aborted the job with code 256; 1 other rank was ended\n",
               MUR_EXIT_TROUBLE);
    f.code = 257;
    check_line(&f, 0, "mpiexec: rank 2 on here (pid 40) aborted the job with code 257\n", 1);
    mur_frame_set_failure(&f, "cannot");
    check_line(&f, 0, "mpiexec: cannot\n", MUR_EXIT_TROUBLE);
    f = (struct mur_tree_frame){.rank = 2, .pid = 40, .cause = MUR_CAUSE_MISSING, .standing.highest_rank = 4};
    check_line(
        &f, 0,
        "mpiexec: rank 2 on here (pid 40) exited with code 0 without MPI_Init, and rank 4, which is in MPI, would "
        "wait for it\n",
        MUR_EXIT_TROUBLE);
    f.standing.left = 1;
    f.standing.highest = 2;
    check_line(&f, 0,
               "mpiexec: rank 2 on here (pid 40) exited with code 0 after 1 MPI program, and rank 4, which is in its "
               "2nd, would wait for it\n",
               MUR_EXIT_TROUBLE);
    f.standing.left = 2;
    f.standing.highest = 4;
    check_line(&f, 0,
               "mpiexec: rank 2 on here (pid 40) exited with code 0 after 2 MPI programs, and rank 4, which is in its "
               "4th, would wait for it\n",
               MUR_EXIT_TROUBLE);
}

/* The exit code tells all of a job of one. */
static void small_jobs(void)
{
    struct mur_tree_frame f = {.kind = MUR_FRAME_FAILURE, .pid = 40, .cause = MUR_CAUSE_EXIT, .code = 3};

    job.size = 1;
    check_line(&f, 0, "", 3);
    job.size = 2;
    check_line(&f, 0, "mpiexec: rank 0 on here (pid 40) exited with code 3\n", 3);
    job.size = RANKS;
}

static void check_exits(const int outcomes[RANKS], const char *wanted)
{
    struct mur_exits exits = {0};

    for (int rank = 0; rank < RANKS; rank++) {
        struct mur_tree_frame exited = {.rank = rank, .code = outcomes[rank], .signal = -outcomes[rank]};

        if (outcomes[rank] < 0)
            exited.code = 0;
        else
            exited.signal = 0;
        if (outcomes[rank] != 1000)
            mur_exits_note(&exits, &job, &exited);
    }
    listen_up();
    mur_exits_print(&exits, &job);
    if (strcmp(heard(), wanted) != 0) {
        fprintf(stderr, "said: %swanted: %s", said, wanted);
        failures++;
    }
}

static void exits_of_all(void)
{
    check_exits((int[RANKS]){0, 0, 0, 0, 0, 0, 0}, "mpiexec: ranks 0-6 exited with code 0\n");
    check_exits((int[RANKS]){0, 3, 0, 0, -9, 3, 1000},
                "mpiexec: ranks 0,2-3 exited with code 0\nmpiexec: ranks 1,5 exited with code 3\n"
                "mpiexec: rank 4 ended by signal 9 (SIGKILL)\nmpiexec: rank 6 did not run, or nobody saw the end\n");
}

/* What does not fit on a line is cut, and says so. */
static void long_lists(void)
{
    enum { MANY = 2000 };
    struct mur_exits exits = {0};
    const char *first, *end;

    job.size = MANY;
    for (int rank = 0; rank < MANY; rank++)
        mur_exits_note(&exits, &job, &(struct mur_tree_frame){.rank = rank, .code = rank % 2});
    listen_up();
    mur_exits_print(&exits, &job);
    first = heard();
    end = strchr(first, '\n');
    CHECK(end && end - first < 2200 && strncmp(first, "mpiexec: ranks 0,2,4,6,", 23) == 0);
    CHECK(end && strstr(first, ",... exited with code 0\n") && strstr(first, ",... exited with code 1\n"));
    job.size = RANKS;
}

int main(void)
{
    cpus_of_a_job();
    failures_of_ranks();
    failures_that_tell();
    small_jobs();
    exits_of_all();
    long_lists();
    return unit_end();
}
