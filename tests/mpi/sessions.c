/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: before, beside and after the world, many times, from threads; process sets, groups and communicators from
 * them, intercommunicators from two groups, error handlers and send buffers of sessions, misuse. */
#include <pthread.h>

#include "test.h"

static int calls;

static void handler(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
    calls++;
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void value_of(MPI_Info info, const char *key, char value[64])
{
    int length = 64, flag;

    MPI_Info_get_string(info, key, &length, value, &flag);
    CHECK(flag);
    MPI_Info_free(&info);
}

static void sets(MPI_Session session)
{
    char name[MPI_MAX_PSET_NAME_LEN], value[64];
    int count, length, size, has_world = 0, has_self = 0;
    MPI_Group group;
    MPI_Info info;

    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count >= 2);
    for (int i = 0; i < count; i++) {
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        CHECK(length > 0 && length <= (int)sizeof name);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        has_world |= !strcmp(name, "mpi://WORLD");
        has_self |= !strcmp(name, "mpi://SELF");
        MPI_Session_get_pset_info(session, name, &info);
        value_of(info, "mpi_size", value);
        MPI_Group_from_session_pset(session, name, &group);
        MPI_Group_size(group, &size);
        CHECK(atoi(value) == size);
        MPI_Group_free(&group);
    }
    CHECK(has_world && has_self);
    length = 4;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    CHECK(strlen(name) == 3); /* cut, with its NUL */
    MPI_Session_get_info(session, &info);
    value_of(info, "thread_level", value);
    CHECK(!strncmp(value, "MPI_THREAD_", 11));
}

static MPI_Comm world_of(MPI_Session session, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;

    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

static void communicators(MPI_Session session)
{
    int rank, size, sum, flag, out, in = -1;
    MPI_Comm comm = world_of(session, "a"), other = world_of(session, "b"), inter;
    MPI_Group world, halves[2];
    char room[2048];
    void *address;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    /* Buffered sends use the session's buffer. */
    CHECK(MPI_Session_attach_buffer(session, room, sizeof room) == MPI_SUCCESS);
    out = rank;
    CHECK(MPI_Bsend(&out, 1, MPI_INT, (rank + 1) % size, 0, other) == MPI_SUCCESS);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, other, MPI_STATUS_IGNORE);
    CHECK(in == (rank + size - 1) % size);
    MPI_Session_flush_buffer(session);
    {
        MPI_Request request;
        MPI_Count large;

        MPI_Session_iflush_buffer(session, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(MPI_Session_detach_buffer(session, &address, &flag) == MPI_SUCCESS && address == room && flag == 2048);
        MPI_Session_attach_buffer_c(session, room, sizeof room);
        MPI_Session_detach_buffer_c(session, &address, &large);
        CHECK(large == 2048);
    }
    CHECK(class_of(MPI_Bsend(&out, 1, MPI_INT, rank, 0, other)) == MPI_ERR_BUFFER);
    MPI_Comm_free(&other);
    if (size > 1) {
        int first[1][3] = {{0, (size - 1) / 2, 1}}, side = rank > (size - 1) / 2, remote;

        MPI_Group_from_session_pset(session, "MPI://world", &world);
        MPI_Group_range_incl(world, 1, first, &halves[0]);
        MPI_Group_range_excl(world, 1, first, &halves[1]);
        CHECK(MPI_Intercomm_create_from_groups(halves[side], 0, halves[!side], 0, "halves", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &inter) == MPI_SUCCESS);
        MPI_Group_size(halves[!side], &sum);
        MPI_Comm_remote_size(inter, &remote);
        CHECK(remote == sum);
        MPI_Barrier(inter);
        MPI_Comm_free(&inter);
        MPI_Group_free(&world);
        MPI_Group_free(&halves[0]);
        MPI_Group_free(&halves[1]);
    }
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
}

static void misuse(MPI_Session session)
{
    int count;
    MPI_Comm comm;
    MPI_Group group;
    MPI_Errhandler errhandler, got;
    MPI_Session none = MPI_SESSION_NULL;

    MPI_Session_create_errhandler(handler, &errhandler);
    CHECK(MPI_Session_set_errhandler(session, errhandler) == MPI_SUCCESS);
    MPI_Session_get_errhandler(session, &got);
    CHECK(got == errhandler);
    MPI_Errhandler_free(&got);
    calls = 0;
    CHECK(class_of(MPI_Group_from_session_pset(session, "mpi://nothing", &group)) == MPI_ERR_ARG);
    CHECK(calls == 1 && group == MPI_GROUP_NULL);
    CHECK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER) == MPI_SUCCESS && calls == 2);
    CHECK(class_of(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &count, NULL)) == MPI_ERR_ARG);
    count = 5;
    CHECK(class_of(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &count, NULL)) == MPI_ERR_ARG && count == 5);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    CHECK(class_of(MPI_Intercomm_create_from_groups(group, 0, group, 0, "overlap", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                    &comm)) == MPI_ERR_GROUP);
    MPI_Group_free(&group);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&errhandler);
    (void)none;
}

static void *in_thread(void *argument)
{
    MPI_Session session;
    char tag[32];
    MPI_Comm comm;
    int size, sum, one = 1;

    for (int i = 0; i < 10; i++) {
        CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
        snprintf(tag, sizeof tag, "thread %ld turn %d", (long)argument, i);
        comm = world_of(session, tag);
        MPI_Comm_size(comm, &size);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size);
        MPI_Comm_free(&comm);
        CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int is_running, is_over;
    pthread_t threads[3];
    MPI_Session sessions[2];

    for (int turn = 0; turn < 5; turn++) { /* no world yet; the last session of a turn ends all */
        CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[0]) == MPI_SUCCESS);
        CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[1]) == MPI_SUCCESS);
        MPI_Initialized(&is_running);
        CHECK(!is_running);
        sets(sessions[0]);
        communicators(sessions[1]);
        misuse(sessions[0]);
        MPI_Session_finalize(&sessions[0]);
        communicators(sessions[1]);
        MPI_Session_finalize(&sessions[1]);
    }
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[0]);
    MPI_Init(&argc, &argv);
    communicators(sessions[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&is_over);
    CHECK(is_over);
    communicators(sessions[0]); /* outlives the world */
    MPI_Session_finalize(&sessions[0]);
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, in_thread, (void *)i) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
