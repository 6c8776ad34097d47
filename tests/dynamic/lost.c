/* SPDX-License-Identifier: BSD-3-Clause */
/* Children that are killed while their parents wait for them, in every way there is to wait: the call returns
 * MPI_ERR_PROC_ABORTED at every parent, nothing is left of the children, and the parents' own world is whole. With the
 * argument "fatal", the error ends the job, by a message that names who was lost. */
#include <signal.h>
#include <unistd.h>

#include "dynamic/talk.h"

enum { MANY = 3 << 20 };

static int rank, size;
static char *self, *large;

static int class_of(int code)
{
    int error_class;

    MPI_Error_class(code, &error_class);
    return error_class;
}

/* Talks with the children, so that some links are there, and lets them die. */
static MPI_Comm make_and_kill(int links)
{
    char *argv[] = {links ? "linked" : "quiet", NULL};
    MPI_Comm inter;

    CHECK(MPI_Comm_spawn(self, argv, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    if (links)
        talk_pairs(inter, 1000);
    return inter;
}

static __attribute__((noreturn)) void be_child(MPI_Comm parent, const char *what)
{
    if (strcmp(what, "linked") == 0)
        talk_pairs(parent, 1000);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    for (;;)
        pause();
}

/* ---- ways to wait ---- */

static int receive(MPI_Comm inter)
{
    return MPI_Recv(large, 1, MPI_INT, 1, 7, inter, MPI_STATUS_IGNORE);
}

static int receive_any(MPI_Comm inter)
{
    MPI_Request request;

    MPI_Irecv(large, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int send_large(MPI_Comm inter)
{
    return MPI_Send(large, MANY, MPI_BYTE, 2, 7, inter);
}

static int send_strided(MPI_Comm inter)
{
    MPI_Datatype type;
    int code;

    MPI_Type_vector(MANY / 16, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    code = MPI_Ssend(large, 1, type, 1, 7, inter);
    MPI_Type_free(&type);
    return code;
}

/* More than fits into any buffer. */
static int send_many(MPI_Comm inter)
{
    int code = MPI_SUCCESS;

    for (int i = 0; !code; i++)
        code = MPI_Send(large, 20000, MPI_BYTE, 0, i % 100, inter);
    return code;
}

static int probe(MPI_Comm inter)
{
    MPI_Status status;

    return MPI_Probe(0, MPI_ANY_TAG, inter, &status);
}

static int probe_again(MPI_Comm inter)
{
    MPI_Message message;
    int flag = 0, code;

    while ((code = MPI_Improbe(2, MPI_ANY_TAG, inter, &flag, &message, MPI_STATUS_IGNORE)) == MPI_SUCCESS)
        CHECK(!flag);
    return code;
}

static int barrier(MPI_Comm inter)
{
    return MPI_Barrier(inter);
}

static int reduce_later(MPI_Comm inter)
{
    MPI_Request request;
    static int in[100], out[100];

    MPI_Iallreduce(in, out, 100, MPI_INT, MPI_SUM, inter, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The send may be refused at once. */
static int several(MPI_Comm inter)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int code;

    MPI_Irecv(large, 1, MPI_INT, 2, 7, inter, &requests[0]);
    code = MPI_Issend(large, 1, MPI_INT, 0, 7, inter, &requests[1]);
    if (code) {
        CHECK(class_of(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)) == MPI_ERR_PROC_ABORTED);
        return code;
    }
    CHECK(class_of(MPI_Waitall(2, requests, statuses)) == MPI_ERR_IN_STATUS);
    CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_PROC_ABORTED);
    return statuses[0].MPI_ERROR;
}

static int part(MPI_Comm inter)
{
    return MPI_Comm_disconnect(&inter);
}

static int (*const ways[])(MPI_Comm) = {receive,     receive_any, send_large,   send_strided, send_many, probe,
                                        probe_again, barrier,     reduce_later, several,      part};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- the parents ---- */

static void check_text(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    MPI_Error_string(code, text, &length);
    if (class_of(code) == MPI_ERR_PROC_ABORTED &&
        (strstr(text, "of another job") || strstr(text, "of the remote group")))
        return;
    fprintf(stderr, "%s\n", text);
    CHECK(!"says which process is lost");
}

/* All that is started afterwards fails, too, and soon. */
static void check_later(MPI_Comm inter)
{
    for (int i = 0; i < WAYS; i++)
        check_text(ways[i](inter));
    check_text(MPI_Send(large, 1, MPI_INT, 1, 0, inter));
}

static void check_world(void)
{
    int one = 1, sum;

    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == size);
}

int main(int argc, char **argv)
{
    static char path[4096];
    MPI_Comm parent, inter;
    int rounds, before = 0, flag;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    self = path;
    large = calloc(1, MANY);
    if (parent != MPI_COMM_NULL)
        be_child(parent, argv[1]);
    rounds = argc > 1 ? atoi(argv[1]) : WAYS;
    if (argc > 1 && strcmp(argv[1], "fatal") == 0) {
        inter = make_and_kill(1);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_ARE_FATAL);
        receive(inter);
    }
    for (int round = 0; round < rounds; round++) {
        if (round == 2)
            before = count_descriptors();
        inter = make_and_kill(round % 2);
        check_text(ways[round % WAYS](inter));
        check_later(inter);
        CHECK(MPI_Comm_free(&inter) == MPI_SUCCESS);
        check_world();
    }
    /* Nothing is left of any, once the calls to the last of them have failed. */
    for (int tries = 0; rounds > 2 && count_descriptors() > before && tries < 20000; tries++, usleep(1000))
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(rounds < WAYS || count_descriptors() <= before);
    free(large);
    MPI_Finalize();
    return 0;
}
