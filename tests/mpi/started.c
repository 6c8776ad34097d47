/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_INFO_ENV, MPI_Info_create_env and the predefined attributes tell about the start, in each of several
 * commands of one job: started APPNUM MAXPROCS [MORE...] */
#include <sys/utsname.h>
#include <unistd.h>

#include "test.h"

static const char *get(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL])
{
    int length = MPI_MAX_INFO_VAL, flag;

    CHECK(MPI_Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS);
    return flag ? value : NULL;
}

static void expect(MPI_Info info, const char *key, const char *wanted)
{
    char value[MPI_MAX_INFO_VAL];
    const char *found = get(info, key, value);

    if (!found || strcmp(found, wanted)) {
        fprintf(stderr, "%s is %s, expected %s\n", key, found ? found : "not there", wanted);
        CHECK(!"the value of a key");
    }
}

static void check_info(MPI_Info info, int argc, char **argv)
{
    char directory[4096], arguments[MPI_MAX_INFO_VAL] = "";
    struct utsname system;

    for (int i = 1; i < argc; i++)
        snprintf(arguments + strlen(arguments), sizeof arguments - strlen(arguments), "%s%s", i > 1 ? " " : "",
                 argv[i]);
    uname(&system);
    expect(info, "command", argv[0]);
    expect(info, "argv", arguments);
    expect(info, "maxprocs", argv[2]);
    expect(info, "arch", system.machine);
    expect(info, "host", system.nodename);
    expect(info, "wdir", getcwd(directory, sizeof directory));
}

/* It cannot be changed or freed. */
static void check_read_only(void)
{
    MPI_Info copy = MPI_INFO_ENV;

    CHECK(MPI_Info_set(MPI_INFO_ENV, "command", "another") != MPI_SUCCESS);
    CHECK(MPI_Info_delete(MPI_INFO_ENV, "command") != MPI_SUCCESS);
    CHECK(MPI_Info_free(&copy) != MPI_SUCCESS && copy == MPI_INFO_ENV);
    CHECK(MPI_Info_dup(MPI_INFO_ENV, &copy) == MPI_SUCCESS && MPI_Info_set(copy, "command", "another") == MPI_SUCCESS);
    MPI_Info_free(&copy);
}

int main(int argc, char **argv)
{
    MPI_Info early;
    int *value, flag, size, provided;

    CHECK(argc >= 3);
    CHECK(MPI_Info_create_env(argc, argv, &early) == MPI_SUCCESS);
    check_info(early, argc, argv);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_info(MPI_INFO_ENV, argc, argv);
    expect(MPI_INFO_ENV, "thread_level", "MPI_THREAD_FUNNELED");
    check_read_only();
    MPI_Info_free(&early);

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag) == MPI_SUCCESS && flag);
    CHECK(*value == atoi(argv[1]));
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag) == MPI_SUCCESS && flag && *value == size);
    MPI_Finalize();
    return 0;
}
