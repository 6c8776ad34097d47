/* SPDX-License-Identifier: BSD-3-Clause */
/* Data representations: external32 on disk byte by byte, with types whose sizes differ there, views of it, short reads;
 * representations of users with conversion functions of both forms, their errors, and names that are taken. */
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "test.h"

static int rank, size;
static MPI_File file;

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void read_raw(void *out, size_t bytes, off_t offset)
{
    int fd = open("datareps.tmp", O_RDONLY);

    CHECK(fd >= 0 && pread(fd, out, bytes, offset) == (ssize_t)bytes);
    close(fd);
}

static MPI_Offset extent_of(MPI_Datatype type)
{
    MPI_Count large;
    MPI_Aint extent;

    CHECK(MPI_File_get_type_extent(file, type, &extent) == MPI_SUCCESS);
    CHECK(MPI_File_get_type_extent_c(file, type, &large) == MPI_SUCCESS && large == extent);
    return extent;
}

/* Longs have 4 bytes in the file, the highest first. Every rank has each size-th one. */
static void external32(void)
{
    long data[6], found[8];
    unsigned char raw[4];
    MPI_Datatype filetype, vector, mixed;
    MPI_Status status;
    int count;

    MPI_Type_vector(1, 1, 1, MPI_LONG, &vector);
    MPI_Type_create_resized(vector, 0, 4 * size, &filetype); /* bounds that are set count as they are */
    MPI_Type_commit(&filetype);
    CHECK(MPI_File_set_view(file, 4 * rank, MPI_LONG, filetype, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_contiguous(3, MPI_LONG, &mixed);
    CHECK(extent_of(MPI_LONG) == 4 && extent_of(MPI_DOUBLE) == 8 && extent_of(MPI_LONG_DOUBLE) == 16);
    CHECK(extent_of(mixed) == 12 && extent_of(filetype) == 4 * size);
    MPI_Type_free(&mixed);
    for (int i = 0; i < 6; i++)
        data[i] = -1000 * (i + 1) - rank;
    CHECK(MPI_File_write_all(file, data, 6, MPI_LONG, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_LONG, &count);
    CHECK(count == 6);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++) {
        long value;

        read_raw(raw, 4, (i * size + rank) * 4);
        value = (int)((unsigned)raw[0] << 24 | (unsigned)raw[1] << 16 | (unsigned)raw[2] << 8 | raw[3]);
        CHECK(value == data[i]);
    }
    for (int i = 0; i < 8; i++)
        found[i] = 77;
    CHECK(MPI_File_read_at_all(file, 0, found, 8, MPI_LONG, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_LONG, &count);
    CHECK(count == 6 && memcmp(found, data, sizeof data) == 0 && found[6] == 77);
    data[0] = 1L << 40;
    CHECK(class_of(MPI_File_write_at(file, 0, data, 1, MPI_LONG, &status)) == MPI_ERR_CONVERSION);
    MPI_Type_free(&filetype);
    MPI_Type_free(&vector);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Structures, arrays of parts and pairs: what is written is read back, and takes the external size. */
static void external_types(void)
{
    struct part {
        char c;
        long l;
        double d;
    } out[4], in[4];
    int lengths[3] = {1, 1, 1}, sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2}, matrix[6], read[6];
    MPI_Aint places[3] = {offsetof(struct part, c), offsetof(struct part, l), offsetof(struct part, d)};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_LONG, MPI_DOUBLE}, structure, resized, array;
    MPI_Offset file_size;
    MPI_Status status;

    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    for (int i = 0; i < 4; i++)
        out[i] = (struct part){(char)('a' + i), -i, i * 0.25};
    MPI_Type_create_struct(3, lengths, places, types, &structure);
    MPI_Type_create_resized(structure, 0, sizeof(struct part), &resized);
    MPI_Type_commit(&resized);
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_File_set_size(file, 0);
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(file, rank * 52, out, 4, resized, &status) == MPI_SUCCESS);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &file_size);
    CHECK(file_size == 52 * size); /* 4 times 1 + 4 + 8 */
    CHECK(MPI_File_read_at(file, rank * 52, in, 4, resized, &status) == MPI_SUCCESS);
    for (int i = 0; i < 4; i++)
        CHECK(in[i].c == out[i].c && in[i].l == out[i].l && in[i].d == out[i].d);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &array);
    MPI_Type_commit(&array);
    CHECK(MPI_File_set_view(file, 96 * rank, MPI_INT, array, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(extent_of(array) == 96);
    for (int i = 0; i < 6; i++)
        matrix[i] = 100 * rank + i;
    CHECK(MPI_File_write(file, matrix, 6, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, 0, read, 6, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(memcmp(matrix, read, sizeof matrix) == 0);
    MPI_Type_free(&array);
    MPI_Type_free(&resized);
    MPI_Type_free(&structure);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- a representation of the test's own: ints are decimal numbers in 12 characters, doubles in 24 ---- */

static int state = 42, conversions;

static int text_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    CHECK(extra == &state);
    *extent = type == MPI_INT ? 12 : type == MPI_DOUBLE ? 24 : 0;
    return *extent ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* Knows contiguous ints and doubles, and ints with a gap after each. */
static char *element(void *buffer, MPI_Datatype type, MPI_Offset index, int *is_int)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(type, &lb, &extent);
    *is_int = type != MPI_DOUBLE;
    return (char *)buffer + index * extent;
}

static int to_text_c(void *buffer, MPI_Datatype type, MPI_Count count, void *out, MPI_Offset position, void *extra)
{
    char *text = out;

    CHECK(extra == &state);
    conversions++;
    for (MPI_Count i = 0; i < count; i++) {
        int is_int;
        const char *from = element(buffer, type, position + i, &is_int);
        char number[32];

        if (is_int)
            snprintf(number, sizeof number, "%12d", *(const int *)(const void *)from);
        else
            snprintf(number, sizeof number, "%24.15g", *(const double *)(const void *)from);
        memcpy(text, number, is_int ? 12 : 24);
        text += is_int ? 12 : 24;
    }
    return MPI_SUCCESS;
}

static int from_text_c(void *buffer, MPI_Datatype type, MPI_Count count, void *in, MPI_Offset position, void *extra)
{
    const char *text = in;

    CHECK(extra == &state);
    conversions++;
    for (MPI_Count i = 0; i < count; i++) {
        int is_int;
        char *to = element(buffer, type, position + i, &is_int), number[32] = "";

        memcpy(number, text, is_int ? 12 : 24);
        if (is_int)
            *(int *)(void *)to = atoi(number);
        else
            *(double *)(void *)to = atof(number);
        text += is_int ? 12 : 24;
    }
    return MPI_SUCCESS;
}

static int to_text(void *buffer, MPI_Datatype type, int count, void *out, MPI_Offset position, void *extra)
{
    return to_text_c(buffer, type, count, out, position, extra);
}

static int from_text(void *buffer, MPI_Datatype type, int count, void *in, MPI_Offset position, void *extra)
{
    return from_text_c(buffer, type, count, in, position, extra);
}

static int refuse(void *buffer, MPI_Datatype type, int count, void *in, MPI_Offset position, void *extra)
{
    (void)buffer, (void)type, (void)count, (void)in, (void)position, (void)extra;
    return 99;
}

static int plain_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int bytes;

    (void)extra;
    MPI_Type_size(type, &bytes);
    *extent = bytes;
    return MPI_SUCCESS;
}

static void use_text(const char *name)
{
    int data[5], found[10];
    double numbers[3], read[3];
    MPI_Datatype filetype, gaps;
    MPI_Status status;
    char raw[13] = "";
    int count;

    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_File_set_size(file, 0);
    MPI_Type_create_resized(MPI_INT, 0, 8, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_create_resized(MPI_INT, 0, 12 * size, &filetype);
    MPI_Type_commit(&filetype);
    CHECK(MPI_File_set_view(file, 12 * rank, MPI_INT, filetype, name, MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(extent_of(MPI_INT) == 12);
    for (int i = 0; i < 5; i++)
        data[i] = 100 * rank + i - 2;
    CHECK(MPI_File_write_at_all(file, 0, data, 5, MPI_INT, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 5);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    read_raw(raw, 12, 12 * (4 * size + rank));
    CHECK(atoi(raw) == data[4]);
    for (int i = 0; i < 10; i++)
        found[i] = 77;
    CHECK(MPI_File_read_at_all(file, 1, found, 5, gaps, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, gaps, &count);
    CHECK(count == 4);
    for (int i = 0; i < 5; i++)
        CHECK(found[2 * i] == (i < 4 ? data[i + 1] : 77) && found[2 * i + 1] == 77);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_set_view(file, 72 * rank, MPI_DOUBLE, MPI_DOUBLE, name, MPI_INFO_NULL) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        numbers[i] = rank + i / 8.0;
    CHECK(MPI_File_write(file, numbers, 3, MPI_DOUBLE, &status) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, 0, read, 3, MPI_DOUBLE, &status) == MPI_SUCCESS);
    CHECK(memcmp(read, numbers, sizeof read) == 0);
    CHECK(class_of(MPI_File_write(file, "abc", 3, MPI_CHAR, &status)) != MPI_SUCCESS);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_FLOAT, MPI_FLOAT, name, MPI_INFO_NULL)) == MPI_ERR_CONVERSION);
    MPI_Type_free(&gaps);
    MPI_Type_free(&filetype);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void errors(void)
{
    char longest[MPI_MAX_DATAREP_STRING + 1];
    MPI_Status status;
    int data = 5, found = 0;

    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_DATAREP_STRING] = '\0';
    CHECK(class_of(MPI_Register_datarep("text", from_text, to_text, text_extent, &state)) == MPI_ERR_DUP_DATAREP);
    CHECK(class_of(MPI_Register_datarep("native", from_text, to_text, text_extent, &state)) == MPI_ERR_DUP_DATAREP);
    CHECK(class_of(MPI_Register_datarep("external32", NULL, NULL, text_extent, NULL)) == MPI_ERR_DUP_DATAREP);
    CHECK(class_of(MPI_Register_datarep(longest, NULL, NULL, text_extent, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Register_datarep("", NULL, NULL, text_extent, NULL)) == MPI_ERR_ARG);
    CHECK(MPI_Register_datarep("refusing", refuse, refuse, plain_extent, NULL) == MPI_SUCCESS);
    CHECK(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, plain_extent, NULL) ==
          MPI_SUCCESS);
    CHECK(MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "refusing", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_write_all(file, &data, 1, MPI_INT, &status)) == MPI_ERR_CONVERSION);
    CHECK(MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "plain", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_all(file, &data, 1, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all(file, 0, &found, 1, MPI_INT, &status) == MPI_SUCCESS && found == 5);
    if (size > 1)
        CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, rank ? "native" : "plain", MPI_INFO_NULL)) ==
              MPI_ERR_NOT_SAME);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL)) ==
          MPI_ERR_UNSUPPORTED_DATAREP);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "datareps.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_size(file, 0);
    CHECK(extent_of(MPI_LONG) == (MPI_Offset)sizeof(long));
    external32();
    external_types();
    CHECK(MPI_Register_datarep("text", from_text, to_text, text_extent, &state) == MPI_SUCCESS);
    CHECK(MPI_Register_datarep_c("text_c", from_text_c, to_text_c, text_extent, &state) == MPI_SUCCESS);
    use_text("text");
    use_text("text_c");
    CHECK(conversions == 8);
    errors();
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
