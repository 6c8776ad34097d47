/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that disagree, without MUR_COLL_CHECK: one rank, whichever, calls a collective in another way than the others.
 * Some rank gets an error of the right class, none waits forever, and the communicator can be freed. With an argument:
 * only counts differ, by little, as far as messages can tell; and the next collective works. */
#include "forms.h"
#include "random.h"

enum { MOST = 100000, RANKS_MOST = 20 };

static int rank, size;

/* What a rank calls. */
struct call {
    const char *what;
    int root, count;
    MPI_Op op;
};

static int form; /* blocking, nonblocking, persistent */

#define DO(plain_, nonblocking_, persistent_)                                                                          \
    return form == 0 ? (plain_) : form == 1 ? complete(nonblocking_, &request, 0) : complete(persistent_, &request, 1)

static int call(const struct call *c, MPI_Comm comm)
{
    static int out[MOST * RANKS_MOST], in[MOST * RANKS_MOST];
    MPI_Info no = MPI_INFO_NULL;
    MPI_Request request;
    int n = c->count;

    if (!strcmp(c->what, "barrier"))
        DO(MPI_Barrier(comm), MPI_Ibarrier(comm, &request), MPI_Barrier_init(comm, no, &request));
    if (!strcmp(c->what, "bcast"))
        DO(MPI_Bcast(out, n, MPI_INT, c->root, comm), MPI_Ibcast(out, n, MPI_INT, c->root, comm, &request),
           MPI_Bcast_init(out, n, MPI_INT, c->root, comm, no, &request));
    if (!strcmp(c->what, "gather"))
        DO(MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, c->root, comm),
           MPI_Igather(out, n, MPI_INT, in, n, MPI_INT, c->root, comm, &request),
           MPI_Gather_init(out, n, MPI_INT, in, n, MPI_INT, c->root, comm, no, &request));
    if (!strcmp(c->what, "reduce"))
        DO(MPI_Reduce(out, in, n, MPI_INT, c->op, c->root, comm),
           MPI_Ireduce(out, in, n, MPI_INT, c->op, c->root, comm, &request),
           MPI_Reduce_init(out, in, n, MPI_INT, c->op, c->root, comm, no, &request));
    if (!strcmp(c->what, "alltoall"))
        DO(MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm),
           MPI_Ialltoall(out, n, MPI_INT, in, n, MPI_INT, comm, &request),
           MPI_Alltoall_init(out, n, MPI_INT, in, n, MPI_INT, comm, no, &request));
    if (!strcmp(c->what, "allgather"))
        DO(MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm),
           MPI_Iallgather(out, n, MPI_INT, in, n, MPI_INT, comm, &request),
           MPI_Allgather_init(out, n, MPI_INT, in, n, MPI_INT, comm, no, &request));
    if (!strcmp(c->what, "scan"))
        DO(MPI_Scan(out, in, n, MPI_INT, c->op, comm), MPI_Iscan(out, in, n, MPI_INT, c->op, comm, &request),
           MPI_Scan_init(out, in, n, MPI_INT, c->op, comm, no, &request));
    CHECK(!strcmp(c->what, "allreduce"));
    DO(MPI_Allreduce(out, in, n, MPI_INT, c->op, comm), MPI_Iallreduce(out, in, n, MPI_INT, c->op, comm, &request),
       MPI_Allreduce_init(out, in, n, MPI_INT, c->op, comm, no, &request));
}

/* All call one thing, but one rank another. Where no rank is root, or a
 * broadcast has two, perhaps nobody looks at another. Errors are of
 * this class, or another one where a way out led there. */
static void disagree(struct call all, struct call other, int class)
{
    int odd = (int)(random_next() % (unsigned)size), code, found = 0, all_found, sum = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm;

    MPI_Bcast(&odd, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (other.root)
        other.root = all.root == odd ? (odd + 1) % size : odd;
    code = call(rank == odd ? &other : &all, comm);
    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &(int){0});
    if (found && found != class && found != MPI_ERR_OTHER && found != MPI_ERR_TRUNCATE)
        fprintf(stderr, "rank %d: %s\n", rank, text);
    CHECK(!found || found == class || found == MPI_ERR_OTHER || found == MPI_ERR_TRUNCATE);
    MPI_Allreduce(&found, &all_found, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!all_found && rank == 0 && !other.root)
        fprintf(stderr, "%s of %d to %d, but rank %d %s of %d to %d, form %d: nobody notices\n", all.what, all.count,
                all.root, odd, other.what, other.count, other.root, form);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(all_found || (other.root && (odd == all.root || !strcmp(all.what, "bcast"))));
    code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(code || sum == size * (size - 1) / 2);
    MPI_Comm_free(&comm);
}

static void check_messages(void)
{
    static const char *const names[] = {"bcast", "gather", "reduce", "alltoall", "allgather", "scan", "allreduce"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int more = -1; more <= 1; more += 2)
            disagree((struct call){names[i], 0, 5, MPI_SUM}, (struct call){names[i], 0, 5 + more, MPI_SUM},
                     MPI_ERR_COUNT);
}

static void check_board(void)
{
    static const int counts[][2] = {{5, 6}, {6, 5}, {5, 5000}, {5000, 5}, {MOST, MOST - 1}, {MOST, 100}};
    static const char *const waiting[] = {"barrier", "reduce", "gather", "allreduce", "alltoall", "allgather"};
    struct call reduce = {"reduce", 0, 7, MPI_SUM}, max = {"reduce", 0, 7, MPI_MAX}, other = {"reduce", 1, 7, MPI_SUM};
    struct call scan = {"scan", 0, 7, MPI_SUM}, stream = {"bcast", 0, MOST, MPI_SUM},
                stray = {"bcast", 1, MOST, MPI_SUM};

    disagree(reduce, max, MPI_ERR_OP);
    disagree(reduce, other, MPI_ERR_ROOT);
    disagree((struct call){"gather", 0, 7, MPI_SUM}, (struct call){"gather", 1, 7, MPI_SUM}, MPI_ERR_ROOT);
    disagree(stream, stray, MPI_ERR_ROOT);
    disagree((struct call){"allreduce", 0, MOST, MPI_SUM}, (struct call){"allreduce", 0, MOST, MPI_MAX}, MPI_ERR_OP);
    disagree(scan, (struct call){"allreduce", 0, 7, MPI_SUM}, MPI_ERR_OTHER);
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        for (size_t k = 0; k < sizeof waiting / sizeof *waiting; k++)
            if (i != k)
                disagree((struct call){waiting[i], 0, 9, MPI_SUM}, (struct call){waiting[k], 0, 9, MPI_SUM},
                         MPI_ERR_OTHER);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        disagree((struct call){"allreduce", 0, counts[i][0], MPI_SUM},
                 (struct call){"allreduce", 0, counts[i][1], MPI_SUM}, MPI_ERR_COUNT);
        if (size <= 16 || counts[i][0] + counts[i][1] < 100) /* of more ranks some would use messages, unseen */
            disagree((struct call){"alltoall", 0, counts[i][0], MPI_SUM},
                     (struct call){"alltoall", 0, counts[i][1], MPI_SUM}, MPI_ERR_COUNT);
    }
}

/* Broadcasts with two roots, where nobody looks at another, but for who has to wait long: the next collective tells. */
static void check_roots(void)
{
    static const int counts[] = {1, 700};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int odd = 0; odd < size; odd++) {
            struct call bcast = {"bcast", rank == odd ? odd : (odd + 1) % size, counts[i], MPI_SUM};
            struct call sum = {"allreduce", 0, 1, MPI_SUM};
            int class;
            MPI_Comm comm;

            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
            MPI_Error_class(call(&bcast, comm), &class);
            CHECK(class == MPI_SUCCESS || class == MPI_ERR_ROOT || class == MPI_ERR_OTHER);
            MPI_Error_class(call(&sum, comm), &class);
            CHECK(class == MPI_ERR_ROOT || class == MPI_ERR_OTHER);
            MPI_Comm_free(&comm);
        }
}

/* ---- what is said ---- */

static void keep_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

/* Returns whether the call has failed; it has then said this, and is of this class. */
static int says(int code, int class, const char *expected)
{
    char text[MPI_MAX_ERROR_STRING];
    int found, length;

    MPI_Error_class(code, &found);
    if (!found)
        return 0;
    MPI_Error_string(code, text, &length);
    if (found != class || !strstr(text, expected))
        fprintf(stderr, "rank %d: expected '%s' within '%s'\n", rank, expected, text);
    CHECK(found == class && strstr(text, expected));
    return 1;
}

/* Ranks 0 and 1 call something different each; whichever gets an error, it names both calls. */
static void check_text(const struct call calls[2], const char *const words[2], int class, MPI_Comm pair)
{
    char expected[200];
    MPI_Comm comm;
    int heard;

    MPI_Comm_dup(pair, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    snprintf(expected, sizeof expected, "the ranks disagree: rank %d calls %s, this one %s", !rank, words[!rank],
             words[rank]);
    heard = says(call(&calls[rank], comm), class, expected);
    MPI_Allreduce(MPI_IN_PLACE, &heard, 1, MPI_INT, MPI_MAX, pair);
    CHECK(heard);
    MPI_Comm_free(&comm);
}

/* Both ranks are roots of a small broadcast, so neither looks at the other; a collective without a root follows. */
static void check_earlier(MPI_Comm pair)
{
    struct call bcast = {"bcast", rank, 1, MPI_SUM}, sum = {"allreduce", 0, 1, MPI_SUM};
    char expected[200];
    MPI_Comm comm;
    int heard;

    MPI_Comm_dup(pair, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    snprintf(expected, sizeof expected,
             "the ranks disagree: rank %d and this one have called an earlier collective on this communicator with "
             "different roots",
             !rank);
    CHECK(call(&bcast, comm) == MPI_SUCCESS);
    heard = says(call(&sum, comm), MPI_ERR_ROOT, expected);
    MPI_Allreduce(MPI_IN_PLACE, &heard, 1, MPI_INT, MPI_MAX, pair);
    CHECK(heard);
    MPI_Comm_free(&comm);
}

static void check_texts(void)
{
    MPI_Comm pair;
    MPI_Op own;

    MPI_Op_create(keep_first, 1, &own);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
    if (pair != MPI_COMM_NULL) {
        check_text((struct call[]){{"allreduce", 0, 7, MPI_SUM}, {"allreduce", 0, 7, MPI_MAX}},
                   (const char *[]){"allreduce by MPI_SUM of 28 bytes", "allreduce by MPI_MAX of 28 bytes"}, MPI_ERR_OP,
                   pair);
        check_text(
            (struct call[]){{"allreduce", 0, 7, MPI_SUM}, {"allreduce", 0, 7, own}},
            (const char *[]){"allreduce by MPI_SUM of 28 bytes", "allreduce by an operation of the user's of 28 bytes"},
            MPI_ERR_OP, pair);
        check_text((struct call[]){{"bcast", 0, 7, MPI_SUM}, {"allreduce", 0, 7, MPI_SUM}},
                   (const char *[]){"bcast of 28 bytes with root 0", "allreduce by MPI_SUM of 28 bytes"}, MPI_ERR_OTHER,
                   pair);
        check_earlier(pair);
        MPI_Comm_free(&pair);
    }
    MPI_Op_free(&own);
}

int main(int argc, char **argv)
{
    int is_limited = argc > 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS_MOST);
    random_start();
    for (form = 0; form < 3; form++)
        for (int round = 0; round < 3; round++)
            (is_limited ? check_messages : check_board)();
    for (form = 0; form < 2 && !is_limited; form++)
        check_roots();
    for (form = 0; form < 2 && !is_limited && size > 1; form++)
        check_texts();
    MPI_Finalize();
    return 0;
}
