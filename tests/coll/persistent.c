/* SPDX-License-Identifier: BSD-3-Clause */
/* All persistent collectives at once, started again and again in another order at every rank, together with persistent
 * sends and receives, one by one or with MPI_Startall, and completed in every way; types, operations and the
 * communicator are freed right after they have been used to make the requests. */
#include "exchange.h"

enum { ROUNDS = 4, RUNS = 5, BLOCK_MOST = 5, P2P = 4 };
enum kind {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS,
};
enum { REQUESTS = 2 * KINDS + 2 * P2P };

/* Blocks of one side, displacements in elements. */
struct side {
    int blocks;
    int counts[RANKS_MOST], displs[RANKS_MOST], bytes[RANKS_MOST];
    MPI_Count counts_c[RANKS_MOST];
    MPI_Aint displs_c[RANKS_MOST], bytes_c[RANKS_MOST];
};

struct operation {
    enum kind kind;
    unsigned salt;
    int count, root, in_place, is_large, is_left; /* is_left: a user's operation, whose result is its left operand */
    int width;                                    /* ints of an element */
    struct side send, recv;
    MPI_Datatype types[RANKS_MOST]; /* stays as it is until the request is freed, like the counts */
    int ints;
    int *out, *in, *expected;
};

static int rank, size;
static unsigned own_state;

/* Random numbers of this rank alone. */
static int own_below(int limit)
{
    return (int)(draw_next(&own_state) % (unsigned)limit);
}

static void take_left(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*datatype, &lb, &extent);
    for (int i = 0; i < *len; i++)
        memcpy((char *)inout + i * extent, (char *)in + i * extent, sizeof(int));
}

static int is_reduction(enum kind kind)
{
    return kind >= REDUCE;
}

/* What rank r puts into block b. */
static int input(const struct operation *op, unsigned run, int r, int b, int i)
{
    return (int)(exchange_mix(op->salt + run * 977u, (unsigned)(r * RANKS_MOST + b), (unsigned)i) % 1000);
}

static int fold(const struct operation *op, unsigned run, int ranks, int b, int i)
{
    int sum = 0;

    for (int r = 0; r < ranks && !op->is_left; r++)
        sum += input(op, run, r, b, i);
    return op->is_left ? input(op, run, 0, b, i) : sum;
}

/* Element i of the block b that this rank gets. */
static int output(const struct operation *op, unsigned run, int b, int i)
{
    switch (op->kind) {
    case BCAST:
        return input(op, run, op->root, 0, i);
    case SCATTER:
    case SCATTERV:
        return input(op, run, op->root, rank, i);
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        return input(op, run, b, rank, i);
    case REDUCE:
    case ALLREDUCE:
        return fold(op, run, size, 0, i);
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        return fold(op, run, size, rank, i);
    case SCAN:
        return fold(op, run, rank + 1, 0, i);
    case EXSCAN:
        return fold(op, run, rank, 0, i);
    default:
        return input(op, run, b, 0, i);
    }
}

static int is_v(enum kind kind)
{
    return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV || kind == ALLTOALLW ||
           kind == REDUCE_SCATTER;
}

/* The length of a block between two ranks, the same in both directions, as in place needs it. */
static int length(const struct operation *op, int a, int b)
{
    if (!is_v(op->kind))
        return op->count;
    return (int)(exchange_mix(op->salt, (unsigned)(a < b ? a : b), (unsigned)(a < b ? b : a)) % BLOCK_MOST);
}

/* `from`: the first of the blocks; with gaps and backwards where displacements are free. */
static void lay_out(const struct operation *op, struct side *side, int blocks, int first)
{
    int has_pairs = op->kind == ALLTOALLV || op->kind == ALLTOALLW;
    int is_free = is_v(op->kind) && op->kind != REDUCE_SCATTER && blocks > 1, at = is_free ? 1 : 0;

    side->blocks = blocks;
    for (int k = 0; k < blocks; k++) {
        int i = is_free ? blocks - 1 - k : k;

        side->counts_c[i] = side->counts[i] = length(op, has_pairs ? rank : 0, first + i);
        side->displs_c[i] = side->displs[i] = at;
        side->bytes_c[i] = side->bytes[i] = at * op->width * (int)sizeof(int);
        at += side->counts[i] + is_free;
    }
}

static void lay_out_both(struct operation *op)
{
    int is_root = rank == op->root;

    switch (op->kind) {
    case BARRIER:
        break;
    case BCAST:
        lay_out(op, &op->send, is_root, 0);
        lay_out(op, &op->recv, 1, 0);
        break;
    case GATHER:
    case GATHERV:
        lay_out(op, &op->send, 1, rank);
        lay_out(op, &op->recv, is_root ? size : 0, 0);
        break;
    case SCATTER:
    case SCATTERV:
        lay_out(op, &op->send, is_root ? size : 0, 0);
        lay_out(op, &op->recv, 1, rank);
        break;
    case ALLGATHER:
    case ALLGATHERV:
        lay_out(op, &op->send, 1, rank);
        lay_out(op, &op->recv, size, 0);
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        lay_out(op, &op->send, size, 0);
        lay_out(op, &op->recv, 1, rank);
        break;
    case REDUCE:
    case ALLREDUCE:
    case SCAN:
    case EXSCAN:
        lay_out(op, &op->send, 1, 0);
        lay_out(op, &op->recv, op->kind == REDUCE ? is_root : op->kind == EXSCAN ? rank > 0 : 1, 0);
        break;
    default:
        lay_out(op, &op->send, size, 0);
        lay_out(op, &op->recv, size, 0);
    }
}

/* Where the input of block b lies: in place it may be where the output comes. */
static int *input_place(const struct operation *op, int b)
{
    int is_gather = op->kind >= GATHER && op->kind <= ALLGATHERV && op->kind != SCATTER && op->kind != SCATTERV;

    if (op->kind == BCAST)
        return op->in;
    if (!op->in_place || op->kind == SCATTER || op->kind == SCATTERV)
        return op->out + op->send.displs[b] * op->width;
    return op->in + (is_gather ? op->recv.displs[rank] : op->send.displs[b]) * op->width;
}

static void fill(struct operation *op, unsigned run)
{
    for (int i = 0; i < 3 * op->ints; i++)
        op->out[i] = GAP;
    for (int b = 0; b < op->send.blocks; b++)
        for (int i = 0; i < op->send.counts[b]; i++)
            input_place(op, b)[i * op->width] = input(op, run, rank, b, i);
    memcpy(op->expected, op->in, (size_t)op->ints * sizeof(int));
    for (int b = 0; b < op->recv.blocks; b++)
        for (int i = 0; i < op->recv.counts[b]; i++)
            op->expected[(op->recv.displs[b] + i) * op->width] = output(op, run, b, i);
}

static void check(const struct operation *op)
{
    int is_rest_free = op->in_place && (op->kind == REDUCE_SCATTER || op->kind == REDUCE_SCATTER_BLOCK);
    int is_root_left_out = op->in_place && (op->kind == SCATTER || op->kind == SCATTERV);
    int ints = is_rest_free ? op->recv.counts[0] * op->width : op->ints;

    for (int i = 0; i < ints && !is_root_left_out; i++)
        CHECK(op->in[i] == op->expected[i]);
}

static void draw(struct operation *op, enum kind kind)
{
    memset(op, 0, sizeof *op);
    op->kind = kind;
    op->salt = random_next();
    op->count = random_below(4) ? random_below(BLOCK_MOST) : 2000; /* also through the rendezvous */
    op->root = random_below(size);
    op->is_large = random_below(2);
    op->is_left = random_below(2);
    op->width = (!is_reduction(kind) || op->is_left) && random_below(2) ? 2 : 1;
    op->in_place = random_below(2) && kind != BCAST && kind != BARRIER;
    if (kind == GATHER || kind == GATHERV || kind == SCATTER || kind == SCATTERV || kind == REDUCE)
        op->in_place = op->in_place && rank == op->root;
    lay_out_both(op);
    op->ints = (size + 1) * (op->count > BLOCK_MOST ? op->count + 1 : BLOCK_MOST + 1) * op->width;
    op->out = malloc(3 * (size_t)op->ints * sizeof(int));
    CHECK(op->out);
    op->in = op->out + op->ints;
    op->expected = op->in + op->ints;
    for (int i = 0; i < 3 * op->ints; i++)
        op->out[i] = GAP;
}

#define INIT(name, ...)                                                                                                \
    (op->is_large ? MPI_##name##_c(__VA_ARGS__, MPI_INFO_NULL, request)                                                \
                  : MPI_##name(__VA_ARGS__, MPI_INFO_NULL, request))
/* The same with arrays, which differ between the forms: c is empty or _c. */
#define INIT_V(name, arguments)                                                                                        \
    (op->is_large ? MPI_##name##_c(arguments(_c), MPI_INFO_NULL, request)                                              \
                  : MPI_##name(arguments(), MPI_INFO_NULL, request))
#define GATHERV_ARGUMENTS(c)    send, n, type, op->in, op->recv.counts##c, op->recv.displs##c, type, op->root, comm
#define SCATTERV_ARGUMENTS(c)   op->out, op->send.counts##c, op->send.displs##c, type, receive, m, type, op->root, comm
#define ALLGATHERV_ARGUMENTS(c) send, n, type, op->in, op->recv.counts##c, op->recv.displs##c, type, comm
#define ALLTOALLV_ARGUMENTS(c)                                                                                         \
    send, op->send.counts##c, op->send.displs##c, type, op->in, op->recv.counts##c, op->recv.displs##c, type, comm
#define ALLTOALLW_ARGUMENTS(c)                                                                                         \
    send, op->send.counts##c, op->send.bytes##c, op->types, op->in, op->recv.counts##c, op->recv.bytes##c, op->types,  \
        comm
#define REDUCE_SCATTER_ARGUMENTS(c) send, op->in, op->send.counts##c, type, operation, comm

static void init_reduction(struct operation *op, MPI_Datatype type, MPI_Comm comm, MPI_Request *request)
{
    const void *send = op->in_place ? MPI_IN_PLACE : op->out;
    MPI_Op operation = MPI_SUM;

    if (op->is_left)
        MPI_Op_create(take_left, 0, &operation);
    if (op->kind == REDUCE)
        INIT(Reduce_init, send, op->in, op->count, type, operation, op->root, comm);
    else if (op->kind == ALLREDUCE)
        INIT(Allreduce_init, send, op->in, op->count, type, operation, comm);
    else if (op->kind == REDUCE_SCATTER)
        INIT_V(Reduce_scatter_init, REDUCE_SCATTER_ARGUMENTS);
    else if (op->kind == REDUCE_SCATTER_BLOCK)
        INIT(Reduce_scatter_block_init, send, op->in, op->count, type, operation, comm);
    else if (op->kind == SCAN)
        INIT(Scan_init, send, op->in, op->count, type, operation, comm);
    else
        INIT(Exscan_init, send, op->in, op->count, type, operation, comm);
    if (op->is_left)
        MPI_Op_free(&operation);
}

static void init_exchange(struct operation *op, MPI_Datatype type, MPI_Comm comm, MPI_Request *request)
{
    const void *send = op->in_place ? MPI_IN_PLACE : op->out;
    void *receive = op->in_place ? MPI_IN_PLACE : op->in;
    int n = op->send.counts[0], m = op->recv.counts[0];

    for (int i = 0; i < size; i++)
        op->types[i] = type;
    if (op->kind == BARRIER)
        MPI_Barrier_init(comm, MPI_INFO_NULL, request);
    else if (op->kind == BCAST)
        INIT(Bcast_init, op->in, op->count, type, op->root, comm);
    else if (op->kind == GATHER)
        INIT(Gather_init, send, n, type, op->in, op->count, type, op->root, comm);
    else if (op->kind == GATHERV)
        INIT_V(Gatherv_init, GATHERV_ARGUMENTS);
    else if (op->kind == SCATTER)
        INIT(Scatter_init, op->out, op->count, type, receive, m, type, op->root, comm);
    else if (op->kind == SCATTERV)
        INIT_V(Scatterv_init, SCATTERV_ARGUMENTS);
    else if (op->kind == ALLGATHER)
        INIT(Allgather_init, send, n, type, op->in, op->count, type, comm);
    else if (op->kind == ALLGATHERV)
        INIT_V(Allgatherv_init, ALLGATHERV_ARGUMENTS);
    else if (op->kind == ALLTOALL)
        INIT(Alltoall_init, send, op->count, type, op->in, op->count, type, comm);
    else if (op->kind == ALLTOALLV)
        INIT_V(Alltoallv_init, ALLTOALLV_ARGUMENTS);
    else
        INIT_V(Alltoallw_init, ALLTOALLW_ARGUMENTS);
}

static void init(struct operation *op, MPI_Comm comm, MPI_Request *request)
{
    MPI_Datatype type = MPI_INT;

    if (op->width == 2)
        MPI_Type_dup(exchange_types[1], &type);
    (is_reduction(op->kind) ? init_reduction : init_exchange)(op, type, comm, request);
    if (op->width == 2)
        MPI_Type_free(&type);
}

static void shuffle(int *order, int count)
{
    for (int i = 0; i < count; i++) {
        int j = own_below(i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

static void start(MPI_Request *requests, int count)
{
    MPI_Status status;
    int flag = 0;

    if (own_below(2)) {
        MPI_Startall(count, requests);
        return;
    }
    for (int i = 0; i < count; i++) {
        MPI_Start(&requests[i]);
        MPI_Request_get_status(requests[own_below(i + 1)], &flag, &status);
    }
}

static void complete(MPI_Request *requests, int count)
{
    int way = own_below(4), index, flag = 0, some[REQUESTS];

    if (way == 0)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = count - 1; i >= 0 && way == 1; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < count && way == 2; i++) {
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index != MPI_UNDEFINED);
    }
    for (int done = 0; done < count && way == 3; done += flag)
        MPI_Testsome(count, requests, &flag, some, MPI_STATUSES_IGNORE);
}

/* An inactive request is complete, with an empty status. */
static void check_inactive(MPI_Request *request)
{
    MPI_Status status;
    int flag = 0, bytes = -1;

    status.MPI_SOURCE = status.MPI_TAG = 5;
    MPI_Test(request, &flag, &status);
    CHECK(flag && *request != MPI_REQUEST_NULL);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    CHECK(bytes == 0);
}

static void check_round(void)
{
    static struct operation operations[2 * KINDS];
    MPI_Request requests[REQUESTS], chosen[REQUESTS];
    int order[REQUESTS], sent[P2P], received[P2P];
    MPI_Comm comm, other = MPI_COMM_NULL;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 2 * KINDS; i++) {
        draw(&operations[i], (enum kind)(i % KINDS));
        init(&operations[i], comm, &requests[i]);
    }
    for (int i = 0; i < P2P; i++) {
        MPI_Send_init(&sent[i], 1, MPI_INT, (rank + 1) % size, i, comm, &requests[2 * KINDS + i]);
        MPI_Recv_init(&received[i], 1, MPI_INT, (rank + size - 1) % size, i, comm, &requests[2 * KINDS + P2P + i]);
    }
    MPI_Comm_free(&comm);
    for (int i = 0; i < REQUESTS; i++)
        check_inactive(&requests[i]);

    for (unsigned run = 0; run < RUNS; run++) {
        int count = 0, skipped = run ? random_below(2 * KINDS) : -1;

        for (int i = 0; i < 2 * KINDS; i++)
            fill(&operations[i], run);
        for (int i = 0; i < P2P; i++)
            sent[i] = rank * 100 + i + (int)run;
        shuffle(order, REQUESTS);
        for (int i = 0; i < REQUESTS; i++)
            if (order[i] != skipped)
                chosen[count++] = requests[order[i]];
        start(chosen, count);
        if (run == 1) /* collectives of another communicator may come between */
            MPI_Comm_dup(MPI_COMM_WORLD, &other);
        complete(chosen, count);
        for (int i = 0; i < 2 * KINDS; i++)
            if (i != skipped)
                check(&operations[i]);
        for (int i = 0; i < P2P; i++)
            CHECK(received[i] == (rank + size - 1) % size * 100 + i + (int)run);
    }
    MPI_Comm_free(&other);
    shuffle(order, REQUESTS);
    for (int i = 0; i < REQUESTS; i++) {
        check_inactive(&requests[order[i]]);
        MPI_Request_free(&requests[order[i]]);
        CHECK(requests[order[i]] == MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 2 * KINDS; i++)
        free(operations[i].out);
}

/* Nobody leaves a barrier before all have started it: rank 0 does so last, after the others have looked. */
static void check_barrier(void)
{
    MPI_Request request;
    int flag = 0, token = 0;

    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int run = 0; run < 3; run++) {
        if (rank) {
            MPI_Start(&request);
            for (int i = 0; i < 20; i++) {
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
                CHECK(!flag);
            }
            MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        } else {
            for (int i = 1; i < size; i++)
                MPI_Recv(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Start(&request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS_MOST);
    random_start();
    own_state = random_state + (unsigned)rank * 7919u;
    exchange_setup();
    for (int i = 0; i < ROUNDS; i++)
        check_round();
    check_barrier();
    MPI_Type_free(&exchange_types[1]);
    MPI_Finalize();
    return 0;
}
