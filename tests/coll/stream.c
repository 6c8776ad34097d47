/* SPDX-License-Identifier: BSD-3-Clause */
/* Large broadcasts one after the other, of sizes whose pieces end at the ends of sections and elsewhere, from all
 * roots: what arrives is right, and where the next piece goes stays within the board's memory. */
#include "coll/board/board.h"
#include "object/comm.h"
#include "random.h"

enum { BROADCASTS = 300, MOST = 3 << 20 };

static unsigned char data[MOST];
static int rank, size;

static void broadcast(int bytes, int root, unsigned char first)
{
    const struct mur_board *board = mur_comm_world.board;

    for (int i = 0; i < bytes; i++)
        data[i] = rank == root ? (unsigned char)(first + i % 251) : 0;
    MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; i++)
        CHECK(data[i] == (unsigned char)(first + i % 251));
    CHECK(!board || board->stream < 2 * (size_t)MUR_BOARD_HALF_MAX);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    for (int i = 0; i < 40; i++) /* whole sections: every lap ends at the memory's end */
        broadcast(1 << 20, i % size, (unsigned char)i);
    for (int i = 0; i < BROADCASTS; i++) {
        int root = random_below(size), most = random_below(4) ? 300000 : MOST;

        broadcast(1 + random_below(most), root, (unsigned char)i);
    }
    MPI_Finalize();
    return 0;
}
