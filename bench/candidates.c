/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms of one collective against each other: candidates KIND SECONDS BYTES,... ALGORITHM,... prints a line
 * "BYTES ALGORITHM microseconds" for each that can do it, the best of rounds in which all of them take turns.
 * Algorithms are chosen by info keys on duplicates of the world (see docs/settings.md); bench/tune runs this and writes
 * src/coll/table.c. */
#include "bench.h"

enum { MOST = 16, LARGEST = 4 << 20 };

static char *out, *in;
static int size;

static void call(const char *kind, int bytes, int root, MPI_Comm comm)
{
    int count = bytes / 8;

    if (!strcmp(kind, "barrier"))
        MPI_Barrier(comm);
    else if (!strcmp(kind, "bcast"))
        MPI_Bcast(in, bytes, MPI_BYTE, root, comm);
    else if (!strcmp(kind, "gather"))
        MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, comm);
    else if (!strcmp(kind, "scatter"))
        MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, comm);
    else if (!strcmp(kind, "allgather"))
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    else if (!strcmp(kind, "alltoall"))
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    else if (!strcmp(kind, "reduce"))
        MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm);
    else if (!strcmp(kind, "allreduce"))
        MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
    else if (!strcmp(kind, "reduce_scatter"))
        MPI_Reduce_scatter_block(out, in, count / size, MPI_DOUBLE, MPI_SUM, comm);
    else if (!strcmp(kind, "exscan"))
        MPI_Exscan(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
    else
        MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
}

static MPI_Comm make(const char *kind, const char *algorithm)
{
    char key[64];
    MPI_Info info;
    MPI_Comm comm;

    snprintf(key, sizeof key, "mur_%s", kind);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, algorithm);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

/* Counts how often an algorithm runs. */
static MPI_T_pvar_handle watch(MPI_T_pvar_session session, const char *kind, const char *algorithm)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    char name[128];
    int index, values;

    snprintf(name, sizeof name, "%s_%s", kind, algorithm);
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS) {
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &values);
        MPI_T_pvar_start(session, handle);
    }
    return handle;
}

/* Whether it ran, or another took its place, since it cannot do this. */
static int has_run(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long uses = 0;
    int has;

    MPI_T_pvar_readreset(session, handle, &uses);
    has = uses > 0;
    MPI_Bcast(&has, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return has;
}

/* Microseconds a call, of so many in a row. Roots change, or calls would overlap: a root need not wait for the others.
 */
static double measure(const char *kind, int bytes, int calls, MPI_Comm comm)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        call(kind, bytes, i % size, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / calls * 1e6;
}

/* As many calls as take about so many seconds, the same at all ranks. */
static int calls_for(double seconds, const char *kind, int bytes, MPI_Comm comm)
{
    double once = measure(kind, bytes, 2, comm) / 1e6;
    int calls = (int)(seconds / once);

    calls = calls < 1 ? 1 : calls > 1000 ? 1000 : calls;
    MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return calls;
}

static void compare(const char *kind, int bytes, double seconds, char *const *algorithms, const MPI_Comm *comms,
                    MPI_T_pvar_session session, const MPI_T_pvar_handle *uses, int count)
{
    enum { ROUNDS = 5 };
    double best[MOST];
    int calls[MOST], is_able[MOST];

    for (int i = 0; i < count; i++) {
        has_run(session, uses[i]);
        calls[i] = calls_for(seconds / ROUNDS / count, kind, bytes, comms[i]);
        is_able[i] = has_run(session, uses[i]);
        best[i] = 1e12;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) {
            double took = measure(kind, bytes, calls[i], comms[i]);

            best[i] = took < best[i] ? took : best[i];
        }
    for (int i = 0; i < count && bench_rank() == 0; i++)
        if (is_able[i])
            printf("%d %s %.3f\n", bytes, algorithms[i], best[i]);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_handle uses[MOST];
    MPI_T_pvar_session session;
    char *algorithms[MOST], *sizes;
    MPI_Comm comms[MOST];
    int count = 0, provided;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 5) {
        fprintf(stderr, "candidates KIND SECONDS BYTES,... ALGORITHM,...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    out = bench_memory((size_t)LARGEST);
    in = bench_memory((size_t)LARGEST);
    for (char *name = strtok(argv[4], ","); name && count < MOST; name = strtok(NULL, ",")) {
        comms[count] = make(argv[1], name);
        uses[count] = watch(session, argv[1], name);
        algorithms[count++] = name;
    }
    sizes = argv[3];
    for (char *next; *sizes; sizes = next + (*next == ',')) {
        long bytes = strtol(sizes, &next, 10);
        int is_all = !strcmp(argv[1], "gather") || !strcmp(argv[1], "scatter") || !strcmp(argv[1], "allgather") ||
                     !strcmp(argv[1], "alltoall");

        if (bytes * (is_all ? size : 1) <= LARGEST)
            compare(argv[1], (int)bytes, atof(argv[2]), algorithms, comms, session, uses, count);
    }
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&comms[i]);
    free(out);
    free(in);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
