/* Heat: a plate whose left edge is hot, cut into blocks over a Cartesian grid of ranks. In every step each rank
 * exchanges one row or column of cells with its four neighbours, then averages. It shows Cartesian communicators,
 * derived datatypes for columns, nonblocking halo exchange and a reduction that tells when to stop. At the end rank 0
 * computes the whole plate alone and compares. Run: mpiexec -n 4 heat [cells] [steps] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOT = 100 };

struct block {
    int rows, columns;           /* own cells, without the halo */
    int first_row, first_column; /* in the whole plate */
    double *now, *next;          /* (rows + 2) x (columns + 2) */
};

static int start_of(int cells, int parts, int part)
{
    return (int)((long)cells * part / parts);
}

static double *cell(const struct block *b, double *plate, int row, int column)
{
    return &plate[(size_t)row * (size_t)(b->columns + 2) + (size_t)column];
}

/* The edge of the plate: hot on the left, cold elsewhere. Also the start, so that halos at the edge stay right. */
static void start_block(struct block *b)
{
    size_t cells = (size_t)(b->rows + 2) * (size_t)(b->columns + 2);

    b->now = calloc(cells, sizeof *b->now);
    b->next = calloc(cells, sizeof *b->next);
    if (!b->now || !b->next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (b->first_column == 0)
        for (int row = 0; row < b->rows + 2; row++)
            *cell(b, b->now, row, 0) = *cell(b, b->next, row, 0) = HOT;
}

static double step(struct block *b)
{
    double change = 0, *old = b->now;

    for (int row = 1; row <= b->rows; row++)
        for (int column = 1; column <= b->columns; column++) {
            double value = 0.25 * (*cell(b, b->now, row - 1, column) + *cell(b, b->now, row + 1, column) +
                                   *cell(b, b->now, row, column - 1) + *cell(b, b->now, row, column + 1));

            change = fmax(change, fabs(value - *cell(b, b->now, row, column)));
            *cell(b, b->next, row, column) = value;
        }
    b->now = b->next;
    b->next = old;
    return change;
}

static void exchange_halo(struct block *b, MPI_Comm grid, MPI_Datatype column)
{
    int up, down, left, right;
    MPI_Request requests[8];

    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Irecv(cell(b, b->now, 0, 1), b->columns, MPI_DOUBLE, up, 0, grid, &requests[0]);
    MPI_Irecv(cell(b, b->now, b->rows + 1, 1), b->columns, MPI_DOUBLE, down, 1, grid, &requests[1]);
    MPI_Irecv(cell(b, b->now, 1, 0), 1, column, left, 2, grid, &requests[2]);
    MPI_Irecv(cell(b, b->now, 1, b->columns + 1), 1, column, right, 3, grid, &requests[3]);
    MPI_Isend(cell(b, b->now, b->rows, 1), b->columns, MPI_DOUBLE, down, 0, grid, &requests[4]);
    MPI_Isend(cell(b, b->now, 1, 1), b->columns, MPI_DOUBLE, up, 1, grid, &requests[5]);
    MPI_Isend(cell(b, b->now, 1, b->columns), 1, column, right, 2, grid, &requests[6]);
    MPI_Isend(cell(b, b->now, 1, 1), 1, column, left, 3, grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* The same number of steps on the whole plate, by one rank, and the sum of all cells. */
static double alone(int cells, int steps)
{
    struct block whole = {.rows = cells, .columns = cells};
    double sum = 0;

    start_block(&whole);
    for (int i = 0; i < steps; i++)
        step(&whole);
    for (int row = 1; row <= cells; row++)
        for (int column = 1; column <= cells; column++)
            sum += *cell(&whole, whole.now, row, column);
    free(whole.now);
    free(whole.next);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
    int cells = argc > 1 ? atoi(argv[1]) : 96, steps = argc > 2 ? atoi(argv[2]) : 500, done = 0;
    double change = 1, sum = 0, total, reference;
    struct block b = {0};
    MPI_Datatype column;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    if (cells < dims[0]) {
        fprintf(stderr, "heat: %d cells a side are too few for a grid of %d x %d ranks\n", cells, dims[0], dims[1]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    b.first_row = start_of(cells, dims[0], coords[0]);
    b.first_column = start_of(cells, dims[1], coords[1]);
    b.rows = start_of(cells, dims[0], coords[0] + 1) - b.first_row;
    b.columns = start_of(cells, dims[1], coords[1] + 1) - b.first_column;
    start_block(&b);
    MPI_Type_vector(b.rows, 1, b.columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    while (done < steps && change > 1e-6) {
        exchange_halo(&b, grid, column);
        change = step(&b);
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, grid);
        done++;
    }
    for (int i = 1; i <= b.rows; i++)
        for (int j = 1; j <= b.columns; j++)
            sum += *cell(&b, b.now, i, j);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0) {
        reference = alone(cells, done);
        printf("heat: %d x %d cells on %d x %d ranks, %d steps, last change %.2e, mean %.6f %s\n", cells, cells,
               dims[0], dims[1], done, change, total / cells / cells,
               fabs(total - reference) <= 1e-9 * fabs(reference) ? "is right" : "IS WRONG");
        if (fabs(total - reference) > 1e-9 * fabs(reference))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(b.now);
    free(b.next);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
