/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem on reserved huge pages (MUR_HUGE_PAGES=2): they are used where the system has some free, anything else
 * serves where it has not, and neither windows nor messages mind. */
#include "test.h"

enum { HUGE = 2 << 20, BYTES = 2 * HUGE };

static long free_pages(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256];
    long count = 0;

    CHECK(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "HugePages_Free: %ld", &count) == 1)
            break;
    fclose(file);
    return count;
}

/* KiB of the pages that this address lies on. */
static long page_size_at(const void *address)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long first, last;
    int is_there = 0;
    long size = 0;

    CHECK(file);
    while (fgets(line, sizeof line, file) && !size) {
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
            is_there = (unsigned long)address >= first && (unsigned long)address < last;
        else if (is_there)
            sscanf(line, "KernelPageSize: %ld", &size);
    }
    fclose(file);
    return size;
}

static void use(char *memory, int rank, int size)
{
    MPI_Win win;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;

    memset(memory, rank, BYTES / 2);
    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(memory, BYTES / 2, MPI_BYTE, to, BYTES / 2, BYTES / 2, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    for (int i = BYTES / 2; i < BYTES; i += 1009)
        CHECK(memory[i] == (char)from);
    MPI_Win_free(&win);
    MPI_Sendrecv(memory, BYTES / 2, MPI_BYTE, from, 0, memory + BYTES / 2, BYTES / 2, MPI_BYTE, to, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = BYTES / 2; i < BYTES; i += 1009)
        CHECK(memory[i] == (char)to);
}

int main(int argc, char **argv)
{
    int rank, size;
    long before;
    char *memory, *more;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    before = free_pages();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory) == MPI_SUCCESS);
    if (before >= 16 * size)
        CHECK(page_size_at(memory) == HUGE / 1024);
    use(memory, rank, size);
    CHECK(MPI_Alloc_mem((before + 4) * HUGE, MPI_INFO_NULL, &more) == MPI_SUCCESS); /* more than there are */
    CHECK(page_size_at(more) == 4);
    memset(more, 1, HUGE);
    CHECK(MPI_Free_mem(more) == MPI_SUCCESS);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(before < 16 * size || free_pages() >= before - 8); /* given back; others may take some */
    MPI_Finalize();
    return 0;
}
