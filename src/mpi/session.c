/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions (MPI-5.0 §11.3): their process sets, groups of those, and communicators of groups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/psets.h"
#include "coll/schedule/schedule.h"
#include "comm/from_group.h"
#include "engine/lock.h"
#include "mpi/bodies.h"
#include "mpi/errors.h"
#include "mpi/hints.h"
#include "mpi/instance.h"
#include "object/errhandler.h"
#include "object/info.h"
#include "object/session.h"
#include "pt2pt/buffered.h"

static const struct {
    const char *name;
    int level;
} levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
              {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
              {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
              {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

/* A session whose info does not name a thread level may use threads freely. */
static int wanted_level(const struct mur_info *info)
{
    const char *name = mur_info_get(info, "thread_level");

    for (size_t i = 0; name && i < sizeof levels / sizeof levels[0]; i++)
        if (!strcmp(name, levels[i].name))
            return levels[i].level;
    return MPI_THREAD_MULTIPLE;
}

static const char *level_name(int level)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (levels[i].level == level)
            return levels[i].name;
    return "";
}

int mur_mpi_session_init(struct mur_info *info, struct mur_errhandler *errhandler, MPI_Session *handle)
{
    int level = wanted_level(info), rc;
    struct mur_session *session;

    if (errhandler->serves && errhandler->serves != MUR_KIND_SESSION)
        return mur_error(MPI_ERR_ERRHANDLER, "errhandler was made for another kind of object than a session");
    rc = mur_instance_acquire(level);
    if (rc)
        return rc;
    mur_engine_lock();
    session = mur_session_create(errhandler, level);
    if (!session)
        mur_instance_release(false);
    mur_engine_unlock();
    if (!session)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a session");
    *handle = mur_object_handle(session);
    return MPI_SUCCESS;
}

int mur_mpi_session_finalize(MPI_Session *handle)
{
    struct mur_session *session = mur_session_find(*handle);
    void *address;
    MPI_Count bytes;

    if (!session)
        return mur_error(MPI_ERR_SESSION, *handle == MPI_SESSION_NULL
                                              ? "the session is MPI_SESSION_NULL"
                                              : "the handle is no live session's; has it been finalized already?");
    mur_send_buffer_detach(&session->send_buffer, &address, &bytes);
    *handle = MPI_SESSION_NULL;
    mur_session_release(session);
    mur_instance_release(false);
    return MPI_SUCCESS;
}

int mur_mpi_session_get_info(struct mur_session *session, MPI_Info *info_used)
{
    struct mur_info *info = NULL;
    int rc = mur_info_create(&info);

    if (rc)
        return rc;
    rc = mur_info_set(info, "thread_level", level_name(session->thread_level));
    if (!rc)
        rc = mur_info_set(info, "mpi_memory_alloc_kinds", "mpi,system");
    if (rc)
        mur_info_free(info);
    else
        *info_used = mur_object_handle(info);
    return rc;
}

static int find_set(const char *name, const struct mur_pset **set)
{
    *set = mur_pset_find(name);
    if (*set)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_ARG, "there is no process set \"%s\"; see MPI_Session_get_nth_pset", name);
}

int mur_mpi_session_get_num_psets(struct mur_session *session, struct mur_info *info, int *npset_names)
{
    (void)session;
    (void)info;
    *npset_names = mur_psets_count();
    return MPI_SUCCESS;
}

/* *pset_len is the room with its NUL, and comes back as what is needed; 0 asks only. */
int mur_mpi_session_get_nth_pset(struct mur_session *session, struct mur_info *info, int n, int *pset_len,
                                 char *pset_name)
{
    const struct mur_pset *set = n < 0 ? NULL : mur_pset_nth(n);

    (void)session;
    (void)info;
    if (!set)
        return mur_error(MPI_ERR_ARG, "n is %d, but this process is in %d process sets, numbered from 0", n,
                         mur_psets_count());
    if (*pset_len > 0 && !pset_name)
        return mur_error(MPI_ERR_ARG, "pset_name is NULL, but *pset_len is %d; it may be NULL if *pset_len is 0",
                         *pset_len);
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", set->name);
    *pset_len = (int)strlen(set->name) + 1;
    return MPI_SUCCESS;
}

int mur_mpi_session_get_pset_info(struct mur_session *session, const char *pset_name, MPI_Info *handle)
{
    const struct mur_pset *set;
    struct mur_info *info = NULL;
    char size[16];
    int rc = find_set(pset_name, &set);

    (void)session;
    if (rc || (rc = mur_info_create(&info)))
        return rc;
    snprintf(size, sizeof size, "%d", set->size);
    rc = mur_info_set(info, "mpi_size", size);
    if (rc)
        mur_info_free(info);
    else
        *handle = mur_object_handle(info);
    return rc;
}

/* Of any set of the job, too, which the process is not in: the other side of an intercommunicator is such a one. */
int mur_mpi_group_from_session_pset(struct mur_session *session, const char *pset_name, MPI_Group *newgroup)
{
    const struct mur_pset *set;
    int *processes, count = 0, rc = find_set(pset_name, &set);
    struct mur_group *group;

    *newgroup = MPI_GROUP_NULL;
    if (rc)
        return rc;
    processes = malloc((size_t)set->size * sizeof *processes);
    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of %d processes", set->size);
    for (int i = 0; i < set->range_count; i++)
        for (int rank = set->ranges[i].first; rank <= set->ranges[i].last; rank++)
            processes[count++] = rank;
    rc = mur_group_create(processes, count, &group);
    free(processes);
    if (rc)
        return rc;
    group->session = session;
    mur_session_retain(session);
    *newgroup = mur_object_handle(group);
    return MPI_SUCCESS;
}

static int check_tag(const char *stringtag)
{
    if (strlen(stringtag) < MPI_MAX_STRINGTAG_LEN)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_ARG, "stringtag has %zu characters, but may have %d", strlen(stringtag),
                     MPI_MAX_STRINGTAG_LEN - 1);
}

static int check_errhandler(const struct mur_errhandler *errhandler)
{
    if (!errhandler->serves || errhandler->serves == MUR_KIND_COMM)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_ERRHANDLER, "errhandler was made for another kind of object than a communicator");
}

int mur_mpi_comm_create_from_group(struct mur_group *group, const char *stringtag, struct mur_info *info,
                                   struct mur_errhandler *errhandler, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc = check_tag(stringtag);

    if (rc || (rc = check_errhandler(errhandler)))
        return rc;
    if (group->size && group->rank == MPI_UNDEFINED)
        return mur_error(MPI_ERR_GROUP, "this process is no member of the group");
    rc = mur_comm_create_from_group(group, stringtag, errhandler, &made);
    if (rc)
        return mur_collective_result(rc, group->size);
    if (made)
        mur_comm_set_hints(made, info);
    *newcomm = made ? (MPI_Comm)made : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int check_disjoint(const struct mur_group *local, struct mur_group *remote)
{
    for (int rank = 0; rank < local->size; rank++)
        if (mur_group_rank_of(remote, local->processes[rank]) != MPI_UNDEFINED)
            return mur_error(MPI_ERR_GROUP, "rank %d of local_group is in remote_group, too; they must be disjoint",
                             rank);
    return MPI_SUCCESS;
}

int mur_mpi_intercomm_create_from_groups(struct mur_group *local_group, int local_leader,
                                         struct mur_group *remote_group, int remote_leader, const char *stringtag,
                                         struct mur_info *info, struct mur_errhandler *errhandler,
                                         MPI_Comm *newintercomm)
{
    struct mur_comm *made = NULL;
    int rc = check_tag(stringtag);

    if (rc || (rc = check_errhandler(errhandler)))
        return rc;
    if (local_group->size && local_group->rank == MPI_UNDEFINED)
        return mur_error(MPI_ERR_GROUP, "this process is no member of local_group");
    if (local_leader < 0 || (local_group->size && local_leader >= local_group->size))
        return mur_error(MPI_ERR_RANK, "local_leader is %d, but must be from 0 to %d", local_leader,
                         local_group->size - 1);
    if (local_group->rank == local_leader && (remote_leader < 0 || remote_leader >= remote_group->size))
        return mur_error(MPI_ERR_RANK, "remote_leader is %d, but must be from 0 to %d", remote_leader,
                         remote_group->size - 1);
    if (local_group->rank == local_leader && (rc = check_disjoint(local_group, remote_group)))
        return rc;
    rc = mur_intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader, stringtag, errhandler,
                                          &made);
    if (rc)
        return mur_collective_result(rc, local_group->size + 1);
    if (made)
        mur_comm_set_hints(made, info);
    *newintercomm = made ? (MPI_Comm)made : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int mur_mpi_session_attach_buffer(struct mur_session *session, void *buffer, MPI_Count size)
{
    return mur_send_buffer_attach(&session->send_buffer, buffer, size);
}

int mur_mpi_session_detach_buffer(struct mur_session *session, void *buffer_addr, MPI_Count *size)
{
    mur_send_buffer_detach(&session->send_buffer, buffer_addr, size);
    return MPI_SUCCESS;
}

int mur_mpi_session_flush_buffer(struct mur_session *session)
{
    mur_send_buffer_flush(session->send_buffer);
    return MPI_SUCCESS;
}

int mur_mpi_session_iflush_buffer(struct mur_session *session, MPI_Request *request)
{
    struct mur_request *started = NULL;
    int rc = mur_send_buffer_iflush(session->send_buffer, &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}
