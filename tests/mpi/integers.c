/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles as integers: predefined ones have the ABI's values, others are unique while they live and come back as what
 * they were; numbers of nothing give the null handle. */
#include "test.h"

enum { MANY = 500 };

static void communicators(void)
{
    MPI_Comm copies[20];
    int numbers[20];

    CHECK(MPI_Comm_toint(MPI_COMM_NULL) == 0x100 && MPI_Comm_toint(MPI_COMM_WORLD) == 0x101);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_SELF)) == MPI_COMM_SELF);
    for (int i = 0; i < 20; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &copies[i]);
        numbers[i] = MPI_Comm_toint(copies[i]);
        CHECK(numbers[i] >= 4096);
        for (int k = 0; k < i; k++)
            CHECK(numbers[k] != numbers[i]);
    }
    for (int i = 0; i < 20; i++) {
        CHECK(MPI_Comm_fromint(numbers[i]) == copies[i]);
        MPI_Comm_free(&copies[i]);
        CHECK(MPI_Comm_fromint(numbers[i]) == MPI_COMM_NULL);
    }
    for (int number = 0; number < 4096; number++) { /* reserved: for communicators these four only */
        MPI_Comm comm = MPI_Comm_fromint(number);

        CHECK(comm == MPI_COMM_NULL || (MPI_Comm_toint(comm) == number && number <= 0x103));
    }
    CHECK(MPI_Comm_fromint(MPI_Type_toint(MPI_INT)) == MPI_COMM_NULL);
    CHECK(MPI_Comm_fromint(0x7fffffff) == MPI_COMM_NULL && MPI_Comm_fromint(-5) == MPI_COMM_NULL);
}

static void types(void)
{
    static MPI_Datatype made[MANY];
    static int numbers[MANY];

    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
    for (int i = 0; i < MANY; i++) {
        MPI_Type_contiguous(i + 1, MPI_INT, &made[i]);
        numbers[i] = MPI_Type_toint(made[i]);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(MPI_Type_fromint(numbers[i]) == made[i]);
        CHECK(MPI_Comm_fromint(numbers[i]) == MPI_COMM_NULL); /* another kind of object */
        MPI_Type_free(&made[i]);
    }
}

static void sum(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)len;
    (void)type;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void others(void)
{
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;
    MPI_Errhandler errhandler;
    MPI_Request request;
    MPI_File file;
    int value = 1;

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    CHECK(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    MPI_Info_free(&info);
    MPI_Op_create(sum, 1, &op);
    CHECK(MPI_Op_fromint(MPI_Op_toint(op)) == op && MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    MPI_Op_free(&op);
    MPI_Comm_create_errhandler(handler, &errhandler);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(errhandler)) == errhandler);
    MPI_Errhandler_free(&errhandler);
    MPI_Irecv(&value, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &request);
    CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == MPI_REQUEST_NULL);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_open(MPI_COMM_SELF, "integers.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_fromint(MPI_File_toint(file)) == file &&
          MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    MPI_File_close(&file);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

/* All kinds of requests at once, and a message between probe and receive. */
static void requests(void)
{
    MPI_Request made[5];
    MPI_Message message;
    MPI_Comm copy;
    int numbers[5], value = 1, number;

    MPI_Recv_init(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &made[0]);
    MPI_Grequest_start(query, release, cancel, NULL, &made[1]);
    MPI_Precv_init(&value, 1, 1, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_INFO_NULL, &made[2]);
    MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_SELF, MPI_INFO_NULL, &made[3]);
    MPI_Comm_idup(MPI_COMM_SELF, &copy, &made[4]);
    for (int i = 0; i < 5; i++) {
        numbers[i] = MPI_Request_toint(made[i]);
        CHECK(numbers[i] >= 4096);
        for (int k = 0; k < i; k++)
            CHECK(numbers[k] != numbers[i]);
    }
    for (int i = 0; i < 5; i++)
        CHECK(MPI_Request_fromint(numbers[i]) == made[i]);
    MPI_Wait(&made[4], MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Grequest_complete(made[1]);
    MPI_Wait(&made[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&made[0]);
    MPI_Request_free(&made[2]);
    MPI_Request_free(&made[3]);

    MPI_Isend(&value, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &made[0]);
    MPI_Mprobe(0, 8, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    number = MPI_Message_toint(message);
    CHECK(number >= 4096 && MPI_Message_fromint(number) == message);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(MPI_Message_fromint(number) == MPI_MESSAGE_NULL);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    MPI_Wait(&made[0], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    communicators();
    types();
    others();
    requests();
    MPI_Finalize();
    return 0;
}
