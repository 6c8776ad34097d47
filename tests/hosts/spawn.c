/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawns processes and says where they are: spawn COUNT EXPECTED [KEY VALUE]... The expected hosts are a list with
 * commas, in the order of the ranks; or "fails". Parents and children see the same MPI_UNIVERSE_SIZE. */
#include "test.h"

enum { NAME = MPI_MAX_PROCESSOR_NAME };

static int universe(void)
{
    int *value, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    return flag ? *value : -1;
}

static int be_child(MPI_Comm parent)
{
    char name[NAME] = "";
    int length, all, own = universe();

    MPI_Get_processor_name(name, &length);
    MPI_Gather(name, NAME, MPI_CHAR, NULL, 0, MPI_CHAR, 0, parent);
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MAX, parent);
    CHECK(!getenv("MUR_EXPECT_UNIVERSE") || all == own);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

static void check_places(MPI_Comm inter, int count, int rank, const char *expected)
{
    char *names = malloc((size_t)count * NAME), seen[4000] = "";
    int all, own = universe();

    MPI_Gather(NULL, 0, MPI_CHAR, names, NAME, MPI_CHAR, rank ? MPI_PROC_NULL : MPI_ROOT, inter);
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MAX, inter);
    CHECK(!getenv("MUR_EXPECT_UNIVERSE") || (all == own && own == atoi(getenv("MUR_EXPECT_UNIVERSE"))));
    for (int i = 0; rank == 0 && i < count; i++)
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%s", i ? "," : "", names + (size_t)i * NAME);
    if (rank == 0 && strcmp(seen, expected) != 0)
        fprintf(stderr, "expected %s, saw %s\n", expected, seen);
    CHECK(rank || strcmp(seen, expected) == 0);
    free(names);
}

int main(int argc, char **argv)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm parent, inter;
    int rank, count, code, error_class, codes[100];

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return be_child(parent);
    CHECK(argc >= 3 && (count = atoi(argv[1])) <= 100);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    for (int i = 3; i + 1 < argc; i += 2)
        MPI_Info_set(info, argv[i], argv[i + 1]);
    code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, count, info, 0, MPI_COMM_WORLD, &inter, codes);
    MPI_Info_free(&info);
    MPI_Error_class(code, &error_class);
    if (strcmp(argv[2], "fails") == 0) {
        CHECK(error_class == MPI_ERR_SPAWN);
        for (int i = 0; i < count; i++)
            CHECK(MPI_Error_class(codes[i], &error_class) == MPI_SUCCESS && error_class == MPI_ERR_SPAWN);
    } else {
        CHECK(code == MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            CHECK(codes[i] == MPI_SUCCESS);
        check_places(inter, count, rank, argv[2]);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Finalize();
    return 0;
}
