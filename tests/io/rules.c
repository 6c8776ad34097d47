/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening files and what goes wrong: error classes on every rank, modes, sizes, append, delete on close, seek, and
 * no rank left waiting when another one fails. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "test.h"

static int rank, size;
static char name[300], folder[300];

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static int opens(const char *file_name, int amode)
{
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_WORLD, file_name, amode, MPI_INFO_NULL, &file);

    if (code == MPI_SUCCESS)
        MPI_File_close(&file);
    return class_of(code);
}

static void open_errors(void)
{
    char missing[400];

    snprintf(missing, sizeof missing, "%s/no/such/folder", folder);
    CHECK(opens(missing, MPI_MODE_RDWR | MPI_MODE_CREATE) == MPI_ERR_NO_SUCH_FILE);
    CHECK(opens(name, MPI_MODE_RDONLY) == MPI_ERR_NO_SUCH_FILE);
    CHECK(opens(folder, MPI_MODE_RDWR) == MPI_ERR_BAD_FILE);
    CHECK(opens(name, MPI_MODE_RDONLY | MPI_MODE_RDWR) == MPI_ERR_AMODE);
    CHECK(opens(name, MPI_MODE_CREATE) == MPI_ERR_AMODE);
    CHECK(opens(name, MPI_MODE_RDONLY | MPI_MODE_CREATE) == MPI_ERR_AMODE);
    CHECK(opens(name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL) == MPI_ERR_AMODE);
    CHECK(opens(name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL) == MPI_SUCCESS);
    CHECK(opens(name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL) == MPI_ERR_FILE_EXISTS);
    if (size > 1) { /* one rank disagrees, or fails alone: all hear of it */
        CHECK(opens(name, rank ? MPI_MODE_RDWR : MPI_MODE_RDONLY) == MPI_ERR_NOT_SAME);
        CHECK(opens(rank == size - 1 ? missing : name, MPI_MODE_RDWR) == MPI_ERR_NO_SUCH_FILE);
    }
}

static void access_errors(void)
{
    MPI_Datatype backwards, overlapping;
    int lengths[2] = {1, 1}, places[2] = {4, 0}, value = 0;
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK(class_of(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_READ_ONLY);
    CHECK(class_of(MPI_File_set_size(file, 10)) == MPI_ERR_READ_ONLY);
    CHECK(class_of(MPI_File_read_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    CHECK(class_of(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
    MPI_File_close(&file);

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL)) == MPI_ERR_TYPE);
    places[0] = 0;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &overlapping);
    MPI_Type_commit(&overlapping);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, overlapping, "native", MPI_INFO_NULL)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_BYTE, "native", MPI_INFO_NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL)) ==
          MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(class_of(MPI_File_seek(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_seek(file, 0, 77)) == MPI_ERR_ARG);
    MPI_Type_free(&backwards);
    MPI_Type_free(&overlapping);
    MPI_File_close(&file);
}

static void sizes_and_pointers(void)
{
    MPI_Offset value, displacement;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Group group, world;
    MPI_Info info;
    MPI_File file;
    int amode, result, data[2] = {rank, -rank};

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 1000);
    MPI_File_get_size(file, &value);
    CHECK(value == 1000);
    CHECK(class_of(MPI_File_set_size(file, -1)) == MPI_ERR_ARG);
    if (size > 1) {
        CHECK(class_of(MPI_File_set_size(file, 1000 + rank)) == MPI_ERR_NOT_SAME);
        CHECK(class_of(MPI_File_preallocate(file, rank ? 1000 : -1)) == MPI_ERR_ARG);
    }
    MPI_File_preallocate(file, 500);
    MPI_File_get_size(file, &value);
    CHECK(value == 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_preallocate(file, 3000);
    MPI_File_get_size(file, &value);
    CHECK(value == 3000);
    MPI_File_get_amode(file, &amode);
    CHECK(amode == MPI_MODE_RDWR);
    MPI_File_get_group(file, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_File_set_info(file, MPI_INFO_NULL);
    MPI_File_get_info(file, &info);
    MPI_Info_free(&info);

    MPI_File_set_view(file, 100, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL);
    MPI_File_get_view(file, &displacement, &etype, &filetype, datarep);
    CHECK(displacement == 100 && etype == MPI_INT && filetype == MPI_INT && strcmp(datarep, "internal") == 0);
    MPI_File_seek(file, 10, MPI_SEEK_SET);
    MPI_File_seek(file, 5, MPI_SEEK_CUR);
    MPI_File_get_position(file, &value);
    CHECK(value == 15);
    MPI_File_seek(file, -5, MPI_SEEK_END);
    MPI_File_get_position(file, &value);
    CHECK(value == 2900 / 4 - 5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_at_all(file, 2 * rank, data, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file);
    MPI_File_get_position(file, &value);
    CHECK(value == 3000);
    MPI_File_close(&file);

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(name, F_OK) != 0);
    if (rank == 0)
        CHECK(class_of(MPI_File_delete(name, MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
}

/* What may not be opened: as another user, since root may open everything; and two groups that would not be one. */
static void permissions(void)
{
    uid_t self = geteuid();
    MPI_Comm half, between;
    MPI_File file;
    int made;

    if (rank == 0) {
        made = open(name, O_WRONLY | O_CREAT, 0444);
        CHECK(made >= 0);
        close(made);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (self != 0 || seteuid(65534) == 0) {
        if (self == 0)
            CHECK(opens(folder, MPI_MODE_RDONLY) == MPI_ERR_ACCESS || opens(name, MPI_MODE_RDONLY) == MPI_ERR_ACCESS);
        CHECK(opens(name, MPI_MODE_RDWR) == MPI_ERR_ACCESS);
        CHECK(self != 0 || seteuid(0) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    if (size == 1)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &between);
    CHECK(class_of(MPI_File_open(between, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file)) ==
          MPI_ERR_COMM);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(folder, sizeof folder, "io");
    snprintf(name, sizeof name, "%.280s/file", folder);
    if (rank == 0)
        CHECK(mkdir(folder, 0700) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    open_errors();
    access_errors();
    sizes_and_pointers();
    MPI_Barrier(MPI_COMM_WORLD);
    permissions();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(rmdir(folder) == 0);
    MPI_Finalize();
    return 0;
}
