/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of the program that calls.py generates: objects for arguments, and outputs by name. Each function runs in a
 * process of its own, so that what it leaves behind does not reach the next. */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

struct function {
    const char *name;
    void (*call)(int focus, int choice);
    int arguments;
    int choices[24]; /* of each argument */
};

/* Handles that are no constants look the same. */
#define SHOW_HANDLE(group, type)                                                                                       \
    static void show_##group(const char *name, type value)                                                             \
    {                                                                                                                  \
        const char *text = "a handle";                                                                                 \
                                                                                                                       \
        for (int i = COUNT(group##_table) - 1; i >= 0; i--)                                                            \
            if (group##_table[i].value == value)                                                                       \
                text = group##_table[i].name;                                                                          \
        printf(" %s=%s", name, text);                                                                                  \
    }
#define SHOW_INT(group)                                                                                                \
    static void show_##group(const char *name, int value)                                                              \
    {                                                                                                                  \
        for (int i = 0; i < COUNT(group##_table); i++)                                                                 \
            if (group##_table[i].value == value) {                                                                     \
                printf(" %s=%s", name, group##_table[i].name);                                                         \
                return;                                                                                                \
            }                                                                                                          \
        printf(" %s=%d", name, value);                                                                                 \
    }

/* ---- tables above ---- */

static const char file_name[] = "calls.tmp";

static void show_number(const char *name, long long value)
{
    printf(" %s=%lld", name, value);
}

static void show_text(const char *name, const char *value)
{
    printf(" %s=%s", name, strstr(name, "port") || strstr(name, "string") ? "a text" : value);
}

static void show_status(const MPI_Status *status)
{
    int count, cancelled;

    MPI_Get_count(status, MPI_BYTE, &count);
    MPI_Test_cancelled(status, &cancelled);
    show_rank("MPI_SOURCE", status->MPI_SOURCE);
    show_tag("MPI_TAG", status->MPI_TAG);
    show_error("MPI_ERROR", status->MPI_ERROR);
    printf(" count=%d cancelled=%d", count, cancelled);
}

static void begin(const char *function, const char *argument, const char *value)
{
    printf("%s(%s%s%s):", function, argument, *argument ? "=" : "", value);
}

/* Codes are shown by their class. */
static int result(int code)
{
    int class = code;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    show_error("result", class);
    return code;
}

/* ---- objects */

static void reduce(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)in, (void)inout, (void)count, (void)datatype;
}
static void reduce_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *datatype)
{
    (void)in, (void)inout, (void)count, (void)datatype;
}
static void comm_failed(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}
static void file_failed(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
}
static void win_failed(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
}
#if MPI_VERSION >= 4
static void session_failed(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
}
#endif
static int query(void *state, MPI_Status *status)
{
    (void)state, (void)status;
    return MPI_SUCCESS;
}
static int no_free(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}
static int no_cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}
static int extent_of(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    (void)datatype, (void)state;
    *extent = 8;
    return MPI_SUCCESS;
}

static long memory[64];

static MPI_Comm own_comm(void)
{
    static MPI_Comm comm;
    static int is_there, one = 1;

    if (!is_there++)
        MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &comm);
    return comm;
}

static MPI_Group own_group(void)
{
    MPI_Group group;

    MPI_Comm_group(MPI_COMM_SELF, &group);
    return group;
}

static MPI_Win own_win(void)
{
    MPI_Win win;

    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

static MPI_File own_file(void)
{
    static MPI_File file;
    static int is_there;

    if (!is_there++)
        MPI_File_open(MPI_COMM_SELF, "calls-own.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    return file;
}

static MPI_Info own_info(void)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "a-key", "a value");
    return info;
}

static MPI_Request own_request(void)
{
    MPI_Request request;

    MPI_Irecv(memory, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    return request;
}

static MPI_Request own_persistent(void)
{
    MPI_Request request;

    MPI_Recv_init(memory, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    return request;
}

static MPI_Datatype own_type(void)
{
    MPI_Datatype type;

    MPI_Type_contiguous(2, MPI_DOUBLE, &type);
    return type;
}

static MPI_Op own_op(void)
{
    MPI_Op op;

    MPI_Op_create(reduce, 1, &op);
    return op;
}

static MPI_Errhandler own_errhandler(void)
{
    MPI_Errhandler errhandler;

    MPI_Comm_create_errhandler(comm_failed, &errhandler);
    return errhandler;
}

static MPI_Status own_status(void)
{
    MPI_Status status;

    memset(&status, 0, sizeof status);
    status.MPI_ERROR = MPI_SUCCESS;
    MPI_Recv(memory, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &status);
    return status;
}

static void no_statuses(MPI_Status *statuses, int count)
{
    memset(statuses, 0, sizeof *statuses * (size_t)count);
}

/* ---- calls */

static void call_one(const struct function *function)
{
    int provided;

    alarm(60);
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(own_comm(), MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    function->call(-1, 0);
    for (int focus = 0; focus < function->arguments; focus++)
        for (int choice = 0; choice < function->choices[focus]; choice++)
            function->call(focus, choice);
    fflush(stdout);
    _exit(0);
}

static int run_all(const struct function *functions, int count)
{
    int failures = 0, status;

    for (int i = 0; i < count; i++) {
        pid_t child;

        fflush(stdout);
        child = fork();
        if (child == 0)
            call_one(&functions[i]);
        if (child < 0 || waitpid(child, &status, 0) != child || status) {
            fprintf(stderr, "%s: ended with status %x\n", functions[i].name, status);
            failures++;
        }
    }
    return failures != 0;
}
