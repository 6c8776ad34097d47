/* SPDX-License-Identifier: BSD-3-Clause */
/* Many pieces from MPI_Alloc_mem, freed in any order, some used as buffers and windows meanwhile: no descriptor is
 * taken, mappings stay few however many pieces there are, and what is freed is given back. */
#include "descriptors.h"
#include "memory_use.h"
#include "random.h"

enum { PIECES = 5000, LARGE = 3 << 20, ROUNDS = 8, LIVE = 8, WINDOWS = 200 };
#ifdef __SANITIZE_ADDRESS__
enum { MAPPINGS_MAX = 250 }; /* the sanitizer, whose memory it is where nobody shares it, maps each size apart */
#else
enum { MAPPINGS_MAX = 40 };
#endif

static int rank, size;

static void check_many(void)
{
    static unsigned char *pieces[PIECES];
    static int bytes[PIECES];
    int mappings = count_mappings(), descriptors = count_descriptors();

    for (int i = 0; i < PIECES; i++) {
        bytes[i] = 1 + random_below(1 << random_below(14));
        MPI_Alloc_mem(bytes[i], MPI_INFO_NULL, &pieces[i]);
        memset(pieces[i], i, (size_t)bytes[i]);
    }
    CHECK(count_mappings() < mappings + MAPPINGS_MAX);
    CHECK(count_descriptors() == descriptors);
    for (int left = PIECES; left > 0; left--) {
        int i = random_below(left);

        for (int at = 0; at < bytes[i]; at++)
            CHECK(pieces[i][at] == (unsigned char)pieces[i][0]);
        MPI_Free_mem(pieces[i]);
        pieces[i] = pieces[left - 1];
        bytes[i] = bytes[left - 1];
    }
}

/* What was freed is not held: neither here nor, for long, where others have mapped it. */
static void check_given_back(void)
{
    long before = shared_kib();

    for (int round = 0; round < ROUNDS; round++) {
        char *pieces[LIVE];

        for (int i = 0; i < LIVE; i++) {
            MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &pieces[i]);
            memset(pieces[i], round, LARGE);
        }
        for (int i = 0; i < LIVE; i++)
            MPI_Free_mem(pieces[i]);
    }
    CHECK(shared_kib() < before + (40 << 10));
}

/* Windows on memory that comes and goes: all ranks map it, and let it go. */
static void check_windows(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, mappings = 0;

    for (int i = 0; i < WINDOWS; i++) {
        MPI_Aint bytes = 1 + random_below(1 << (10 + random_below(15)));
        unsigned char *memory, value = (unsigned char)(rank + i);
        MPI_Win win;

        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
        MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_BYTE, right, bytes - 1, 1, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        CHECK(memory[bytes - 1] == (unsigned char)(left + i));
        MPI_Win_free(&win);
        MPI_Free_mem(memory);
        if (i == WINDOWS / 2)
            mappings = count_mappings();
    }
    CHECK(count_mappings() < mappings + MAPPINGS_MAX + 128 /* of others', which may stay for a while */);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    check_many();
    check_windows();
    check_given_back();
    MPI_Finalize();
    return 0;
}
