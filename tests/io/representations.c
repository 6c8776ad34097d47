/* SPDX-License-Identifier: BSD-3-Clause */
/* Every predefined type, C's, Fortran's and C++'s, in external32 and in a representation of the user's, written and
 * read in every form through views that interleave the ranks: the file has byte for byte what MPI_Pack_external says,
 * or what the user's function made of it, and reading brings the values back. */
#include <fcntl.h>
#include <unistd.h>

#include "forms.h"
#include "random.h"
#include "scratch.h"

enum { ROOM = 64 << 10 };

static const MPI_Datatype types[] = {MPI_CHAR,
                                     MPI_SIGNED_CHAR,
                                     MPI_UNSIGNED_CHAR,
                                     MPI_BYTE,
                                     MPI_WCHAR,
                                     MPI_SHORT,
                                     MPI_UNSIGNED_SHORT,
                                     MPI_INT,
                                     MPI_UNSIGNED,
                                     MPI_LONG,
                                     MPI_UNSIGNED_LONG,
                                     MPI_LONG_LONG,
                                     MPI_UNSIGNED_LONG_LONG,
                                     MPI_FLOAT,
                                     MPI_DOUBLE,
                                     MPI_LONG_DOUBLE,
                                     MPI_C_BOOL,
                                     MPI_INT8_T,
                                     MPI_INT16_T,
                                     MPI_INT32_T,
                                     MPI_INT64_T,
                                     MPI_UINT8_T,
                                     MPI_UINT16_T,
                                     MPI_UINT32_T,
                                     MPI_UINT64_T,
                                     MPI_C_FLOAT_COMPLEX,
                                     MPI_C_DOUBLE_COMPLEX,
                                     MPI_C_LONG_DOUBLE_COMPLEX,
                                     MPI_AINT,
                                     MPI_COUNT,
                                     MPI_OFFSET,
                                     MPI_CXX_BOOL,
                                     MPI_CXX_FLOAT_COMPLEX,
                                     MPI_CXX_DOUBLE_COMPLEX,
                                     MPI_CXX_LONG_DOUBLE_COMPLEX,
                                     MPI_CHARACTER,
                                     MPI_LOGICAL,
                                     MPI_INTEGER,
                                     MPI_REAL,
                                     MPI_DOUBLE_PRECISION,
                                     MPI_COMPLEX,
                                     MPI_DOUBLE_COMPLEX,
                                     MPI_INTEGER1,
                                     MPI_INTEGER2,
                                     MPI_INTEGER4,
                                     MPI_INTEGER8,
                                     MPI_REAL4,
                                     MPI_REAL8,
                                     MPI_COMPLEX8,
                                     MPI_COMPLEX16};
enum { TYPES = sizeof types / sizeof types[0] };

static int rank, size, conversions;
static char name[300];

/* ---- a representation of the user's: every bit of the memory's turned over ---- */

static int same_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    MPI_Aint lb;

    (void)state;
    return MPI_Type_get_extent(type, &lb, extent);
}

static int turn(char *to, const char *from, MPI_Datatype type, int count)
{
    int each;

    conversions++;
    MPI_Type_size(type, &each);
    for (int i = 0; i < each * count; i++)
        to[i] = (char)~from[i];
    return MPI_SUCCESS;
}

static int turn_in(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    int each;

    (void)state;
    MPI_Type_size(type, &each);
    return turn((char *)memory + position * each, file, type, count);
}

static int turn_out(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    int each;

    (void)state;
    MPI_Type_size(type, &each);
    return turn(file, (const char *)memory + position * each, type, count);
}

/* ---- one type ---- */

struct sample {
    MPI_Datatype type;
    int native, each, count; /* bytes of an element in memory and in the file */
    char *memory, *packed;   /* the values, and what the file should have */
};

/* Values that external32 can hold: those of random bytes. */
static void draw(struct sample *sample, MPI_Datatype type, int is_external)
{
    MPI_Aint bytes, position = 0;
    MPI_Aint each;

    sample->type = type;
    MPI_Type_size(type, &sample->native);
    MPI_Pack_external_size("external32", 1, type, &each);
    sample->each = is_external ? (int)each : sample->native;
    sample->count = 1 + random_below(random_below(4) ? 40 : ROOM / 32 / size);
    bytes = each * sample->count;
    sample->memory = calloc((size_t)sample->count, (size_t)sample->native);
    sample->packed = malloc((size_t)(bytes > sample->count * sample->native ? bytes : sample->count * sample->native));
    CHECK(sample->memory && sample->packed);
    for (MPI_Aint i = 0; i < bytes; i++)
        sample->packed[i] = (char)(random_below(256) & 0x3f); /* no infinities, no signalling numbers */
    CHECK(MPI_Unpack_external("external32", sample->packed, bytes, &position, sample->memory, sample->count, type) ==
          MPI_SUCCESS);
    position = 0;
    if (is_external)
        CHECK(MPI_Pack_external("external32", sample->memory, sample->count, type, sample->packed, bytes, &position) ==
              MPI_SUCCESS);
    else
        turn(sample->packed, sample->memory, type, sample->count);
}

/* Elements of the ranks lie in turns, in runs of a few. */
static void set_view(MPI_File file, const struct sample *sample, int run, const char *datarep)
{
    MPI_Datatype runs, filetype;

    MPI_Type_contiguous(run, sample->type, &runs);
    MPI_Type_create_resized(runs, 0, (MPI_Aint)sample->each * run * size, &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_free(&runs);
    CHECK(MPI_File_set_view(file, (MPI_Offset)sample->each * run * rank, sample->type, filetype, datarep,
                            MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&filetype);
}

static void check_file(const struct sample *sample, int run)
{
    int fd = open(name, O_RDONLY);

    CHECK(fd >= 0);
    for (int i = 0; i < sample->count; i += run) {
        char raw[64 * 8];
        int now = sample->count - i < run ? sample->count - i : run;
        off_t place = (off_t)sample->each * (((off_t)i / run * size + rank) * run);

        CHECK(pread(fd, raw, (size_t)(now * sample->each), place) == now * sample->each);
        CHECK(memcmp(raw, sample->packed + (size_t)i * (size_t)sample->each, (size_t)(now * sample->each)) == 0);
    }
    close(fd);
}

/* Compared as the file has them: what memory has beside a value's bytes does not count. */
static void check_values(const struct sample *sample, void *found, int is_external)
{
    size_t bytes = (size_t)sample->count * (size_t)sample->each;
    char *again = malloc(bytes);
    MPI_Aint position = 0;

    CHECK(again);
    if (is_external)
        MPI_Pack_external("external32", found, sample->count, sample->type, again, (MPI_Aint)bytes, &position);
    else
        turn(again, found, sample->type, sample->count);
    CHECK(memcmp(again, sample->packed, bytes) == 0);
    free(again);
}

static void one_case(MPI_File file, int index, int is_external)
{
    enum form write = (enum form)random_below(FORMS), read = (enum form)random_below(FORMS);
    int run = 1 + random_below(8), choice[3] = {(int)write, (int)read, run}, got;
    struct sample sample;
    MPI_Status status;
    void *found;

    MPI_Bcast(choice, 3, MPI_INT, 0, MPI_COMM_WORLD);
    write = (enum form)choice[0];
    read = (enum form)choice[1];
    run = choice[2];
    draw(&sample, types[index], is_external);
    set_view(file, &sample, run, is_external ? "external32" : "turned");
    CHECK(form_write(file, write, 0, sample.memory, sample.count, sample.type, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, sample.type, &got);
    CHECK(got == sample.count);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    check_file(&sample, run);
    found = calloc((size_t)sample.count, (size_t)sample.native);
    CHECK(found && form_read(file, read, 0, found, sample.count, sample.type, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, sample.type, &got);
    CHECK(got == sample.count);
    check_values(&sample, found, is_external);
    MPI_Barrier(MPI_COMM_WORLD);
    free(found);
    free(sample.memory);
    free(sample.packed);
}

int main(int argc, char **argv)
{
    int tested = 0;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(name, sizeof name, "representations");
    random_start();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Register_datarep("turned", turn_in, turn_out, same_extent, NULL) == MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < TYPES; i++) {
            int bytes = 0;

            if (MPI_Type_size(types[i], &bytes) || bytes <= 0)
                continue; /* not of this compiler */
            one_case(file, i, 1);
            one_case(file, i, 0);
            tested++;
        }
    CHECK(tested > 3 * 40 && conversions > tested);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
