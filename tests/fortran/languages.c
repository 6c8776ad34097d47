/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of languages.f90 that is C. */
#include "mpi.h"

#include <stddef.h>
#include <stdint.h>

intptr_t c_reads(int comm, int keyval);
void c_sets(int comm, int keyval, intptr_t value);
int c_keyval(void);
int c_makes_type(void);
int c_checks(int comm, const int *status);

intptr_t c_reads(int comm, int keyval)
{
    MPI_Aint *value;
    int flag;

    MPI_Comm_get_attr(MPI_Comm_f2c(comm), keyval, &value, &flag);
    return flag ? *value : 0;
}

void c_sets(int comm, int keyval, intptr_t value)
{
    MPI_Comm_set_attr(MPI_Comm_f2c(comm), keyval, (void *)value);
}

int c_keyval(void)
{
    int keyval;

    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    return keyval;
}

int c_makes_type(void)
{
    MPI_Datatype type;

    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    return MPI_Type_c2f(type);
}

/* 1: a communicator of the world's size, and a status with 5, 6, 7; 2: MPI_STATUS_IGNORE of Fortran; 0: neither. */
int c_checks(int comm, const int *status)
{
    MPI_Status c_status;
    MPI_F08_status f08_status;
    MPI_Fint back[MPI_F_STATUS_SIZE];
    int size, world_size;

    if (status == MPI_F_STATUS_IGNORE)
        return (const MPI_F08_status *)status == MPI_F08_STATUS_IGNORE ? 2 : 0;
    MPI_Comm_size(MPI_Comm_f2c(comm), &size);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Status_f2c(status, &c_status);
    MPI_Status_c2f08(&c_status, &f08_status);
    MPI_Status_f082c(&f08_status, &c_status);
    MPI_Status_c2f(&c_status, back);
    return size == world_size && MPI_Comm_c2f(MPI_Comm_f2c(comm)) == comm && c_status.MPI_SOURCE == 5 &&
           c_status.MPI_TAG == 6 && back[MPI_F_ERROR] == 7;
}
