/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators (MPI-5.0 §7.4): queries, making and freeing them, names. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "comm/create.h"
#include "mpi/bodies.h"
#include "object/comm.h"
#include "object/group.h"

int mur_mpi_comm_size(struct mur_comm *comm, int *size)
{
    *size = comm->size;
    return MPI_SUCCESS;
}

int mur_mpi_comm_rank(struct mur_comm *comm, int *rank)
{
    *rank = comm->rank;
    return MPI_SUCCESS;
}

/* All communicators have one group: those with two come from functions that are not exported yet. */
int mur_mpi_comm_test_inter(struct mur_comm *comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}

int mur_mpi_comm_compare(struct mur_comm *comm1, struct mur_comm *comm2, int *result)
{
    int rc;

    if (comm1 == comm2) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    rc = mur_mpi_group_compare(comm1->group, comm2->group, result);
    if (*result == MPI_IDENT)
        *result = MPI_CONGRUENT;
    return rc;
}

/* Hands out a new communicator, or the null handle where this process is no member. */
static int give(int rc, struct mur_comm *made, MPI_Comm *newcomm)
{
    if (!rc)
        *newcomm = made ? (MPI_Comm)made : MPI_COMM_NULL;
    return rc;
}

int mur_mpi_comm_dup(struct mur_comm *comm, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc = mur_comm_dup(comm, &made);

    return give(rc, made, newcomm);
}

int mur_mpi_comm_split(struct mur_comm *comm, int color, int key, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc;

    if (color < 0 && color != MPI_UNDEFINED)
        return mur_error(MPI_ERR_ARG, "color is %d, but must be 0 or more, or MPI_UNDEFINED", color);
    rc = mur_comm_split(comm, color, key, &made);
    return give(rc, made, newcomm);
}

static int check_subgroup(struct mur_comm *comm, const struct mur_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (mur_group_rank_of(comm->group, group->processes[i]) == MPI_UNDEFINED)
            return mur_error(MPI_ERR_GROUP, "rank %d of the group is no member of the communicator", i);
    return MPI_SUCCESS;
}

int mur_mpi_comm_create(struct mur_comm *comm, struct mur_group *group, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc = check_subgroup(comm, group);

    if (!rc)
        rc = mur_comm_create_from(comm, group, &made);
    return give(rc, made, newcomm);
}

int mur_mpi_comm_create_group(struct mur_comm *comm, struct mur_group *group, int tag, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc = check_subgroup(comm, group);

    if (!rc)
        rc = mur_comm_create_in_group(comm, group, tag, &made);
    return give(rc, made, newcomm);
}

int mur_mpi_comm_free(MPI_Comm *comm)
{
    struct mur_comm *found = mur_comm_find(*comm);

    if (!found)
        return mur_error(MPI_ERR_COMM, *comm == MPI_COMM_NULL
                                           ? "comm is MPI_COMM_NULL, which cannot be freed"
                                           : "comm is no live communicator; has it been freed already?");
    if (found->object.predefined)
        return mur_error(MPI_ERR_COMM, "%s cannot be freed", found->name);
    *comm = MPI_COMM_NULL;
    mur_comm_release(found);
    return MPI_SUCCESS;
}

int mur_mpi_comm_set_name(struct mur_comm *comm, const char *comm_name)
{
    snprintf(comm->name, sizeof comm->name, "%s", comm_name);
    return MPI_SUCCESS;
}

int mur_mpi_comm_get_name(struct mur_comm *comm, char *comm_name, int *resultlen)
{
    const char *name = comm ? comm->name : "MPI_COMM_NULL"; /* §7.8: since MPI-4.1 */

    strcpy(comm_name, name);
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}
