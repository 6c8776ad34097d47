/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that mpiexec was told of: started as
 *   mpiexec -n 2 -pset app://ocean -pset both psets : -n 1 psets : -n 2 -pset land -pset both psets
 * (the parts may be on any hosts), each rank sees those that it is in, can make groups of all, talks within them and
 * between two, splits by name; and jobs that are spawned have sets of their own. */
#include "test.h"

static const struct expected {
    const char *name;
    int size, ranks[5];
} expected[] = {
    {"mpi://WORLD", 5, {0, 1, 2, 3, 4}}, {"app://ocean", 2, {0, 1}}, {"both", 4, {0, 1, 3, 4}}, {"land", 2, {3, 4}}};

static int is_in(const struct expected *set, int rank)
{
    for (int i = 0; i < set->size; i++)
        if (set->ranks[i] == rank)
            return 1;
    return 0;
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void check_list(MPI_Session session, int rank)
{
    int count, length, should = 2; /* with mpi://SELF */
    char name[MPI_MAX_PSET_NAME_LEN];

    for (int i = 1; i < 4; i++)
        should += is_in(&expected[i], rank);
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count) == MPI_SUCCESS && count == should);
    for (int i = 0; i < count; i++) {
        int known = 0;

        length = sizeof name;
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name) == MPI_SUCCESS);
        CHECK(length == (int)strlen(name) + 1);
        for (int k = 0; k < 4; k++)
            known |= !strcmp(name, expected[k].name) && is_in(&expected[k], rank);
        CHECK(known || !strcmp(name, "mpi://SELF"));
    }
    CHECK(class_of(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name)) == MPI_ERR_ARG);
}

static MPI_Group group_of(MPI_Session session, MPI_Group world, const struct expected *set)
{
    int numbers[5] = {0, 1, 2, 3, 4}, ranks[5], length = 16, flag;
    char value[16];
    MPI_Group group;
    MPI_Info info;

    CHECK(MPI_Group_from_session_pset(session, set->name, &group) == MPI_SUCCESS);
    MPI_Group_translate_ranks(group, set->size, numbers, world, ranks);
    for (int i = 0; i < set->size; i++)
        CHECK(ranks[i] == set->ranks[i]);
    CHECK(MPI_Session_get_pset_info(session, set->name, &info) == MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
    CHECK(flag && atoi(value) == set->size);
    MPI_Info_free(&info);
    return group;
}

static void talk(MPI_Session session, int rank)
{
    MPI_Group world, groups[4];
    MPI_Comm comm;
    int size, sum = 0, one = 1, is_sea = rank < 2;

    MPI_Group_from_session_pset(session, "mpi://world", &world);
    for (int i = 0; i < 4; i++) {
        groups[i] = group_of(session, world, &expected[i]);
        if (!is_in(&expected[i], rank))
            continue;
        CHECK(MPI_Comm_create_from_group(groups[i], "sets", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == expected[i].size);
        MPI_Comm_free(&comm);
    }
    if (rank != 2) {
        CHECK(MPI_Intercomm_create_from_groups(groups[is_sea ? 1 : 3], 0, groups[is_sea ? 3 : 1], 0, "coast",
                                               MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
        MPI_Comm_remote_size(comm, &size);
        CHECK(size == 2);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == (is_sea ? 7 : 1));
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < 4; i++)
        MPI_Group_free(&groups[i]);
    MPI_Group_free(&world);
}

static void misuse(MPI_Session session)
{
    const char *const names[] = {"", "nothing", "LAND", "land ", "app://", "mpi://", "0-1", "3-4"};
    MPI_Group group;
    MPI_Info info;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        group = MPI_GROUP_EMPTY;
        CHECK(class_of(MPI_Group_from_session_pset(session, names[i], &group)) == MPI_ERR_ARG);
        CHECK(group == MPI_GROUP_NULL);
        CHECK(class_of(MPI_Session_get_pset_info(session, names[i], &info)) == MPI_ERR_ARG);
    }
}

static void split(int rank)
{
    MPI_Info info;
    MPI_Comm comm;
    int size;

    MPI_Info_create(&info);
    for (int i = 0; i < 4; i++) {
        MPI_Info_set(info, "mpi_pset_name", expected[i].name);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm);
        CHECK((comm != MPI_COMM_NULL) == is_in(&expected[i], rank));
        if (comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_size(comm, &size);
        CHECK(size == expected[i].size);
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&info);
}

/* The children are in the set that the info key names, and in none of ours. */
static void spawn(char *program)
{
    char *argv[] = {"child", NULL};
    MPI_Info info;
    MPI_Comm children;

    MPI_Info_create(&info);
    MPI_Info_set(info, "pset", "ice");
    CHECK(MPI_Comm_spawn(program, argv, 2, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    MPI_Comm_disconnect(&children);
    MPI_Info_free(&info);
}

static int be_child(MPI_Session session)
{
    int count, length = 100, size;
    char name[100];
    MPI_Comm parent;
    MPI_Group group;

    MPI_Init(NULL, NULL);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count == 3);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name);
    CHECK(!strcmp(name, "ice"));
    CHECK(class_of(MPI_Group_from_session_pset(session, "land", &group)) == MPI_ERR_ARG);
    CHECK(MPI_Group_from_session_pset(session, "ice", &group) == MPI_SUCCESS);
    MPI_Group_size(group, &size);
    CHECK(size == 2);
    MPI_Group_free(&group);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Session session;
    int rank;

    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    if (argc > 1)
        return be_child(session);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_list(session, rank);
    talk(session, rank);
    misuse(session);
    split(rank);
    spawn(argv[0]);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
}
