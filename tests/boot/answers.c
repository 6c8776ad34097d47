/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 asks the launcher far more often for an address than answers fit into its control socket, and reads none
 * before it has asked for all. All answers must come. */
#include <poll.h>

#include "boot/process.h"
#include "test.h"

enum { QUESTIONS = 3000, PATIENCE_MS = 30000 };

static void ask_and_count(void)
{
    static char key[MUR_VALUE_MAX], value[MUR_VALUE_MAX];
    int answers = 0;

    mur_boot_address_key(key, 1);
    for (int i = 0; i < QUESTIONS; i++)
        CHECK(mur_boot_ask(key) == MPI_SUCCESS);
    while (answers < QUESTIONS) {
        struct pollfd news = {.fd = mur_process.control_fd, .events = POLLIN};

        if (mur_boot_answer(key, value)) {
            answers++;
            continue;
        }
        if (poll(&news, 1, PATIENCE_MS) != 1)
            fprintf(stderr, "%d answers to %d questions\n", answers, QUESTIONS);
        CHECK(news.revents);
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        ask_and_count();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
