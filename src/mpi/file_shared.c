/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file pointer, and data representations of users (MPI-5.0 §14.4.4, §14.5.3). */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/datarep.h"
#include "io/file.h"
#include "io/pointer.h"
#include "mpi/bodies.h"
#include "mpi/file.h"

/* From where the pointer is before any rank moves it. */
int mur_mpi_file_seek_shared(int refused, struct mur_file *fh, MPI_Offset offset, int whence)
{
    MPI_Offset current = 0, place = 0;
    int rc = refused;

    if (!rc)
        rc = mur_file_check_random(fh);
    if (!rc)
        rc = mur_pointer_add(fh, 0, &current);
    if (!rc)
        rc = mur_file_seek(fh, current, offset, whence, &place);
    rc = mur_file_agree(fh, rc, "seek in");
    return rc ? rc : mur_pointer_set(fh, place);
}

int mur_mpi_file_get_position_shared(struct mur_file *fh, MPI_Offset *offset)
{
    return mur_pointer_add(fh, 0, offset);
}

static int prepare(struct mur_datarep *made, const char *name, MPI_Datarep_extent_function *extent, void *state)
{
    size_t length = strnlen(name, MPI_MAX_DATAREP_STRING);

    if (length == 0 || length == MPI_MAX_DATAREP_STRING)
        return mur_error(MPI_ERR_ARG, "datarep has %zu characters or more, but must have 1 to %d", length,
                         MPI_MAX_DATAREP_STRING - 1);
    *made = (struct mur_datarep){.extent = extent, .state = state};
    snprintf(made->name, sizeof made->name, "%s", name);
    return MPI_SUCCESS;
}

int mur_mpi_register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                             MPI_Datarep_conversion_function *write_conversion_fn,
                             MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct mur_datarep made;
    int rc = prepare(&made, datarep, dtype_file_extent_fn, extra_state);

    made.read = read_conversion_fn;
    made.write = write_conversion_fn;
    return rc ? rc : mur_datarep_register(&made);
}

int mur_mpi_register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
                               MPI_Datarep_conversion_function_c *write_conversion_fn,
                               MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct mur_datarep made;
    int rc = prepare(&made, datarep, dtype_file_extent_fn, extra_state);

    made.read_large = read_conversion_fn;
    made.write_large = write_conversion_fn;
    return rc ? rc : mur_datarep_register(&made);
}
