/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong uses of the tool information interface: each gives its own code, nothing crashes, nothing else changes. */
#include "tool.h"

static void check_uninitialised(void)
{
    MPI_T_event_registration registration = NULL;
    MPI_T_pvar_session session = NULL;
    MPI_T_cvar_handle control = NULL;
    MPI_T_pvar_handle meter = NULL;
    MPI_Count ticks;
    int number;

    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, &control, &number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_cvar_read(control, &number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_start(session, meter) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_event_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_event_read(NULL, 0, &number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_source_get_timestamp(0, &ticks) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_category_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_category_changed(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(12345, &number) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL) == MPI_T_ERR_INVALID);
}

static void check_indices(int index)
{
    MPI_T_event_registration registration;
    MPI_T_pvar_session session;
    MPI_T_cvar_handle control;
    MPI_T_pvar_handle meter;
    int n, list[4];
    MPI_Count ticks;

    CHECK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &control, &n) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &meter, &n) == MPI_T_ERR_INVALID_INDEX);
    MPI_T_pvar_session_free(&session);
    CHECK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_timestamp(index, &ticks) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_num_events(index, &n) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_cvars(index, 4, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_pvars(index, 4, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_events(index, 4, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_categories(index, 4, list) == MPI_T_ERR_INVALID_INDEX);
}

static void check_names(void)
{
    int index = -7;

    CHECK(MPI_T_cvar_get_index("no such name", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_index(NULL, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_index("MUR_INFO", NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_get_index("eager_sends", MPI_T_PVAR_CLASS_STATE, &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_get_index("eager_sends", 77, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_get_index("", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_index("", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(index == -7);
    CHECK(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID && MPI_T_pvar_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_cvars(1, -1, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_cvars(1, 1, NULL) == MPI_T_ERR_INVALID);
}

/* Handles that are none: null, of another kind, freed, of another session, numbers. */
static void check_handles(void)
{
    MPI_T_pvar_handle meter, copy, number = (MPI_T_pvar_handle)(void *)0x123456;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL, other = MPI_T_PVAR_SESSION_NULL, gone;
    MPI_T_cvar_handle control, control_copy;
    unsigned long long value;
    int index, n;

    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS && MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
    meter = copy = tool_meter(session, "eager_sends", MPI_T_PVAR_CLASS_COUNTER, NULL);
    CHECK(MPI_T_pvar_read(other, meter, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_handle_free(other, &meter) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(session, number, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read((MPI_T_pvar_session)(void *)meter, meter, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, meter, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_read(session, meter, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_free(session, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_free(session, &meter) == MPI_SUCCESS && meter == MPI_T_PVAR_HANDLE_NULL);
    CHECK(MPI_T_pvar_read(session, copy, &value) == MPI_T_ERR_INVALID_HANDLE);
    copy = tool_meter(session, "eager_sends", MPI_T_PVAR_CLASS_COUNTER, NULL);
    gone = session;
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && MPI_T_pvar_session_free(&other) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(gone, copy, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_start(gone, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_free(&gone) == MPI_T_ERR_INVALID_SESSION);

    control = control_copy = tool_control("MUR_INFO");
    CHECK(MPI_T_cvar_read(control, NULL) == MPI_T_ERR_INVALID && MPI_T_cvar_write(control, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_free(&control) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(control_copy, &n) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_write(control, &n) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(&control) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, NULL, &n) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_enum_get_info((MPI_T_enum)(void *)&n, &n, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_get_index("MUR_INFO", &index) == MPI_SUCCESS);
}

/* What a variable that always runs refuses, and all handles of a session pass over. */
static void check_continuous(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle level, sum;
    unsigned long long value = 5;

    MPI_T_pvar_session_create(&session);
    level = tool_meter(session, "unexpected_length", MPI_T_PVAR_CLASS_LEVEL, NULL);
    sum = tool_meter(session, "eager_sends", MPI_T_PVAR_CLASS_COUNTER, NULL);
    CHECK(MPI_T_pvar_start(session, level) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_stop(session, level) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_reset(session, level) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_write(session, level, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(session, level, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_write(session, sum, &value) == MPI_SUCCESS && tool_read(session, sum) == 5);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(session, sum) == MPI_SUCCESS && tool_read(session, sum) == 5);
    CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS && tool_read(session, sum) == 0);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
}

static void check_objects(void)
{
    MPI_Comm null = MPI_COMM_NULL, stale = MPI_COMM_NULL;
    MPI_T_event_registration registration;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle meter;
    int index, n, is_running, is_over;

    MPI_Initialized(&is_running);
    MPI_Finalized(&is_over);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &index);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &meter, &n) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &null, &meter, &n) == MPI_T_ERR_INVALID);
    if (is_running && !is_over) {
        MPI_Comm copy;

        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        stale = copy;
        MPI_Comm_free(&copy);
        CHECK(MPI_T_pvar_handle_alloc(session, index, &stale, &meter, &n) == MPI_T_ERR_INVALID);
    }
    MPI_T_event_get_index("collective_start", &index);
    CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_alloc(index, &null, MPI_INFO_NULL, &registration) == MPI_T_ERR_INVALID);
    MPI_T_event_get_index("flow_hold", &index);
    CHECK(MPI_T_event_handle_alloc(index, NULL, (MPI_Info)(void *)&n, &registration) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, NULL) == MPI_T_ERR_INVALID);
    MPI_T_pvar_session_free(&session);
}

static void check_events(void)
{
    MPI_T_event_registration registration, gone;
    MPI_Info info;
    MPI_Count ticks;
    int index, n;

    MPI_T_event_get_index("flow_hold", &index);
    CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(registration, (MPI_T_cb_safety)7, MPI_INFO_NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_callback_set_info(registration, (MPI_T_cb_safety)7, MPI_INFO_NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_get_info(registration, NULL) == MPI_T_ERR_INVALID);
    gone = registration;
    CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_get_info(gone, &info) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_set_dropped_handler(gone, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_register_callback(NULL, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_read(NULL, 0, &n) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_copy((MPI_T_event_instance)(void *)&n, &n) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_get_timestamp(NULL, &ticks) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_get_source(NULL, &n) == MPI_T_ERR_INVALID_HANDLE);
}

static void check_all(void)
{
    const int indices[] = {-1, 1000000, -2147483647 - 1, 2147483647};

    check_uninitialised();
    tool_start();
    for (int i = 0; i < 4; i++)
        check_indices(indices[i]);
    check_names();
    check_handles();
    check_continuous();
    check_objects();
    check_events();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    check_uninitialised();
}

/* The codes are classes, too, and have texts. */
static void check_codes(void)
{
    char text[MPI_MAX_ERROR_STRING], before[MPI_MAX_ERROR_STRING] = "";
    int length, error_class;

    for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; code++) {
        CHECK(MPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == code);
        CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && length > 10 && strcmp(text, before) != 0);
        strcpy(before, text);
    }
}

int main(int argc, char **argv)
{
    check_codes();
    check_all();
    MPI_Init(&argc, &argv);
    check_all();
    MPI_Finalize();
    check_all();
    return 0;
}
