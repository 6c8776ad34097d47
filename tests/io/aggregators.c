/* SPDX-License-Identifier: BSD-3-Clause */
/* Who accesses the file for the others where data are exchanged by messages: as the hints cb_nodes and cb_config_list
 * say, hosts in turns. This program's own pwrite tells at which ranks the file is written. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

enum { COUNT = 400000 };

static int rank, size, writes;
static char own[MPI_MAX_PROCESSOR_NAME], *hosts;

ssize_t pwrite(int fd, const void *memory, size_t bytes, off_t offset)
{
    writes++;
    return syscall(SYS_pwrite64, fd, memory, bytes, offset);
}

static const char *host_of(int other)
{
    return hosts + (size_t)other * MPI_MAX_PROCESSOR_NAME;
}

static int ranks_on(const char *host)
{
    int count = 0;

    for (int i = 0; i < size; i++)
        count += strcmp(host_of(i), host) == 0;
    return count;
}

static int is_first_of_host(int other)
{
    for (int i = 0; i < other; i++)
        if (strcmp(host_of(i), host_of(other)) == 0)
            return 0;
    return 1;
}

/* How many of each host may serve: `each`, or of one only. */
static int expected(int each, const char *only, int nodes)
{
    int count = 0;

    for (int i = 0; i < size; i++)
        if (is_first_of_host(i) && (!only || strcmp(only, host_of(i)) == 0))
            count += each < ranks_on(host_of(i)) ? each : ranks_on(host_of(i));
    return count < nodes ? count : nodes;
}

static void write_and_compare(MPI_File file)
{
    int *data = malloc(COUNT * sizeof *data), *found = calloc(COUNT, sizeof *found);
    MPI_Datatype type;

    CHECK(data && found);
    for (int i = 0; i < COUNT; i++)
        data[i] = i * size + rank;
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    writes = 0;
    CHECK(MPI_File_write_at_all(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all(file, 0, found, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(memcmp(data, found, COUNT * sizeof *data) == 0);
    free(data);
    free(found);
}

/* Each host has its share of those who wrote: never two of one where another that may serve has none. */
static void check_writers(int count, int each, const char *only)
{
    int *wrote = malloc((size_t)size * sizeof *wrote), writers = 0, least = size, most = 0;

    CHECK(wrote);
    writes = writes > 0;
    MPI_Allgather(&writes, 1, MPI_INT, wrote, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        int of_host = 0;

        writers += wrote[i];
        for (int r = 0; r < size; r++)
            of_host += wrote[r] && strcmp(host_of(r), host_of(i)) == 0;
        if (only && strcmp(only, host_of(i)) != 0) {
            CHECK(of_host == 0);
            continue;
        }
        CHECK(of_host <= each);
        if (ranks_on(host_of(i)) > of_host)
            least = of_host < least ? of_host : least;
        most = of_host > most ? of_host : most;
    }
    CHECK(writers == count);
    CHECK(most <= least + 1);
    free(wrote);
}

static void one_case(const char *list, const char *nodes, int each, const char *only)
{
    int count = expected(each, only, nodes ? atoi(nodes) : 8), flag;
    char value[64];
    MPI_Info info;
    MPI_File file;

    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Info_set(info, "cb_buffer_size", "65536");
    if (list)
        MPI_Info_set(info, "cb_config_list", list);
    if (nodes)
        MPI_Info_set(info, "cb_nodes", nodes);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "aggregators.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        info, &file) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "cb_nodes", sizeof value - 1, value, &flag);
    CHECK(flag && atoi(value) == count);
    if (list) {
        MPI_Info_get(info, "cb_config_list", sizeof value - 1, value, &flag);
        CHECK(flag && strcmp(value, list) == 0);
    }
    MPI_Info_free(&info);
    write_and_compare(file);
    check_writers(count, each, only);
    MPI_File_close(&file);
}

/* Files that are open at one time have different ranks. */
static void spread(void)
{
    MPI_File files[3];
    int mine = 0, most;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "cb_nodes", "1");
    for (int i = 0; i < 3; i++) {
        char name[32];

        snprintf(name, sizeof name, "aggregators-%d.tmp", i);
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info,
                      &files[i]);
        write_and_compare(files[i]);
        mine += writes > 0;
    }
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (ranks_on(host_of(0)) > 1)
        CHECK(most <= (3 + ranks_on(host_of(0)) - 1) / ranks_on(host_of(0)));
    for (int i = 0; i < 3; i++)
        MPI_File_close(&files[i]);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    char list[MPI_MAX_PROCESSOR_NAME + 16];
    int length;

    setenv("MUR_IO_SHARED", "0", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size > 1);
    hosts = malloc((size_t)size * MPI_MAX_PROCESSOR_NAME);
    MPI_Get_processor_name(own, &length);
    MPI_Allgather(own, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, hosts, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, MPI_COMM_WORLD);
    one_case(NULL, NULL, size, NULL);
    one_case(NULL, "2", size, NULL);
    one_case("*:1", NULL, 1, NULL);
    one_case("*", NULL, 1, NULL);
    one_case("*:*", "3", size, NULL);
    one_case("nobody:4", NULL, size, NULL);
    one_case("nobody:4,*:2", "1000", 2, NULL);
    snprintf(list, sizeof list, "%.200s:*", host_of(size - 1));
    if (strlen(list) < 60)
        one_case(list, NULL, size, host_of(size - 1));
    spread();
    free(hosts);
    MPI_Finalize();
    return 0;
}
