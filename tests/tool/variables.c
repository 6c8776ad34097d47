/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that can be asked about control and performance variables, categories and enumerations, before MPI_Init,
 * while MPI runs and after MPI_Finalize: texts of all lengths, names that lead back to indices, categories that have
 * each variable once; control variables that are written where they may be. */
#include "tool.h"

enum { LARGEST = 400 };

/* Asks for a text as get_info functions give it: the whole, then every shorter room. */
typedef int ask_function(int index, char *text, int *length);

static void check_text(ask_function *ask, int index, char whole[LARGEST])
{
    char part[LARGEST];
    int needed = 0, length = LARGEST;

    CHECK(ask(index, NULL, &needed) == MPI_SUCCESS && needed > 1 && needed <= LARGEST);
    CHECK(ask(index, whole, &length) == MPI_SUCCESS && length == needed && (int)strlen(whole) + 1 == needed);
    CHECK(ask(index, whole, NULL) == MPI_SUCCESS);
    for (int room = 1; room <= needed; room += 1 + needed / 7) {
        memset(part, 'x', sizeof part);
        length = room;
        CHECK(ask(index, part, &length) == MPI_SUCCESS && length == needed);
        CHECK(strlen(part) == (size_t)room - 1 && strncmp(part, whole, (size_t)room - 1) == 0 && part[room] == 'x');
    }
    length = 0;
    part[0] = 'x';
    CHECK(ask(index, part, &length) == MPI_SUCCESS && length == needed && part[0] == 'x');
    length = -1;
    CHECK(ask(index, part, &length) == MPI_T_ERR_INVALID);
}

static int cvar_name(int i, char *text, int *length)
{
    return MPI_T_cvar_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int cvar_desc(int i, char *text, int *length)
{
    return MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, text, length, NULL, NULL);
}

static int pvar_name(int i, char *text, int *length)
{
    return MPI_T_pvar_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int pvar_desc(int i, char *text, int *length)
{
    return MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, text, length, NULL, NULL, NULL, NULL);
}

static int category_name(int i, char *text, int *length)
{
    return MPI_T_category_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL);
}

static int category_desc(int i, char *text, int *length)
{
    return MPI_T_category_get_info(i, NULL, NULL, text, length, NULL, NULL, NULL);
}

static int event_name(int i, char *text, int *length)
{
    return MPI_T_event_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int event_desc(int i, char *text, int *length)
{
    return MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, text, length, NULL);
}

static int source_name(int i, char *text, int *length)
{
    return MPI_T_source_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int source_desc(int i, char *text, int *length)
{
    return MPI_T_source_get_info(i, NULL, NULL, text, length, NULL, NULL, NULL, NULL);
}

/* Returns the number of items. */
static int check_enum(MPI_T_enum enumeration)
{
    char name[LARGEST];
    int count = 0, length = LARGEST, value;

    CHECK(MPI_T_enum_get_info(enumeration, &count, name, &length) == MPI_SUCCESS && count > 0 && length > 1);
    for (int i = 0; i < count; i++) {
        length = LARGEST;
        CHECK(MPI_T_enum_get_item(enumeration, i, &value, name, &length) == MPI_SUCCESS && length > 1);
    }
    CHECK(MPI_T_enum_get_item(enumeration, count, &value, name, &length) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_item(enumeration, -1, &value, name, &length) == MPI_T_ERR_INVALID_INDEX);
    return count;
}

static void check_controls(void)
{
    char name[LARGEST], desc[LARGEST], value[4096];
    int num = 0, verbosity, bind, scope, index, count;
    MPI_T_cvar_handle handle;
    MPI_Datatype datatype;
    MPI_T_enum enumtype;

    CHECK(MPI_T_cvar_get_num(&num) == MPI_SUCCESS && num >= 20);
    for (int i = 0; i < num; i++) {
        check_text(cvar_name, i, name);
        check_text(cvar_desc, i, desc);
        CHECK(MPI_T_cvar_get_info(i, NULL, NULL, &verbosity, &datatype, &enumtype, NULL, NULL, &bind, &scope) ==
              MPI_SUCCESS);
        CHECK(bind == MPI_T_BIND_NO_OBJECT && scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        CHECK(datatype == MPI_INT || datatype == MPI_COUNT || datatype == MPI_CHAR);
        CHECK((datatype == MPI_INT) == (enumtype != MPI_T_ENUM_NULL));
        if (enumtype != MPI_T_ENUM_NULL)
            CHECK(check_enum(enumtype) == 2);
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS);
        CHECK(count >= 1 && (datatype == MPI_CHAR || count == 1) && count < (int)sizeof value);
        CHECK(MPI_T_cvar_read(handle, value) == MPI_SUCCESS);
        if (datatype == MPI_CHAR) {
            CHECK((int)strlen(value) + 1 == count);
            CHECK(strcmp(value, getenv(name) ? getenv(name) : "") == 0);
            CHECK(MPI_T_cvar_write(handle, value) == MPI_T_ERR_CVAR_SET_NEVER);
        }
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
    }
}

static void check_meters(void)
{
    int num = 0, var_class, bind, readonly, continuous, atomic, index, verbosity, count;
    char name[LARGEST], desc[LARGEST], value[1024];
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Datatype datatype;
    MPI_T_enum enumtype;

    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_num(&num) == MPI_SUCCESS && num >= 40);
    for (int i = 0; i < num; i++) {
        check_text(pvar_name, i, name);
        check_text(pvar_desc, i, desc);
        CHECK(MPI_T_pvar_get_info(i, NULL, NULL, &verbosity, &var_class, &datatype, &enumtype, NULL, NULL, &bind,
                                  &readonly, &continuous, &atomic) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_get_index(name, var_class, &index) == MPI_SUCCESS && index == i);
        CHECK((var_class == MPI_T_PVAR_CLASS_STATE) == (enumtype != MPI_T_ENUM_NULL));
        CHECK(datatype == MPI_INT || datatype == MPI_DOUBLE || datatype == MPI_UNSIGNED_LONG_LONG);
        if (enumtype != MPI_T_ENUM_NULL)
            check_enum(enumtype);
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue; /* there may be no communicator yet */
        CHECK(MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count) == MPI_SUCCESS);
        CHECK(count >= 1 && (size_t)count * 8 <= sizeof value);
        CHECK(MPI_T_pvar_read(session, handle, value) == MPI_SUCCESS);
    }
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
}

static void check_events(void)
{
    int num = 0, sources = 0, verbosity, bind, index, elements;
    char name[LARGEST], desc[LARGEST];
    MPI_Count ticks, most, now, later;
    MPI_Aint displacements[8];
    MPI_Datatype datatypes[8];
    MPI_T_source_order order;
    MPI_T_enum enumtype;
    MPI_Info info;

    CHECK(MPI_T_event_get_num(&num) == MPI_SUCCESS && num >= 4);
    for (int i = 0; i < num; i++) {
        check_text(event_name, i, name);
        check_text(event_desc, i, desc);
        elements = 8;
        CHECK(MPI_T_event_get_info(i, NULL, NULL, &verbosity, datatypes, displacements, &elements, &enumtype, &info,
                                   NULL, NULL, &bind) == MPI_SUCCESS);
        CHECK(elements >= 2 && elements < 8 && displacements[0] == 0 && datatypes[0] == MPI_INT);
        CHECK(check_enum(enumtype) == elements);
        CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
        datatypes[1] = MPI_DATATYPE_NULL;
        elements = 1;
        CHECK(MPI_T_event_get_info(i, NULL, NULL, NULL, datatypes, NULL, &elements, NULL, NULL, NULL, NULL, NULL) ==
              MPI_SUCCESS);
        CHECK(elements >= 2 && datatypes[1] == MPI_DATATYPE_NULL);
        CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS && index == i);
    }
    CHECK(MPI_T_source_get_num(&sources) == MPI_SUCCESS && sources == 1);
    check_text(source_name, 0, name);
    check_text(source_desc, 0, desc);
    CHECK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &order, &ticks, &most, &info) == MPI_SUCCESS);
    CHECK(order == MPI_T_SOURCE_ORDERED && ticks > 0 && most > ticks);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_T_source_get_timestamp(0, &now) == MPI_SUCCESS);
    CHECK(MPI_T_source_get_timestamp(0, &later) == MPI_SUCCESS && later >= now && later <= most);
}

typedef int list_function(int category, int length, int indices[]);

/* Each of `all` things is in one category, and its list is as long as it says. */
static void check_lists(list_function *list, int categories, int all, const int *counts)
{
    int seen[1024] = {0}, indices[1024];

    for (int category = 0; category < categories; category++) {
        indices[counts[category]] = -7;
        CHECK(list(category, 1024, indices) == MPI_SUCCESS);
        CHECK(indices[counts[category]] == -7);
        for (int i = 0; i < counts[category]; i++) {
            CHECK(indices[i] >= 0 && indices[i] < all);
            seen[indices[i]]++;
        }
        indices[0] = -7;
        CHECK(list(category, 0, NULL) == MPI_SUCCESS && list(category, 0, indices) == MPI_SUCCESS && indices[0] == -7);
    }
    for (int i = 0; i < all; i++)
        CHECK(seen[i] == 1);
}

static void check_categories(void)
{
    int num = 0, cvars[64], pvars[64], categories[64], events[64], all, index, changed = -1, children[64];
    char name[LARGEST], desc[LARGEST];

    CHECK(MPI_T_category_get_num(&num) == MPI_SUCCESS && num > 5 && num <= 64);
    for (int i = 0; i < num; i++) {
        check_text(category_name, i, name);
        check_text(category_desc, i, desc);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &cvars[i], &pvars[i], &categories[i]) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_num_events(i, &events[i]) == MPI_SUCCESS);
    }
    MPI_T_cvar_get_num(&all);
    check_lists(MPI_T_category_get_cvars, num, all, cvars);
    MPI_T_pvar_get_num(&all);
    check_lists(MPI_T_category_get_pvars, num, all, pvars);
    MPI_T_event_get_num(&all);
    check_lists(MPI_T_category_get_events, num, all, events);
    CHECK(categories[0] == num - 1); /* one has all others */
    CHECK(MPI_T_category_get_categories(0, 64, children) == MPI_SUCCESS);
    for (int i = 0; i < num - 1; i++)
        CHECK(children[i] == i + 1 && categories[i + 1] == 0);
    CHECK(MPI_T_category_changed(&changed) == MPI_SUCCESS);
    all = changed;
    CHECK(MPI_T_category_changed(&changed) == MPI_SUCCESS && changed == all);
}

static void check_all(void)
{
    check_controls();
    check_meters();
    check_events();
    check_categories();
}

/* What is set before MPI starts is in force when it runs. */
static void write_early(void)
{
    MPI_T_cvar_handle slots = tool_control("MUR_SHM_LANE_SLOTS"), eager = tool_control("MUR_SHM_EAGER_MAX");
    MPI_Count value = 32;

    CHECK(MPI_T_cvar_write(slots, &value) == MPI_SUCCESS);
    value = 100;
    CHECK(MPI_T_cvar_write(eager, &value) == MPI_SUCCESS);
    MPI_T_cvar_handle_free(&slots);
    MPI_T_cvar_handle_free(&eager);
}

static void check_writing(void)
{
    MPI_T_cvar_handle slots = tool_control("MUR_SHM_LANE_SLOTS"), eager = tool_control("MUR_SHM_EAGER_MAX"),
                      verbose = tool_control("MUR_COLL_VERBOSE"), spin = tool_control("MUR_WAIT_SPIN");
    MPI_Count value = 0;
    int flag = -1;

    CHECK(MPI_T_cvar_read(slots, &value) == MPI_SUCCESS && value == 32);
    CHECK(MPI_T_cvar_read(eager, &value) == MPI_SUCCESS && value == 100);
    CHECK(MPI_T_cvar_write(slots, &value) == MPI_T_ERR_CVAR_SET_NOT_NOW);
    value = 1 << 30;
    CHECK(MPI_T_cvar_write(eager, &value) == MPI_T_ERR_INVALID);
    value = -2;
    CHECK(MPI_T_cvar_write(eager, &value) == MPI_T_ERR_INVALID);
    value = -1;
    CHECK(MPI_T_cvar_write(spin, &value) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(eager, &value) == MPI_SUCCESS && value == 100);
    CHECK(MPI_T_cvar_read(verbose, &flag) == MPI_SUCCESS && flag == 0);
    flag = 2;
    CHECK(MPI_T_cvar_write(verbose, &flag) == MPI_T_ERR_INVALID);
    /* The handles are left to the end of the interface. */
}

int main(int argc, char **argv)
{
    int provided;

    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    for (int i = 0; i < 3; i++) {
        tool_start();
        check_all();
        CHECK(MPI_T_finalize() == MPI_SUCCESS);
    }
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    tool_start();
    write_early();
    MPI_Init(&argc, &argv);
    CHECK(MPI_T_init_thread(MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS && provided == MPI_THREAD_FUNNELED);
    check_all();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    check_writing();
    MPI_Finalize();
    check_all();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    tool_start();
    check_all();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return 0;
}
