/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators whose other side dies while they are made: its leader instead of calling, or its whole job at any
 * moment of MPI_Intercomm_create, MPI_Intercomm_merge and MPI_Comm_dup. The leader here hears of it, and tells its
 * group: the call fails at all, or has succeeded at all, before. */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "draw.h"
#include "test.h"

enum { CHILDREN = 2, ROUNDS = 12, TAG = 9, DELAY_MOST = 4000 /* microseconds */ };
enum act { CREATE, MERGE, DUP, ACTS };

static int rank, size;
static MPI_Comm world; /* whose errors return */

static int class_of(int code)
{
    int error_class;

    MPI_Error_class(code, &error_class);
    return error_class;
}

/* Kills this process, and so its job, after some time, whatever it does then. */
static void die_in(int microseconds)
{
    struct itimerval when = {.it_value = {.tv_usec = microseconds + 1}};

    signal(SIGALRM, SIG_DFL);
    CHECK(setitimer(ITIMER_REAL, &when, NULL) == 0);
}

static int act_on(enum act act, MPI_Comm local, MPI_Comm inter, MPI_Comm *made)
{
    if (act == CREATE)
        return MPI_Intercomm_create(local, 0, inter, 0, TAG, made);
    return act == MERGE ? MPI_Intercomm_merge(inter, 0, made) : MPI_Comm_dup(inter, made);
}

/* Delay -1: the leader dies at once, and nobody calls. */
static __attribute__((noreturn)) void be_child(MPI_Comm parent, enum act act, int delay)
{
    MPI_Comm made;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(parent);
    if (delay < 0 && rank == 0)
        raise(SIGKILL);
    if (delay < 0)
        pause();
    die_in(delay);
    for (;;) {
        act_on(act, MPI_COMM_WORLD, parent, &made);
        MPI_Comm_free(&made);
    }
}

static void run(const char *self, enum act act, int delay)
{
    char number[16], kind[16], *argv[] = {kind, number, NULL};
    int code, classes[2], least[2], one = 1, sum;
    MPI_Comm inter, made;

    snprintf(kind, sizeof kind, "%d", act);
    snprintf(number, sizeof number, "%d", delay);
    CHECK(MPI_Comm_spawn(self, argv, CHILDREN, MPI_INFO_NULL, 0, world, &inter, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK(MPI_Barrier(inter) == MPI_SUCCESS);
    while ((code = act_on(act, world, inter, &made)) == MPI_SUCCESS)
        MPI_Comm_free(&made);
    /* All come here; where some had success last, the others' next call fails. */
    classes[0] = class_of(code);
    classes[1] = -classes[0];
    CHECK(MPI_Allreduce(classes, least, 2, MPI_INT, MPI_MIN, world) == MPI_SUCCESS);
    if (least[0] != MPI_ERR_PROC_ABORTED || least[1] != -MPI_ERR_PROC_ABORTED)
        fprintf(stderr, "rank %d: class %d\n", rank, classes[0]);
    CHECK(least[0] == MPI_ERR_PROC_ABORTED && least[1] == -MPI_ERR_PROC_ABORTED);
    MPI_Comm_free(&inter);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world) == MPI_SUCCESS && sum == size);
}

int main(int argc, char **argv)
{
    static char self[4096];
    unsigned seed = draw_seed();
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(parent, (enum act)atoi(argv[1]), atoi(argv[2]));
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, world);
    if (rank == 0)
        printf("seed %u\n", seed);
    fflush(stdout);
    for (int act = 0; act < ACTS; act++)
        run(self, (enum act)act, -1);
    for (int round = 0; round < ROUNDS; round++)
        run(self, (enum act)(round % ACTS), (int)(draw_next(&seed) % DELAY_MOST));
    MPI_Comm_free(&world);
    MPI_Finalize();
    return 0;
}
