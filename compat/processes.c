/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on groups and processes whose constants are in arrays, or belong to one family. */
#include "door.h"

#include "base/error.h"

MUR_DOOR(int, Group_translate_ranks, their_group group1, int n, const int ranks1[], their_group group2, int ranks2[])
{
    struct mur_door_list list;
    int *values = ranks1 ? mur_list_room(&list, n, sizeof *values) : NULL;
    int code;

    for (int i = 0; values && i < n; i++)
        values[i] = rank_in(ranks1[i]);
    code = murmur_door.Group_translate_ranks(group_in(group1), n, values, group_in(group2), ranks2);
    for (int i = 0; !code && i < n; i++)
        ranks2[i] = rank_out(ranks2[i]);
    if (values)
        mur_list_free(&list);
    return error_out(code);
}

/* Whether the call came so far as to say what became of each process; then it did so everywhere. */
static bool has_codes(int code)
{
    return !code || mur_error_class(code) == MPI_ERR_SPAWN;
}

static void codes_out(int *codes, int count)
{
    for (int i = 0; codes && i < count; i++)
        codes[i] = error_out(codes[i]);
}

MUR_DOOR(int, Comm_spawn, const char *command, char *argv[], int maxprocs, their_info info, int root, their_comm comm,
         their_comm *intercomm, int codes[])
{
    MPI_Comm value;
    int code = murmur_door.Comm_spawn(command, argv, maxprocs, info_in(info), rank_in(root), comm_in(comm),
                                      intercomm ? &value : NULL, codes);

    if (!code)
        *intercomm = comm_out(value);
    if (has_codes(code))
        codes_out(codes, maxprocs);
    return error_out(code);
}

/* How many codes there are, which only the root knows. */
static int processes_asked(MPI_Comm comm, int root, int count, const int maxprocs[], bool is_root)
{
    int total = 0;

    for (int i = 0; is_root && i < count; i++)
        total += maxprocs[i];
    murmur_door.Bcast(&total, 1, MPI_INT, root, comm);
    return total;
}

MUR_DOOR(int, Comm_spawn_multiple, int count, char *commands[], char **argvs[], const int maxprocs[],
         const their_info infos[], int root, their_comm comm, their_comm *intercomm, int codes[])
{
    struct mur_door_list list;
    int rank = -1;
    bool is_root = !murmur_door.Comm_rank(comm_in(comm), &rank) && rank == root;
    MPI_Info *values = is_root ? mur_infos_in(&list, infos, count) : NULL;
    MPI_Comm value;
    int code = murmur_door.Comm_spawn_multiple(count, commands, argvs, maxprocs, values, rank_in(root), comm_in(comm),
                                               intercomm ? &value : NULL, codes);

    if (!code)
        *intercomm = comm_out(value);
    if (has_codes(code))
        codes_out(codes, processes_asked(comm_in(comm), rank_in(root), count, maxprocs, is_root));
    if (is_root)
        mur_list_free(&list);
    return error_out(code);
}

/* A family's own types name a level of the machine, for which the standard has a hint. */
static int split_by_level(MPI_Comm comm, const char *level, int key, MPI_Comm *newcomm)
{
    MPI_Info info;
    int code = murmur_door.Info_create(&info);

    if (code)
        return code;
    code = murmur_door.Info_set(info, "mpi_hw_resource_type", level);
    if (!code)
        code = murmur_door.Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, key, info, newcomm);
    murmur_door.Info_free(&info);
    return code;
}

MUR_DOOR(int, Comm_split_type, their_comm comm, int split_type, int key, their_info info, their_comm *newcomm)
{
    const char *level = split_level(split_type);
    MPI_Comm value, *room = newcomm ? &value : NULL;
    int code = level ? split_by_level(comm_in(comm), level, key, room)
                     : murmur_door.Comm_split_type(comm_in(comm), split_type_in(split_type), key, info_in(info), room);

    if (!code)
        *newcomm = comm_out(value);
    return error_out(code);
}

/* This library does not have the standard ABI, whatever the core has (MPI-5.0 §20.2): mpi4py asks. */
MUR_DOOR(int, Abi_get_version, int *abi_major, int *abi_minor)
{
    if (!abi_major || !abi_minor)
        return mur_door_raise(MPI_ERR_ARG);
    *abi_major = -1;
    *abi_minor = -1;
    return MPI_SUCCESS;
}
