/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that spawn jobs: what the children get, talking to them, names that both know, children that cannot be started
 * or die, and many one after the other. Without an argument it is the parent, else what the argument says. */
#include <signal.h>
#include <unistd.h>

#include "dynamic/talk.h"
#include "memory_use.h"

static int rank, size;
static char *self;
static int is_foreign; /* under another's launcher, which ends all when one dies: so nobody does */

static int class_of(int code)
{
    int error_class;

    MPI_Error_class(code, &error_class);
    return error_class;
}

static int appnum_of(void)
{
    int *value, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    return flag ? *value : -1;
}

/* ---- children ---- */

static void child_talk(MPI_Comm parent, int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME], port[MPI_MAX_PORT_NAME];
    int length;

    MPI_Comm_get_name(parent, name, &length);
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
    CHECK(argc == 5 && strcmp(argv[2], "two words") == 0 && strcmp(argv[3], ":") == 0 && strcmp(argv[4], "") == 0);
    talk_pairs(parent, 20000);
    talk_collectives(parent, 0);
    talk_merged(parent, 0);
    if (rank == 0) { /* the names of the first job are the names of all */
        CHECK(MPI_Lookup_name("spawn test", MPI_INFO_NULL, port) == MPI_SUCCESS && strcmp(port, "a port") == 0);
        CHECK(MPI_Publish_name("from the child", MPI_INFO_NULL, "b") == MPI_SUCCESS);
    }
    MPI_Barrier(parent);
}

static void child_multiple(MPI_Comm parent, int argc, char **argv)
{
    int sum, appnum = appnum_of();

    CHECK(argc == (appnum == 0 ? 2 : 3) && (appnum == 0 || strcmp(argv[2], "second") == 0));
    CHECK(appnum == (rank < 2 ? 0 : 1));
    CHECK(appnum == 0 ? !getenv("SPAWN_TEST") : strcmp(getenv("SPAWN_TEST"), "a value") == 0);
    if (appnum == 1) {
        char directory[100];

        CHECK(getcwd(directory, sizeof directory) && strcmp(directory, "/") == 0);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, parent);
}

static int be_child(MPI_Comm parent, int argc, char **argv)
{
    MPI_Comm again;

    CHECK(parent != MPI_COMM_NULL);
    if (strcmp(argv[1], "talk") == 0)
        child_talk(parent, argc, argv);
    else if (strcmp(argv[1], "multiple") == 0)
        child_multiple(parent, argc, argv);
    if (strcmp(argv[1], "keep") == 0) { /* finalising parts, too */
        talk_pairs(parent, 100000);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&again);
    CHECK(again == MPI_COMM_NULL);
    if (strcmp(argv[1], "die") == 0)
        raise(SIGKILL);
    if (strcmp(argv[1], "stay") == 0)
        usleep(300000);
    MPI_Finalize();
    return 0;
}

/* ---- the parent ---- */

static void test_talk(int is_alone)
{
    char *argv[] = {"talk", "two words", ":", "", NULL}, port[MPI_MAX_PORT_NAME];
    int codes[3] = {-1, -1, -1}, remote;
    MPI_Comm inter;

    if (rank == 0)
        CHECK(is_alone || MPI_Publish_name("spawn test", MPI_INFO_NULL, "a port") == MPI_SUCCESS);
    CHECK(MPI_Comm_spawn(self, argv, 3, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && codes[2] == MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote == 3);
    talk_pairs(inter, 20000);
    talk_collectives(inter, 1);
    talk_merged(inter, 1);
    MPI_Barrier(inter);
    if (rank == 0) {
        CHECK(MPI_Unpublish_name("spawn test", MPI_INFO_NULL, "a port") == MPI_SUCCESS);
        CHECK(MPI_Lookup_name("from the child", MPI_INFO_NULL, port) == MPI_SUCCESS && strcmp(port, "b") == 0);
        CHECK(MPI_Unpublish_name("from the child", MPI_INFO_NULL, "b") == MPI_SUCCESS);
    }
    MPI_Comm_disconnect(&inter);
}

static void test_multiple(void)
{
    char *commands[] = {self, self}, *first[] = {"multiple", NULL}, *second[] = {"multiple", "second", NULL};
    char **argvs[] = {first, second};
    int maxprocs[] = {4, 1}, codes[5], sum, own = 0;
    MPI_Info infos[2];
    MPI_Comm inter;

    MPI_Info_create(&infos[0]);
    MPI_Info_set(infos[0], "soft", "1:3:1,7,2"); /* of at most 4 processes, 3 are the most */
    MPI_Info_set(infos[0], "soft", "0,2,9:11");
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Info_set(infos[1], "env", "SPAWN_TEST=a value");
    CHECK(MPI_Comm_spawn_multiple(2, commands, argvs, maxprocs, infos, 0, MPI_COMM_WORLD, &inter, codes) ==
          MPI_SUCCESS);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && codes[4] == MPI_SUCCESS);
    CHECK(class_of(codes[2]) == MPI_ERR_SPAWN && class_of(codes[3]) == MPI_ERR_SPAWN);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == 3);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&infos[0]);
    MPI_Info_free(&infos[1]);
}

static void test_failures(void)
{
    char *none[] = {NULL};
    int codes[2] = {0, 0};
    MPI_Comm inter = MPI_COMM_NULL;

    CHECK(class_of(MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                  codes)) == MPI_ERR_SPAWN);
    CHECK(class_of(codes[0]) == MPI_ERR_SPAWN && class_of(codes[1]) == MPI_ERR_SPAWN);
    CHECK(class_of(MPI_Comm_spawn("true", none, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) ==
          MPI_ERR_SPAWN); /* ends without MPI_Init */
    CHECK(class_of(MPI_Comm_spawn(NULL, none, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) ==
          MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_spawn(self, none, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) ==
          MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_spawn(self, none, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) ==
          MPI_ERR_ROOT);
    CHECK(class_of(MPI_Comm_spawn_multiple(0, NULL, NULL, NULL, NULL, 0, MPI_COMM_WORLD, &inter,
                                           MPI_ERRCODES_IGNORE)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_spawn_multiple(1, NULL, NULL, NULL, NULL, 0, MPI_COMM_WORLD, &inter,
                                           MPI_ERRCODES_IGNORE)) == MPI_ERR_ARG);
    CHECK(inter == MPI_COMM_NULL);
}

static void spawn_one(const char *what)
{
    char *argv[] = {(char *)(uintptr_t)what, NULL}, text[MPI_MAX_ERROR_STRING];
    int code, length;
    MPI_Comm inter;

    code = MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Error_string(code, text, &length);
    if (code != MPI_SUCCESS)
        fprintf(stderr, "%s\n", text);
    CHECK(code == MPI_SUCCESS);
    CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
}

/* Connected until both finalise. */
static void spawn_and_keep(void)
{
    char *argv[] = {"keep", NULL};
    MPI_Comm inter;

    CHECK(MPI_Comm_spawn(self, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    talk_pairs(inter, 100000);
}

#ifdef __SANITIZE_ADDRESS__
enum { MORE_KIB = 1 << 20 }; /* the sanitizer keeps what was freed */
#else
enum { MORE_KIB = 100 }; /* 450 bytes a child */
#endif

/* Nothing stays of a child, however it ended, but the socket for ringing sleeping ranks, made at the first ring. */
static void test_often(int rounds)
{
    int before = 0;
    long kib = 0;

    for (int round = 0; round < rounds; round++) {
        if (round == 3)
            before = count_descriptors();
        if (round == 72)
            kib = memory_of(getpid());
        spawn_one(round % 4 == 1 && !is_foreign ? "die" : "part");
    }
    CHECK(rounds < 4 || count_descriptors() <= before + 1);
    CHECK(rounds < 300 || memory_of(getpid()) <= kib + MORE_KIB);
}

int main(int argc, char **argv)
{
    static char path[4096];
    int rounds;
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    self = path;
    if (parent != MPI_COMM_NULL)
        return be_child(parent, argc, argv);
    is_foreign = appnum_of() >= 0 && !getenv("MUR_CONTROL_FD");
    rounds = argc > 1 ? atoi(argv[1]) : 8;
    CHECK(rounds > 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc < 3) {
        int is_alone = appnum_of() < 0;

        if (!is_alone)
            test_talk(is_alone);
        test_multiple();
        test_failures();
    }
    test_often(rounds);
    spawn_one("stay"); /* longer than its parents */
    spawn_and_keep();
    MPI_Finalize();
    return 0;
}
