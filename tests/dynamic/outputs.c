/* SPDX-License-Identifier: BSD-3-Clause */
/* A job whose child says a line while one of its own is not finished yet; on standard error, or, with "out" as the
 * first argument, on standard output. The child waits until that part of a line is in the file that the last argument
 * names. */
#define _GNU_SOURCE
#include <unistd.h>

#include "test.h"

enum { PATIENCE_S = 30 };

static void wait_for(const char *part, const char *path)
{
    static char text[4096];

    for (int left = PATIENCE_S * 100; !strstr(text, part); left--) {
        FILE *file = fopen(path, "r");

        CHECK(left > 0 && file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        usleep(10000);
    }
}

int main(int argc, char **argv)
{
    static char self[4096];
    MPI_Comm inter;
    FILE *out;

    MPI_Init(&argc, &argv);
    CHECK(argc == 3);
    out = strcmp(argv[1], "out") == 0 ? stdout : stderr;
    MPI_Comm_get_parent(&inter);
    if (inter == MPI_COMM_NULL) {
        fputs("part", out);
        fflush(out);
        CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
        MPI_Comm_spawn(self, argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    } else {
        wait_for("part", argv[2]);
        fputs("child's\n", out);
        fflush(out);
    }
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
