/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints: those that are known can be read back, also without being given; values that mean nothing are ignored, and so
 * are keys that are unknown or not for the user; nothing of it keeps a file from being opened and accessed. */
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

/* What is given, and what is to be read back; NULL: nothing. */
static const struct {
    const char *key, *given, *found;
} cases[] = {
    {"cb_buffer_size", "123456", "123456"},
    {"cb_buffer_size", "-5", "8388608"},
    {"cb_buffer_size", "99999999999999999999", "8388608"},
    {"ind_rd_buffer_size", "10000", "10000"},
    {"ind_wr_buffer_size", "x", "524288"},
    {"striping_unit", "65536 ", "4096"},
    {"romio_cb_read", "enable", "enable"},
    {"romio_cb_write", "disable", "disable"},
    {"romio_ds_read", "maybe", "automatic"},
    {"romio_ds_write", "disable", "disable"},
    {"cb_nodes", "0", NULL}, /* as many as there are */
    {"romio_cb_pfr", "enable", "enable"},
    {"romio_cb_pfr", "enable,disable", "disable"},
    {"romio_cb_fr_types", "fsize", "fsize"},
    {"romio_cb_fr_types", "", "aar"},
    {"romio_cb_fr_alignment", "4096", "4096"},
    {"romio_cb_ds_threshold", "-1", "0"},
    {"romio_cb_alltoall", "disable", "disable"},
    {"romio_no_indep_rw", "true", "true"},
    {"romio_no_indep_rw", "enable", "false"},
    {"direct_read", "true", "true"},
    {"direct_write", "2", "false"},
    {"start_iodevice", "3", "3"},
    {"access_style", "read_once,sequential", "read_once,sequential"},
    {"access_style", "read_once,sometimes", NULL},
    {"access_style", "read_once,", NULL},
    {"collective_buffering", "true", "true"},
    {"collective_buffering", "yes", NULL},
    {"cb_block_size", "4096", "4096"},
    {"cb_block_size", "0", NULL},
    {"chunked", "10,20,30", "10,20,30"},
    {"chunked", "10,,30", NULL},
    {"chunked_item", "8", "8"},
    {"chunked_size", "5,x", NULL},
    {"file_perm", "600", "600"},
    {"file_perm", "999", NULL},
    {"file_perm", "77777", NULL},
    {"filename", "another", "hints.tmp"},
    {"io_node_list", "a,b", "a,b"},
    {"nb_proc", "4", "4"},
    {"nb_proc", "four", NULL},
    {"num_io_nodes", "2", "2"},
    {"mpi_memory_alloc_kinds", "mine", "mpi,system"},
    {"nonsense", "5", NULL},
};

static int rank;

static void check_value(MPI_File file, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL];
    int is_set, length = sizeof value;
    MPI_Info info;

    CHECK(MPI_File_get_info(file, &info) == MPI_SUCCESS);
    MPI_Info_get_string(info, key, &length, value, &is_set);
    if (strcmp(key, "cb_nodes") != 0 && (is_set ? !expected || strcmp(value, expected) : expected != NULL))
        printf("%s is '%s', expected '%s'\n", key, is_set ? value : "unset", expected ? expected : "unset");
    if (strcmp(key, "cb_nodes") == 0)
        CHECK(is_set && atoi(value) > 0);
    else
        CHECK(is_set ? expected && strcmp(value, expected) == 0 : !expected);
    MPI_Info_free(&info);
}

static void one_case(int i)
{
    const char *name = "hints.tmp";
    mode_t wanted = strcmp(cases[i].key, "file_perm") == 0 && cases[i].found ? 0600 : 0644;
    int data = rank, found = -1;
    struct stat status;
    MPI_Info info;
    MPI_File file;

    MPI_Info_create(&info);
    MPI_Info_set(info, cases[i].key, cases[i].given);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info,
                        &file) == MPI_SUCCESS);
    check_value(file, cases[i].key, cases[i].found);
    CHECK(stat(name, &status) == 0 && (status.st_mode & 07777) == wanted);
    CHECK(MPI_File_write_at_all(file, rank * 4, &data, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all(file, rank * 4, &found, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS && found == data);
    MPI_Info_set(info, "cb_buffer_size", "77777"); /* what is not given again stays */
    MPI_Info_delete(info, cases[i].key);
    MPI_Info_set(info, "cb_buffer_size", "77777");
    CHECK(MPI_File_set_info(file, info) == MPI_SUCCESS);
    check_value(file, "cb_buffer_size", "77777");
    if (strcmp(cases[i].key, "cb_buffer_size") != 0)
        check_value(file, cases[i].key, cases[i].found);
    MPI_Info_free(&info);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    umask(022);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        one_case((int)i);
    MPI_Finalize();
    return 0;
}
