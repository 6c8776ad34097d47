/* SPDX-License-Identifier: BSD-3-Clause */
/* A timer interrupts every rank every half millisecond, while it allocates space, writes and reads in all forms: on a
 * file system in memory and where the test runs. All of it ends, and is right. This program's own posix_fallocate
 * stands before the C library's: with it a signal undoes what takes long, as on some kernels' file systems in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "forms.h"

enum { COUNT = 40000 };

static volatile sig_atomic_t alarms;
static int rank, size, allocations;

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    CHECK(++allocations < 10000);
    if (bytes > 1 << 20)
        return EINTR;
    return ftruncate(fd, offset + bytes) ? errno : 0;
}

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

static void start_timer(void)
{
    struct itimerval every = {{0, 500}, {0, 500}};
    struct sigaction action = {.sa_handler = count_alarm}; /* calls of the system are not restarted */

    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &every, NULL) == 0);
}

static void set_view(MPI_File file)
{
    MPI_Datatype type;

    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(file, rank * 4, MPI_INT, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&type);
}

static void access_file(const char *name, MPI_Offset bytes)
{
    int *data = malloc(COUNT * sizeof *data), *found = malloc(COUNT * sizeof *found);
    MPI_Offset is;
    MPI_File file;

    CHECK(data && found);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    CHECK(MPI_File_preallocate(file, bytes) == MPI_SUCCESS);
    CHECK(MPI_File_get_size(file, &is) == MPI_SUCCESS && is == bytes);
    CHECK(MPI_File_set_size(file, 1000) == MPI_SUCCESS);
    for (int form = 0; form < FORMS * 2; form++) {
        if (form == FORMS)
            set_view(file);
        for (int i = 0; i < COUNT; i++)
            data[i] = rank + i * size + form;
        CHECK(form_write(file, form % FORMS, form < FORMS ? (MPI_Offset)rank * COUNT * 4 : 0, data, COUNT, MPI_INT,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_File_sync(file) == MPI_SUCCESS);
        memset(found, 0, COUNT * sizeof *found);
        CHECK(form_read(file, form % FORMS, form < FORMS ? (MPI_Offset)rank * COUNT * 4 : 0, found, COUNT, MPI_INT,
                        MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(memcmp(data, found, COUNT * sizeof *found) == 0);
    }
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    free(data);
    free(found);
}

int main(int argc, char **argv)
{
    char name[100];
    int id;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    start_timer();
    snprintf(name, sizeof name, "signals.%d.tmp", id);
    access_file(name, 1 << 20);
    snprintf(name, sizeof name, "/dev/shm/mur-signals.%d", id);
    if (access("/dev/shm", W_OK) == 0)
        access_file(name, (64 << 20) + 1);
    CHECK(alarms > 0);
    MPI_Finalize();
    return 0;
}
