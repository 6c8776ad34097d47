/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file pointer: records that all ranks write at it are all there and whole; in order they lie in the order
 * of the ranks; seeking; files that can only be passed through; what is not allowed. */
#include <unistd.h>

#include "random.h"

enum { ROUNDS = 40, LONGEST = 50 };

static int rank, size;
static MPI_File file;

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static MPI_Offset shared_place(void)
{
    MPI_Offset place;

    CHECK(MPI_File_get_position_shared(file, &place) == MPI_SUCCESS);
    return place;
}

/* A record: its length, its writer, its number, then words of both. */
static int make_record(int *record, int number)
{
    int length = 3 + (rank * 7 + number * 5) % LONGEST;

    record[0] = length;
    record[1] = rank;
    record[2] = number;
    for (int i = 3; i < length; i++)
        record[i] = rank * 1000 + number + i;
    return length;
}

static void check_record(const int *record)
{
    CHECK(record[0] == 3 + (record[1] * 7 + record[2] * 5) % LONGEST);
    for (int i = 3; i < record[0]; i++)
        CHECK(record[i] == record[1] * 1000 + record[2] + i);
}

static void write_record(int number, int form)
{
    int record[3 + LONGEST], length = make_record(record, number), moved;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    switch (form) {
    case 0:
        CHECK(MPI_File_write_shared(file, record, length, MPI_INT, &status) == MPI_SUCCESS);
        break;
    case 1:
        CHECK(MPI_File_write_shared_c(file, record, length, MPI_INT, &status) == MPI_SUCCESS);
        break;
    case 2:
        CHECK(MPI_File_iwrite_shared(file, record, length, MPI_INT, &request) == MPI_SUCCESS);
        break;
    default:
        CHECK(MPI_File_iwrite_shared_c(file, record, length, MPI_INT, &request) == MPI_SUCCESS);
        break;
    }
    if (request != MPI_REQUEST_NULL)
        CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &moved);
    CHECK(moved == length);
}

/* Every rank writes when it likes; rank 0 finds all records, and each rank's in their order. */
static void records(void)
{
    int *all, next[256] = {0}, found = 0;
    MPI_Offset total;
    MPI_Status status;

    MPI_File_set_size(file, 0);
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    for (int i = 0; i < ROUNDS; i++)
        write_record(i, (i + rank) % 4);
    MPI_Barrier(MPI_COMM_WORLD);
    total = shared_place();
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    all = malloc((size_t)total * sizeof *all);
    CHECK(all);
    MPI_File_read_at(file, 0, all, (int)total, MPI_INT, &status);
    for (MPI_Offset at = 0; at < total; at += all[at], found++) {
        check_record(all + at);
        CHECK(all[at + 2] == next[all[at + 1]]++);
    }
    CHECK(found == ROUNDS * size);
    free(all);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Together the ranks read each word once, whoever comes first. */
static void reads(void)
{
    int words[4], expected = 0, sum = 0, all;
    MPI_Request request;
    MPI_Status status;
    MPI_Offset end;

    MPI_File_set_size(file, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 16 * size; i++) {
        expected += i * i;
        if (rank == 0)
            MPI_File_write_at(file, i, &(int){i * i}, 1, MPI_INT, &status);
    }
    MPI_File_sync(file);
    MPI_File_seek_shared(file, -16 * size, MPI_SEEK_END);
    MPI_File_read_shared(file, words, 4, MPI_INT, &status);
    for (int i = 0; i < 4; i++)
        sum += words[i];
    MPI_File_read_shared_c(file, words, 4, MPI_INT, &status);
    for (int i = 0; i < 4; i++)
        sum += words[i];
    MPI_File_iread_shared(file, words, 4, MPI_INT, &request);
    MPI_Wait(&request, &status);
    for (int i = 0; i < 4; i++)
        sum += words[i];
    MPI_File_iread_shared_c(file, words, 4, MPI_INT, &request);
    MPI_Wait(&request, &status);
    for (int i = 0; i < 4; i++)
        sum += words[i];
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == expected);
    end = shared_place();
    CHECK(end == 16 * size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank r takes r + 1 words, in order, by every form. */
static void ordered(void)
{
    int mine = rank + 1, data[300], all[6 * 300 * 2], per_round = size * (size + 1) / 2, before = rank * (rank + 1) / 2;
    MPI_Status status;
    int moved;

    MPI_File_set_size(file, 0);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int form = 0; form < 4; form++) {
        for (int i = 0; i < mine; i++)
            data[i] = form * per_round + before + i;
        if (form == 0) {
            MPI_File_write_ordered(file, data, mine, MPI_INT, &status);
        } else if (form == 1) {
            MPI_File_write_ordered_c(file, data, mine, MPI_INT, &status);
        } else if (form == 2) {
            MPI_File_write_ordered_begin(file, data, mine, MPI_INT);
            MPI_File_write_ordered_end(file, data, &status);
        } else {
            MPI_File_write_ordered_begin_c(file, data, mine, MPI_INT);
            MPI_File_write_ordered_end(file, data, &status);
        }
        MPI_Get_count(&status, MPI_INT, &moved);
        CHECK(moved == mine);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(shared_place() == 4 * per_round);
    MPI_File_read_at(file, 0, all, 4 * per_round, MPI_INT, &status);
    for (int i = 0; i < 4 * per_round; i++)
        CHECK(all[i] == i);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int form = 0; form < 4; form++) {
        memset(data, 0, sizeof data);
        if (form == 0) {
            MPI_File_read_ordered(file, data, mine, MPI_INT, &status);
        } else if (form == 1) {
            MPI_File_read_ordered_c(file, data, mine, MPI_INT, &status);
        } else if (form == 2) {
            MPI_File_read_ordered_begin(file, data, mine, MPI_INT);
            MPI_File_read_ordered_end(file, data, &status);
        } else {
            MPI_File_read_ordered_begin_c(file, data, mine, MPI_INT);
            MPI_File_read_ordered_end(file, data, &status);
        }
        for (int i = 0; i < mine; i++)
            CHECK(data[i] == form * per_round + before + i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void misuse(void)
{
    MPI_Offset before = shared_place();
    MPI_Status status;
    int data = 0;

    MPI_File_get_atomicity(file, &data);
    CHECK(data == 0 && MPI_File_set_atomicity(file, 5) == MPI_SUCCESS);
    MPI_File_get_atomicity(file, &data);
    CHECK(data == 1 && MPI_File_set_atomicity(file, 0) == MPI_SUCCESS);
    if (size > 1)
        CHECK(class_of(MPI_File_set_atomicity(file, rank == 0)) == MPI_ERR_NOT_SAME);
    CHECK(class_of(MPI_File_seek_shared(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_seek_shared(file, 0, 1234)) == MPI_ERR_ARG);
    if (size > 1)
        CHECK(class_of(MPI_File_seek_shared(file, rank, MPI_SEEK_SET)) == MPI_ERR_NOT_SAME);
    CHECK(shared_place() == before);
    CHECK(class_of(MPI_File_read_all_end(file, &data, &status)) == MPI_ERR_IO);
    CHECK(MPI_File_write_all_begin(file, &data, 1, MPI_INT) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_write_all_begin(file, &data, 1, MPI_INT)) == MPI_ERR_IO);
    CHECK(class_of(MPI_File_write_all(file, &data, 1, MPI_INT, &status)) == MPI_ERR_IO);
    CHECK(class_of(MPI_File_write_at_all_end(file, &data, &status)) == MPI_ERR_IO);
    CHECK(class_of(MPI_File_write_all_end(file, &status, &status)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_File_close(&file)) == MPI_ERR_IO);
    CHECK(MPI_File_write_all_end(file, &data, &status) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One that only has a shared pointer: a view begins where it is. */
static void sequential(const char *name)
{
    int data[2] = {7, 8}, found[2] = {0}, amode = MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL;
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Status status;

    CHECK(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_write_at(file, 0, data, 1, MPI_INT, &status)) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(class_of(MPI_File_write(file, data, 1, MPI_INT, &status)) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(class_of(MPI_File_seek(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(class_of(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)) == MPI_ERR_ARG);
    CHECK(MPI_File_write_ordered(file, data, 2, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_File_get_view(file, &disp, &etype, &filetype, datarep);
    CHECK(disp == 8 * size);
    CHECK(MPI_File_write_ordered(file, data, 1, MPI_INT, &status) == MPI_SUCCESS);
    MPI_File_close(&file);
    amode = MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_get_size(file, &disp);
    CHECK(disp == 12 * size);
    MPI_File_read_ordered(file, found, 2, MPI_INT, &status);
    CHECK(found[0] == 7 && found[1] == 8);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "shared.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(shared_place() == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_seek_shared(file, 12, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(shared_place() == 12);
    CHECK(MPI_File_set_view(file, 40, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(shared_place() == 0); /* a new view puts it to 0 */
    records();
    reads();
    ordered();
    misuse();
    MPI_File_close(&file);
    sequential("sequential.tmp");
    MPI_Finalize();
    return 0;
}
