/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes, codes and strings: those of the standard, and those that a program adds and removes (MPI-5.0 §9.4, 9.5). */
#include "test.h"

static void expect_string(int code, const char *wanted)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
    CHECK(length == (int)strlen(text));
    CHECK(!strcmp(text, wanted));
}

static void test_standard(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, error_class;

    for (int code = MPI_SUCCESS; code <= MPI_ERR_ABI; code++) {
        CHECK(MPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == code);
        CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS &&
              !strncmp(text, code ? "MPI_ERR_" : "MPI_SUCC", 8));
    }
    expect_string(MPI_ERR_TAG, "MPI_ERR_TAG: a tag is out of range");
    expect_string(MPI_T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME: a name is not known");
}

static void test_added(void)
{
    int error_class, code, found;

    CHECK(MPI_Add_error_class(&error_class) == MPI_SUCCESS && error_class > MPI_ERR_LASTCODE);
    CHECK(MPI_Add_error_code(error_class, &code) == MPI_SUCCESS && code > error_class);
    CHECK(MPI_Error_class(code, &found) == MPI_SUCCESS && found == error_class);
    CHECK(MPI_Error_class(error_class, &found) == MPI_SUCCESS && found == error_class);
    expect_string(code, "");
    CHECK(MPI_Add_error_string(code, "the disk sings") == MPI_SUCCESS);
    expect_string(code, "the disk sings");
    CHECK(MPI_Add_error_string(MPI_ERR_TAG, "not mine") != MPI_SUCCESS);

    /* Strings go first, then codes, then classes. */
    CHECK(MPI_Remove_error_class(error_class) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(code) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(error_class) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(error_class) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(error_class) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(MPI_ERR_TAG) != MPI_SUCCESS);
    CHECK(MPI_Error_class(code, &found) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    expect_string(MPI_ERR_TAG, "MPI_ERR_TAG: a tag is out of range"); /* legal before MPI_Init */
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_standard();
    test_added();
    MPI_Finalize();
    return 0;
}
