/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a file's collective accesses and of its collective buffers pass 2^16, 2^31 and 2^32. All ranks set
 * them on by as much at a moment when nothing is under way; then data must still reach the file, and come from it. */
#include <unistd.h>

#include "io/shared_state.h"
#include "io/file.h"

#include "test.h"

enum { STEPS = 200, INTS = 3000 };

static int rank, size;
static MPI_File file;

static void set_on(uint64_t *reached, uint64_t limit)
{
    struct mur_shared_state *shared = ((struct mur_file *)mur_object_find(file, MUR_KIND_FILE))->shared;
    uint64_t by = (limit - STEPS / 2 - *reached) & ~(uint64_t)63; /* places in rings stay the same */

    MPI_Barrier(MPI_COMM_WORLD);
    if (shared) {
        shared->started += by;
        shared->current += by;
        shared->cbs_in += by;
        shared->done += by;
        atomic_fetch_add(&shared->memory->entries[rank].posted, by);
    }
    if (shared && rank == 0)
        atomic_fetch_add(&shared->memory->done, by);
    for (int i = 0; shared && shared->cbs && rank == 0 && i < MUR_CBS; i++)
        atomic_fetch_add(&shared->cbs->state[i].turn, 4 * by);
    MPI_Barrier(MPI_COMM_WORLD);
    *reached += by;
}

/* The ranks' ints take turns in the file. */
static void access_some(int step, int count)
{
    static int out[INTS], in[INTS];

    for (int i = 0; i < count; i++)
        out[i] = rank + i + step, in[i] = -1;
    MPI_File_write_at_all(file, step, out, count, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, step, in, count, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(!memcmp(in, out, (size_t)count * sizeof *in));
}

static void open_file(void)
{
    int number = getpid();
    MPI_Datatype mine;
    char name[64];

    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "positions.%d", number);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint)sizeof(int), &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, mine, "native", MPI_INFO_NULL);
    MPI_Type_free(&mine);
}

int main(int argc, char **argv)
{
    static const uint64_t limits[] = {1 << 16, (uint64_t)1 << 30, (uint64_t)1 << 31, (uint64_t)1 << 32,
                                      (uint64_t)1 << 34};
    uint64_t reached = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    open_file();
    for (int step = 0; step < STEPS; step++)
        access_some(step, 50);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        set_on(&reached, limits[i]);
        for (int step = 0; step < STEPS; step++)
            access_some(step, step % 10 ? 50 : INTS);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
