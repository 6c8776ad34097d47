/* Matmul: C = A B for matrices that each are one file, row after row, of doubles. P ranks form a grid; each owns a
 * block of every matrix, scattered over the file in pieces of rows. The ranks read their blocks of A and B with
 * collective MPI-IO, multiply with SUMMA (van de Geijn and Watts 1997: panels of A go along the rows of the grid,
 * panels of B along its columns), write their blocks of C into one file, and check it: with a random vector x,
 * C x must be A (B x), computed from the files, which are read again in another distribution (Freivalds 1977).
 *
 * Run: mpiexec -n 4 matmul [n [folder]]
 * It makes A.bin and B.bin in the folder (default: the current one) and leaves C.bin there. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 128 };

struct grid {
    MPI_Comm comm, row, column; /* row: the ranks of my row of the grid */
    int dims[2], coords[2], rank;
};

/* My block of an n x n matrix. */
struct block {
    int n, first_row, rows, first_column, columns;
    double *data; /* rows x columns */
};

static int start_of(int n, int parts, int part)
{
    return (int)((long)n * part / parts);
}

/* Which of `parts` parts of 0..n-1 holds index i. */
static int part_of(int n, int parts, int i)
{
    int part = (int)((long)i * parts / n);

    while (start_of(n, parts, part + 1) <= i)
        part++;
    return part;
}

static void fail(const char *what, const char *file, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    MPI_Error_string(code, text, &length);
    fprintf(stderr, "matmul: cannot %s '%s': %s\n", what, file, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double *allocate(size_t count)
{
    double *memory = malloc((count ? count : 1) * sizeof *memory);

    if (!memory) {
        fprintf(stderr, "matmul: no memory for %zu doubles\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static struct grid make_grid(void)
{
    struct grid g = {.dims = {0, 0}};
    int periods[2] = {0, 0}, keep_row[2] = {0, 1}, keep_column[2] = {1, 0}, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, g.dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, g.dims, periods, 1, &g.comm);
    MPI_Comm_rank(g.comm, &g.rank);
    MPI_Cart_coords(g.comm, g.rank, 2, g.coords);
    MPI_Cart_sub(g.comm, keep_row, &g.row);
    MPI_Cart_sub(g.comm, keep_column, &g.column);
    return g;
}

static struct block make_block(const struct grid *g, int n)
{
    struct block b = {.n = n};

    b.first_row = start_of(n, g->dims[0], g->coords[0]);
    b.rows = start_of(n, g->dims[0], g->coords[0] + 1) - b.first_row;
    b.first_column = start_of(n, g->dims[1], g->coords[1]);
    b.columns = start_of(n, g->dims[1], g->coords[1] + 1) - b.first_column;
    b.data = allocate((size_t)b.rows * (size_t)b.columns);
    return b;
}

/* Reads or writes my block: the view shows of the file just what is mine, as one stream. Returns the seconds. */
static double block_io(const struct grid *g, const struct block *b, const char *name, int is_write)
{
    int sizes[2] = {b->n, b->n}, subsizes[2] = {b->rows, b->columns}, starts[2] = {b->first_row, b->first_column};
    int amode = is_write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY, code;
    double start = MPI_Wtime();
    MPI_Datatype view;
    MPI_Status status;
    MPI_Count moved;
    MPI_File file;

    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &view);
    MPI_Type_commit(&view);
    code = MPI_File_open(g->comm, name, amode, MPI_INFO_NULL, &file);
    if (code)
        fail("open", name, code);
    if (is_write)
        MPI_File_set_size(file, (MPI_Offset)b->n * b->n * (MPI_Offset)sizeof(double));
    MPI_File_set_view(file, 0, MPI_DOUBLE, view, "native", MPI_INFO_NULL);
    code = is_write ? MPI_File_write_all_c(file, b->data, (MPI_Count)b->rows * b->columns, MPI_DOUBLE, &status)
                    : MPI_File_read_all_c(file, b->data, (MPI_Count)b->rows * b->columns, MPI_DOUBLE, &status);
    if (code)
        fail(is_write ? "write" : "read", name, code);
    MPI_Get_count_c(&status, MPI_DOUBLE, &moved);
    if (moved != (MPI_Count)b->rows * b->columns) {
        fprintf(stderr, "matmul: '%s' is too short for a matrix of %d x %d doubles\n", name, b->n, b->n);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_File_close(&file);
    MPI_Type_free(&view);
    return MPI_Wtime() - start;
}

/* Any deterministic numbers around zero. */
static void fill(struct block *b, unsigned seed)
{
    for (int i = 0; i < b->rows; i++)
        for (int j = 0; j < b->columns; j++) {
            unsigned h = seed + (unsigned)(b->first_row + i) * 2654435761u + (unsigned)(b->first_column + j) * 40503u;

            h = (h ^ h >> 15) * 2246822519u;
            b->data[(size_t)i * (size_t)b->columns + (size_t)j] = (double)(h >> 8) / (1 << 24) - 0.5;
        }
}

/* c += a b, where a is rows x depth with a's own stride and b is depth x columns. */
static void multiply_add(double *restrict c, const double *restrict a, const double *restrict b, int rows, int columns,
                         int depth)
{
    for (int i = 0; i < rows; i++) {
        double *restrict out = c + (size_t)i * (size_t)columns;
        const double *left = a + (size_t)i * (size_t)depth;
        int k = 0;

        for (; k + 4 <= depth; k += 4) {
            const double *b0 = b + (size_t)k * (size_t)columns, *b1 = b0 + columns, *b2 = b1 + columns,
                         *b3 = b2 + columns;

            for (int j = 0; j < columns; j++)
                out[j] += left[k] * b0[j] + left[k + 1] * b1[j] + left[k + 2] * b2[j] + left[k + 3] * b3[j];
        }
        for (; k < depth; k++)
            for (int j = 0; j < columns; j++)
                out[j] += left[k] * b[(size_t)k * (size_t)columns + (size_t)j];
    }
}

static void report_progress(const struct grid *g, double start, int done, int n, double *last)
{
    double now = MPI_Wtime();

    if (g->rank != 0 || (now - *last < 1 && done < n))
        return;
    *last = now;
    printf("matmul: %3d %% multiplied, %.1f s\n", (int)(100L * done / n), now - start);
    fflush(stdout);
}

/* SUMMA. A panel ends where the owner of A's columns or of B's rows changes. */
static double summa(const struct grid *g, const struct block *a, const struct block *b, struct block *c)
{
    int n = a->n;
    double *left = allocate((size_t)a->rows * PANEL), *top = allocate((size_t)PANEL * (size_t)b->columns);
    double start = MPI_Wtime(), last = start;

    memset(c->data, 0, (size_t)c->rows * (size_t)c->columns * sizeof(double));
    for (int k = 0, width; k < n; k += width) {
        int column_owner = part_of(n, g->dims[1], k), row_owner = part_of(n, g->dims[0], k);
        int end = k + PANEL < n ? k + PANEL : n;

        if (start_of(n, g->dims[1], column_owner + 1) < end)
            end = start_of(n, g->dims[1], column_owner + 1);
        if (start_of(n, g->dims[0], row_owner + 1) < end)
            end = start_of(n, g->dims[0], row_owner + 1);
        width = end - k;
        if (g->coords[1] == column_owner)
            for (int i = 0; i < a->rows; i++)
                memcpy(left + (size_t)i * (size_t)width,
                       a->data + (size_t)i * (size_t)a->columns + (size_t)(k - a->first_column),
                       (size_t)width * sizeof(double));
        if (g->coords[0] == row_owner)
            memcpy(top, b->data + (size_t)(k - b->first_row) * (size_t)b->columns,
                   (size_t)width * (size_t)b->columns * sizeof(double));
        MPI_Bcast(left, a->rows * width, MPI_DOUBLE, column_owner, g->row);
        MPI_Bcast(top, width * b->columns, MPI_DOUBLE, row_owner, g->column);
        multiply_add(c->data, left, top, c->rows, c->columns, width);
        report_progress(g, start, k + width, n, &last);
    }
    free(left);
    free(top);
    MPI_Barrier(g->comm);
    return MPI_Wtime() - start;
}

/* y = M x, where M is read from its file by whole rows, a share a rank, and all ranks get all of y. */
static void multiply_file(const char *name, int n, const double *x, double *y)
{
    int rank, size, first, rows, *counts, *starts, code;
    double *share;
    MPI_File file;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc((size_t)size * sizeof *counts);
    starts = malloc((size_t)size * sizeof *starts);
    if (!counts || !starts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < size; i++) {
        starts[i] = start_of(n, size, i);
        counts[i] = start_of(n, size, i + 1) - starts[i];
    }
    first = starts[rank];
    rows = counts[rank];
    share = allocate((size_t)rows * (size_t)n);
    code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    if (code)
        fail("open", name, code);
    code = MPI_File_read_at_all_c(file, (MPI_Offset)first * n * (MPI_Offset)sizeof(double), share, (MPI_Count)rows * n,
                                  MPI_DOUBLE, MPI_STATUS_IGNORE);
    if (code)
        fail("read", name, code);
    MPI_File_close(&file);
    for (int i = 0; i < rows; i++) {
        double sum = 0;

        for (int j = 0; j < n; j++)
            sum += share[(size_t)i * (size_t)n + (size_t)j] * x[j];
        y[first + i] = sum;
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    free(share);
    free(counts);
    free(starts);
}

/* The largest difference between C x and A (B x), relative to what rounding may make of it. */
static double verify(const char *names[3], int n)
{
    double *x = allocate((size_t)n), *y = allocate((size_t)n), *z = allocate((size_t)n), worst = 0;
    unsigned state = 12345;

    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = state >> 31 ? 1 : -1;
    }
    multiply_file(names[1], n, x, y);
    multiply_file(names[0], n, y, z);
    multiply_file(names[2], n, x, y);
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(y[i] - z[i]));
    free(x);
    free(y);
    free(z);
    return worst / (1e-15 * n * n);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024, size;
    const char *folder = argc > 2 ? argv[2] : ".";
    double write_inputs, read_inputs, product, write_result, error, bytes;
    char paths[3][4096];
    const char *names[3] = {paths[0], paths[1], paths[2]};
    struct block a, b, c;
    struct grid g;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    g = make_grid();
    if (n < g.dims[0]) {
        if (g.rank == 0)
            fprintf(stderr, "matmul: n is %d, but must be at least %d for %d ranks\n", n, g.dims[0], size);
        MPI_Finalize();
        return 2;
    }
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%c.bin", folder, "ABC"[i]);
    a = make_block(&g, n);
    b = make_block(&g, n);
    c = make_block(&g, n);
    bytes = (double)n * n * sizeof(double);

    fill(&a, 1);
    fill(&b, 2);
    write_inputs = block_io(&g, &a, names[0], 1) + block_io(&g, &b, names[1], 1);
    memset(a.data, 0, (size_t)a.rows * (size_t)a.columns * sizeof(double));
    memset(b.data, 0, (size_t)b.rows * (size_t)b.columns * sizeof(double));
    MPI_Barrier(g.comm);
    read_inputs = block_io(&g, &a, names[0], 0) + block_io(&g, &b, names[1], 0);
    product = summa(&g, &a, &b, &c);
    write_result = block_io(&g, &c, names[2], 1);
    error = verify(names, n);

    if (g.rank == 0) {
        printf("matmul: %d x %d doubles on a grid of %d x %d ranks\n", n, n, g.dims[0], g.dims[1]);
        printf("  made A and B   %8.3f s  %8.0f MB/s\n", write_inputs, 2 * bytes / write_inputs / 1e6);
        printf("  read A and B   %8.3f s  %8.0f MB/s\n", read_inputs, 2 * bytes / read_inputs / 1e6);
        printf("  multiplied     %8.3f s  %8.2f GFLOP/s\n", product, 2.0 * n * n * n / product / 1e9);
        printf("  wrote C        %8.3f s  %8.0f MB/s\n", write_result, bytes / write_result / 1e6);
        printf("  C is %s (%.3f of the rounding error allowed); look at it in %s\n", error < 1 ? "right" : "WRONG",
               error, names[2]);
    }
    free(a.data);
    free(b.data);
    free(c.data);
    MPI_Comm_free(&g.row);
    MPI_Comm_free(&g.column);
    MPI_Comm_free(&g.comm);
    MPI_Finalize();
    return error < 1 ? 0 : 1;
}
