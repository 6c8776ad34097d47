/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists, strings, truth values and special addresses between Fortran and C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran/fortran.h"

MPI_Fint mur_fortran_true = 1, mur_fortran_false;

void mur_logicals_out(MPI_Fint *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = mur_logical_out(values[i]);
}

static void *list_of(struct mur_list *list, int count)
{
    if (count <= (int)(sizeof list->few / sizeof list->few[0]))
        list->all = list->few;
    else
        list->all = malloc((size_t)count * sizeof list->few[0]);
    return list->all;
}

void mur_list_free(struct mur_list *list)
{
    if (list->all != list->few)
        free(list->all);
}

MPI_Request *mur_requests_in(struct mur_list *list, const MPI_Fint *numbers, int count)
{
    MPI_Request *all = list_of(list, count);

    for (int i = 0; all && i < count; i++)
        all[i] = mur_request_in(numbers[i]);
    return all;
}

MPI_Datatype *mur_datatypes_in(struct mur_list *list, const MPI_Fint *numbers, int count)
{
    MPI_Datatype *all = list_of(list, count);

    for (int i = 0; all && i < count; i++)
        all[i] = mur_datatype_in(numbers[i]);
    return all;
}

MPI_Info *mur_infos_in(struct mur_list *list, const MPI_Fint *numbers, int count)
{
    MPI_Info *all = list_of(list, count);

    for (int i = 0; all && i < count; i++)
        all[i] = mur_info_in(numbers[i]);
    return all;
}

int *mur_logicals_in(struct mur_list *list, const MPI_Fint *values, int count)
{
    int *all = list_of(list, count);

    for (int i = 0; all && i < count; i++)
        all[i] = mur_logical_in(values[i]);
    return all;
}

void mur_requests_out(MPI_Fint *numbers, const MPI_Request *requests, int count)
{
    for (int i = 0; requests && i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL)
            numbers[i] = mur_request_out(MPI_REQUEST_NULL);
}

void mur_indices_out(MPI_Fint *indices, int count)
{
    for (int i = 0; i < count; i++)
        if (indices[i] != MPI_UNDEFINED)
            indices[i]++;
}

int mur_peers(MPI_Comm comm)
{
    int is_inter = 0, size = 0;

    if (!mur_is_comm(comm) || PMPI_Comm_test_inter(comm, &is_inter))
        return 0;
    if (is_inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size))
        return 0;
    return size;
}

int mur_neighbors(MPI_Comm comm, bool are_sent_to)
{
    int topology = MPI_UNDEFINED, count = 0, out = 0, is_weighted, rank;

    if (!mur_is_comm(comm) || PMPI_Topo_test(comm, &topology))
        return 0;
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &count);
        return 2 * count;
    }
    if (topology == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &count);
        return count;
    }
    if (topology == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(comm, &count, &out, &is_weighted);
    return are_sent_to ? out : count;
}

static char *copy_text(struct mur_text *text, const char *string, size_t length)
{
    text->all = length < sizeof text->few ? text->few : malloc(length + 1);
    if (text->all) {
        memcpy(text->all, string, length);
        text->all[length] = '\0';
    }
    return text->all;
}

char *mur_text_in(struct mur_text *text, const char *string, size_t length)
{
    while (length > 0 && string[length - 1] == ' ')
        length--;
    return copy_text(text, string, length);
}

char *mur_text_in_stripped(struct mur_text *text, const char *string, size_t length)
{
    while (length > 0 && *string == ' ') {
        string++;
        length--;
    }
    return mur_text_in(text, string, length);
}

void mur_text_free(struct mur_text *text)
{
    if (text->all != text->few)
        free(text->all);
}

void mur_text_out(char *string, size_t length, const char *text)
{
    size_t used = strnlen(text, length);

    memcpy(string, text, used);
    memset(string + used, ' ', length - used);
}

void mur_error_lost(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    if (!PMPI_Error_string(code, text, &length))
        fprintf(stderr, "Murmur: an error that was returned to a call without ierror: %s\n", text);
}

int mur_no_memory(void)
{
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}
