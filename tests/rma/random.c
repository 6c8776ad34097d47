/* SPDX-License-Identifier: BSD-3-Clause */
/* Random one-sided operations against a naive copy of all windows: every rank draws the same program, performs its part
 * of it, and plays all of it on its copies. A window's memory is cut into slots; in each round a slot belongs to one
 * origin, or is added to by all. Kinds of windows, of synchronisation, of data, and operations are drawn. */
#include "random.h"

enum { SLOTS = 6, SLOT = 24 << 10, BYTES = SLOTS * SLOT, LARGE = 96 << 10, COMMON = 64, ELEMENTS = 512, STEPS = 4 };

/* ---- elements ---- */

struct double_int {
    double value;
    int index;
};
struct short_int {
    short value;
    int index;
};
enum basic { INT8, INT32, UINT64, FLOAT64, PAIR, SMALL_PAIR, BASICS };

static MPI_Datatype handles[BASICS];
static const int sizes[BASICS] = {1, 4, 8, 8, sizeof(struct double_int), sizeof(struct short_int)};

enum op { SUM, PROD, MIN, MAX, BAND, BXOR, REPLACE, NO_OP, MINLOC, MAXLOC, OPS };
static MPI_Op ops[OPS];

static int fits(enum op op, enum basic basic)
{
    int is_pair = basic == PAIR || basic == SMALL_PAIR;

    if (op == REPLACE || op == NO_OP)
        return 1;
    if (op == MINLOC || op == MAXLOC)
        return is_pair;
    if (op == BAND || op == BXOR)
        return basic == INT8 || basic == INT32 || basic == UINT64;
    return !is_pair;
}

#define COMBINE(type, wrap)                                                                                            \
    do {                                                                                                               \
        type a, b;                                                                                                     \
        memcpy(&a, in, sizeof a);                                                                                      \
        memcpy(&b, inout, sizeof b);                                                                                   \
        b = op == SUM    ? (type)((wrap)a + (wrap)b)                                                                   \
            : op == PROD ? (type)((wrap)a * (wrap)b)                                                                   \
            : op == MIN  ? (a < b ? a : b)                                                                             \
                         : (a > b ? a : b);                                                                             \
        memcpy(inout, &b, sizeof b);                                                                                   \
    } while (0)

#define COMBINE_BITS(type)                                                                                             \
    do {                                                                                                               \
        type a, b;                                                                                                     \
        memcpy(&a, in, sizeof a);                                                                                      \
        memcpy(&b, inout, sizeof b);                                                                                   \
        b = (type)(op == BAND ? a & b : a ^ b);                                                                        \
        memcpy(inout, &b, sizeof b);                                                                                   \
    } while (0)

/* Only the parts of a pair: gaps stay as they are. */
static void copy_element(void *out, const void *in, enum basic basic)
{
    if (basic == PAIR) {
        memcpy(out, in, 12);
    } else if (basic == SMALL_PAIR) {
        memcpy(out, in, 2);
        memcpy((char *)out + 4, (const char *)in + 4, 4);
    } else {
        memcpy(out, in, (size_t)sizes[basic]);
    }
}

static double value_of(const void *pair, enum basic basic)
{
    struct double_int large;
    struct short_int small;

    memcpy(&small, pair, sizeof small);
    if (basic == SMALL_PAIR)
        return small.value;
    memcpy(&large, pair, sizeof large);
    return large.value;
}

static int index_of(const void *pair, enum basic basic)
{
    int index;

    memcpy(&index, (const char *)pair + (basic == PAIR ? 8 : 4), sizeof index);
    return index;
}

static void combine_pair(const char *in, char *inout, enum op op, enum basic basic)
{
    double a = value_of(in, basic), b = value_of(inout, basic);

    if (op == MINLOC ? a < b : a > b)
        copy_element(inout, in, basic);
    else if (a == b && index_of(in, basic) < index_of(inout, basic))
        copy_element(inout, in, basic);
}

static void combine(const void *in, void *inout, enum op op, enum basic basic)
{
    if (op == NO_OP)
        return;
    if (op == REPLACE) {
        copy_element(inout, in, basic);
    } else if (op == MINLOC || op == MAXLOC) {
        combine_pair(in, inout, op, basic);
    } else if (op == BAND || op == BXOR) {
        if (basic == INT8)
            COMBINE_BITS(unsigned char);
        else if (basic == INT32)
            COMBINE_BITS(unsigned);
        else
            COMBINE_BITS(unsigned long);
    } else if (basic == INT8) {
        COMBINE(signed char, unsigned);
    } else if (basic == INT32) {
        COMBINE(int, unsigned);
    } else if (basic == UINT64) {
        COMBINE(unsigned long, unsigned long);
    } else {
        COMBINE(double, double);
    }
}

/* Small numbers, so that sums and products of doubles are exact; the same for all ranks that draw. */
static void draw_element(void *out, enum basic basic)
{
    int number = 1 + random_below(3);
    struct double_int pair = {number, random_below(100)};
    struct short_int small = {(short)number, random_below(100)};
    unsigned long wide = (unsigned long)number;
    double real = number;
    signed char tiny = (signed char)number;

    memcpy(out,
           basic == INT8      ? (void *)&tiny
           : basic == INT32   ? (void *)&number
           : basic == UINT64  ? (void *)&wide
           : basic == FLOAT64 ? (void *)&real
           : basic == PAIR    ? (void *)&pair
                              : (void *)&small,
           basic == PAIR ? 12 : (size_t)sizes[basic]);
}

/* ---- data ---- */

/* Where `count` elements lie from an address, and a datatype that says so. */
struct data {
    enum basic basic;
    int count;
    MPI_Aint places[ELEMENTS];
    MPI_Aint span; /* bytes they all lie in */
    MPI_Datatype type;
    int type_count;
};

static void draw_data(struct data *data, enum basic basic, int count, MPI_Aint room)
{
    int size = sizes[basic], form = random_below(4), stride = 1 + random_below(3);
    MPI_Aint at = 0;

    data->basic = basic;
    data->count = count;
    if ((MPI_Aint)count * size * stride > room)
        form = 0;
    for (int i = 0; i < count; i++) {
        data->places[i] = at;
        at += size * (form == 0 ? 1 : form == 3 ? 1 + random_below(stride) : stride);
    }
    data->span = at;
    data->type_count = 1;
    if (form == 0) {
        data->type = handles[basic];
        data->type_count = count;
        return;
    }
    if (form == 1)
        MPI_Type_vector(count, 1, stride, handles[basic], &data->type);
    else if (form == 2 && count) {
        data->type_count = count;
        MPI_Type_create_resized(handles[basic], 0, (MPI_Aint)stride * size, &data->type);
    } else {
        if (random_below(2))
            for (int i = count - 1; i > 0; i--) { /* in any order */
                int k = random_below(i + 1);
                MPI_Aint place = data->places[i];

                data->places[i] = data->places[k];
                data->places[k] = place;
            }
        MPI_Type_create_hindexed_block(count, 1, data->places, handles[basic], &data->type);
    }
    MPI_Type_commit(&data->type);
}

static void free_data(struct data *data)
{
    if (data->type != handles[data->basic])
        MPI_Type_free(&data->type);
}

/* ---- windows ---- */

enum window { CREATED, ALLOCATED, SHARED, DYNAMIC, WINDOWS };

static int rank, size;
static char **copies;          /* what all windows should hold */
static char *memory[WINDOWS];  /* this rank's part */
static MPI_Aint addresses[64]; /* of the dynamic window's */
static MPI_Win windows[WINDOWS];
static int units[64];

static void make_windows(void)
{
    MPI_Aint mine;

    memory[CREATED] = calloc(1, BYTES);
    MPI_Win_create(memory[CREATED], BYTES, units[rank], MPI_INFO_NULL, MPI_COMM_WORLD, &windows[CREATED]);
    MPI_Win_allocate(BYTES, units[rank], MPI_INFO_NULL, MPI_COMM_WORLD, &memory[ALLOCATED], &windows[ALLOCATED]);
    MPI_Win_allocate_shared(BYTES, units[rank], MPI_INFO_NULL, MPI_COMM_WORLD, &memory[SHARED], &windows[SHARED]);
    memory[DYNAMIC] = calloc(1, BYTES);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows[DYNAMIC]);
    MPI_Win_attach(windows[DYNAMIC], memory[DYNAMIC], BYTES);
    MPI_Get_address(memory[DYNAMIC], &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void free_windows(void)
{
    MPI_Win_detach(windows[DYNAMIC], memory[DYNAMIC]);
    for (int i = 0; i < WINDOWS; i++)
        CHECK(MPI_Win_free(&windows[i]) == MPI_SUCCESS && windows[i] == MPI_WIN_NULL);
    free(memory[CREATED]);
    free(memory[DYNAMIC]);
}

static MPI_Aint displacement(enum window window, int target, MPI_Aint byte)
{
    return window == DYNAMIC ? MPI_Aint_add(addresses[target], byte) : byte / units[target];
}

/* ---- synchronisation ---- */

enum sync { FENCE, GROUPS, LOCKS, EXCLUSIVE, LOCK_ALL, SYNCS };

static void begin(enum sync sync, MPI_Win win, MPI_Group all)
{
    if (sync == FENCE) {
        MPI_Win_fence(random_below(2) ? MPI_MODE_NOPRECEDE : 0, win);
    } else if (sync == GROUPS) {
        MPI_Win_post(all, 0, win);
        MPI_Win_start(all, 0, win);
    } else if (sync == LOCKS) {
        for (int i = 0; i < size; i++)
            MPI_Win_lock(MPI_LOCK_SHARED, (rank + i) % size, 0, win);
    } else if (sync == LOCK_ALL) {
        MPI_Win_lock_all(0, win);
    }
}

static void end(enum sync sync, MPI_Win win)
{
    int flag = 0;

    if (sync == FENCE) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    } else if (sync == GROUPS) {
        MPI_Win_complete(win);
        if (random_below(2))
            MPI_Win_wait(win);
        else
            while (!flag)
                MPI_Win_test(win, &flag);
    } else if (sync == LOCKS) {
        for (int i = 0; i < size; i++)
            MPI_Win_unlock(i, win);
    } else if (sync == LOCK_ALL) {
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- operations: what has been started, and what must have come of it ---- */

struct pending {
    char *buffer;   /* the origin's, or the result's */
    char *expected; /* of it; NULL: do not look */
    size_t bytes;
    MPI_Request request;
};
static struct pending pendings[4096];
static int pending_count;

static struct pending *add_pending(MPI_Aint bytes)
{
    struct pending *pending = &pendings[pending_count++];

    CHECK(pending_count < 4096);
    pending->bytes = (size_t)bytes;
    pending->buffer = malloc((size_t)bytes + 1);
    pending->expected = malloc((size_t)bytes + 1);
    pending->request = MPI_REQUEST_NULL;
    for (MPI_Aint i = 0; i < bytes; i++)
        pending->buffer[i] = (char)(i * 7 + 1);
    memcpy(pending->expected, pending->buffer, (size_t)bytes);
    return pending;
}

/* Every rank draws the data; only the origin keeps it. */
static char *draw_origin(const struct data *data, MPI_Aint *span)
{
    char *origin = calloc(1, (size_t)data->span + 1);

    for (int i = 0; i < data->count; i++)
        draw_element(origin + data->places[i], data->basic);
    *span = data->span;
    return origin;
}

static struct pending *keep_origin(char *origin, MPI_Aint span)
{
    struct pending *pending = add_pending(span);

    memcpy(pending->buffer, origin, (size_t)span);
    memcpy(pending->expected, origin, (size_t)span);
    return pending;
}

static void check_pendings(void)
{
    for (int i = 0; i < pending_count; i++) {
        CHECK(memcmp(pendings[i].buffer, pendings[i].expected, pendings[i].bytes) == 0);
        free(pendings[i].buffer);
        free(pendings[i].expected);
    }
    pending_count = 0;
}

static void wait_pendings(void)
{
    for (int i = 0; i < pending_count; i++)
        MPI_Wait(&pendings[i].request, MPI_STATUS_IGNORE);
}

struct round {
    enum window window;
    enum sync sync;
    MPI_Win win;
};

static int is_passive(enum sync sync)
{
    return sync == LOCKS || sync == EXCLUSIVE || sync == LOCK_ALL;
}

static void draw_pair_of_data(struct data *here, struct data *there, enum basic basic, MPI_Aint room)
{
    int most = (int)(room / sizes[basic]), count = random_below(3) ? random_below(20) : random_below(ELEMENTS);

    count = count < most ? count : most;
    draw_data(here, basic, count, room);
    draw_data(there, basic, count, room);
}

static void put_or_get(const struct round *round, int origin_rank, int target, MPI_Aint at, int is_get)
{
    struct data here, there;
    enum basic basic = (enum basic)random_below(BASICS);
    char *copy = copies[target] + at, *origin;
    MPI_Aint span, place = displacement(round->window, target, at);
    int with_request = is_passive(round->sync) && random_below(2);

    draw_pair_of_data(&here, &there, basic, SLOT);
    origin = draw_origin(&here, &span);
    if (rank == origin_rank && !is_get) {
        struct pending *p = keep_origin(origin, span);

        if (with_request)
            MPI_Rput(p->buffer, here.type_count, here.type, target, place, there.type_count, there.type, round->win,
                     &p->request);
        else
            MPI_Put(p->buffer, here.type_count, here.type, target, place, there.type_count, there.type, round->win);
    }
    if (rank == origin_rank && is_get) {
        struct pending *p = add_pending(span);

        for (int i = 0; i < here.count; i++)
            copy_element(p->expected + here.places[i], copy + there.places[i], basic);
        if (with_request)
            MPI_Rget(p->buffer, here.type_count, here.type, target, place, there.type_count, there.type, round->win,
                     &p->request);
        else
            MPI_Get(p->buffer, here.type_count, here.type, target, place, there.type_count, there.type, round->win);
    }
    for (int i = 0; i < here.count && !is_get; i++)
        copy_element(copy + there.places[i], origin + here.places[i], basic);
    free_data(&here);
    free_data(&there);
    free(origin);
}

/* Several accumulates on one place, which keep their order. */
static void accumulate(const struct round *round, int origin_rank, int target, MPI_Aint at)
{
    enum basic basic = (enum basic)random_below(BASICS);
    MPI_Aint place = displacement(round->window, target, at);
    char *copy = copies[target] + at;

    for (int step = random_below(STEPS); step >= 0; step--) {
        struct data here, there, back;
        enum op op;
        int fetches = random_below(2), with_request = is_passive(round->sync) && random_below(2);
        MPI_Aint span;
        char *origin;
        struct pending *out = NULL, *in = NULL;
        MPI_Request *request;

        do
            op = (enum op)random_below(OPS);
        while (!fits(op, basic) || (op == NO_OP && !fetches));
        draw_pair_of_data(&here, &there, basic, SLOT);
        draw_data(&back, basic, here.count, SLOT);
        origin = draw_origin(&here, &span);
        if (rank == origin_rank) {
            in = keep_origin(origin, span);
            request = &in->request;
            if (fetches) {
                out = add_pending(back.span);
                for (int i = 0; i < back.count; i++)
                    copy_element(out->expected + back.places[i], copy + there.places[i], basic);
            }
            if (fetches && with_request)
                MPI_Rget_accumulate(in->buffer, here.type_count, here.type, out->buffer, back.type_count, back.type,
                                    target, place, there.type_count, there.type, ops[op], round->win, request);
            else if (fetches)
                MPI_Get_accumulate(in->buffer, here.type_count, here.type, out->buffer, back.type_count, back.type,
                                   target, place, there.type_count, there.type, ops[op], round->win);
            else if (with_request)
                MPI_Raccumulate(in->buffer, here.type_count, here.type, target, place, there.type_count, there.type,
                                ops[op], round->win, request);
            else
                MPI_Accumulate(in->buffer, here.type_count, here.type, target, place, there.type_count, there.type,
                               ops[op], round->win);
        }
        for (int i = 0; i < here.count; i++)
            combine(origin + here.places[i], copy + there.places[i], op, basic);
        free_data(&here);
        free_data(&there);
        free_data(&back);
        free(origin);
    }
}

/* One element: fetch and op, compare and swap. */
static void single(const struct round *round, int origin_rank, int target, MPI_Aint at)
{
    enum basic basic = (enum basic)random_below(UINT64 + 1);
    MPI_Aint place = displacement(round->window, target, at);
    char *copy = copies[target] + at;
    int swaps = random_below(2), meets = random_below(2);
    char value[16] = {0}, compare[16] = {0};
    enum op op;

    do
        op = (enum op)random_below(OPS);
    while (!fits(op, basic));
    draw_element(value, basic);
    memcpy(compare, copy, (size_t)sizes[basic]);
    if (!meets)
        compare[0] ^= 1;
    if (rank == origin_rank) {
        struct pending *in = keep_origin(value, 16), *with = keep_origin(compare, 16), *out = add_pending(16);

        memcpy(out->expected, copy, (size_t)sizes[basic]);
        if (swaps)
            MPI_Compare_and_swap(in->buffer, with->buffer, out->buffer, handles[basic], target, place, round->win);
        else
            MPI_Fetch_and_op(in->buffer, out->buffer, handles[basic], target, place, ops[op], round->win);
    }
    if (!swaps)
        combine(value, copy, op, basic);
    else if (meets)
        memcpy(copy, value, (size_t)sizes[basic]);
}

/* All add to the same numbers. */
static void add_together(const struct round *round, int target, MPI_Aint at)
{
    unsigned long numbers[COMMON];

    for (int from = 0; from < size; from++) {
        for (int i = 0; i < COMMON; i++)
            numbers[i] = (unsigned long)random_below(1000);
        if (rank == from) {
            struct pending *p = keep_origin((char *)numbers, sizeof numbers);

            MPI_Accumulate(p->buffer, COMMON, MPI_UNSIGNED_LONG, target, displacement(round->window, target, at),
                           COMMON, MPI_UNSIGNED_LONG, MPI_SUM, round->win);
        }
        for (int i = 0; i < COMMON; i++)
            combine(&numbers[i], copies[target] + at + 8 * i, SUM, UINT64);
    }
}

/* What is complete for all targets may be looked at. */
static void flush(MPI_Win win, int target, int form)
{
    if (form == 0)
        MPI_Win_flush(target, win);
    else if (form == 1)
        MPI_Win_flush_local(target, win);
    else if (form == 2)
        MPI_Win_flush_all(win);
    else
        MPI_Win_flush_local_all(win);
    if (form >= 2)
        check_pendings();
}

/* A slot's operation. With exclusive locks, in an epoch of its own. */
static void play_slot(const struct round *round, int target, int slot)
{
    int origin = random_below(size), kind = random_below(5);
    MPI_Aint at = (MPI_Aint)slot * SLOT + 8 * random_below(4);

    if (kind == 4 && round->sync == EXCLUSIVE)
        kind = 3;
    if (round->sync == EXCLUSIVE && rank == origin)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, round->win);
    if (kind < 2)
        put_or_get(round, origin, target, at, kind);
    else if (kind == 2)
        accumulate(round, origin, target, at);
    else if (kind == 3)
        single(round, origin, target, at);
    else
        add_together(round, target, at);
    if (rank == origin && is_passive(round->sync) && kind != 4 && random_state % 3 == 0) {
        wait_pendings();
        flush(round->win, target, (int)(random_state / 3 % 4));
    }
    if (round->sync == EXCLUSIVE && rank == origin) {
        wait_pendings();
        MPI_Win_unlock(target, round->win);
    }
}

/* A piece of memory longer than any frame, through all the slots of a rank. */
static void play_large(const struct round *round)
{
    int origin = random_below(size), target = random_below(size), first = random_below(200), is_get = random_below(2);
    MPI_Aint at = 8 * random_below(100);

    if (rank == origin) {
        struct pending *p = add_pending(LARGE);

        if (round->sync == EXCLUSIVE)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, round->win);
        for (int i = 0; i < LARGE && !is_get; i++)
            p->buffer[i] = p->expected[i] = (char)(first + i / 3);
        if (is_get)
            memcpy(p->expected, copies[target] + at, LARGE);
        if (is_get)
            MPI_Get(p->buffer, LARGE, MPI_BYTE, target, displacement(round->window, target, at), LARGE, MPI_BYTE,
                    round->win);
        else
            MPI_Put(p->buffer, LARGE / 4, MPI_INT, target, displacement(round->window, target, at), LARGE / 8,
                    MPI_DOUBLE, round->win);
        if (round->sync == EXCLUSIVE)
            MPI_Win_unlock(target, round->win);
    }
    for (int i = 0; i < LARGE && !is_get; i++)
        copies[target][at + i] = (char)(first + i / 3);
}

static void play(const struct round *round)
{
    MPI_Group all;

    MPI_Win_get_group(round->win, &all);
    memcpy(memory[round->window], copies[rank], BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    begin(round->sync, round->win, all);
    if (random_below(4) == 0)
        play_large(round);
    else
        for (int target = 0; target < size; target++)
            for (int slot = 0; slot < SLOTS - 1; slot++)
                play_slot(round, target, slot);
    wait_pendings();
    end(round->sync, round->win);
    check_pendings();
    CHECK(memcmp(memory[round->window], copies[rank], BYTES) == 0);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Op all_ops[OPS] = {MPI_SUM,  MPI_PROD,    MPI_MIN,   MPI_MAX,    MPI_BAND,
                           MPI_BXOR, MPI_REPLACE, MPI_NO_OP, MPI_MINLOC, MPI_MAXLOC};
    MPI_Datatype all_types[BASICS] = {MPI_SIGNED_CHAR, MPI_INT,        MPI_UNSIGNED_LONG,
                                      MPI_DOUBLE,      MPI_DOUBLE_INT, MPI_SHORT_INT};
    int rounds = argc > 1 ? atoi(argv[1]) : 300;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    memcpy(ops, all_ops, sizeof ops);
    memcpy(handles, all_types, sizeof handles);
    copies = malloc((size_t)size * sizeof *copies);
    for (int i = 0; i < size; i++) {
        copies[i] = calloc(1, BYTES);
        units[i] = 1 << random_below(4);
    }
    make_windows();
    for (int i = 0; i < rounds; i++) {
        struct round round = {.window = (enum window)random_below(WINDOWS), .sync = (enum sync)random_below(SYNCS)};

        round.win = windows[round.window];
        play(&round);
    }
    free_windows();
    for (int i = 0; i < size; i++)
        free(copies[i]);
    free(copies);
    MPI_Finalize();
    return 0;
}
