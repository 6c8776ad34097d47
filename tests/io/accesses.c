/* SPDX-License-Identifier: BSD-3-Clause */
/* Random views with and without holes, hints, offsets, sizes, memory types and forms of access, against a copy of the
 * file in memory to which each rank's elements are put one by one. The file is compared byte by byte, so what lies
 * between must survive; reading goes beyond the file's end, and is also done by another number of ranks. */
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "random.h"
#include "scratch.h"

enum { LARGEST = 1 << 19, MAX_CELLS = 600 };

static int rank, size;
static char name[300];
static unsigned char *expected, *found;
static MPI_Offset file_size;

/* Cells of a tile, each with an owner or -1. */
struct view {
    int unit, cells, owner[MAX_CELLS];
    MPI_Offset displacement[64]; /* of each rank */
    MPI_Datatype etype, filetype;
};

static void draw_view(struct view *v, int ranks)
{
    int hole_percent = (int[]){0, 0, 10, 50, 93}[random_below(5)], longest = (int[]){1, 6, 40, 200}[random_below(4)];
    int at = 0;

    v->unit = 1 << random_below(4);
    v->cells = ranks + 1 + random_below(MAX_CELLS - ranks - 1);
    while (at < v->cells) {
        int owner = random_below(100) < hole_percent ? -1 : random_below(ranks);

        for (int length = 1 + random_below(longest); length > 0 && at < v->cells; length--)
            v->owner[at++] = owner;
    }
    for (int r = 0; r < ranks; r++) /* at least one for each */
        v->owner[r * v->cells / ranks] = r;
    v->displacement[0] = random_below(5000);
    for (int r = 1; r < ranks; r++)
        v->displacement[r] = v->displacement[0] + (random_below(4) ? 0 : (MPI_Offset)v->cells * v->unit);
}

static void make_types(struct view *v, int r)
{
    int places[MAX_CELLS], count = 0;
    MPI_Datatype inner;

    for (int i = 0; i < v->cells; i++)
        if (v->owner[i] == r)
            places[count++] = i;
    v->etype = v->unit == 1 ? MPI_BYTE : v->unit == 2 ? MPI_SHORT : v->unit == 4 ? MPI_INT : MPI_DOUBLE;
    MPI_Type_create_indexed_block(count, 1, places, v->etype, &inner);
    MPI_Type_create_resized(inner, 0, (MPI_Aint)v->cells * v->unit, &v->filetype);
    MPI_Type_commit(&v->filetype);
    MPI_Type_free(&inner);
}

/* Where elements first..first+count of rank r's stream lie in the file. */
static void places_of(const struct view *v, int r, int first, int count, MPI_Offset *place)
{
    int places[MAX_CELLS], owned = 0;

    for (int c = 0; c < v->cells; c++)
        if (v->owner[c] == r)
            places[owned++] = c;
    for (int e = 0; e < count; e++)
        place[e] =
            v->displacement[r] + ((MPI_Offset)((first + e) / owned) * v->cells + places[(first + e) % owned]) * v->unit;
}

static int owned_by(const struct view *v, int r)
{
    int owned = 0;

    for (int c = 0; c < v->cells; c++)
        owned += v->owner[c] == r;
    return owned;
}

static unsigned char byte_at(int round, int r, int element, int i)
{
    return (unsigned char)(round * 17 + r * 5 + element * 3 + i + 1);
}

static void set(MPI_Info info, const char *key, const char *const *values, int count)
{
    int drawn = random_below(count);

    if (values[drawn])
        MPI_Info_set(info, key, values[drawn]);
}

static MPI_Info draw_hints(void)
{
    static const char *const choices[] = {NULL, "enable", "disable", "automatic"};
    static const char *const buffers[] = {NULL, "1", "40000", "300000", "16777216"};
    static const char *const sieves[] = {NULL, "1", "10000", "100000"};
    static const char *const nodes[] = {NULL, "1", "2", "1000"};
    static const char *const units[] = {NULL, "8192", "65536", "5000"};
    MPI_Info info;

    MPI_Info_create(&info);
    set(info, "romio_cb_write", choices, 4);
    set(info, "romio_cb_read", choices, 4);
    set(info, "romio_ds_write", choices, 4);
    set(info, "romio_ds_read", choices, 4);
    set(info, "cb_buffer_size", buffers, 5);
    set(info, "ind_rd_buffer_size", sieves, 4);
    set(info, "ind_wr_buffer_size", sieves, 4);
    set(info, "cb_nodes", nodes, 4);
    set(info, "striping_unit", units, 4);
    return info;
}

/* ---- the forms ---- */

struct data {
    void *memory;
    int count;
    MPI_Datatype type;
};

enum { FORMS = 12 };

static void write_form(MPI_File file, int form, MPI_Offset first, struct data d, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (form % 2)
        MPI_File_seek(file, first, MPI_SEEK_SET);
    switch (form) {
    case 0:
        MPI_File_write_at(file, first, d.memory, d.count, d.type, status);
        return;
    case 1:
        MPI_File_write(file, d.memory, d.count, d.type, status);
        return;
    case 2:
        MPI_File_write_at_all(file, first, d.memory, d.count, d.type, status);
        return;
    case 3:
        MPI_File_write_all(file, d.memory, d.count, d.type, status);
        return;
    case 4:
        MPI_File_iwrite_at(file, first, d.memory, d.count, d.type, &request);
        break;
    case 5:
        MPI_File_iwrite(file, d.memory, d.count, d.type, &request);
        break;
    case 6:
        MPI_File_iwrite_at_all(file, first, d.memory, d.count, d.type, &request);
        break;
    case 7:
        MPI_File_iwrite_all(file, d.memory, d.count, d.type, &request);
        break;
    case 8:
        MPI_File_write_at_all_begin(file, first, d.memory, d.count, d.type);
        MPI_File_write_at_all_end(file, d.memory, status);
        return;
    case 9:
        MPI_File_write_all_begin(file, d.memory, d.count, d.type);
        MPI_File_write_all_end(file, d.memory, status);
        return;
    case 10:
        MPI_File_set_atomicity(file, 1);
        MPI_File_write_at(file, first, d.memory, d.count, d.type, status);
        MPI_File_set_atomicity(file, 0);
        return;
    default:
        MPI_File_set_atomicity(file, 1);
        MPI_File_write_all(file, d.memory, d.count, d.type, status);
        MPI_File_set_atomicity(file, 0);
        return;
    }
    MPI_Wait(&request, status);
}

static void read_form(MPI_File file, int form, MPI_Offset first, struct data d, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (form % 2)
        MPI_File_seek(file, first, MPI_SEEK_SET);
    switch (form) {
    case 0:
        MPI_File_read_at(file, first, d.memory, d.count, d.type, status);
        return;
    case 1:
        MPI_File_read(file, d.memory, d.count, d.type, status);
        return;
    case 2:
        MPI_File_read_at_all(file, first, d.memory, d.count, d.type, status);
        return;
    case 3:
        MPI_File_read_all(file, d.memory, d.count, d.type, status);
        return;
    case 4:
        MPI_File_iread_at(file, first, d.memory, d.count, d.type, &request);
        break;
    case 5:
        MPI_File_iread(file, d.memory, d.count, d.type, &request);
        break;
    case 6:
        MPI_File_iread_at_all(file, first, d.memory, d.count, d.type, &request);
        break;
    case 7:
        MPI_File_iread_all(file, d.memory, d.count, d.type, &request);
        break;
    case 8:
        MPI_File_read_at_all_begin(file, first, d.memory, d.count, d.type);
        MPI_File_read_at_all_end(file, d.memory, status);
        return;
    case 9:
        MPI_File_read_all_begin(file, d.memory, d.count, d.type);
        MPI_File_read_all_end(file, d.memory, status);
        return;
    case 10:
        MPI_File_set_atomicity(file, 1);
        MPI_File_read_at(file, first, d.memory, d.count, d.type, status);
        MPI_File_set_atomicity(file, 0);
        return;
    default:
        MPI_File_set_atomicity(file, 1);
        MPI_File_read_all(file, d.memory, d.count, d.type, status);
        MPI_File_set_atomicity(file, 0);
        return;
    }
    MPI_Wait(&request, status);
}

/* ---- memory: every element alone, or with a gap behind it ---- */

struct memory {
    unsigned char *bytes;
    int stride; /* of elements */
    MPI_Datatype type;
    bool is_derived;
};

static struct memory make_memory(int unit, int count, MPI_Datatype etype, bool is_derived)
{
    struct memory m = {.stride = is_derived ? unit + 3 : unit, .type = etype, .is_derived = is_derived};

    m.bytes = malloc((size_t)count * (size_t)m.stride + 1);
    CHECK(m.bytes);
    memset(m.bytes, 0xee, (size_t)count * (size_t)m.stride + 1);
    if (is_derived) {
        MPI_Type_create_resized(etype, 0, m.stride, &m.type);
        MPI_Type_commit(&m.type);
    }
    return m;
}

static void free_memory(struct memory *m)
{
    if (m->is_derived)
        MPI_Type_free(&m->type);
    free(m->bytes);
}

/* ---- a round ---- */

static void start_file(int round)
{
    file_size = random_below(3) ? random_below(60000) : 0;
    for (int i = 0; i < LARGEST; i++)
        expected[i] = i < file_size ? (unsigned char)(i * 7 + round) : 0;
    if (rank == 0) {
        int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        CHECK(fd >= 0 && write(fd, expected, (size_t)file_size) == file_size);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void compare_file(void)
{
    int fd = open(name, O_RDONLY);
    ssize_t bytes = pread(fd, found, LARGEST, 0);

    close(fd);
    CHECK(bytes == file_size);
    for (MPI_Offset i = 0; i < file_size; i++)
        if (found[i] != expected[i]) {
            fprintf(stderr, "byte %lld of the file is %d, not %d\n", (long long)i, found[i], expected[i]);
            CHECK(!"the file is as expected");
        }
}

static void write_part(MPI_File file, const struct view *v, int round)
{
    int firsts[64], counts[64], form = random_below(FORMS);
    bool is_derived = random_below(2), is_whole = random_below(2);
    MPI_Offset *place;
    struct memory m;
    MPI_Status status;
    int moved;

    for (int r = 0; r < size; r++) {
        int owned = owned_by(v, r), tiles = 1 + random_below(4);

        firsts[r] = is_whole ? 0 : random_below(owned * 2);
        counts[r] = is_whole ? owned * 4 : random_below(owned * tiles + 1);
    }
    place = malloc((size_t)(MAX_CELLS * 8) * sizeof *place);
    CHECK(place);
    for (int r = 0; r < size; r++) {
        places_of(v, r, firsts[r], counts[r], place);
        for (int e = 0; e < counts[r]; e++)
            for (int i = 0; i < v->unit; i++) {
                expected[place[e] + i] = byte_at(round, r, e, i);
                file_size = place[e] + i + 1 > file_size ? place[e] + i + 1 : file_size;
            }
    }
    free(place);
    m = make_memory(v->unit, counts[rank], v->etype, is_derived);
    for (int e = 0; e < counts[rank]; e++)
        for (int i = 0; i < v->unit; i++)
            m.bytes[e * m.stride + i] = byte_at(round, rank, e, i);
    write_form(file, form, firsts[rank], (struct data){m.bytes, counts[rank], m.type}, &status);
    MPI_Get_count(&status, m.type, &moved);
    CHECK(moved == counts[rank]);
    free_memory(&m);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    compare_file();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_part(MPI_File file, const struct view *v, int self)
{
    int form = random_below(FORMS), firsts[64], counts[64], stop = 0;
    bool is_derived = random_below(2);
    MPI_Count moved, complete = 0;
    MPI_Offset *first = malloc(1500 * sizeof *first);
    struct memory m;
    MPI_Status status;

    CHECK(first);
    for (int r = 0; r < 64; r++) {
        firsts[r] = random_below(400);
        counts[r] = random_below(random_below(2) ? 50 : 1500);
    }
    places_of(v, self, firsts[self], counts[self], first);
    m = make_memory(v->unit, counts[self], v->etype, is_derived);
    read_form(file, form, firsts[self], (struct data){m.bytes, counts[self], m.type}, &status);
    for (int e = 0; e < counts[self]; e++)
        for (int i = 0; i < v->unit; i++) {
            MPI_Offset place = first[e] + i;

            stop |= place >= file_size;
            complete += !stop;
            if (m.bytes[e * m.stride + i] != (stop ? 0xee : expected[place]))
                fprintf(stderr, "element %d byte %d of form %d: place %lld of %lld\n", e, i, form, (long long)place,
                        (long long)file_size);
            CHECK(m.bytes[e * m.stride + i] == (stop ? 0xee : expected[place]));
        }
    for (int e = 0; e < counts[self] && is_derived; e++)
        CHECK(m.bytes[e * m.stride + v->unit] == 0xee);
    MPI_Get_elements_c(&status, MPI_BYTE, &moved);
    CHECK(moved == complete);
    free(first);
    free_memory(&m);
}

static void read_by_some(const struct view *v, MPI_Info info)
{
    int some = 1 + random_below(size);
    MPI_Comm comm;
    MPI_File file;

    MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm != MPI_COMM_NULL) {
        struct view mine = *v;
        int self = (rank + 1) % size; /* the views have changed hands */

        make_types(&mine, self);
        CHECK(MPI_File_open(comm, name, MPI_MODE_RDONLY, info, &file) == MPI_SUCCESS);
        CHECK(MPI_File_set_view(file, v->displacement[self], mine.etype, mine.filetype, "native", info) == MPI_SUCCESS);
        read_part(file, v, self);
        MPI_File_close(&file);
        MPI_Type_free(&mine.filetype);
        MPI_Comm_free(&comm);
    } else { /* stay in step with the numbers drawn */
        random_below(FORMS);
        random_below(2);
        for (int r = 0; r < 64; r++) {
            random_below(400);
            random_below(random_below(2) ? 50 : 1500);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The kind of file system that MUR_TEST_PREFIX asks for. */
static const char *with_prefix(void)
{
    static char prefixed[sizeof name + 16];
    const char *prefix = getenv("MUR_TEST_PREFIX");

    snprintf(prefixed, sizeof prefixed, "%.10s%s", prefix ? prefix : "", name);
    return prefixed;
}

static void round_of_access(int round)
{
    static struct view v;
    MPI_Info info = draw_hints();
    MPI_File file;

    draw_view(&v, size);
    make_types(&v, rank);
    start_file(round);
    CHECK(MPI_File_open(MPI_COMM_WORLD, with_prefix(), MPI_MODE_RDWR, info, &file) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(file, v.displacement[rank], v.etype, v.filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    write_part(file, &v, round);
    read_part(file, &v, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    write_part(file, &v, round + 100);
    MPI_File_close(&file);
    read_by_some(&v, info);
    MPI_Info_free(&info);
    MPI_Type_free(&v.filetype);
}

int main(int argc, char **argv)
{
    const char *rounds = getenv("MUR_TEST_ROUNDS");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_name(name, sizeof name, "accesses");
    expected = malloc(LARGEST);
    found = malloc(LARGEST);
    CHECK(expected && found);
    random_start();
    for (int round = 0; round < (rounds ? atoi(rounds) : 60); round++)
        round_of_access(round);
    if (rank == 0)
        CHECK(MPI_File_delete(with_prefix(), MPI_INFO_NULL) == MPI_SUCCESS && access(name, F_OK) != 0);
    free(expected);
    free(found);
    MPI_Finalize();
    return 0;
}
