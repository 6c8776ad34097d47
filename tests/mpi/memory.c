/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem: pieces of all sizes, with and without huge pages, are aligned as asked, are apart from each other, and
 * can be used from end to end; what was not allocated cannot be freed. */
#include "random.h"

#include <stdint.h>

enum { PIECES = 24 };

static void *allocate(MPI_Aint bytes, long alignment)
{
    MPI_Info info = MPI_INFO_NULL;
    void *memory = NULL;
    char text[32];

    if (alignment) {
        snprintf(text, sizeof text, "%ld", alignment);
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
    }
    CHECK(MPI_Alloc_mem(bytes, info, &memory) == MPI_SUCCESS);
    CHECK(memory && (uintptr_t)memory % (uintptr_t)(alignment ? alignment : 64) == 0);
    if (alignment)
        MPI_Info_free(&info);
    return memory;
}

static void check_random(void)
{
    static unsigned char *pieces[PIECES];
    static size_t bytes[PIECES];

    for (int round = 0; round < 200; round++) {
        int i = random_below(PIECES);

        if (!pieces[i]) {
            bytes[i] = (size_t)random_below(1 << (5 + random_below(18))) + (random_below(3) ? 0 : 2 << 20);
            pieces[i] = allocate((MPI_Aint)bytes[i], random_below(2) ? 1L << random_below(23) : 0);
            memset(pieces[i], i, bytes[i]);
            continue;
        }
        for (size_t at = 0; at < bytes[i]; at += at + 999 < bytes[i] ? 999 : 1)
            CHECK(pieces[i][at] == i);
        CHECK(MPI_Free_mem(pieces[i]) == MPI_SUCCESS);
        pieces[i] = NULL;
    }
    for (int i = 0; i < PIECES; i++)
        CHECK(MPI_Free_mem(pieces[i]) == MPI_SUCCESS);
}

static void check_misuse(void)
{
    char *memory = allocate(8 << 20, 0), here;
    int error_class, rc;

    rc = MPI_Free_mem(memory + 64);
    MPI_Error_class(rc, &error_class);
    CHECK(error_class == MPI_ERR_BASE);
    rc = MPI_Free_mem(&here);
    MPI_Error_class(rc, &error_class);
    CHECK(error_class == MPI_ERR_BASE);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    rc = MPI_Free_mem(memory);
    MPI_Error_class(rc, &error_class);
    CHECK(error_class == MPI_ERR_BASE);
    rc = MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory);
    MPI_Error_class(rc, &error_class);
    CHECK(error_class == MPI_ERR_NO_MEM);
    rc = MPI_Alloc_mem(PTRDIFF_MAX, MPI_INFO_NULL, &memory);
    MPI_Error_class(rc, &error_class);
    CHECK(error_class == MPI_ERR_NO_MEM);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    random_start();
    check_random();
    check_misuse();
    MPI_Finalize();
    return 0;
}
