/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of elements larger than the pieces that are computed at a time, by an operation of the program's own, with
 * and without order: maps x -> a x + b, one after the other. */
#include "test.h"

enum { MAPS = 3000, MOST = 4 }; /* an element has 24000 bytes */

struct map {
    unsigned a, b;
};

static struct map in[MOST][MAPS], out[MOST][MAPS];
static int rank, size;

/* What rank `who` brings; where it `commutes`, only shifts. */
static struct map brought(int who, int element, int at, int commutes)
{
    unsigned some = (unsigned)((who * MOST + element) * MAPS + at) * 2654435761u;

    return (struct map){.a = commutes ? 1 : some | 1, .b = some >> 7};
}

static struct map then(struct map first, struct map second)
{
    return (struct map){.a = second.a * first.a, .b = second.a * first.b + second.b};
}

static void compose(void *left, void *inout, int *count, MPI_Datatype *type)
{
    const struct map *a = left;
    struct map *b = inout;

    (void)type;
    for (int i = 0; i < *count * MAPS; i++)
        b[i] = then(a[i], b[i]);
}

static void check(int count, int last, int commutes)
{
    for (int element = 0; element < count; element++)
        for (int at = 0; at < MAPS; at++) {
            struct map wanted = brought(0, element, at, commutes);

            for (int who = 1; who <= last; who++)
                wanted = then(wanted, brought(who, element, at, commutes));
            CHECK(out[element][at].a == wanted.a && out[element][at].b == wanted.b);
        }
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Op op;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2 * MAPS, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    for (int commutes = 0; commutes < 2; commutes++) {
        MPI_Op_create(compose, commutes, &op);
        for (int element = 0; element < MOST; element++)
            for (int at = 0; at < MAPS; at++)
                in[element][at] = brought(rank, element, at, commutes);
        for (int count = 1; count <= MOST; count++) {
            MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD);
            check(count, rank, commutes);
            MPI_Exscan(in, out, count, type, op, MPI_COMM_WORLD);
            if (rank)
                check(count, rank - 1, commutes);
            MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
            check(count, size - 1, commutes);
            MPI_Reduce(in, out, count, type, op, count % size, MPI_COMM_WORLD);
            if (rank == count % size)
                check(count, size - 1, commutes);
        }
        MPI_Op_free(&op);
    }
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
