/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI-3 removed, and what the families' libraries have under other names. */
#include "door.h"

MUR_DOOR(int, Address, void *location, MPI_Aint *address)
{
    return error_out(murmur_door.Get_address(location, address));
}

int door_Comm_create_errhandler(void (*function)(their_comm *, int *, ...),
                                their_errhandler *errhandler) __asm__("PMPI_Comm_create_errhandler");
int door_Type_create_struct(int count, const int lengths[], const MPI_Aint displacements[], const their_type types[],
                            their_type *newtype) __asm__("PMPI_Type_create_struct");

MUR_DOOR(int, Errhandler_create, void (*function)(their_comm *, int *, ...), their_errhandler *errhandler)
{
    return door_Comm_create_errhandler(function, errhandler);
}

MUR_DOOR(int, Errhandler_get, their_comm comm, their_errhandler *errhandler)
{
    MPI_Errhandler value;
    int code = murmur_door.Comm_get_errhandler(comm_in(comm), errhandler ? &value : NULL);

    if (!code)
        *errhandler = errhandler_out(value);
    return error_out(code);
}

MUR_DOOR(int, Errhandler_set, their_comm comm, their_errhandler errhandler)
{
    return error_out(murmur_door.Comm_set_errhandler(comm_in(comm), errhandler_in(errhandler)));
}

MUR_DOOR(int, Type_extent, their_type datatype, MPI_Aint *extent)
{
    MPI_Aint lower;

    return error_out(murmur_door.Type_get_extent(type_in(datatype), &lower, extent));
}

MUR_DOOR(int, Type_lb, their_type datatype, MPI_Aint *lower)
{
    MPI_Aint extent;

    return error_out(murmur_door.Type_get_extent(type_in(datatype), lower, &extent));
}

MUR_DOOR(int, Type_ub, their_type datatype, MPI_Aint *upper)
{
    MPI_Aint lower, extent;
    int code = murmur_door.Type_get_extent(type_in(datatype), &lower, &extent);

    if (!code)
        *upper = lower + extent;
    return error_out(code);
}

MUR_DOOR(int, Type_hindexed, int count, int lengths[], MPI_Aint displacements[], their_type oldtype,
         their_type *newtype)
{
    MPI_Datatype value;
    int code =
        murmur_door.Type_create_hindexed(count, lengths, displacements, type_in(oldtype), newtype ? &value : NULL);

    if (!code)
        *newtype = type_out(value);
    return error_out(code);
}

MUR_DOOR(int, Type_hvector, int count, int length, MPI_Aint stride, their_type oldtype, their_type *newtype)
{
    MPI_Datatype value;
    int code = murmur_door.Type_create_hvector(count, length, stride, type_in(oldtype), newtype ? &value : NULL);

    if (!code)
        *newtype = type_out(value);
    return error_out(code);
}

MUR_DOOR(int, Type_struct, int count, int lengths[], MPI_Aint displacements[], their_type types[], their_type *newtype)
{
    return door_Type_create_struct(count, lengths, displacements, types, newtype);
}
