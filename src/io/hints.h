/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints for files (MPI-5.0 §14.2.8), by the names of the standard and of ROMIO, which its users know. Those that are
 * known are kept and can be read back; those that are acted upon:
 *
 *   cb_buffer_size        memory for collective access, through which the collective buffers of a file pass
 *   cb_nodes              how many ranks access the file for the others, where they exchange messages,
 *   cb_config_list        and of which hosts (io/aggregators.c)
 *   romio_cb_read/_write  enable, disable, automatic: whether collective access is two-phase
 *   romio_ds_read/_write  the same for data sieving in independent access
 *   ind_rd_buffer_size, ind_wr_buffer_size   bytes of a sieve
 *   collective_buffering  true or false: romio_cb_read and romio_cb_write in one
 *   striping_unit, striping_factor   collective buffers end where units do, and ranks that access the file for the
 * others are as many as suits the factor; usually what the file system tells (io/stripes.h) file_perm permissions of a
 * file that is created, octal
 *
 * All ranks use the values that rank 0 was given, so that ranks that differ cannot misunderstand each other. */
#ifndef MUR_IO_HINTS_H
#define MUR_IO_HINTS_H

#include <stdbool.h>

#include "io/stripes.h"

struct mur_file;
struct mur_info;

enum { MUR_CONFIG_LIST = 512 };

enum mur_choice { MUR_AUTOMATIC, MUR_ENABLE, MUR_DISABLE };

struct mur_hints {
    long cb_buffer_size, cb_nodes, read_sieve, write_sieve;
    struct mur_stripes stripes;
    bool is_striped;                           /* the file system has told how */
    bool has_cb_nodes;                         /* given by the user */
    long cb_read, cb_write, ds_read, ds_write; /* enum mur_choice */
    char config_list[MUR_CONFIG_LIST];         /* as given; empty: not */
};

/* Of a file that is created. */
int mur_hints_permissions(const struct mur_info *info);

/* Takes over what is known of `info` (which may be NULL). Collective over the file's communicator. */
int mur_hints_set(struct mur_file *file, const struct mur_info *info);

#endif
