/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of random lengths, each of which is rebuilt from the others of its group, compared byte by byte. */
#include "libmurmur/parity.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"
#include "test.h"

enum { LONGEST = 3 << 20 };

static unsigned char *read_file(const char *path, long *bytes)
{
    FILE *file = fopen(path, "r");
    unsigned char *data = malloc(LONGEST + 1);

    CHECK(file && data);
    *bytes = (long)fread(data, 1, LONGEST + 1, file);
    fclose(file);
    return data;
}

static void write_file(const char *path, long bytes)
{
    FILE *file = fopen(path, "w");

    CHECK(file);
    for (long i = 0; i < bytes; i++)
        fputc((int)(random_next() & 255), file);
    fclose(file);
}

static void rebuild_each(const char *directory, int ranks)
{
    char files[MUR_PARITY_GROUP_MAX][200], parities[MUR_PARITY_GROUP_MAX][200], path[200];
    const char *file_at[MUR_PARITY_GROUP_MAX], *parity_at[MUR_PARITY_GROUP_MAX];
    struct mur_flaw flaw = {0};

    for (int i = 0; i < ranks; i++) {
        snprintf(files[i], sizeof files[i], "%s/file-%d", directory, i);
        snprintf(parities[i], sizeof parities[i], "%s/parity-%d", directory, i);
        file_at[i] = files[i];
        parity_at[i] = parities[i];
    }
    snprintf(path, sizeof path, "%s/rebuilt", directory);
    for (int lost = 0; lost < ranks; lost++) {
        struct mur_parity parity;
        unsigned char *expected, *rebuilt;
        long bytes, more;

        CHECK(mur_parity_check(parities[(lost + 1) % ranks], &parity, &flaw));
        file_at[lost] = parity_at[lost] = "/nowhere";
        CHECK(mur_parity_rebuild(path, lost, &parity, file_at, parity_at, &flaw));
        file_at[lost] = files[lost];
        parity_at[lost] = parities[lost];
        expected = read_file(files[lost], &bytes);
        rebuilt = read_file(path, &more);
        CHECK(bytes == more && memcmp(expected, rebuilt, (size_t)bytes) == 0);
        free(expected);
        free(rebuilt);
    }
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/parity-XXXXXX", path[200], own[200];
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    random_start();
    random_state += 7919u * (unsigned)rank;
    if (rank == 0)
        CHECK(mkdtemp(directory));
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(own, sizeof own, "%s/file-%d", directory, rank);
    snprintf(path, sizeof path, "%s/parity-%d", directory, rank);
    for (int round = 0; round < 6; round++) {
        struct mur_parity parity = {.count = ranks, .position = rank};
        struct mur_flaw flaw = {0};

        for (int i = 0; i < ranks; i++)
            parity.members[i] = 10 + i;
        write_file(own, round == 0 ? 1 : (long)(random_next() % (round == 1 ? LONGEST : 5000)) + 1);
        mur_parity_write(path, own, &parity, MPI_COMM_WORLD, &flaw);
        CHECK(!flaw.text[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            rebuild_each(directory, ranks);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    unlink(own);
    unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(path, sizeof path, "%s/rebuilt", directory);
        unlink(path);
        rmdir(directory);
    }
    MPI_Finalize();
    return 0;
}
