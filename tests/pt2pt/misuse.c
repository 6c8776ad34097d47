/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that are wrong, under MPI_ERRORS_RETURN: each gives its error class and a text that names the call, and
 * nothing crashes or hangs. */
#include "test.h"

static int rank, size;

static void expect(int line, int code, int wanted, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;

    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != wanted || !strstr(text, call)) {
        fprintf(stderr, "line %d: class %d, wanted %d: %s\n", line, class, wanted, text);
        CHECK(!"the right error");
    }
}

#define EXPECT(call, arguments, wanted) expect(__LINE__, call arguments, wanted, #call)

int main(int argc, char **argv)
{
    MPI_Datatype uncommitted, freed, stale, absolute;
    MPI_Comm world, gone, stale_comm;
    MPI_Request request, stale_request;
    MPI_Status status;
    MPI_Group group;
    int data[4] = {0}, flag, color_rank, one = 1;
    MPI_Aint address;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(world, &gone);
    stale_comm = gone;
    MPI_Comm_free(&gone);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Get_address(data, &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Type_contiguous(3, MPI_INT, &freed);
    MPI_Type_commit(&freed);
    stale = freed;
    MPI_Type_free(&freed);

    EXPECT(MPI_Send, (data, 1, MPI_INT, size, 0, world), MPI_ERR_RANK);
    EXPECT(MPI_Send, (data, 1, MPI_INT, -5, 0, world), MPI_ERR_RANK);
    EXPECT(MPI_Send, (data, 1, MPI_INT, MPI_ANY_SOURCE, 0, world), MPI_ERR_RANK);
    EXPECT(MPI_Send, (data, 1, MPI_INT, 0, -1, world), MPI_ERR_TAG);
    EXPECT(MPI_Send, (data, 1, MPI_INT, 0, MPI_ANY_TAG, world), MPI_ERR_TAG);
    EXPECT(MPI_Send, (data, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    EXPECT(MPI_Send, (MPI_IN_PLACE, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER);
    EXPECT(MPI_Recv, (MPI_IN_PLACE, 1, MPI_INT, 0, 0, world, &status), MPI_ERR_BUFFER);
    EXPECT(MPI_Send, (MPI_IN_PLACE, 1, absolute, 0, 0, world), MPI_ERR_BUFFER);
    EXPECT(MPI_Recv, (MPI_BUFFER_AUTOMATIC, 1, absolute, 0, 0, world, &status), MPI_ERR_BUFFER);
    EXPECT(MPI_Send_c, (data, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    EXPECT(MPI_Send_c, (data, (MPI_Count)1 << 62, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    EXPECT(MPI_Send, (data, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE);
    EXPECT(MPI_Send, (data, 1, uncommitted, 0, 0, world), MPI_ERR_TYPE);
    EXPECT(MPI_Send, (data, 1, stale, 0, 0, world), MPI_ERR_TYPE);
    EXPECT(MPI_Send, (data, 1, (MPI_Datatype)(void *)data, 0, 0, world), MPI_ERR_TYPE);
    EXPECT(MPI_Send, (data, 1, (MPI_Datatype)world, 0, 0, world), MPI_ERR_TYPE);
    EXPECT(MPI_Send, (data, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    EXPECT(MPI_Send, (data, 1, MPI_INT, 0, 0, stale_comm), MPI_ERR_COMM);
    EXPECT(MPI_Send, (data, 1, MPI_INT, 0, 0, (MPI_Comm)0), MPI_ERR_COMM);
    EXPECT(MPI_Send, (data, 1, MPI_INT, 0, 0, (MPI_Comm)MPI_INT), MPI_ERR_COMM);
    EXPECT(MPI_Recv, (data, 1, MPI_INT, size, 0, world, &status), MPI_ERR_RANK);
    EXPECT(MPI_Recv, (data, 1, MPI_INT, 0, -7, world, &status), MPI_ERR_TAG);
    EXPECT(MPI_Recv, (data, -2, MPI_INT, 0, 0, world, &status), MPI_ERR_COUNT);
    EXPECT(MPI_Irecv, (data, 1, MPI_INT, 0, 0, world, NULL), MPI_ERR_ARG);
    EXPECT(MPI_Isend, (data, 1, MPI_INT, 0, 0, world, NULL), MPI_ERR_ARG);
    EXPECT(MPI_Probe, (size, 0, world, &status), MPI_ERR_RANK);
    EXPECT(MPI_Iprobe, (0, 0, world, NULL, &status), MPI_ERR_ARG);

    MPI_Irecv(data, 1, MPI_INT, rank, 40, world, &request);
    stale_request = request;
    MPI_Send(data, 1, MPI_INT, rank, 40, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    request = stale_request;
    EXPECT(MPI_Wait, (&request, &status), MPI_ERR_REQUEST);
    EXPECT(MPI_Test, (&request, &flag, &status), MPI_ERR_REQUEST);
    EXPECT(MPI_Waitall, (1, &request, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    EXPECT(MPI_Waitall, (-1, &request, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    EXPECT(MPI_Request_free, (&request), MPI_ERR_REQUEST);
    request = (MPI_Request)(void *)data;
    EXPECT(MPI_Wait, (&request, &status), MPI_ERR_REQUEST);
    EXPECT(MPI_Wait, (NULL, &status), MPI_ERR_ARG);

    EXPECT(MPI_Bcast, (data, 1, MPI_INT, size, world), MPI_ERR_ROOT);
    EXPECT(MPI_Bcast, (data, 1, MPI_INT, -1, world), MPI_ERR_ROOT);
    EXPECT(MPI_Bcast, (data, -1, MPI_INT, 0, world), MPI_ERR_COUNT);
    EXPECT(MPI_Allreduce, (data, data + 1, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP);
    EXPECT(MPI_Allreduce, (data, data + 1, 1, MPI_WCHAR, MPI_SUM, world), MPI_ERR_OP);
    EXPECT(MPI_Allreduce, (data, data + 1, 1, MPI_DOUBLE, MPI_BAND, world), MPI_ERR_OP);
    EXPECT(MPI_Allreduce, (data, data + 1, 1, MPI_INT, MPI_REPLACE, world), MPI_ERR_OP);
    EXPECT(MPI_Reduce, (data, data + 1, 1, MPI_INT, MPI_SUM, size + 3, world), MPI_ERR_ROOT);
    EXPECT(MPI_Barrier, (MPI_COMM_NULL), MPI_ERR_COMM);
    EXPECT(MPI_Comm_split, (world, -3, 0, &gone), MPI_ERR_ARG);
    EXPECT(MPI_Comm_rank, (world, NULL), MPI_ERR_ARG);
    EXPECT(MPI_Comm_size, (stale_comm, &color_rank), MPI_ERR_COMM);
    gone = MPI_COMM_WORLD;
    EXPECT(MPI_Comm_free, (&gone), MPI_ERR_COMM);
    gone = MPI_COMM_NULL;
    EXPECT(MPI_Comm_free, (&gone), MPI_ERR_COMM);
    EXPECT(MPI_Type_vector, (-1, 1, 1, MPI_INT, &freed), MPI_ERR_COUNT);
    freed = MPI_INT;
    EXPECT(MPI_Type_free, (&freed), MPI_ERR_TYPE);
    MPI_Comm_group(world, &group);
    EXPECT(MPI_Group_incl, (group, 1, &size, &group), MPI_ERR_RANK);
    MPI_Group_free(&group);

    MPI_Type_free(&uncommitted);
    MPI_Type_free(&absolute);
    MPI_Comm_free(&world);
    MPI_Finalize();
    return 0;
}
