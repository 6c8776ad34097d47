/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank gives a collective file call wrong arguments. It hears of it at once, with the class of its mistake; the
 * others, which gave right ones, do not wait for it but hear which rank it was; and the next calls work. */
#include <unistd.h>

#include "scratch.h"
#include "test.h"

enum { COUNT = 300 };

static int rank, size, victim;
static char name[300];
static MPI_File file;
static MPI_Datatype uncommitted;
static int data[COUNT];

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

/* What this rank is told: its own mistake, or whose. */
static void check_told(int code, int class, const char *what)
{
    char text[MPI_MAX_ERROR_STRING], whose[40];
    int length;

    MPI_Error_string(code, text, &length);
    snprintf(whose, sizeof whose, "rank %d of its communicator", victim);
    if (rank == victim ? class_of(code) == class : code != MPI_SUCCESS && strstr(text, whose) != NULL)
        return;
    fprintf(stderr, "rank %d, victim %d, %s: %s\n", rank, victim, what, text);
    CHECK(0);
}

/* A mistake of the victim: a count, a type, or a buffer. */
static const struct mistake {
    int count, class;
    int is_uncommitted, has_no_buffer;
} mistakes[] = {{-3, MPI_ERR_COUNT, 0, 0}, {COUNT, MPI_ERR_TYPE, 1, 0}, {COUNT, MPI_ERR_BUFFER, 0, 1}};
enum { MISTAKES = sizeof mistakes / sizeof mistakes[0] };

enum { AT_ALL, ALL, ORDERED, AT_ALL_SPLIT, ALL_SPLIT, ORDERED_SPLIT, AT_ALL_LATER, ALL_LATER, FORMS };

static int access_now(int form, int is_write, int *buffer, int count, MPI_Datatype type)
{
    MPI_Status status;

    switch (form) {
    case AT_ALL:
        return is_write ? MPI_File_write_at_all(file, (MPI_Offset)rank * COUNT, buffer, count, type, &status)
                        : MPI_File_read_at_all(file, (MPI_Offset)rank * COUNT, buffer, count, type, &status);
    case ALL:
        return is_write ? MPI_File_write_all(file, buffer, count, type, &status)
                        : MPI_File_read_all(file, buffer, count, type, &status);
    default:
        return is_write ? MPI_File_write_ordered(file, buffer, count, type, &status)
                        : MPI_File_read_ordered(file, buffer, count, type, &status);
    }
}

/* Who makes a mistake has nothing to end. */
static int access_split(int form, int is_write, int *buffer, int count, MPI_Datatype type)
{
    MPI_Status status;
    int code;

    switch (form) {
    case AT_ALL_SPLIT:
        code = is_write ? MPI_File_write_at_all_begin(file, (MPI_Offset)rank * COUNT, buffer, count, type)
                        : MPI_File_read_at_all_begin(file, (MPI_Offset)rank * COUNT, buffer, count, type);
        break;
    case ALL_SPLIT:
        code = is_write ? MPI_File_write_all_begin(file, buffer, count, type)
                        : MPI_File_read_all_begin(file, buffer, count, type);
        break;
    default:
        code = is_write ? MPI_File_write_ordered_begin(file, buffer, count, type)
                        : MPI_File_read_ordered_begin(file, buffer, count, type);
    }
    if (code)
        return code;
    if (form == AT_ALL_SPLIT)
        return is_write ? MPI_File_write_at_all_end(file, buffer, &status)
                        : MPI_File_read_at_all_end(file, buffer, &status);
    if (form == ALL_SPLIT)
        return is_write ? MPI_File_write_all_end(file, buffer, &status) : MPI_File_read_all_end(file, buffer, &status);
    return is_write ? MPI_File_write_ordered_end(file, buffer, &status)
                    : MPI_File_read_ordered_end(file, buffer, &status);
}

static int access_later(int form, int is_write, int *buffer, int count, MPI_Datatype type)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code;

    if (form == AT_ALL_LATER)
        code = is_write ? MPI_File_iwrite_at_all(file, (MPI_Offset)rank * COUNT, buffer, count, type, &request)
                        : MPI_File_iread_at_all(file, (MPI_Offset)rank * COUNT, buffer, count, type, &request);
    else
        code = is_write ? MPI_File_iwrite_all(file, buffer, count, type, &request)
                        : MPI_File_iread_all(file, buffer, count, type, &request);
    CHECK(!code || request == MPI_REQUEST_NULL);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int access_file(int form, int is_write, const struct mistake *mistake)
{
    int is_mine = mistake && rank == victim, count = is_mine ? mistake->count : COUNT;
    MPI_Datatype type = is_mine && mistake->is_uncommitted ? uncommitted : MPI_INT;
    int *buffer = is_mine && mistake->has_no_buffer ? NULL : data;

    if (form <= ORDERED)
        return access_now(form, is_write, buffer, count, type);
    return form <= ORDERED_SPLIT ? access_split(form, is_write, buffer, count, type)
                                 : access_later(form, is_write, buffer, count, type);
}

static void rewind_pointers(void)
{
    CHECK(MPI_File_seek(file, (MPI_Offset)rank * COUNT, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
}

/* Each form moves rank r's data to the r-th place of the file. */
static void check_works(int form, int number)
{
    rewind_pointers();
    for (int i = 0; i < COUNT; i++)
        data[i] = number + rank * COUNT + i;
    CHECK(access_file(form, 1, NULL) == MPI_SUCCESS);
    memset(data, 0, sizeof data);
    rewind_pointers();
    CHECK(access_file(form, 0, NULL) == MPI_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        CHECK(data[i] == number + rank * COUNT + i);
}

static void accesses(void)
{
    for (int form = 0; form < FORMS; form++)
        for (int m = 0; m < MISTAKES; m++)
            for (int is_write = 0; is_write < 2; is_write++) {
                char what[60];

                victim = (form + m + is_write) % size;
                snprintf(what, sizeof what, "form %d, mistake %d, write %d", form, m, is_write);
                check_told(access_file(form, is_write, &mistakes[m]), mistakes[m].class, what);
                check_works(form, form * 1000 + m);
            }
}

static void set_view(void)
{
    MPI_Datatype type = rank == victim ? uncommitted : MPI_INT;

    check_told(MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE, "set_view");
    check_told(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, rank == victim ? NULL : "native", MPI_INFO_NULL),
               MPI_ERR_ARG, "set_view without a data representation");
}

static void others(void)
{
    MPI_File another = MPI_FILE_NULL;

    check_told(MPI_File_set_size(file, rank == victim ? -1 : 80), MPI_ERR_ARG, "set_size");
    check_told(MPI_File_preallocate(file, rank == victim ? -1 : 80), MPI_ERR_ARG, "preallocate");
    check_told(MPI_File_seek_shared(file, 0, rank == victim ? 4711 : MPI_SEEK_SET), MPI_ERR_ARG, "seek_shared");
    check_told(MPI_File_set_info(file, rank == victim ? (MPI_Info)uncommitted : MPI_INFO_NULL), MPI_ERR_INFO,
               "set_info");
    check_told(MPI_File_open(MPI_COMM_WORLD, rank == victim ? NULL : name, MPI_MODE_RDWR, MPI_INFO_NULL, &another),
               MPI_ERR_ARG, "open without a name");
    check_told(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR,
                             rank == victim ? (MPI_Info)uncommitted : MPI_INFO_NULL, &another),
               MPI_ERR_INFO, "open with a wrong info");
    CHECK(another == MPI_FILE_NULL);
    check_works(AT_ALL, 7);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(name, sizeof name, "io-refused");
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    accesses();
    for (victim = 0; victim < size; victim++) {
        set_view();
        others();
    }
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    MPI_Type_free(&uncommitted);
    MPI_Finalize();
    return 0;
}
