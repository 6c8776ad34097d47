/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of handles and statuses, and texts, between a family's form and ours. */
#include <stdlib.h>

#include "door.h"

void *mur_list_room(struct mur_door_list *list, MPI_Count count, size_t bytes)
{
    if (count < 0 || (uint64_t)count <= sizeof list->few / bytes)
        list->all = list->few;
    else
        list->all = malloc((size_t)count * bytes);
    return list->all;
}

void mur_list_free(struct mur_door_list *list)
{
    if (list->all != list->few)
        free(list->all);
}

static void *handles_room(struct mur_door_list *list, const void *theirs, MPI_Count count)
{
    list->all = NULL;
    return theirs ? mur_list_room(list, count, sizeof list->few[0]) : NULL;
}

MPI_Request *mur_requests_in(struct mur_door_list *list, const their_request *theirs, int count)
{
    MPI_Request *all = handles_room(list, theirs, count);

    for (int i = 0; all && i < count; i++)
        all[i] = request_in(theirs[i]);
    return all;
}

MPI_Datatype *mur_types_in(struct mur_door_list *list, const their_type *theirs, MPI_Count count)
{
    MPI_Datatype *all = handles_room(list, theirs, count);

    for (MPI_Count i = 0; all && i < count; i++)
        all[i] = type_in(theirs[i]);
    return all;
}

MPI_Info *mur_infos_in(struct mur_door_list *list, const their_info *theirs, int count)
{
    MPI_Info *all = handles_room(list, theirs, count);

    for (int i = 0; all && i < count; i++)
        all[i] = info_in(theirs[i]);
    return all;
}

void mur_requests_out(their_request *theirs, const MPI_Request *ours, int count)
{
    const their_request null = request_out(MPI_REQUEST_NULL);

    for (int i = 0; ours && i < count; i++)
        if (ours[i] == MPI_REQUEST_NULL && theirs[i] != null)
            theirs[i] = null;
}

MPI_Status *mur_statuses_room(struct mur_statuses *list, const struct their_status *theirs, int count)
{
    list->all = list->few;
    if (is_ignored(theirs))
        return MPI_STATUSES_IGNORE;
    if (count > (int)(sizeof list->few / sizeof list->few[0]))
        list->all = malloc((size_t)count * sizeof list->few[0]);
    for (int i = 0; list->all && i < count; i++)
        status_room(theirs, &list->all[i]);
    return list->all;
}

void mur_statuses_out(struct their_status *theirs, const MPI_Status *ours, int count)
{
    for (int i = 0; ours && i < count; i++)
        status_out(&theirs[i], &ours[i]);
}

void mur_statuses_free(struct mur_statuses *list)
{
    if (list->all != list->few)
        free(list->all);
}

/* Whether it can be asked about without calling its error handler. */
static bool is_comm(MPI_Comm comm)
{
    return comm != MPI_COMM_NULL && murmur_door.Comm_fromint(murmur_door.Comm_toint(comm)) == comm;
}

int mur_door_peers(MPI_Comm comm)
{
    int is_inter = 0, size = 0;

    if (!is_comm(comm) || murmur_door.Comm_test_inter(comm, &is_inter))
        return 0;
    if (is_inter ? murmur_door.Comm_remote_size(comm, &size) : murmur_door.Comm_size(comm, &size))
        return 0;
    return size;
}

int mur_door_neighbors(MPI_Comm comm, bool are_sent_to)
{
    int topology = MPI_UNDEFINED, count = 0, out = 0, is_weighted, rank;

    if (!is_comm(comm) || murmur_door.Topo_test(comm, &topology))
        return 0;
    if (topology == MPI_CART) {
        murmur_door.Cartdim_get(comm, &count);
        return 2 * count;
    }
    if (topology == MPI_GRAPH) {
        murmur_door.Comm_rank(comm, &rank);
        murmur_door.Graph_neighbors_count(comm, rank, &count);
        return count;
    }
    if (topology == MPI_DIST_GRAPH)
        murmur_door.Dist_graph_neighbors_count(comm, &count, &out, &is_weighted);
    return are_sent_to ? out : count;
}

void mur_text_out(char *theirs, const char *text, int limit, int *length)
{
    size_t used = strnlen(text, (size_t)limit - 1);

    memcpy(theirs, text, used);
    theirs[used] = '\0';
    if (length && *length >= limit)
        *length = limit - 1;
}
