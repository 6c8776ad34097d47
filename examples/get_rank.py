#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the rank, for a shell script that mpiexec starts, before it runs its real program:

    rank=$(python3 get_rank.py)
    ./program "input.$rank"

The script's rank runs two MPI programs one after the other; each gets a world of its own. Where no MPI is needed for
it, the variable OMPI_COMM_WORLD_RANK, which mpiexec sets, has the same number."""

from mpi4py import MPI

print(MPI.COMM_WORLD.rank)
