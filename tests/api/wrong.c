/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function with wrong arguments: each argument by itself takes values that a program in C can pass by mistake
 * (null, MPI_IN_PLACE, a handle of another kind, a freed one, negative, huge), then all of them at random. Under
 * MPI_ERRORS_RETURN a call must return, with success or a code that has a class and a text. Each function is called in
 * a process of its own, so that a crash or a call that does not return names the function and its arguments.
 *
 *   api-wrong CHAPTER|FUNCTION|all [SEED]       calls those of a chapter, or one function
 *
 * What no implementation could tell apart is left out: wild addresses, arrays that are too short, calls that rightly
 * wait. The table of functions is generated (wrong.py). */
#include "api/wrong.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"

enum { SLOTS = 16, CHOICES = 12, ROUNDS = 150, ARRAY = 512, SCRATCH = 1 << 16 };

/* What the child is doing, for the parent to tell. */
static struct {
    int calls;
    union value values[SLOTS];
    char labels[SLOTS][24];
} * shown;

/* ---- handles: good ones, and others ---- */

struct handles { /* of one kind: [0] is good */
    void *all[CHOICES];
    const char *labels[CHOICES];
    int count;
};
static struct handles handles[KINDS];

static void know(enum what kind, const char *label, void *handle)
{
    struct handles *h = &handles[kind];

    h->labels[h->count] = label;
    h->all[h->count++] = handle;
}

static int harmless(void)
{
    return MPI_SUCCESS;
}

/* Each process has a file of its own, which the one that has forked it deletes. */
static char *file_name(pid_t process)
{
    static char name[64];

    snprintf(name, sizeof name, "/tmp/murmur-wrong-%d", (int)process);
    return name;
}

static MPI_Comm new_comm(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static void make_comms(void)
{
    int one = 1, zero = 0;
    MPI_Comm comm, gone = new_comm();

    know(COMM, "a comm", new_comm());
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    know(COMM, "a grid", comm);
    MPI_Graph_create(MPI_COMM_SELF, 1, &one, &zero, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    know(COMM, "a graph", comm);
    know(COMM, "freed", gone);
    MPI_Comm_free(&gone);
    know(COMM, "MPI_COMM_NULL", MPI_COMM_NULL);
}

/* None of one byte: so many of them as the largest count says could not be told from a mistake. */
static void make_types(void)
{
    MPI_Datatype type;

    know(TYPE, "MPI_INT", MPI_INT);
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    know(TYPE, "a vector", type);
    MPI_Type_contiguous(2, MPI_FLOAT, &type);
    know(TYPE, "uncommitted", type);
    MPI_Type_contiguous(2, MPI_LONG, &type);
    know(TYPE, "freed", type);
    MPI_Type_free(&type);
    know(TYPE, "MPI_DATATYPE_NULL", MPI_DATATYPE_NULL);
    know(TYPE, "MPI_DOUBLE_INT", MPI_DOUBLE_INT);
}

static void make_requests(const char *function)
{
    static int data[4];
    MPI_Comm self = new_comm();
    MPI_Request request, gone;

    MPI_Isend(data, 1, MPI_INT, MPI_PROC_NULL, 0, self, &request);
    know(REQUEST, "a send", request);
    MPI_Send_init(data, 1, MPI_INT, MPI_PROC_NULL, 0, self, &request);
    know(REQUEST, "inactive", request);
    MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 0, self, MPI_INFO_NULL, &request);
    know(REQUEST, "partitioned", request);
    MPI_Irecv(data, 1, MPI_INT, 0, 0, self, &gone);
    know(REQUEST, "completed", gone);
    MPI_Send(data, 1, MPI_INT, 0, 0, self);
    MPI_Wait(&gone, MPI_STATUS_IGNORE);
    know(REQUEST, "MPI_REQUEST_NULL", MPI_REQUEST_NULL);
    if (strcmp(function, "MPI_Grequest_complete"))
        return;
    MPI_Grequest_start((MPI_Grequest_query_function *)(void *)harmless, (MPI_Grequest_free_function *)(void *)harmless,
                       (MPI_Grequest_cancel_function *)(void *)harmless, NULL, &request);
    know(REQUEST, "generalized", request);
}

static void make_messages(void)
{
    static int data;
    MPI_Comm self = new_comm();
    MPI_Message message;
    MPI_Request request;
    int flag;

    MPI_Isend(&data, 1, MPI_INT, 0, 0, self, &request);
    MPI_Improbe(0, 0, self, &flag, &message, MPI_STATUS_IGNORE);
    know(MESSAGE, "a message", message);
    know(MESSAGE, "MPI_MESSAGE_NULL", MPI_MESSAGE_NULL);
    know(MESSAGE, "MPI_MESSAGE_NO_PROC", MPI_MESSAGE_NO_PROC);
}

static void make_wins(void)
{
    void *base;
    MPI_Win win;

    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    know(WIN, "a window", win);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    know(WIN, "locked", win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    know(WIN, "dynamic", win);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    know(WIN, "freed", win);
    MPI_Win_free(&win);
    know(WIN, "MPI_WIN_NULL", MPI_WIN_NULL);
}

static void make_files(void)
{
    MPI_File file;

    MPI_File_open(MPI_COMM_SELF, file_name(getpid()), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    know(FILE_, "a file", file);
    MPI_File_open(MPI_COMM_SELF, file_name(getpid()), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    know(FILE_, "read only", file);
    MPI_File_open(MPI_COMM_SELF, file_name(getpid()), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    know(FILE_, "closed", file);
    MPI_File_close(&file);
    know(FILE_, "MPI_FILE_NULL", MPI_FILE_NULL);
}

static void make_others(void)
{
    MPI_Group group;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler errhandler;

    MPI_Comm_group(MPI_COMM_SELF, &group);
    know(GROUP, "a group", group);
    know(GROUP, "MPI_GROUP_EMPTY", MPI_GROUP_EMPTY);
    MPI_Comm_group(MPI_COMM_SELF, &group);
    MPI_Group_incl(group, 1, (int[]){0}, &group);
    know(GROUP, "freed", group);
    MPI_Group_free(&group);
    know(GROUP, "MPI_GROUP_NULL", MPI_GROUP_NULL);
    know(OP, "MPI_SUM", MPI_SUM);
    MPI_Op_create((MPI_User_function *)(void *)harmless, 1, &op);
    know(OP, "an op", op);
    know(OP, "MPI_NO_OP", MPI_NO_OP);
    know(OP, "MPI_MINLOC", MPI_MINLOC);
    MPI_Op_create((MPI_User_function *)(void *)harmless, 1, &op);
    know(OP, "freed", op);
    MPI_Op_free(&op);
    know(OP, "MPI_OP_NULL", MPI_OP_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    know(INFO, "an info", info);
    know(INFO, "MPI_INFO_ENV", MPI_INFO_ENV);
    know(INFO, "MPI_INFO_NULL", MPI_INFO_NULL);
    MPI_Info_create(&info);
    know(INFO, "freed", info);
    MPI_Info_free(&info);
    know(ERRHANDLER, "MPI_ERRORS_RETURN", MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void *)harmless, &errhandler);
    know(ERRHANDLER, "a comm's", errhandler);
    MPI_Win_create_errhandler((MPI_Win_errhandler_function *)(void *)harmless, &errhandler);
    know(ERRHANDLER, "a window's", errhandler);
    MPI_Win_create_errhandler((MPI_Win_errhandler_function *)(void *)harmless, &errhandler);
    know(ERRHANDLER, "freed", errhandler);
    MPI_Errhandler_free(&errhandler);
    know(ERRHANDLER, "MPI_ERRHANDLER_NULL", MPI_ERRHANDLER_NULL);
}

static void make_sessions(void)
{
    MPI_Session session;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    know(SESSION, "a session", session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    know(SESSION, "finalized", session);
    MPI_Session_finalize(&session);
    know(SESSION, "MPI_SESSION_NULL", MPI_SESSION_NULL);
}

/* Of all kinds, each wrong for most calls. Which is the good one depends on the argument. */
static void make_tools(void)
{
    MPI_T_event_registration registration;
    MPI_T_pvar_session session;
    MPI_T_cvar_handle control;
    MPI_T_pvar_handle meter;
    MPI_T_enum enumeration;
    int count;

    MPI_T_pvar_session_create(&session);
    know(TOOLS, "a session", session);
    MPI_T_pvar_handle_alloc(session, random_below(20), (MPI_Comm[]){MPI_COMM_WORLD}, &meter, &count);
    know(TOOLS, "a variable", meter);
    MPI_T_cvar_handle_alloc(random_below(20), NULL, &control, &count);
    know(TOOLS, "a setting", control);
    MPI_T_event_handle_alloc(random_below(4), (MPI_Comm[]){MPI_COMM_WORLD}, MPI_INFO_NULL, &registration);
    know(TOOLS, "a registration", registration);
    MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, &enumeration, NULL, NULL, NULL, NULL);
    know(TOOLS, "an enumeration", enumeration);
    MPI_T_pvar_handle_alloc(session, random_below(20), (MPI_Comm[]){MPI_COMM_WORLD}, &meter, &count);
    know(TOOLS, "freed", meter);
    MPI_T_pvar_handle_free(session, &meter);
    know(TOOLS, "all handles", MPI_T_PVAR_ALL_HANDLES);
}

/* Whether the function takes handles of the kind, in whatever form. */
static bool takes(const struct function *f, enum what kind)
{
    for (int i = 0; i < f->slot_count; i++) {
        enum what what = f->slots[i].what;

        if (what == kind || what == kind - COMM + KINDS || what == kind - COMM + POINTERS)
            return true;
    }
    return false;
}

/* All kinds take 0, a small number that is no constant, and a live handle of another kind. New ones for each call,
 * which may free them. */
static void make_handles(const struct function *f)
{
    static char memory[256];

    memset(handles, 0, sizeof handles);
    make_comms();
    make_others();
    if (takes(f, TYPE))
        make_types();
    if (takes(f, REQUEST))
        make_requests(f->name);
    if (takes(f, MESSAGE))
        make_messages();
    if (takes(f, WIN))
        make_wins();
    if (takes(f, FILE_))
        make_files();
    if (takes(f, SESSION))
        make_sessions();
    if (takes(f, TOOLS))
        make_tools();
    for (int kind = COMM; kind < KINDS; kind++) {
        know(kind, "0", NULL);
        know(kind, "7", (void *)7);
        know(kind, kind == GROUP ? "a comm" : "a group", handles[kind == GROUP ? COMM : GROUP].all[0]);
        know(kind, "memory", memory);
    }
}

/* ---- values ---- */

static char scratch[SLOTS][SCRATCH] __attribute__((aligned(64)));

struct choice {
    const char *label;
    union value value;
};

static int add_number(struct choice *choices, int n, const char *label, int64_t number)
{
    choices[n] = (struct choice){label, {.number = number}};
    return n + 1;
}

static int add_pointer(struct choice *choices, int n, const char *label, const void *pointer)
{
    choices[n] = (struct choice){label, {.pointer = (void *)(uintptr_t)pointer}};
    return n + 1;
}

static int numbers(struct choice *c, enum what what, bool is_large)
{
    int n = 0;

    if (what == PARTNER) {
        n = add_number(c, n, "MPI_PROC_NULL", MPI_PROC_NULL);
        n = add_number(c, n, "1", 1);
    } else {
        n = add_number(c, n, what == COUNT || what == LENGTH ? "1" : "0", what == COUNT || what == LENGTH);
        n = add_number(c, n, "2", 2);
        n = add_number(c, n, "-1", -1);
        n = add_number(c, n, "0", 0);
        n = add_number(c, n, "-2", -2);
    }
    n = add_number(c, n, "-999", -999);
    n = add_number(c, n, "INT_MIN", INT_MIN);
    if (what == NUMBER || what == PARTNER)
        n = add_number(c, n, "INT_MAX", INT_MAX);
    if (is_large && what == NUMBER)
        n = add_number(c, n, "INT64_MAX", INT64_MAX);
    if (is_large && what == COUNT)
        n = add_number(c, n, "2^62", INT64_C(1) << 62);
    return what == PARTNER ? n : add_number(c, n, "INT64_MIN", INT64_MIN);
}

static int words(struct choice *c, char *memory, size_t size)
{
    static const int64_t some[] = {0, 1, -1, INT_MIN, INT_MAX};
    static const char *const labels[] = {"at 0", "at 1", "at -1", "at INT_MIN", "at INT_MAX"};
    int n = 0;

    for (int i = 0; i < 5; i++) {
        char *word = memory + 64 * i;

        memset(word, 0, 64);
        memcpy(word, &some[i], size);
        n = add_pointer(c, n, labels[i], word);
    }
    return add_pointer(c, n, "NULL", NULL);
}

static int arrays(struct choice *c, char *memory, size_t size, bool are_places)
{
    static const int64_t some[] = {0, 1, -1, INT_MIN, 2};
    static const char *const labels[] = {"all 0", "all 1", "all -1", "all INT_MIN", "all 2"};
    int n = 0;

    for (int i = 0; i < 5; i++) {
        if (are_places && some[i] < 0)
            continue;
        char *array = memory + (size_t)i * ARRAY * 8;

        for (int k = 0; k < ARRAY; k++)
            memcpy(array + (size_t)k * size, &some[i], size);
        n = add_pointer(c, n, labels[i], array);
    }
    n = add_pointer(c, n, "MPI_UNWEIGHTED", MPI_UNWEIGHTED);
    n = add_pointer(c, n, "MPI_WEIGHTS_EMPTY", MPI_WEIGHTS_EMPTY);
    n = add_pointer(c, n, "MPI_IN_PLACE", MPI_IN_PLACE);
    return add_pointer(c, n, "NULL", NULL);
}

/* Handles themselves, words that hold one, or arrays of one. */
static int of_handles(struct choice *c, char *memory, const struct handles *h, int copies)
{
    int n = 0;

    for (int i = 0; i < h->count; i++) {
        void **place = (void **)memory + i * ARRAY;

        for (int k = 0; k < copies; k++)
            place[k] = h->all[i];
        n = add_pointer(c, n, h->labels[i], copies ? place : h->all[i]);
    }
    return copies ? add_pointer(c, n, "NULL", NULL) : n;
}

static int buffers(struct choice *c, enum what what, char *memory)
{
    int n = add_pointer(c, 0, "memory", memory);

    n = add_pointer(c, n, "NULL", NULL);
    if (what == STATUS || what == OUTPUT)
        return n;
    n = add_pointer(c, n, "MPI_IN_PLACE", MPI_IN_PLACE);
    n = add_pointer(c, n, "MPI_BUFFER_AUTOMATIC", MPI_BUFFER_AUTOMATIC);
    return add_pointer(c, n, "MPI_UNWEIGHTED", MPI_UNWEIGHTED);
}

static int strings(struct choice *c, char *memory)
{
    int n = add_pointer(c, 0, "\"x\"", "x");

    memset(memory, 'l', SCRATCH);
    memory[SCRATCH - 1] = '\0';
    n = add_pointer(c, n, "NULL", NULL);
    n = add_pointer(c, n, "\"\"", "");
    n = add_pointer(c, n, "long", memory);
    n = add_pointer(c, n, "\"native\"", "native");
    n = add_pointer(c, n, "\"external32\"", "external32");
    return add_pointer(c, n, "\"\\377 \\n%s\"", "\377 \n%s");
}

static int choices_of(const struct slot *slot, int i, bool is_large, struct choice *c)
{
    char *memory = scratch[i];
    int n;

    memset(memory, 0, SCRATCH);
    switch (slot->what) {
    case BUFFER:
    case POINTER:
    case OUTPUT:
    case STATUS:
        return buffers(c, slot->what, memory);
    case STRING:
        return strings(c, memory);
    case STRINGS:
        n = add_pointer(c, 0, "empty", memory);
        return add_pointer(c, n, "NULL", NULL);
    case FUNCTION:
        n = add_pointer(c, 0, "a function", (void *)harmless);
        return add_pointer(c, n, "NULL", NULL);
    case COUNT:
    case LENGTH:
    case NUMBER:
    case PARTNER:
        return numbers(c, slot->what, is_large);
    case WORD_4:
    case WORD_8:
        return words(c, memory, slot->what == WORD_4 ? 4 : 8);
    case ARRAY_4:
    case ARRAY_8:
        return arrays(c, memory, slot->what == ARRAY_4 ? 4 : 8, false);
    case PLACES_4:
    case PLACES_8:
        return arrays(c, memory, slot->what == PLACES_4 ? 4 : 8, true);
    default:
        if (slot->what >= POINTERS)
            return of_handles(c, memory, &handles[COMM + slot->what - POINTERS], ARRAY);
        return slot->what >= KINDS ? of_handles(c, memory, &handles[COMM + slot->what - KINDS], 1)
                                   : of_handles(c, memory, &handles[slot->what], 0);
    }
}

/* ---- calls ---- */

static void call(const struct function *f, int focus, int variant)
{
    struct choice choices[2 * CHOICES];
    char text[MPI_MAX_ERROR_STRING];
    int code, class, length;
    bool is_large =
        !strcmp(f->name + strlen(f->name) - 2, "_c") || strstr(f->chapter, "rma") || strstr(f->chapter, "io");

    make_handles(f);
    for (int i = 0; i < f->slot_count; i++) {
        int n = choices_of(&f->slots[i], i, is_large, choices);
        int k = focus == i ? variant % n : focus < 0 && random_below(2) ? random_below(n) : 0;

        shown->values[i] = choices[k].value;
        snprintf(shown->labels[i], sizeof shown->labels[i], "%s", choices[k].label);
    }
    shown->calls++;
    code = f->call(shown->values);
    if (code == MPI_SUCCESS || strstr(f->name, "MPI_T_"))
        return;
    if (MPI_Error_class(code, &class) || class <= 0 || MPI_Error_string(code, text, &length) || !length)
        abort();
}

static void set_up(void)
{
    int null = open("/dev/null", O_RDWR), provided;

    dup2(null, 0);
    dup2(null, 1);
    if (!getenv("WRONG_SHOW"))
        dup2(null, 2);
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void call_all(const struct function *f, unsigned seed)
{
    /* These start a program, or look for one. */
    int rounds = strstr(f->name, "Comm_spawn") ? 5 : ROUNDS;
    struct choice choices[2 * CHOICES];

    random_state = seed;
    alarm(20);
    set_up();
    make_handles(f);
    call(f, -2, 0);
    for (int i = 0; i < f->slot_count; i++) {
        int n = choices_of(&f->slots[i], i, true, choices);

        for (int k = 1; k < n; k++)
            call(f, i, k);
    }
    for (int round = 0; round < rounds && f->slot_count; round++)
        call(f, -1, 0);
    _exit(0);
}

static bool survives(const struct function *f, unsigned seed)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        call_all(f, seed);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(1);
    }
    unlink(file_name(child));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status))
        printf("%s: %s", f->name, WTERMSIG(status) == SIGALRM ? "did not return" : strsignal(WTERMSIG(status)));
    else
        printf("%s: ended the process with code %d", f->name, WEXITSTATUS(status));
    printf(", seed %u, call %d: (", seed, shown->calls);
    for (int i = 0; i < f->slot_count; i++)
        printf("%s%s = %s", i ? ", " : "", f->slots[i].name, shown->labels[i]);
    printf(")\n");
    fflush(stdout);
    return false;
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : (unsigned)getpid();
    const char *wanted = argc > 1 ? argv[1] : "all";
    int failures = 0, tried = 0;

    shown = mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shown == MAP_FAILED)
        return 1;
    for (int i = 0; i < function_count; i++) {
        if (strcmp(wanted, "all") && strcmp(wanted, functions[i].chapter) && strcmp(wanted, functions[i].name))
            continue;
        memset(shown, 0, sizeof *shown);
        tried++;
        failures += !survives(&functions[i], seed);
    }
    printf("%d functions called, seed %u: %d failed\n", tried, seed, failures);
    return failures || !tried;
}
