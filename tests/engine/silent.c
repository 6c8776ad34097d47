/* SPDX-License-Identifier: BSD-3-Clause */
/* File accesses that the kernel performs end without waking anybody. A thread that waits for one must see its end, also
 * while another thread, which makes progress (MUR_PROGRESS_THREAD), went to sleep before. */
#include <unistd.h>

#include "test.h"

enum { BYTES = 8 << 20, ROUNDS = 20 };

int main(int argc, char **argv)
{
    char *data = malloc(BYTES), name[64];
    MPI_Request request;
    MPI_Status status;
    MPI_File file;
    int count;

    MPI_Init(&argc, &argv);
    memset(data, 1, BYTES);
    snprintf(name, sizeof name, "silent.%d", (int)getpid());
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    for (int round = 0; round < ROUNDS; round++) {
        usleep(2000); /* for the other thread to go to sleep; if it does not, the round is easy */
        MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, &request);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == BYTES);
    }
    MPI_File_close(&file);
    free(data);
    MPI_Finalize();
    return 0;
}
