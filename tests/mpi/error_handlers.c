/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors go to the handler of their communicator, of the request's communicator, or of MPI_COMM_SELF. */
#include "test.h"

static int calls;
static MPI_Comm called_with;
static int called_code;

static void note(MPI_Comm *comm, int *code, ...)
{
    calls++;
    called_with = *comm;
    called_code = *code;
}

static void test_handler_is_called(void)
{
    MPI_Errhandler handler, got;
    MPI_Comm comm;
    int code, error_class;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(MPI_Comm_create_errhandler(note, &handler) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(comm, handler) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_errhandler(comm, &got) == MPI_SUCCESS && got == handler);
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS && got == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Errhandler_free(&handler) == MPI_SUCCESS);

    calls = 0;
    code = MPI_Send(&calls, 1, MPI_INT, 0, -1, comm);
    MPI_Error_class(code, &error_class);
    CHECK(calls == 1 && called_with == comm && called_code == code && error_class == MPI_ERR_TAG);

    CHECK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK(calls == 2 && called_code == MPI_ERR_OTHER);
    MPI_Comm_free(&comm);
}

/* MPI_Wait has no communicator: the request's counts. */
static void test_request(int rank)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Request request;
    char small;
    int code, error_class;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    calls = 0;
    MPI_Irecv(&small, 1, MPI_CHAR, rank, 3, comm, &request);
    MPI_Send("hello", 5, MPI_CHAR, rank, 3, comm);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_TRUNCATE && calls == 1 && called_with == comm);
    MPI_Comm_free(&comm);
}

static void test_self(void)
{
    MPI_Errhandler handler;
    int size;

    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    calls = 0;
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) != MPI_SUCCESS);
    CHECK(calls == 1 && called_with == MPI_COMM_SELF);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) != MPI_SUCCESS && calls == 1);
    MPI_Errhandler_free(&handler);
}

static void test_wrong_kind(void)
{
    MPI_Errhandler handler, got;
    int code, error_class;

    MPI_File_create_errhandler((MPI_File_errhandler_function *)(void (*)(void))note, &handler);
    code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_ERRHANDLER);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, handler) == MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_File_get_errhandler(MPI_FILE_NULL, &got) == MPI_SUCCESS && got == MPI_ERRORS_RETURN);
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS && got == MPI_ERRHANDLER_NULL);
}

/* A handle can be freed once; the object that has the handler keeps it. New communicators and files start with what
 * the standard says (MPI-5.0 §9.3). */
static void test_lives(void)
{
    MPI_Errhandler handler, stale, got;
    MPI_Comm parent, child;
    MPI_File file;

    MPI_Comm_dup(MPI_COMM_SELF, &parent);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(parent, handler);
    stale = handler;
    CHECK(MPI_Errhandler_free(&handler) == MPI_SUCCESS && handler == MPI_ERRHANDLER_NULL);
    for (int i = 0; i < 3; i++)
        CHECK(MPI_Errhandler_free(&stale) != MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&handler) != MPI_SUCCESS); /* MPI_ERRHANDLER_NULL */
    MPI_Comm_split(parent, 0, 0, &child);
    MPI_Comm_free(&parent);
    CHECK(MPI_Comm_get_errhandler(child, &got) == MPI_SUCCESS && got == stale);
    calls = 0;
    CHECK(MPI_Send(&calls, 1, MPI_INT, 7, 0, child) != MPI_SUCCESS && calls == 1 && called_with == child);
    CHECK(MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(child, got) == MPI_SUCCESS); /* the handle that was got keeps it */
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS);
    MPI_Comm_free(&child);

    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ABORT);
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    CHECK(MPI_File_get_errhandler(file, &got) == MPI_SUCCESS && got == MPI_ERRORS_ABORT);
    MPI_Errhandler_free(&got);
    MPI_File_close(&file);
}

static void forgive(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    *code = MPI_SUCCESS;
}

/* The code that a handler leaves is what the call returns. */
static void test_code_of_handler(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(forgive, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Send(NULL, -1, MPI_INT, 0, 0, comm) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
}

/* Calls that are to attach a handler to what they make use it for their own errors; there is no object yet. */
static void test_handler_to_be(void)
{
    MPI_Errhandler handler;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Comm comm;
    int code, error_class;

    MPI_Comm_create_errhandler(note, &handler);
    calls = 0;
    code = MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, handler, &comm);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_GROUP && calls == 1 && called_code == code && called_with == MPI_COMM_NULL);
    code = MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, MPI_GROUP_NULL, 0, "tag", MPI_INFO_NULL, handler, &comm);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_GROUP && calls == 2);
    MPI_Errhandler_free(&handler);
    code = MPI_Session_init((MPI_Info)(void *)&calls, MPI_ERRORS_RETURN, &session);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_INFO && session == MPI_SESSION_NULL);
}

static int after_finalize;

static void note_late(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    CHECK(*comm == MPI_COMM_SELF);
    after_finalize++;
}

int main(int argc, char **argv)
{
    MPI_Errhandler initial;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test_handler_is_called();
    test_request(rank);
    test_self();
    test_wrong_kind();
    test_lives();
    test_code_of_handler();
    test_handler_to_be();
    MPI_Comm_create_errhandler(note_late, &initial); /* MPI_COMM_SELF's is also the initial one */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, initial);
    MPI_Errhandler_free(&initial);
    MPI_Finalize();
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS && after_finalize == 1);
    return 0;
}
